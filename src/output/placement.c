#include "output/placement.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/document.h"
#include "base/memory.h"
#include "output/directory-files.h"
#include "output/directory-state.h"
#include "output/manifest.h"
#include "output/seal.h"
#include "output/workplace.h"

enum status placement_check(struct directory *directory, const char *const *names, size_t count,
                            struct error *error)
{
    char hash[SHA256_TEXT_SIZE];
    json_t *manifest = directory_manifest(directory, error);
    for (size_t i = 0; i < count && error->status != STATUS_MEMORY; i++)
        seal_check(directory, manifest, names[i], hash, error);
    json_decref(manifest);
    return error->status;
}

/* Adds what the file will hold, and what it holds, to {"name": [hash, ...]}. */
static enum status seal(const struct directory *directory, const struct directory *work,
                        const json_t *manifest, const char *name, json_t **seals,
                        struct error *error)
{
    char now[SHA256_TEXT_SIZE], next[SHA256_TEXT_SIZE];
    if (seal_check(directory, manifest, name, now, error))
        return error->status;
    const int code = seal_hash(work->fd, seal_plain(name), next);
    if (code)
        return directory_error(work, seal_plain(name), STATUS_IO, code, error);
    json_t *hashes = json_array();
    document_append(&hashes, json_string(next));
    if (now[0] && strcmp(now, next) != 0)
        document_append(&hashes, json_string(now));
    document_set(seals, name, hashes);
    return STATUS_OK;
}

/* Returns the other entries of the manifest, of an earlier report, which stay listed. */
static json_t *seals_before(const json_t *manifest)
{
    const json_t *before = json_object_get(manifest, "sha256");
    return json_is_object(before) ? json_copy((json_t *)before) : json_object();
}

/* "plots" of the directory, made if need be; -1 with an error. */
static int make_plots(const struct directory *directory, struct error *error)
{
    if (mkdirat(directory->fd, "plots", 0777) != 0 && errno != EEXIST) {
        directory_error(directory, "plots", STATUS_CANT_CREATE, errno, error);
        return -1;
    }
    const int folder = seal_folder(directory, "plots/");
    if (folder < 0)
        directory_error(directory, "plots", STATUS_CANT_CREATE, ENOTDIR, error);
    return folder;
}

static enum status move_files(struct directory *directory, const struct directory *work,
                              const char *const *names, size_t count, struct error *error)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= seal_plain(names[i]) != names[i];
    const int folder = any ? make_plots(directory, error) : -1;
    for (size_t i = 0; i < count && !error->status; i++)
        workplace_move(work, seal_plain(names[i]),
                       seal_plain(names[i]) == names[i] ? directory->fd : folder,
                       seal_plain(names[i]), error);
    int code = folder >= 0 && !error->status ? directory_flush_names(folder) : 0;
    if (code == 0 && !error->status)
        code = directory_flush_names(directory->fd);
    if (folder >= 0)
        close(folder);
    return code ? error_system(error, STATUS_IO, code, directory->path) : error->status;
}

enum status placement_place(struct directory *directory, const struct directory *work,
                            const char *const *names, size_t count, struct error *error)
{
    json_t *manifest = directory_manifest(directory, error);
    json_t *seals = error->status ? NULL : seals_before(manifest), *document = json_object();
    const char **listed = calloc(count + 1, sizeof *listed);
    if (!error->status && (!seals || !document || !listed))
        error_memory(error);
    for (size_t i = 0; i < count && !error->status; i++) {
        seal(directory, work, manifest, names[i], &seals, error);
        listed[i + 1] = names[i];
    }
    if (!error->status) {
        listed[0] = directory->kind->manifest;
        document_set(&document, "sha256", json_incref(seals));
        directory_note(directory, document, listed, count + 1, error);
        document = NULL;
    }
    if (!error->status)
        move_files(directory, work, names, count, error);
    free(listed);
    json_decref(document);
    json_decref(seals);
    json_decref(manifest);
    return error->status;
}
