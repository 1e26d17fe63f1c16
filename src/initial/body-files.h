/* The files that the bodies of a config come from: the one of the key `file`, or those of the key
 * `files`, each of which is a system of an ensemble. */
#ifndef ORRERY_INITIAL_BODY_FILES_H
#define ORRERY_INITIAL_BODY_FILES_H

#include <jansson.h>
#include <stddef.h>

#include "config/configuration.h"

struct body_files {
    const char *key;          /* the config key that names them: "file", "files" or "models" */
    const char *const *paths; /* names of files, borrowed */
    size_t count;             /* 0: the bodies come from no file */
    /* The number of bytes at the start of each path that name the deepest folder which holds all
     * files. */
    size_t folder;
};

/* Returns the files that the section `bodies`, or one of the list `models`, names; none unless its
 * initial condition is "file". */
struct body_files body_files_of(const struct section *bodies);

/* Returns the number of systems if each file is one (key `files`); 0 if ensemble.systems decides
 * the number. */
size_t body_files_systems(const struct body_files *files);

/* Returns the file of a system, counted from 0, as tables name it: without the folders that all
 * files have in common. "" if the systems have no files of their own. */
const char *body_files_name(const struct body_files *files, size_t system);

/* --- the content of the files ----------------------------------------------------------------- */

/* The functions below describe the content of files by hashes, since a file of the same name may
 * have other content later. */

/* Returns the files that the bodies of a config come from: those of its group `bodies` or, if this
 * is an encounter of two models, those of the models, with "models" for the key. Their paths are
 * put into `models`, which the caller provides. */
enum { INPUT_MODELS = 2 };
struct body_files input_files(const struct config *config, const char *models[INPUT_MODELS]);

/* Returns XXH3-64 of the bytes of a file in hexadecimal digits; "" if it cannot be read. */
enum { INPUT_HASH_SIZE = 17 };
const char *input_hash(const char *path, char hash[INPUT_HASH_SIZE]);

/* Returns one hash of all files: for bodies.files, and for the files of two models, the hash of
 * their hashes. "" if there are no files, or one of them cannot be read. */
const char *input_hash_all(const struct body_files *files, char hash[INPUT_HASH_SIZE]);

/* Returns bodies.files for run.json, a new reference: [{ "system": 1, "file": "ic_1.csv", "path":
 * "/.../ic_1.csv", "hash": ... }, ...]. NULL if there are none, or no memory. */
json_t *input_members(const struct body_files *files);

#endif
