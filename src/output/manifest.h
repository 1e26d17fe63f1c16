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
 * Makes room for the files of a run that is about to begin. First it checks the names as
 * directory_check() does. Then it removes the files of a run that is there, and of its report:
 * those that their manifests list and nothing else. The manifest goes last; before the first file
 * goes it is changed to say that the run has only begun.
 */
enum status directory_claim(struct directory *directory, const char *const *names, size_t count,
                            struct error *error);

/* Removes what the manifest lists, and the report, but not the manifest. STATUS_CANT_CREATE. */
enum status directory_clear(struct directory *directory, struct error *error);

/*
 * Writes `document`, whose reference it takes over, as the manifest, with the program, the format
 * and the list "files": `names`, and those files of the manifest before that still exist.
 * STATUS_MEMORY if `document` is NULL; STATUS_CANT_CREATE, STATUS_IO.
 */
enum status directory_note(struct directory *directory, struct json_t *document,
                           const char *const *names, size_t count, struct error *error);

/* Writes the document as the manifest of the directory, whole or not at all. STATUS_MEMORY if it is
 * NULL; STATUS_CANT_CREATE, STATUS_IO. */
enum status manifest_write(struct directory *directory, const struct json_t *document,
                           struct error *error);

/* Tells whether the document says that this program wrote it. This holds for any kind of document,
 * also for a manifest. */
bool directory_names_program(const struct json_t *document);

/* Reads the manifest, for json_decref(). Returns NULL if there is none, or with an error. */
struct json_t *directory_manifest(struct directory *directory, struct error *error);

/* Removes those files of the run, as its manifest lists them, for which `which` is true. */
enum status directory_remove(struct directory *directory,
                             bool (*which)(const void *context, const char *name),
                             const void *context, struct error *error);

/* --- for opening a directory --- */

/* Reads the manifest of that kind as JSON, whoever wrote it. Returns NULL with an error if there is
 * none or it is damaged. */
struct json_t *manifest_parse(const struct directory *directory, const struct directory_kind *kind,
                              struct error *error);

/* Tells whether Orrery wrote the manifest: it must have program, format, and a list of files.
 * Accepts NULL. */
bool manifest_is_ours(const struct json_t *manifest, const struct directory_kind *kind);

/* Tells whether there is a manifest of that kind which another program wrote. If it cannot be read,
 * returns false with the error in *damaged. */
bool manifest_is_foreign(const struct directory *directory, const struct directory_kind *kind,
                         struct error *damaged);

/* Sets the error that the manifest was not written by Orrery: STATUS_CANT_CREATE. */
enum status manifest_refuse(const struct directory *directory, const struct directory_kind *kind,
                            struct error *error);

#endif
