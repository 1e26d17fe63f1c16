/*
 * Seals: beside the name of a file a manifest lists the hashes of what it may hold, {"sha256":
 * {"name": [hash, ...]}}. A file is replaced or removed only while it is a regular one with such
 * content: one that its user has put there, or has changed, stays. Names are plain or "plots/name",
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

/* Computes the hash of a regular file in an open folder. Returns 0, or errno; EINVAL if it is no
 * regular file or too large. */
int seal_hash(int folder, const char *name, char hash[SHA256_TEXT_SIZE]);

/* Checks that the file may be written. If nothing is there, `hash` becomes ""; if a file is as the
 * manifest has it, `hash` becomes its hash. STATUS_CANT_CREATE for any other file,
 * STATUS_MEMORY. */
enum status seal_check(const struct directory *directory, const struct json_t *manifest,
                       const char *name, char hash[SHA256_TEXT_SIZE], struct error *error);

/* Removes the files that are as the manifest has them, but not the manifest. STATUS_CANT_CREATE,
 * STATUS_MEMORY. */
enum status seal_remove(struct directory *directory, const struct json_t *manifest,
                        struct error *error);

#endif
