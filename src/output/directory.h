/*
 * The directory of a run, a study, a report or a benchmark: created, locked against a second
 * process, and the only place where it writes. File names are plain names or "plots/name"; links
 * are never followed. A manifest lists the files that are its own; no other file is ever replaced
 * or removed.
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
    DIRECTORY_NEW,    /* must not hold one yet */
    DIRECTORY_FORCE,  /* may hold one, which directory_claim() then removes */
    DIRECTORY_SHARED, /* the same, together with others that open it so */
    DIRECTORY_RESUME, /* must hold one */
    DIRECTORY_READ,   /* must hold one; not locked, not written */
    DIRECTORY_ANY     /* any folder, for single files; not locked; a link to one will do */
};

/* What a directory may hold. */
struct directory_kind {
    const char *noun;                   /* "run" */
    const char *manifest;               /* "run.json" */
    const char *lock;                   /* "run.lock" */
    const char *format;                 /* what its manifest gives as "format" */
    const char *temporary;              /* the end of the first temporary name of a file */
    const struct directory_kind *rival; /* does not go into the same directory; NULL: none */
};

extern const struct directory_kind directory_run, directory_study, directory_report,
    directory_bench, directory_bench_gpu;

struct directory;
struct json_t;

/*
 * For a run. STATUS_CANT_CREATE when it holds one already, cannot be created, is a link (a slash
 * behind its name follows it), or another live process (named with host and pid) has it locked;
 * STATUS_NO_INPUT when it should hold a run and does not.
 */
enum status directory_open(const char *path, enum directory_mode mode, struct directory **directory,
                           struct error *error);
/* The same for any kind; STATUS_CANT_CREATE also when it holds the kind's rival. */
enum status directory_open_kind(const char *path, const struct directory_kind *kind,
                                enum directory_mode mode, struct directory **directory,
                                struct error *error);
/* Unlocks; accepts NULL. */
void directory_close(struct directory *directory);

const char *directory_path(const struct directory *directory);

/* "DIR/name: strerror(code)"; ENOMEM is STATUS_MEMORY, whatever was attempted. */
enum status directory_error(const struct directory *directory, const char *name, enum status status,
                            int code, struct error *error);

/*
 * May the files (and folders) of these names be written? STATUS_CANT_CREATE for each that is there
 * and that the manifest does not list, or that is no regular file (no folder, for a name that ends
 * with a slash); and for a manifest that Orrery has not written.
 */
enum status directory_check(struct directory *directory, const char *const *names, size_t count,
                            struct error *error);

/*
 * Makes room for the files of a run that is about to begin: those of a run that is there are
 * removed, with those of its report, as their manifests list them and nothing else, the manifest
 * last. Before anything is touched, what directory_check() says.
 */
enum status directory_claim(struct directory *directory, const char *const *names, size_t count,
                            struct error *error);

/* Removes what the manifest lists, and the report, but not the manifest. STATUS_CANT_CREATE. */
enum status directory_clear(struct directory *directory, struct error *error);

/*
 * Writes the manifest: `document`, whose reference it takes over, with the program, the format and
 * "files": `names`, and what the manifest that is there lists besides and is still there.
 * STATUS_MEMORY when `document` is NULL; STATUS_CANT_CREATE, STATUS_IO.
 */
enum status directory_note(struct directory *directory, struct json_t *document,
                           const char *const *names, size_t count, struct error *error);

/* Does the document say that this program wrote it? Of any kind, also of a manifest. */
bool directory_names_program(const struct json_t *document);

/* The manifest, for json_decref(); NULL where there is none, or with an error. */
struct json_t *directory_manifest(struct directory *directory, struct error *error);

/* For the few moments of writing files that all who share a directory write: waits for the others.
 * STATUS_CANT_CREATE after minutes. */
enum status directory_lock_files(struct directory *directory, struct error *error);
void directory_unlock_files(struct directory *directory);

/* Removes those files of the run, as its manifest lists them, for which `which` is true. */
enum status directory_remove(struct directory *directory,
                             bool (*which)(const void *context, const char *name),
                             const void *context, struct error *error);

/* A new file for writing; one that exists (or a link in its place) is refused. -1 with
 * STATUS_CANT_CREATE. The caller closes it. */
int directory_create_file(struct directory *directory, const char *name, struct error *error);
/* A regular file that exists, for reading and appending. -1 with STATUS_IO. */
int directory_open_file(struct directory *directory, const char *name, struct error *error);

/* What stands under a name at this moment. STATUS_IO where it is gone or is no regular file. */
struct directory_entry {
    uint64_t length, device, inode;
};
enum status directory_look(const struct directory *directory, const char *name,
                           struct directory_entry *entry, struct error *error);
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

/* May a file take this name? Only where nothing is there, or a regular file: never a device, a
 * pipe, a socket, a folder or a link (STATUS_CANT_CREATE). Replacing begins with it. */
enum status directory_replaceable(const struct directory *directory, const char *name,
                                  struct error *error);

/* The same for content that is there already. */
enum status directory_replace_file(struct directory *directory, const char *name, const void *bytes,
                                   size_t length, struct error *error);

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
