/* The manifest of a directory (run.json, study.json, ...): a JSON document that says which program
 * wrote it and which files that program has written. No other file is ever replaced or removed.
 * Seals are hashes of a report's files. */
#ifndef ORRERY_OUTPUT_MANIFEST_H
#define ORRERY_OUTPUT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sha256.h"
#include "base/status.h"

struct directory;
struct directory_kind;
struct json_t;

/* Checks that files (and folders) of these names may be written. STATUS_CANT_CREATE for each name
 * that exists and that the manifest does not list, or that is no regular file (or no folder, if the
 * name ends with a slash); also if Orrery has not written the manifest. */
enum status directory_check(struct directory *directory, const char *const *names, size_t count,
                            struct error *error);

/*
 * Makes room for the files of a run that is about to begin. First it checks the names as
 * directory_check() does. Then it removes the run that is there and its report: the files that
 * their manifests list and nothing else. The manifest of the run is removed last; before the first
 * file is removed, the manifest is changed to say that the run has only begun.
 */
enum status directory_claim(struct directory *directory, const char *const *names, size_t count,
                            struct error *error);

/* Removes the files that the manifest lists, and the report, but not the manifest itself.
 * STATUS_CANT_CREATE. */
enum status directory_clear(struct directory *directory, struct error *error);

/* Writes `document`, whose reference it takes over, as the manifest. Adds to it the program, the
 * format and the list "files": `names`, and those files of the list in the old manifest that still
 * exist. STATUS_MEMORY if `document` is NULL; STATUS_CANT_CREATE, STATUS_IO. */
enum status directory_note(struct directory *directory, struct json_t *document,
                           const char *const *names, size_t count, struct error *error);

/* Writes the document as the manifest of the directory, as a whole or not at all. STATUS_MEMORY if
 * it is NULL; STATUS_CANT_CREATE, STATUS_IO. */
enum status manifest_write(struct directory *directory, const struct json_t *document,
                           struct error *error);

/* Tells whether the document says that this program wrote it; the document may be a manifest or any
 * other one. */
bool directory_names_program(const struct json_t *document);

/* Returns the manifest, which the caller frees with json_decref(); NULL if there is none, or with
 * an error. */
struct json_t *directory_manifest(struct directory *directory, struct error *error);

/* Removes those files in the list of the manifest for whose name which(context, name) is true. A
 * damaged manifest lists none. STATUS_IO, STATUS_MEMORY. */
enum status directory_remove(struct directory *directory,
                             bool (*which)(const void *context, const char *name),
                             const void *context, struct error *error);

/* --- for opening a directory --- */

/* Returns the manifest of that kind as JSON, whoever wrote it. NULL with an error if there is none
 * or it is damaged. */
struct json_t *manifest_parse(const struct directory *directory, const struct directory_kind *kind,
                              struct error *error);

/* Tells whether Orrery wrote the manifest: whether it has the name of the program, the format of
 * the kind, and a list of files. Accepts NULL. */
bool manifest_is_ours(const struct json_t *manifest, const struct directory_kind *kind);

/* Tells whether there is a manifest of that kind that another program wrote. If it cannot be read,
 * returns false and sets *damaged. */
bool manifest_is_foreign(const struct directory *directory, const struct directory_kind *kind,
                         struct error *damaged);

/* Sets the error that Orrery has not written the manifest: STATUS_CANT_CREATE. */
enum status manifest_refuse(const struct directory *directory, const struct directory_kind *kind,
                            struct error *error);

/* --- seals ------------------------------------------------------------------------------------ */

/*
 * Seals: for each file, a manifest lists the SHA-256 hashes of the contents that the program has
 * written to it: {"sha256": {"name": [hash, ...]}}. A file is replaced or removed only if it is a
 * regular file with one of these contents; a file that the user has put there or has changed stays.
 * Names are plain or "plots/name", and are looked up in the open directory without following links.
 */

/* Opens the folder in which the file `name` is, the directory or its folder plots; returns -1 with
 * errno. The caller closes it. */
int seal_folder(const struct directory *directory, const char *name);
/* Returns the name of the file in that folder: "a.svg" for "plots/a.svg". */
const char *seal_plain(const char *name);
/* Computes the hash of the regular file `name` in an open folder. Returns 0, or errno; EINVAL if it
 * is no regular file or is larger than 64 MiB. */
int seal_hash(int folder, const char *name, char hash[SHA256_TEXT_SIZE]);

/* Checks that the file may be written. If nothing has its name, `hash` becomes ""; if its content
 * is one that the manifest lists, `hash` becomes the hash of the content. STATUS_CANT_CREATE for
 * any other file, STATUS_MEMORY. */
enum status seal_check(const struct directory *directory, const struct json_t *manifest,
                       const char *name, char hash[SHA256_TEXT_SIZE], struct error *error);

#endif
