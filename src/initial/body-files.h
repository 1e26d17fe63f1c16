/* The files that bodies come from: bodies.file, or bodies.files, of which each is a system. */
#ifndef ORRERY_INITIAL_BODY_FILES_H
#define ORRERY_INITIAL_BODY_FILES_H

#include <jansson.h>
#include <stddef.h>

#include "config/configuration.h"

struct body_files {
    const char *key;          /* "file" or "files" */
    const char *const *paths; /* borrowed from the config */
    size_t count;             /* 0: the bodies come from no file */
    size_t folder; /* the letters of each path that name the folder that all of them are in */
};

/* Returns the files of the section `bodies`. */
struct body_files body_files_of(const struct section *bodies);

/* Returns the number of systems that they make: 0 if ensemble.systems decides it. */
size_t body_files_systems(const struct body_files *files);

/* The file of a system, counted from 0, as tables name it: without the folders that all have in
 * common. "" where the systems have no files of their own. */
const char *body_files_name(const struct body_files *files, size_t system);

/* --- their content ---------------------------------------------------------------------------- */

/* The files that the bodies of a run come from, by their content: names say little of it later. */

/* Returns the files that the bodies of a config come from: those of `bodies`, or those of the
 * models of an encounter, with the key "models" and paths for which the caller has the room. */
enum { INPUT_MODELS = 2 };
struct body_files input_files(const struct config *config, const char *models[INPUT_MODELS]);

/* XXH3-64 of the bytes of a file in hexadecimal digits; "" where it cannot be read. */
enum { INPUT_HASH_SIZE = 17 };
const char *input_hash(const char *path, char hash[INPUT_HASH_SIZE]);

/* The same of all that the bodies come from: of bodies.files, and of the files of two models, the
 * hash of their hashes. "" where there are none, or one of them cannot be read. */
const char *input_hash_all(const struct body_files *files, char hash[INPUT_HASH_SIZE]);

/* For run.json, of bodies.files: [{ "system": 1, "file": "ic_1.csv", "path": "/.../ic_1.csv",
 * "hash": ... }, ...]. A new reference; NULL where there are none, or no memory for it. */
json_t *input_members(const struct body_files *files);

#endif
