/* The files that the bodies of a run come from, by their content: names say little of it later. */
#ifndef ORRERY_RUN_INPUT_H
#define ORRERY_RUN_INPUT_H

#include <jansson.h>

#include "config/configuration.h"
#include "initial/body-files.h"

/* Returns the files of bodies of a config. */
struct body_files input_files(const struct config *config);

/* XXH3-64 of the bytes of a file in hexadecimal digits; "" where it cannot be read. */
enum { INPUT_HASH_SIZE = 17 };
const char *input_hash(const char *path, char hash[INPUT_HASH_SIZE]);

/* The same of all that the bodies come from: of bodies.files, the hash of their hashes. "" where
 * there are none, or one of them cannot be read. */
const char *input_hash_all(const struct body_files *files, char hash[INPUT_HASH_SIZE]);

/* For run.json, of bodies.files: [{ "system": 1, "file": "ic_1.csv", "path": "/.../ic_1.csv",
 * "hash": ... }, ...]. A new reference; NULL where there are none, or no memory for it. */
json_t *input_members(const struct body_files *files);

#endif
