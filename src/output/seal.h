/*
 * Seals: a manifest lists what is in a file beside its name, {"sha256": {"name": [hash, ...]}}. A
 * file is replaced or removed only while it is a regular one that still holds what the manifest
 * says: one that its user has put there, or has changed, stays. Names are plain or "plots/name",
 * and are looked up below the open directory, through no link.
 */
#ifndef ORRERY_OUTPUT_SEAL_H
#define ORRERY_OUTPUT_SEAL_H

#include "base/sha256.h"
#include "base/status.h"

struct directory;
struct json_t;

/* Opens the folder that a name is in; -1 with errno. The caller closes it. */
int seal_folder(const struct directory *directory, const char *name);
/* Returns the part of the name that stands below that folder. */
const char *seal_plain(const char *name);

/* The hash of a regular file in an open folder; 0 or errno, EINVAL where it is none. */
int seal_hash(int folder, const char *name, char hash[SHA256_TEXT_SIZE]);

/* Checks that the file may be written. Where nothing is there, hash is ""; where one is as the
 * manifest has it, hash is its. STATUS_CANT_CREATE for any other, STATUS_MEMORY. */
enum status seal_check(const struct directory *directory, const struct json_t *manifest,
                       const char *name, char hash[SHA256_TEXT_SIZE], struct error *error);

/* Removes the files of the manifest, but not the manifest. STATUS_CANT_CREATE, STATUS_MEMORY. */
enum status seal_remove(struct directory *directory, const struct json_t *manifest,
                        struct error *error);

#endif
