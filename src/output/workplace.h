/*
 * A folder of its own within a directory, "report.orrery-1.tmp", in which files are made that are
 * put in their place when all are there. It is a directory of its own to the functions of
 * directory-files.h. What a process left that was killed is known by the name of its folder, and
 * goes when the next one is opened.
 */
#ifndef ORRERY_OUTPUT_WORKPLACE_H
#define ORRERY_OUTPUT_WORKPLACE_H

#include <stddef.h>

#include "base/status.h"
#include "output/directory-state.h"

struct directory;

/* Makes the folder and holds it. STATUS_CANT_CREATE, STATUS_IO, STATUS_MEMORY. */
enum status workplace_open(const struct directory *directory, struct directory **work,
                           struct error *error);

/* Removes the folder with all that is still in it; accepts NULL. */
void workplace_close(const struct directory *directory, struct directory *work);

/* Removes the folders of processes that are dead. */
void workplace_clean(const struct directory *directory, const struct directory_kind *kind);

/* The open folder, for a process that is to work in it. */
int workplace_folder(const struct directory *work);

/* A new file in the folder. STATUS_CANT_CREATE, STATUS_IO. */
enum status workplace_write(struct directory *work, const char *name, const void *bytes,
                            size_t length, struct error *error);

/* Gives files of the folder the names that stand at the same index, in `place`, an open folder of
 * the same file system; they are on the disk before they have these names. STATUS_IO. */
enum status workplace_move(const struct directory *work, const char *name, int place,
                           const char *as, struct error *error);

/* Moves the files of these names into the directory itself; directory_check() has been asked. */
enum status workplace_put(const struct directory *directory, const struct directory *work,
                          const char *const *names, size_t count, struct error *error);

#endif
