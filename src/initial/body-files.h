/* The files that the bodies of a config come from: the file of the key `file`, or those of the key
 * `files`, each of which is a system of an ensemble. */
#ifndef ORRERY_INITIAL_BODY_FILES_H
#define ORRERY_INITIAL_BODY_FILES_H

#include <jansson.h>
#include <stddef.h>

#include "config/configuration.h"

struct body_files {
    /* the config key that names the files: "file" or "files"; "models" for input_files() */
    const char *key;
    const char *const *paths; /* paths of the files, borrowed */
    size_t count;             /* 0: the bodies come from no file */
    /* The number of bytes at the start of each path that name the deepest folder, with its slash,
     * in which all files are; not set by input_files() for models. */
    size_t folder;
};

/* Returns the files of the section `bodies`, or of a section of the list `models`; none unless its
 * initial condition is "file". */
struct body_files body_files_of(const struct section *bodies);

/* Returns the number of systems if each file is one (key `files`); 0 if ensemble.systems decides
 * the number. */
size_t body_files_systems(const struct body_files *files);

/* Returns the path of a system's file (`system` from 0) behind the folder that all files have in
 * common, as tables show it; "" if the systems have no files of their own. */
const char *body_files_name(const struct body_files *files, size_t system);

/* --- the content of the files ----------------------------------------------------------------- */

/* Returns the files that the bodies of a config come from: those of its group `bodies` or, in an
 * encounter, the file of each model that has one, with the key "models". Their paths are then put
 * into `models`, which the caller provides. */
enum { INPUT_MODELS = 2 };
struct body_files input_files(const struct config *config, const char *models[INPUT_MODELS]);

/* Returns XXH3-64 of the bytes of a file in hexadecimal digits, since a file of the same name may
 * have other content later; "" if it cannot be read. */
enum { INPUT_HASH_SIZE = 17 };
const char *input_hash(const char *path, char hash[INPUT_HASH_SIZE]);

/* Returns one hash for all files: the hash of the only file, or that of the list of their hashes.
 * "" if there are no files, or one of them cannot be read. */
const char *input_hash_all(const struct body_files *files, char hash[INPUT_HASH_SIZE]);

/* Returns the field bodies.files of run.json, a new reference: [{ "system": 1, "file": "ic_1.csv",
 * "path": "/.../ic_1.csv", "hash": ... }, ...]. NULL unless each system has its own file, or for
 * want of memory. */
json_t *input_members(const struct body_files *files);

#endif
