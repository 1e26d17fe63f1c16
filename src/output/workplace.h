/*
 * A temporary folder in a directory, "report.orrery-1.tmp", in which files are made; when all are
 * complete, they are moved to their places. The functions of directory-files.h take it as a
 * directory. A folder that a killed process has left is known by its name, and is removed when the
 * next one is opened.
 */
#ifndef ORRERY_OUTPUT_WORKPLACE_H
#define ORRERY_OUTPUT_WORKPLACE_H

#include <stddef.h>

#include "base/status.h"
#include "output/directory-files.h"

/* Makes the folder and locks it. STATUS_CANT_CREATE, STATUS_MEMORY. */
enum status workplace_open(const struct directory *directory, struct directory **work,
                           struct error *error);

/* Removes the folder with all that is still in it; accepts NULL. */
void workplace_close(const struct directory *directory, struct directory *work);

/* Removes the temporary folders of this kind in the directory whose processes have ended. */
void workplace_clean(const struct directory *directory, const struct directory_kind *kind);

/* Returns the descriptor of the folder, for a child process that is to work in it. */
int workplace_folder(const struct directory *work);

/* Writes a new file in the folder. STATUS_CANT_CREATE, STATUS_IO. */
enum status workplace_write(struct directory *work, const char *name, const void *bytes,
                            size_t length, struct error *error);

/* Moves the file `name` of the folder to the name `as` in `place`, an open folder on the same file
 * system, when the disk has its content. STATUS_NO_INPUT, STATUS_IO. */
enum status workplace_move(const struct directory *work, const char *name, int place,
                           const char *as, struct error *error);

/* Moves the files of these names from the folder into the directory; the caller has called
 * directory_check() for them. STATUS_CANT_CREATE, STATUS_NO_INPUT, STATUS_IO. */
enum status workplace_put(const struct directory *directory, const struct directory *work,
                          const char *const *names, size_t count, struct error *error);

#endif
