/*
 * Seals: for each file, a manifest lists the SHA-256 hashes of the contents that the program has
 * written to it: {"sha256": {"name": [hash, ...]}}. A file is replaced or removed only if it is a
 * regular file with one of these contents; a file that the user has put there or has changed stays.
 * Names are plain or "plots/name", and are looked up in the open directory without following links.
 */
#ifndef ORRERY_OUTPUT_SEAL_H
#define ORRERY_OUTPUT_SEAL_H

#include <stdbool.h>

#include "base/sha256.h"
#include "base/status.h"

struct directory;
struct json_t;

/* Opens the folder in which the file `name` is, the directory or its folder plots; returns -1 with
 * errno. The caller closes it. */
int seal_folder(const struct directory *directory, const char *name);
/* Returns the name of the file in that folder: "a.svg" for "plots/a.svg". */
const char *seal_plain(const char *name);
/* Tells whether a name has no slash and no dot at its beginning, so that it does not lead out of
 * the directory. */
bool seal_is_plain(const char *name);

/* Computes the hash of the regular file `name` in an open folder. Returns 0, or errno; EINVAL if it
 * is no regular file or is larger than 64 MiB. */
int seal_hash(int folder, const char *name, char hash[SHA256_TEXT_SIZE]);

/* Checks that the file may be written. If nothing has its name, `hash` becomes ""; if its content
 * is one that the manifest lists, `hash` becomes the hash of the content. STATUS_CANT_CREATE for
 * any other file, STATUS_MEMORY. */
enum status seal_check(const struct directory *directory, const struct json_t *manifest,
                       const char *name, char hash[SHA256_TEXT_SIZE], struct error *error);

/* Removes the files whose content is one that the manifest lists, but not the manifest.
 * STATUS_CANT_CREATE, STATUS_MEMORY. */
enum status seal_remove(struct directory *directory, const struct json_t *manifest,
                        struct error *error);

#endif
