/*
 * The run directory: created, locked against a second process, and the only place where a run
 * writes. File names are plain names or "plots/name"; links are never followed.
 */
#ifndef ORRERY_OUTPUT_DIRECTORY_H
#define ORRERY_OUTPUT_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum directory_mode {
    DIRECTORY_NEW,    /* must not hold a run yet */
    DIRECTORY_FORCE,  /* may hold a run, which directory_claim() then removes */
    DIRECTORY_RESUME, /* must hold a run */
    DIRECTORY_READ,   /* must hold a run; not locked, not written */
    DIRECTORY_ANY     /* any folder, for single files; not locked; a link to one will do */
};

struct directory;

/*
 * STATUS_CANT_CREATE when it holds a run already, cannot be created, is a link (a slash behind
 * its name follows it), or another live process (named with host and pid) has it locked;
 * STATUS_NO_INPUT when it should hold a run and does not.
 */
enum status directory_open(const char *path, enum directory_mode mode, struct directory **directory,
                           struct error *error);
/* Unlocks; accepts NULL. */
void directory_close(struct directory *directory);

const char *directory_path(const struct directory *directory);

/* "DIR/name: strerror(code)"; ENOMEM is STATUS_MEMORY, whatever was attempted. */
enum status directory_error(const struct directory *directory, const char *name, enum status status,
                            int code, struct error *error);

/*
 * Makes room for the files of a run that is about to begin: those of a run that is there are
 * removed, as its manifest lists them and nothing else, the manifest last. Before anything is
 * touched, STATUS_CANT_CREATE for each of `names` that is there and belongs to no run.
 */
enum status directory_claim(struct directory *directory, const char *const *names, size_t count,
                            struct error *error);

/* Removes those files of the run, as its manifest lists them, for which `which` is true. */
enum status directory_remove(struct directory *directory,
                             bool (*which)(const void *context, const char *name),
                             const void *context, struct error *error);

/* A new file for writing; one that exists (or a link in its place) is refused. -1 with
 * STATUS_CANT_CREATE. The caller closes it. */
int directory_create_file(struct directory *directory, const char *name, struct error *error);
/* A regular file that exists, for reading and appending. -1 with STATUS_IO. */
int directory_open_file(struct directory *directory, const char *name, struct error *error);
/* Does it exist? */
bool directory_has(const struct directory *directory, const char *name);
/* Unlinks a control file such as `stop`; true if it was there. */
bool directory_take(struct directory *directory, const char *name);

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

/* The same for content that is there already. */
enum status directory_replace_file(struct directory *directory, const char *name, const void *bytes,
                                   size_t length, struct error *error);

/* write() until all is written; 0, or errno. */
int directory_write_all(int fd, const void *bytes, size_t length);

/* A regular file for reading, and how long it is. -1 with STATUS_NO_INPUT. The caller closes it. */
int directory_open_input(const struct directory *directory, const char *name, uint64_t *length,
                         struct error *error);

/* A whole file as a NUL-terminated string; the caller frees it. NULL with STATUS_NO_INPUT or IO. */
char *directory_read_file(const struct directory *directory, const char *name, size_t *length,
                          struct error *error);

/* Bytes free on its file system for this user. */
double directory_free_bytes(const struct directory *directory);

#ifdef __cplusplus
}
#endif

#endif
