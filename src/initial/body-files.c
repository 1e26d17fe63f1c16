#include "initial/body-files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/document.h"

/* Returns the length, with the last slash, of the deepest folder with which both `a` and the first
 * `length` bytes of `b` begin; 0 if there is none. */
static size_t common_folder(const char *a, const char *b, size_t length)
{
    size_t folder = 0;
    for (size_t i = 0; i < length && a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            folder = i + 1;
    return folder;
}

struct body_files body_files_of(const struct section *bodies)
{
    struct body_files files = { 0 };
    if (strcmp(section_variant(bodies)->name, "file") != 0)
        return files;
    files.key = section_has(bodies, "files") ? "files" : "file";
    files.paths = section_paths(bodies, files.key, &files.count);
    if (files.count > 0)
        files.folder = strlen(files.paths[0]);
    for (size_t i = 0; i < files.count; i++)
        files.folder = common_folder(files.paths[i], files.paths[0], files.folder);
    return files;
}

size_t body_files_systems(const struct body_files *files)
{
    return files->count > 0 && strcmp(files->key, "files") == 0 ? files->count : 0;
}

const char *body_files_name(const struct body_files *files, size_t system)
{
    return system < body_files_systems(files) ? files->paths[system] + files->folder : "";
}

/* --- the content of the files ----------------------------------------------------------------- */

struct body_files input_files(const struct config *config, const char *models[INPUT_MODELS])
{
    struct body_files files = body_files_of(config_section(config, "bodies"));
    for (size_t k = 0; k < config_count(config, "models") && files.count < INPUT_MODELS; k++) {
        const struct body_files own = body_files_of(config_item(config, "models", k));
        if (own.count != 1)
            continue;
        models[files.count++] = own.paths[0];
        files.key = "models";
        files.paths = models;
    }
    return files;
}

const char *input_hash(const char *path, char hash[INPUT_HASH_SIZE])
{
    char buffer[16384];
    size_t length;
    struct stat about;
    hash[0] = '\0';
    /* Only regular files are read: what a pipe yields here, the bodies could no longer get. */
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    XXH3_state_t *state = file ? XXH3_createState() : NULL;
    if (state) {
        XXH3_64bits_reset(state);
        while ((length = fread(buffer, 1, sizeof buffer, file)) > 0)
            XXH3_64bits_update(state, buffer, length);
        if (!ferror(file))
            snprintf(hash, INPUT_HASH_SIZE, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(state));
        XXH3_freeState(state);
    }
    if (file)
        fclose(file);
    return hash;
}

const char *input_hash_all(const struct body_files *files, char hash[INPUT_HASH_SIZE])
{
    hash[0] = '\0';
    if (files->count == 0)
        return hash;
    if (files->count == 1 && body_files_systems(files) == 0)
        return input_hash(files->paths[0], hash);
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return hash;
    XXH3_64bits_reset(state);
    size_t known = 0;
    while (known < files->count && input_hash(files->paths[known], hash)[0]) {
        XXH3_64bits_update(state, hash, INPUT_HASH_SIZE);
        known++;
    }
    hash[0] = '\0';
    if (known == files->count)
        snprintf(hash, INPUT_HASH_SIZE, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(state));
    XXH3_freeState(state);
    return hash;
}

static json_t *whole_path(const char *path)
{
    char *whole = realpath(path, NULL);
    json_t *json = json_string(whole ? whole : path);
    free(whole);
    return json;
}

json_t *input_members(const struct body_files *files)
{
    if (body_files_systems(files) == 0)
        return NULL;
    json_t *all = json_array();
    for (size_t s = 0; s < files->count; s++) {
        char hash[INPUT_HASH_SIZE];
        document_append(&all, DOCUMENT({ "system", json_integer((json_int_t)s + 1) },
                                       { "file", json_string(body_files_name(files, s)) },
                                       { "path", whole_path(files->paths[s]) },
                                       { "hash", json_string(input_hash(files->paths[s], hash)) }));
    }
    return all;
}
