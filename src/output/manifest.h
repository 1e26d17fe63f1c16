/*
 * The manifest of a directory: a JSON document that says which program wrote it and which files are
 * its own. No other file is ever replaced or removed.
 */
#ifndef ORRERY_OUTPUT_MANIFEST_H
#define ORRERY_OUTPUT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "output/directory-state.h"

struct directory;
struct json_t;

/*
 * Checks that the files (and folders) of these names may be written. STATUS_CANT_CREATE for each
 * that is there and that the manifest does not list, or that is no regular file (no folder, for a
 * name that ends with a slash); and for a manifest that Orrery has not written.
 */
enum status directory_check(struct directory *directory, const char *const *names, size_t count,
                            struct error *error);

/*
 * Makes room for the files of a run that is about to begin: those of a run that is there are
 * removed, with those of its report, as their manifests list them and nothing else, the manifest
 * last; from before the first of them on it says that the run has only begun. Before anything is
 * touched, what directory_check() says.
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

/* The document becomes the manifest of the directory, whole or not at all. STATUS_MEMORY when it is
 * NULL; STATUS_CANT_CREATE, STATUS_IO. */
enum status manifest_write(struct directory *directory, const struct json_t *document,
                           struct error *error);

/* Tells whether the document says that this program wrote it. This holds for any kind of document,
 * also for a manifest. */
bool directory_names_program(const struct json_t *document);

/* The manifest, for json_decref(); NULL where there is none, or with an error. */
struct json_t *directory_manifest(struct directory *directory, struct error *error);

/* Removes those files of the run, as its manifest lists them, for which `which` is true. */
enum status directory_remove(struct directory *directory,
                             bool (*which)(const void *context, const char *name),
                             const void *context, struct error *error);

/* --- for opening a directory --- */

/* The manifest of that kind as JSON, whoever wrote it; NULL with an error where it is none. */
struct json_t *manifest_parse(const struct directory *directory, const struct directory_kind *kind,
                              struct error *error);

/* Only what Orrery wrote is believed: program, format, and a list of files. Accepts NULL. */
bool manifest_is_ours(const struct json_t *manifest, const struct directory_kind *kind);

/* Is there a manifest of that kind which another program wrote? Whatever else keeps it from being
 * read goes to *damaged. */
bool manifest_is_foreign(const struct directory *directory, const struct directory_kind *kind,
                         struct error *damaged);

/* STATUS_CANT_CREATE: it was not written by Orrery. */
enum status manifest_refuse(const struct directory *directory, const struct directory_kind *kind,
                            struct error *error);

#endif
