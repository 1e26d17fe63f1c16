/* The files of an open directory: looked at, read, written, and replaced as a whole. Links are
 * never followed. */
#ifndef ORRERY_OUTPUT_DIRECTORY_FILES_H
#define ORRERY_OUTPUT_DIRECTORY_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct directory;

/* Sets the error "DIR/name: strerror(code)" with this status, or with STATUS_MEMORY if the code is
 * ENOMEM. */
enum status directory_error(const struct directory *directory, const char *name, enum status status,
                            int code, struct error *error);

/* Creates a file for writing; one that exists (or a link in its place) is refused. Returns -1 with
 * STATUS_CANT_CREATE. The caller closes it. */
int directory_create_file(struct directory *directory, const char *name, struct error *error);
/* Opens a regular file that exists, for reading and appending. Returns -1 with STATUS_IO. */
int directory_open_file(struct directory *directory, const char *name, struct error *error);

/* Finds a file and its length at this moment. STATUS_IO if it is gone or is no regular file. */
struct directory_entry {
    uint64_t length, device, inode;
};
enum status directory_look(const struct directory *directory, const char *name,
                           struct directory_entry *entry, struct error *error);
/* Tells whether anything has that name. */
bool directory_has(const struct directory *directory, const char *name);
/* Unlinks a control file such as `stop`; true if it was there. */
bool directory_take(struct directory *directory, const char *name);

/* Removes the temporary file that a killed process left when it was about to replace `name`. */
void directory_replace_forget(struct directory *directory, const char *name);

/*
 * Replaces a file as a whole: written under a temporary name, flushed to the disk, renamed over,
 * and the directory flushed, so that either the old or the new content is there at any moment.
 * Begin gives a descriptor to write to (-1 with STATUS_CANT_CREATE); commit closes it and puts the
 * file in place (STATUS_IO), with `previous` non-NULL keeping the old one under that name; abandon
 * closes and removes it.
 */
int directory_replace_begin(struct directory *directory, const char *name, struct error *error);
enum status directory_replace_commit(struct directory *directory, const char *name,
                                     const char *previous, int fd, struct error *error);
void directory_replace_abandon(struct directory *directory, const char *name, int fd);

/* Checks that a file may take this name. It may if nothing is there, or a regular file: never a
 * device, a pipe, a socket, a folder or a link (STATUS_CANT_CREATE). Every replacement begins with
 * this check. */
enum status directory_replaceable(const struct directory *directory, const char *name,
                                  struct error *error);

/* Replaces a file as a whole by `length` bytes. STATUS_CANT_CREATE, STATUS_IO. */
enum status directory_replace_file(struct directory *directory, const char *name, const void *bytes,
                                   size_t length, struct error *error);

/* Opens a regular file for reading, and puts its length into *length. Returns -1 with
 * STATUS_NO_INPUT. The caller closes it. */
int directory_open_input(const struct directory *directory, const char *name, uint64_t *length,
                         struct error *error);

/* Reads a whole file into a NUL-terminated string, which the caller frees. Returns NULL with
 * STATUS_NO_INPUT, STATUS_IO or STATUS_MEMORY. */
char *directory_read_file(const struct directory *directory, const char *name, size_t *length,
                          struct error *error);

/* Returns the bytes that are free on its file system for this user. */
double directory_free_bytes(const struct directory *directory);

/* Flushes the names in an open folder to the disk. Returns 0, or errno. */
int directory_flush_names(int folder);

#endif
