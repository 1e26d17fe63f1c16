#include "output/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build.h"
#include "base/descriptor.h"
#include "base/document.h"
#include "output/directory-files.h"
#include "output/lock.h"
#include "output/workplace.h"

static const char program_name[] = "orrery";

enum { OWN_NAME_SIZE = 512 };

/* --- reading it ------------------------------------------------------------------------------- */

bool directory_names_program(const json_t *document)
{
    const char *program =
        json_string_value(json_object_get(json_object_get(document, "program"), "name"));
    return program && strcmp(program, program_name) == 0;
}

bool manifest_is_ours(const json_t *manifest, const struct directory_kind *kind)
{
    const char *format = json_string_value(json_object_get(manifest, "format"));
    return directory_names_program(manifest) && format && strcmp(format, kind->format) == 0 &&
           json_is_array(json_object_get(manifest, "files"));
}

json_t *manifest_parse(const struct directory *directory, const struct directory_kind *kind,
                       struct error *error)
{
    size_t length;
    bool no_memory;
    struct error unreadable = { 0 };
    char *bytes = directory_read_file(directory, kind->manifest, &length, &unreadable);
    json_t *manifest = bytes ? document_parse(bytes, length, &no_memory) : NULL;
    if (!bytes)
        error_set(error, unreadable.status == STATUS_MEMORY ? STATUS_MEMORY : STATUS_CANT_CREATE,
                  "%s", unreadable.text);
    else if (no_memory)
        directory_error(directory, kind->manifest, STATUS_MEMORY, ENOMEM, error);
    else if (!manifest)
        error_set(error, STATUS_CANT_CREATE,
                  "%s/%s: is damaged, and does not say which files belong to the %s; remove them "
                  "by hand",
                  directory->path, kind->manifest, kind->noun);
    free(bytes);
    return manifest;
}

enum status manifest_refuse(const struct directory *directory, const struct directory_kind *kind,
                            struct error *error)
{
    return error_set(error, STATUS_CANT_CREATE,
                     "%s/%s: was not written by Orrery as the list of the files of a %s, so that "
                     "nothing here is replaced or removed; move it away, or write elsewhere with "
                     "-o DIR",
                     directory->path, kind->manifest, kind->noun);
}

/* Reads the manifest of that kind. Returns NULL without an error if there is none; NULL with an
 * error if it cannot be read or Orrery has not written it. */
static json_t *read_manifest(const struct directory *directory, const struct directory_kind *kind,
                             struct error *error)
{
    json_t *manifest =
        directory_has(directory, kind->manifest) ? manifest_parse(directory, kind, error) : NULL;
    if (!manifest || manifest_is_ours(manifest, kind))
        return manifest;
    json_decref(manifest);
    manifest_refuse(directory, kind, error);
    return NULL;
}

bool manifest_is_foreign(const struct directory *directory, const struct directory_kind *kind,
                         struct error *damaged)
{
    json_t *manifest = manifest_parse(directory, kind, damaged);
    const bool foreign = manifest && !manifest_is_ours(manifest, kind);
    json_decref(manifest);
    return foreign;
}

/* --- seals ------------------------------------------------------------------------------------ */

/* The bytes of the largest file that is read; the program writes no larger file with a seal. */
enum { LARGEST = 64 << 20 };

static const char plots[] = "plots/";

const char *seal_plain(const char *name)
{
    const size_t length = strlen(plots);
    return strncmp(name, plots, length) == 0 ? name + length : name;
}

/* Tells whether a name has no slash and no dot at its beginning, so that it does not lead out of
 * the directory. */
static bool is_plain(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

int seal_folder(const struct directory *directory, const char *name)
{
    return openat(directory->fd, seal_plain(name) == name ? "." : "plots",
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int seal_hash(int folder, const char *name, char hash[SHA256_TEXT_SIZE])
{
    struct stat about;
    size_t length;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int code = fd < 0 ? errno : fstat(fd, &about) != 0 ? errno : 0;
    if (code == 0 && (!S_ISREG(about.st_mode) || about.st_size > LARGEST))
        code = EINVAL;
    char *bytes = code == 0 ? malloc((size_t)about.st_size + 1) : NULL;
    if (code == 0)
        code = bytes ? descriptor_read(fd, bytes, (size_t)about.st_size, &length) : ENOMEM;
    if (code == 0)
        sha256_text(bytes, length, hash);
    free(bytes);
    if (fd >= 0)
        close(fd);
    return code;
}

static bool lists(const json_t *manifest, const char *name, const char *hash)
{
    size_t index;
    json_t *listed;
    json_array_foreach(json_object_get(json_object_get(manifest, "sha256"), name), index, listed)
    {
        const char *text = json_string_value(listed);
        if (text && strcmp(text, hash) == 0)
            return true;
    }
    return false;
}

enum status seal_check(const struct directory *directory, const json_t *manifest, const char *name,
                       char hash[SHA256_TEXT_SIZE], struct error *error)
{
    struct stat about;
    hash[0] = '\0';
    const int folder = seal_folder(directory, name);
    if (folder < 0 && errno == ENOENT)
        return STATUS_OK;
    if (folder < 0)
        return error_set(error, STATUS_CANT_CREATE,
                         "%s/plots: is no folder of its own; move it away", directory->path);
    const bool there = fstatat(folder, seal_plain(name), &about, AT_SYMLINK_NOFOLLOW) == 0;
    const int code = there ? seal_hash(folder, seal_plain(name), hash) : 0;
    close(folder);
    if (code == ENOMEM)
        return directory_error(directory, name, STATUS_MEMORY, code, error);
    const bool gone = !there || code == ENOENT; /* `run --force` may remove it at any time */
    if (gone || (code == 0 && lists(manifest, name, hash)))
        return STATUS_OK;
    hash[0] = '\0';
    const json_t *const known = json_object_get(json_object_get(manifest, "sha256"), name);
    return error_set(error, STATUS_CANT_CREATE,
                     known ? "%s/%s: is no longer what the %s has written there; move it away, or "
                             "write elsewhere with -o DIR"
                           : "%s/%s: is there already and belongs to no %s; move it away, or write "
                             "elsewhere with -o DIR",
                     directory->path, name, directory->kind->noun);
}

static enum status remove_sealed(const struct directory *directory, const json_t *manifest,
                                 const char *name, struct error *error)
{
    char hash[SHA256_TEXT_SIZE];
    const int folder = is_plain(seal_plain(name)) ? seal_folder(directory, name) : -1;
    if (folder < 0)
        return STATUS_OK;
    int code = seal_hash(folder, seal_plain(name), hash);
    if (code == 0 && lists(manifest, name, hash) && unlinkat(folder, seal_plain(name), 0) != 0 &&
        errno != ENOENT)
        directory_error(directory, name, STATUS_CANT_CREATE, errno, error);
    else if (code == ENOMEM)
        directory_error(directory, name, STATUS_MEMORY, code, error);
    close(folder);
    return error->status;
}

/* Removes the files whose content is one that the manifest lists, but not the manifest.
 * STATUS_CANT_CREATE, STATUS_MEMORY. */
static enum status remove_all_sealed(struct directory *directory, const json_t *manifest,
                                     struct error *error)
{
    const char *name;
    json_t *unused;
    json_object_foreach(json_object_get(manifest, "sha256"), name, unused)
    {
        if (remove_sealed(directory, manifest, name, error))
            return error->status;
    }
    unlinkat(directory->fd, "plots", AT_REMOVEDIR); /* succeeds only if the folder is empty */
    return STATUS_OK;
}

/* --- the files that are its own --------------------------------------------------------------- */

json_t *directory_manifest(struct directory *directory, struct error *error)
{
    return read_manifest(directory, directory->kind, error);
}

/* Returns the file names that a manifest lists as the keys of an object, in which they are found
 * fast: a study may have thousands. */
static json_t *listed_names(const json_t *manifest)
{
    json_t *names = json_object();
    size_t index;
    json_t *file;
    json_array_foreach(json_object_get(manifest, "files"), index, file)
    {
        if (json_is_string(file))
            document_set(&names, json_string_value(file), json_true());
    }
    return names;
}

static enum status check_name(const struct directory *directory, const json_t *listed,
                              const char *name, struct error *error)
{
    struct stat about;
    const char *slash = strrchr(name, '/');
    const bool folder = slash && slash[1] == '\0' && slash - name < OWN_NAME_SIZE;
    char plain[OWN_NAME_SIZE];
    snprintf(plain, sizeof plain, "%s", name);
    if (folder) /* with the slash, a link would be followed */
        plain[slash - name] = '\0';
    if (fstatat(directory->fd, plain, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return STATUS_OK;
    if (strcmp(name, directory->kind->manifest) != 0 && !json_object_get(listed, name))
        return error_set(error, STATUS_CANT_CREATE,
                         "%s/%s: is there already and belongs to no %s; move it away, or write "
                         "elsewhere with -o DIR",
                         directory->path, name, directory->kind->noun);
    if (folder ? S_ISDIR(about.st_mode) : S_ISREG(about.st_mode))
        return STATUS_OK;
    return error_set(error, STATUS_CANT_CREATE, "%s/%s: is no %s; move it away", directory->path,
                     plain, folder ? "folder of its own" : "regular file");
}

static enum status check_names(const struct directory *directory, const json_t *manifest,
                               const char *const *names, size_t count, struct error *error)
{
    json_t *listed = listed_names(manifest);
    if (!listed)
        return error_memory(error);
    for (size_t i = 0; i < count; i++)
        check_name(directory, listed, names[i], error);
    json_decref(listed);
    return error->status;
}

enum status directory_check(struct directory *directory, const char *const *names, size_t count,
                            struct error *error)
{
    json_t *manifest = directory_manifest(directory, error);
    if (!error->status)
        check_names(directory, manifest, names, count, error);
    json_decref(manifest);
    return error->status;
}

/* Removes a file if it is a regular one; anything else stays. Returns 0, or errno. */
static int remove_file(const struct directory *directory, const char *name)
{
    struct stat about;
    if (fstatat(directory->fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : errno;
    return !S_ISREG(about.st_mode) || unlinkat(directory->fd, name, 0) == 0 || errno == ENOENT
               ? 0
               : errno;
}

static enum status remove_listed(struct directory *directory, const json_t *manifest,
                                 struct error *error)
{
    size_t index;
    json_t *file;
    json_array_foreach(json_object_get(manifest, "files"), index, file)
    {
        const char *name = json_string_value(file);
        if (!name || !is_plain(name) || strcmp(name, directory->kind->lock) == 0 ||
            strcmp(name, directory->kind->manifest) == 0)
            continue;
        const int code = remove_file(directory, name);
        if (code)
            return directory_error(directory, name, STATUS_CANT_CREATE, code, error);
    }
    return STATUS_OK;
}

static enum status remove_manifest(struct directory *directory, const char *name,
                                   struct error *error)
{
    const int code = remove_file(directory, name);
    return code ? directory_error(directory, name, STATUS_CANT_CREATE, code, error) : STATUS_OK;
}

/* Removes the manifest, when the disk has the removal of the other files: otherwise a loss of power
 * could leave files that no manifest lists, and which the program would never replace. */
static enum status forget_content(struct directory *directory, struct error *error)
{
    const int code = directory_flush_names(directory->fd);
    if (code)
        return directory_error(directory, directory->kind->manifest, STATUS_CANT_CREATE, code,
                               error);
    return remove_manifest(directory, directory->kind->manifest, error);
}

/* Removes the files of the report that is in the same directory, and its manifest. A report.json
 * that another program wrote stays. */
static enum status remove_report(struct directory *directory, struct error *error)
{
    struct error foreign = { 0 };
    json_t *report = read_manifest(directory, &directory_report, &foreign);
    workplace_clean(directory, &directory_report);
    if (report && remove_all_sealed(directory, report, error) == STATUS_OK)
        remove_manifest(directory, directory_report.manifest, error);
    json_decref(report);
    return foreign.status == STATUS_MEMORY ? error_pass(error, &foreign) : error->status;
}

enum status manifest_write(struct directory *directory, const json_t *document, struct error *error)
{
    char *text =
        document ? document_print(document, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    if (!text)
        return error_memory(error);
    const enum status status =
        directory_replace_file(directory, directory->kind->manifest, text, strlen(text), error);
    free(text);
    return status;
}

/* Changes run.json to that of a run which has begun and written nothing, before the files of the
 * run are removed: if the process is killed meanwhile, the remaining files must not look like a
 * finished run. */
static enum status forget_end(struct directory *directory, json_t *manifest, struct error *error)
{
    if (directory->kind != &directory_run)
        return STATUS_OK;
    json_t *const begun =
        DOCUMENT({ "state", json_string("running") }, { "verdict", json_string("running") },
                 { "exit_status", json_integer(-1) }, { "checkpointed", json_boolean(false) });
    const bool whole = begun && json_object_update(manifest, begun) == 0;
    json_decref(begun);
    return whole ? manifest_write(directory, manifest, error) : error_memory(error);
}

/* The seconds to wait for a report that is just putting its files into the directory. A report that
 * comes later waits in turn, and then sees that the run is gone. */
static const double report_patience = 10.0;

static enum status remove_content(struct directory *directory, const json_t *manifest, bool forget,
                                  struct error *error)
{
    int lock;
    if (lock_take(directory->fd, directory->path, directory_report.files_lock, LOCK_ALONE,
                  report_patience, &lock, error))
        return error->status;
    if (remove_report(directory, error) == STATUS_OK &&
        remove_listed(directory, manifest, error) == STATUS_OK && forget)
        forget_content(directory, error);
    lock_release(directory->fd, directory_report.files_lock, lock);
    return error->status;
}

enum status directory_clear(struct directory *directory, struct error *error)
{
    json_t *manifest = directory_manifest(directory, error);
    if (manifest)
        remove_content(directory, manifest, false, error);
    json_decref(manifest);
    return error->status;
}

enum status directory_claim(struct directory *directory, const char *const *names, size_t count,
                            struct error *error)
{
    json_t *manifest = directory_manifest(directory, error);
    if (!error->status)
        check_names(directory, manifest, names, count, error);
    if (manifest && !error->status && forget_end(directory, manifest, error) == STATUS_OK)
        remove_content(directory, manifest, true, error);
    json_decref(manifest);
    return error->status;
}

enum status directory_remove(struct directory *directory,
                             bool (*which)(const void *context, const char *name),
                             const void *context, struct error *error)
{
    struct error damaged = { 0 };
    json_t *manifest = directory_manifest(directory, &damaged);
    if (!manifest)
        return damaged.status == STATUS_MEMORY ? error_pass(error, &damaged) : STATUS_OK;
    size_t index;
    json_t *file;
    json_array_foreach(json_object_get(manifest, "files"), index, file)
    {
        const char *name = json_string_value(file);
        const int code =
            name && is_plain(name) && which(context, name) ? remove_file(directory, name) : 0;
        if (code) {
            directory_error(directory, name, STATUS_IO, code, error);
            break;
        }
    }
    json_decref(manifest);
    return error->status;
}

/* Returns an array of `names` and of those names in the list of the manifest `before` whose files
 * still exist. */
static json_t *files_json(const struct directory *directory, const json_t *before,
                          const char *const *names, size_t count)
{
    json_t *files = json_array(), *seen = json_object();
    for (size_t i = 0; i < count; i++) {
        document_append(&files, json_string(names[i]));
        document_set(&seen, names[i], json_true());
    }
    size_t index;
    json_t *file;
    json_array_foreach(json_object_get(before, "files"), index, file)
    {
        const char *name = json_string_value(file);
        if (name && !json_object_get(seen, name) && directory_has(directory, name))
            document_append(&files, json_string(name));
    }
    if (!seen)
        document_append(&files, NULL);
    json_decref(seen);
    return files;
}

enum status directory_note(struct directory *directory, json_t *document, const char *const *names,
                           size_t count, struct error *error)
{
    json_t *before = directory_manifest(directory, error);
    json_t *program =
        DOCUMENT({ "name", json_string(program_name) }, { "version", json_string(build_version()) },
                 { "commit", json_string(build_commit()) });
    document_set(&document, "program", program);
    document_set(&document, "format", json_string(directory->kind->format));
    document_set(&document, "files", files_json(directory, before, names, count));
    if (!error->status)
        manifest_write(directory, document, error);
    json_decref(before);
    json_decref(document);
    return error->status;
}
