/* An open directory and its kind; finds, reads, writes and replaces the files in it. Links are
 * never followed. */
#ifndef ORRERY_OUTPUT_DIRECTORY_FILES_H
#define ORRERY_OUTPUT_DIRECTORY_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interruption.h"
#include "base/status.h"

/* The names by which the program recognises a kind of directory, with those of a run as
 * examples. */
struct directory_kind {
    const char *noun;                      /* "run" */
    const char *manifest;                  /* "run.json" */
    const char *lock;                      /* "run.lock" */
    const char *files_lock;                /* lock while shared files are written; NULL: none */
    const char *format;                    /* the manifest has this as "format": "orrery run" */
    const struct directory_kind *excluded; /* kind not allowed beside it; NULL: none */
};

extern const struct directory_kind directory_run, directory_study, directory_report,
    directory_bench, directory_bench_gpu;

struct directory {
    const struct directory_kind *kind;
    char *path;
    int fd;                            /* the open directory */
    int lock, files_lock;              /* descriptors of its locks; -1: not locked */
    bool created;                      /* the program has made the directory */
    struct interruption *interruption; /* asks long work on files to end; or NULL */
};

/* Sets the error "DIR/name: strerror(code)" with this status, or with STATUS_MEMORY if the code is
 * ENOMEM. Returns the status. */
enum status directory_error(const struct directory *directory, const char *name, enum status status,
                            int code, struct error *error);

/* Creates a file for writing, whose descriptor the caller closes; a file that exists (or a link in
 * its place) is refused. Returns -1 with STATUS_CANT_CREATE. */
int directory_create_file(struct directory *directory, const char *name, struct error *error);
/* Opens a regular file that exists, for reading and appending; the caller closes it. Returns -1
 * with STATUS_IO. */
int directory_open_file(struct directory *directory, const char *name, struct error *error);

/* A file as it is now: its length in bytes, and the numbers by which the system tells files apart.
 * directory_look() finds them; STATUS_IO if the file is gone or is no regular file. */
struct directory_entry {
    uint64_t length, device, inode;
};
enum status directory_look(const struct directory *directory, const char *name,
                           struct directory_entry *entry, struct error *error);
/* Tells whether anything in the directory has that name: a file, a folder or a link. */
bool directory_has(const struct directory *directory, const char *name);
/* Removes a control file such as `stop`, by which users ask a run for something; returns true if
 * the file was there. */
bool directory_take(struct directory *directory, const char *name);

/* Removes the usual temporary file for `name`, if a killed process has left it. */
void directory_replace_forget(struct directory *directory, const char *name);

/*
 * Replace a file as a whole: the content is written under a temporary name and flushed to the disk,
 * the file is renamed, and the directory flushed, so that the file has the old or the new content
 * at any moment. The function _begin returns a descriptor to write to (-1 with STATUS_CANT_CREATE);
 * _commit closes it and puts the file in place (STATUS_IO) and, if `previous` is not NULL, keeps
 * the old file under that name; if `failure`, the errno of a failed write, is not 0, it abandons
 * the file and reports the failure (STATUS_IO; STATUS_STOPPED for ECANCELED). _abandon closes and
 * removes the temporary file.
 */
int directory_replace_begin(struct directory *directory, const char *name, struct error *error);
enum status directory_replace_commit(struct directory *directory, const char *name,
                                     const char *previous, int fd, int failure,
                                     struct error *error);
void directory_replace_abandon(struct directory *directory, const char *name, int fd);

/* Checks that a file may take this name: it may if nothing is there, or a regular file, but never
 * in the place of a device, a pipe, a socket, a folder or a link (STATUS_CANT_CREATE). Every
 * replacement begins with this check. */
enum status directory_replaceable(const struct directory *directory, const char *name,
                                  struct error *error);

/* Replaces a file as a whole by `length` bytes. STATUS_CANT_CREATE, STATUS_IO. */
enum status directory_replace_file(struct directory *directory, const char *name, const void *bytes,
                                   size_t length, struct error *error);

/* Opens a regular file for reading, and puts its length into *length. Returns -1 with
 * STATUS_NO_INPUT. The caller closes it. */
int directory_open_input(const struct directory *directory, const char *name, uint64_t *length,
                         struct error *error);

/* Returns the content of a whole file, *length bytes with a NUL behind them; the caller frees it.
 * NULL with STATUS_NO_INPUT, STATUS_IO or STATUS_MEMORY. */
char *directory_read_file(const struct directory *directory, const char *name, size_t *length,
                          struct error *error);

/* Returns the bytes that this user may still write on the file system of the directory; 0 if the
 * system does not tell. */
double directory_free_bytes(const struct directory *directory);

/* Waits until the disk has the names of the files in an open folder. Returns 0, or errno. */
int directory_flush_names(int folder);

#endif
