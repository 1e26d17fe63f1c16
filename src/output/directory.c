#include "output/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/build.h"
#include "base/descriptor.h"
#include "base/document.h"
#include "output/lock.h"

const struct directory_kind directory_run = { "run",        "run.json", "run.lock",
                                              "orrery run", ".tmp",     &directory_study };
const struct directory_kind directory_study = { "study",        "study.json",  "study.lock",
                                                "orrery study", ".orrery.tmp", &directory_run };
const struct directory_kind directory_report = { "report",        "report.json", "report.lock",
                                                 "orrery report", ".orrery.tmp", NULL };
const struct directory_kind directory_bench = { "benchmark",    "bench.json",  "bench.lock",
                                                "orrery bench", ".orrery.tmp", NULL };
const struct directory_kind directory_bench_gpu = { "benchmark",      "bench-gpu.json",
                                                    "bench-gpu.lock", "orrery bench --gpu",
                                                    ".orrery.tmp",    NULL };

static const char program_name[] = "orrery";

enum { OWN_NAME_SIZE = 512 };

/* Held while the files that several processes share are written. */
static const char files_lock_name[] = "study.csv.lock";

/* A process that was killed lives on while the disk takes what it wrote last: so many seconds are
 * waited for its lock before it counts as held. For shared files their number decides. */
static const double patience = 3.0, files_patience = 600.0;

struct directory {
    const struct directory_kind *kind;
    char *path;
    int fd;
    int lock, files_lock; /* -1: not locked */
    bool created;
};

enum status directory_error(const struct directory *directory, const char *name, enum status status,
                            int code, struct error *error)
{
    return error_set(error, code == ENOMEM ? STATUS_MEMORY : status, "%s/%s: %s", directory->path,
                     name, strerror(code));
}

bool directory_has(const struct directory *directory, const char *name)
{
    struct stat about;
    return fstatat(directory->fd, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
}

enum status directory_look(const struct directory *directory, const char *name,
                           struct directory_entry *entry, struct error *error)
{
    struct stat about;
    if (fstatat(directory->fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return directory_error(directory, name, STATUS_IO, errno, error);
    if (!S_ISREG(about.st_mode))
        return error_set(error, STATUS_IO, "%s/%s: is not a regular file", directory->path, name);
    *entry = (struct directory_entry){ (uint64_t)about.st_size, about.st_dev, about.st_ino };
    return STATUS_OK;
}

bool directory_take(struct directory *directory, const char *name)
{
    return unlinkat(directory->fd, name, 0) == 0;
}

enum status directory_lock_files(struct directory *directory, struct error *error)
{
    return lock_take(directory->fd, directory->path, files_lock_name, LOCK_ALONE, files_patience,
                     &directory->files_lock, error);
}

void directory_unlock_files(struct directory *directory)
{
    if (directory->files_lock >= 0)
        lock_release(directory->fd, files_lock_name, directory->files_lock);
    directory->files_lock = -1;
}

/* --- the manifest ------------------------------------------------------------------------------
 */

bool directory_names_program(const json_t *document)
{
    const char *program =
        json_string_value(json_object_get(json_object_get(document, "program"), "name"));
    return program && strcmp(program, program_name) == 0;
}

/* Only what Orrery wrote is believed: program, format, and a list of files. */
static bool is_ours(const json_t *manifest, const struct directory_kind *kind)
{
    const char *format = json_string_value(json_object_get(manifest, "format"));
    return directory_names_program(manifest) && format && strcmp(format, kind->format) == 0 &&
           json_is_array(json_object_get(manifest, "files"));
}

/* The manifest of that kind as JSON, whoever wrote it; NULL with an error where it is none. */
static json_t *parse_manifest(const struct directory *directory, const struct directory_kind *kind,
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

static enum status not_ours(const struct directory *directory, const struct directory_kind *kind,
                            struct error *error)
{
    return error_set(error, STATUS_CANT_CREATE,
                     "%s/%s: was not written by Orrery as the list of the files of a %s, so that "
                     "nothing here is replaced or removed; move it away, or write elsewhere with "
                     "-o DIR",
                     directory->path, kind->manifest, kind->noun);
}

/* The manifest of that kind, or NULL: with an error where it cannot be read or is not Orrery's,
 * without where there is none. */
static json_t *read_manifest(const struct directory *directory, const struct directory_kind *kind,
                             struct error *error)
{
    json_t *manifest =
        directory_has(directory, kind->manifest) ? parse_manifest(directory, kind, error) : NULL;
    if (!manifest || is_ours(manifest, kind))
        return manifest;
    json_decref(manifest);
    not_ours(directory, kind, error);
    return NULL;
}

/* Is there a manifest of that kind which another program wrote? Whatever else keeps it from being
 * read goes to *damaged. */
static bool is_foreign(const struct directory *directory, const struct directory_kind *kind,
                       struct error *damaged)
{
    json_t *manifest = parse_manifest(directory, kind, damaged);
    const bool foreign = manifest && !is_ours(manifest, kind);
    json_decref(manifest);
    return foreign;
}

/* A restart replaces a manifest that is damaged, and no other that it has not written. */
static enum status check_resumable(const struct directory *directory, struct error *error)
{
    const struct directory_kind *kind = directory->kind;
    struct error damaged = { 0 };
    if (directory_replaceable(directory, kind->manifest, error))
        return error->status;
    const bool foreign = is_foreign(directory, kind, &damaged);
    if (damaged.status == STATUS_MEMORY)
        return error_set(error, STATUS_MEMORY, "%s", damaged.text);
    return foreign ? not_ours(directory, kind, error) : STATUS_OK;
}

/* --- opening -----------------------------------------------------------------------------------
 */

/* A name of ours: one level, or one below plots/; never a way out of the directory. */
static bool plain_name(const char *name)
{
    if (strncmp(name, "plots/", 6) == 0)
        name += 6;
    return name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

static enum status holds_one_already(const struct directory *directory, struct error *error)
{
    struct error damaged = { 0 };
    if (is_foreign(directory, directory->kind, &damaged))
        return error_set(error, STATUS_CANT_CREATE,
                         "%s: holds the %s of another program; -o DIR writes elsewhere",
                         directory->path, directory->kind->manifest);
    return error_set(error, STATUS_CANT_CREATE,
                     "%s: holds a %s already; --restart continues it, --force replaces it, "
                     "-o DIR writes elsewhere",
                     directory->path, directory->kind->noun);
}

static bool creates(enum directory_mode mode)
{
    return mode == DIRECTORY_NEW || mode == DIRECTORY_FORCE || mode == DIRECTORY_SHARED;
}

/* Sees to the disk what names the folder holds; 0, or errno. */
static int flush_names(int folder)
{
    /* EINVAL: a file system whose directories cannot be waited for. */
    return fsync(folder) == 0 || errno == EINVAL ? 0 : errno;
}

/* A loss of power must not take a new directory with all that is in it, so its own name goes to the
 * disk at once. Where its parent cannot be read, nobody can wait for that. */
static enum status keep_name(const struct directory *directory, enum status status,
                             struct error *error)
{
    const int parent = openat(directory->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0 && errno == EACCES)
        return STATUS_OK;
    const int code = parent < 0 ? errno : flush_names(parent);
    if (parent >= 0)
        close(parent);
    return code ? error_system(error, status, code, directory->path) : STATUS_OK;
}

/* Makes the directory if need be, and opens it. A link in its place is somebody else's choice of
 * where to write; with a slash behind its name it is the user's own. */
static enum status find_place(struct directory *directory, enum directory_mode mode,
                              struct error *error)
{
    const bool any = mode == DIRECTORY_ANY;
    const enum status status = creates(mode) || any ? STATUS_CANT_CREATE : STATUS_NO_INPUT;
    directory->created = creates(mode) && mkdir(directory->path, 0777) == 0;
    if (creates(mode) && !directory->created && errno != EEXIST)
        return error_system(error, status, errno, directory->path);
    directory->fd =
        open(directory->path, O_RDONLY | O_DIRECTORY | (any ? 0 : O_NOFOLLOW) | O_CLOEXEC);
    struct stat about;
    if (directory->fd < 0 && lstat(directory->path, &about) == 0 && S_ISLNK(about.st_mode))
        return error_set(error, status, "%s: is a link; write %s/ to follow it", directory->path,
                         directory->path);
    if (directory->fd < 0)
        return error_system(error, status, errno, directory->path);
    return directory->created ? keep_name(directory, status, error) : STATUS_OK;
}

/* Another program's study.json is in no run's way; a run.json would be taken for that of a run by
 * whoever looks at the study. */
static bool holds_rival(const struct directory *directory)
{
    const struct directory_kind *rival = directory->kind->rival;
    if (!rival || !directory_has(directory, rival->manifest))
        return false;
    struct error ignored = { 0 };
    json_t *manifest = parse_manifest(directory, rival, &ignored);
    const bool holds = rival == &directory_run || is_ours(manifest, rival);
    json_decref(manifest);
    return holds;
}

/* What is there already may forbid what is wanted. */
static enum status check_content(const struct directory *directory, enum directory_mode mode,
                                 struct error *error)
{
    const struct directory_kind *kind = directory->kind;
    const bool holds_one = directory_has(directory, kind->manifest);
    if (!creates(mode) && !holds_one)
        return error_set(error, STATUS_NO_INPUT, "%s: holds no %s (no %s)", directory->path,
                         kind->noun, kind->manifest);
    if (mode == DIRECTORY_NEW && holds_one)
        return holds_one_already(directory, error);
    if (creates(mode) && holds_rival(directory))
        return error_set(error, STATUS_CANT_CREATE, "%s: holds a %s (%s); -o DIR writes elsewhere",
                         directory->path, kind->rival->noun, kind->rival->manifest);
    return mode == DIRECTORY_RESUME ? check_resumable(directory, error) : STATUS_OK;
}

static enum status enter(struct directory *directory, enum directory_mode mode, struct error *error)
{
    if (find_place(directory, mode, error) || mode == DIRECTORY_ANY ||
        check_content(directory, mode, error) || mode == DIRECTORY_READ)
        return error->status;
    const enum lock_kind lock = mode == DIRECTORY_SHARED ? LOCK_SHARED : LOCK_ALONE;
    if (lock_take(directory->fd, directory->path, directory->kind->lock, lock, patience,
                  &directory->lock, error))
        return error->status;
    /* Another process may have begun and ended one while this one waited for its turn. */
    return check_content(directory, mode, error);
}

enum status directory_open_kind(const char *path, const struct directory_kind *kind,
                                enum directory_mode mode, struct directory **result,
                                struct error *error)
{
    *result = NULL;
    struct directory *directory = calloc(1, sizeof *directory);
    if (!directory)
        return error_set(error, STATUS_MEMORY, "out of memory");
    directory->kind = kind;
    directory->fd = directory->lock = directory->files_lock = -1;
    directory->path = strdup(path);
    const enum status status = directory->path ? enter(directory, mode, error)
                                               : error_set(error, STATUS_MEMORY, "out of memory");
    if (status)
        directory_close(directory);
    else
        *result = directory;
    return status;
}

enum status directory_open(const char *path, enum directory_mode mode, struct directory **result,
                           struct error *error)
{
    return directory_open_kind(path, &directory_run, mode, result, error);
}

void directory_close(struct directory *directory)
{
    if (!directory)
        return;
    directory_unlock_files(directory);
    if (directory->lock >= 0)
        lock_release(directory->fd, directory->kind->lock, directory->lock);
    if (directory->fd >= 0)
        close(directory->fd);
    if (directory->created)
        rmdir(directory->path); /* goes only if nothing was written */
    free(directory->path);
    free(directory);
}

const char *directory_path(const struct directory *directory)
{
    return directory->path;
}

/* --- the files that are its own ----------------------------------------------------------------
 */

json_t *directory_manifest(struct directory *directory, struct error *error)
{
    return read_manifest(directory, directory->kind, error);
}

/* The names that a manifest lists, as the keys of an object: a study may have thousands. */
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
    if (folder) /* lstat() of "name/" would follow a link */
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
        return error_set(error, STATUS_MEMORY, "out of memory");
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

/* Unlinks a file if it is a regular one. */
static int remove_regular(int folder, const char *name)
{
    struct stat about;
    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : errno;
    return !S_ISREG(about.st_mode) || unlinkat(folder, name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

/* The same also below plots/, but never through a link in the place of plots. */
static int remove_file(const struct directory *directory, const char *name)
{
    const char *slash = strchr(name, '/');
    if (!slash)
        return remove_regular(directory->fd, name);
    const int plots =
        openat(directory->fd, "plots", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (plots < 0)
        return 0; /* not ours, or gone */
    const int code = remove_regular(plots, slash + 1);
    close(plots);
    return code;
}

/* Removes the files that a manifest names, but not the manifest itself. */
static enum status remove_listed(struct directory *directory, const json_t *manifest,
                                 struct error *error)
{
    size_t index;
    json_t *file;
    json_array_foreach(json_object_get(manifest, "files"), index, file)
    {
        const char *name = json_string_value(file);
        if (!name || !plain_name(name) || strcmp(name, directory->kind->lock) == 0 ||
            strcmp(name, directory->kind->manifest) == 0)
            continue;
        const int code = remove_file(directory, name);
        if (code)
            return directory_error(directory, name, STATUS_CANT_CREATE, code, error);
    }
    unlinkat(directory->fd, "plots", AT_REMOVEDIR); /* only if that has become empty */
    return STATUS_OK;
}

static enum status remove_manifest(struct directory *directory, const char *name,
                                   struct error *error)
{
    const int code = remove_file(directory, name);
    return code ? directory_error(directory, name, STATUS_CANT_CREATE, code, error) : STATUS_OK;
}

/* The manifest goes last, also on the disk: else a loss of power could leave files that none lists,
 * and that nobody would dare to replace. */
static enum status forget_content(struct directory *directory, struct error *error)
{
    const int code = flush_names(directory->fd);
    if (code)
        return directory_error(directory, directory->kind->manifest, STATUS_CANT_CREATE, code,
                               error);
    return remove_manifest(directory, directory->kind->manifest, error);
}

/* A report goes with what it reports on; another program's report.json is none of ours. */
static enum status remove_report(struct directory *directory, struct error *error)
{
    struct error foreign = { 0 };
    json_t *report = read_manifest(directory, &directory_report, &foreign);
    if (report && remove_listed(directory, report, error) == STATUS_OK)
        remove_manifest(directory, directory_report.manifest, error);
    json_decref(report);
    return foreign.status == STATUS_MEMORY ? error_set(error, STATUS_MEMORY, "%s", foreign.text)
                                           : error->status;
}

static enum status remove_content(struct directory *directory, const json_t *manifest,
                                  struct error *error)
{
    return remove_report(directory, error) ? error->status
                                           : remove_listed(directory, manifest, error);
}

enum status directory_clear(struct directory *directory, struct error *error)
{
    json_t *manifest = directory_manifest(directory, error);
    if (manifest)
        remove_content(directory, manifest, error);
    json_decref(manifest);
    return error->status;
}

enum status directory_claim(struct directory *directory, const char *const *names, size_t count,
                            struct error *error)
{
    json_t *manifest = directory_manifest(directory, error);
    if (!error->status)
        check_names(directory, manifest, names, count, error);
    if (manifest && !error->status && remove_content(directory, manifest, error) == STATUS_OK)
        forget_content(directory, error);
    json_decref(manifest);
    return error->status;
}

enum status directory_remove(struct directory *directory,
                             bool (*which)(const void *context, const char *name),
                             const void *context, struct error *error)
{
    json_t *manifest = directory_manifest(directory, error);
    if (!manifest)
        return error->status;
    size_t index;
    json_t *file;
    json_array_foreach(json_object_get(manifest, "files"), index, file)
    {
        const char *name = json_string_value(file);
        const int code =
            name && plain_name(name) && which(context, name) ? remove_file(directory, name) : 0;
        if (code) {
            directory_error(directory, name, STATUS_IO, code, error);
            break;
        }
    }
    json_decref(manifest);
    return error->status;
}

/* `names`, and those of the manifest before that are there still. */
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
    json_t *program = json_pack("{s:s, s:s, s:s}", "name", program_name, "version", build_version(),
                                "commit", build_commit());
    document_set(&document, "program", program);
    document_set(&document, "format", json_string(directory->kind->format));
    document_set(&document, "files", files_json(directory, before, names, count));
    char *text =
        document ? document_print(document, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    if (!text)
        error_set(error, STATUS_MEMORY, "out of memory");
    else if (!error->status)
        directory_replace_file(directory, directory->kind->manifest, text, strlen(text), error);
    free(text);
    json_decref(before);
    json_decref(document);
    return error->status;
}

/* --- files -------------------------------------------------------------------------------------
 */

/* Opens a file that must be a regular one: no link, no device, and no pipe that would block. */
static int open_regular(const struct directory *directory, const char *name, int flags,
                        enum status status, struct error *error)
{
    const int fd = openat(directory->fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat about;
    if (fd < 0) {
        directory_error(directory, name, status, errno, error);
        return -1;
    }
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
        return fd;
    close(fd);
    error_set(error, status, "%s/%s: is not a regular file", directory->path, name);
    return -1;
}

/* At the end, wherever that is: a file that somebody cuts meanwhile stays too short, and shows. */
static const int growing = O_RDWR | O_APPEND;

int directory_create_file(struct directory *directory, const char *name, struct error *error)
{
    const int fd =
        openat(directory->fd, name, growing | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        directory_error(directory, name, STATUS_CANT_CREATE, errno, error);
    return fd;
}

int directory_open_file(struct directory *directory, const char *name, struct error *error)
{
    return open_regular(directory, name, growing, STATUS_IO, error);
}

/* --- files that are replaced as a whole --------------------------------------------------------
 */

enum { TEMPORARY_SIZE = 256, TEMPORARIES = 1000 };

/* The first one, and those for processes that write the same file at the same time. A long name is
 * cut, so that the system takes it. */
static const char *temporary_name(const struct directory *directory, const char *name,
                                  unsigned number, char buffer[TEMPORARY_SIZE])
{
    if (number == 0)
        snprintf(buffer, TEMPORARY_SIZE, "%.200s%s", name, directory->kind->temporary);
    else
        snprintf(buffer, TEMPORARY_SIZE, "%.200s.orrery-%u.tmp", name, number);
    return buffer;
}

static const char *kind_of(mode_t mode)
{
    static const struct {
        mode_t type;
        const char *name;
    } kinds[] = { { S_IFLNK, "a link" },   { S_IFDIR, "a folder" }, { S_IFCHR, "a device" },
                  { S_IFBLK, "a device" }, { S_IFIFO, "a pipe" },   { S_IFSOCK, "a socket" } };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if ((mode & S_IFMT) == kinds[i].type)
            return kinds[i].name;
    return "something else";
}

enum status directory_replaceable(const struct directory *directory, const char *name,
                                  struct error *error)
{
    struct stat about;
    if (fstatat(directory->fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(about.st_mode))
        return STATUS_OK;
    return error_set(error, STATUS_CANT_CREATE,
                     "%s/%s: is %s; only a regular file is ever replaced", directory->path, name,
                     kind_of(about.st_mode));
}

/* The temporary name of the open file; NULL where another process has taken it away. */
static const char *find_temporary(const struct directory *directory, const char *name, int fd,
                                  char buffer[TEMPORARY_SIZE])
{
    for (unsigned number = 0; number < TEMPORARIES; number++)
        if (lock_is_named(directory->fd, temporary_name(directory, name, number, buffer), fd))
            return buffer;
    return NULL;
}

/* A process that was killed leaves its temporary file behind; that of a living one stays. */
int directory_replace_begin(struct directory *directory, const char *name, struct error *error)
{
    if (directory_replaceable(directory, name, error))
        return -1;
    for (unsigned number = 0; number < TEMPORARIES; number++) {
        char buffer[TEMPORARY_SIZE];
        const char *temporary = temporary_name(directory, name, number, buffer);
        if (directory_has(directory, temporary) && !lock_remove_litter(directory->fd, temporary))
            continue;
        const int fd = openat(directory->fd, temporary,
                              O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0 && lock_temporary(directory->fd, temporary, fd))
            return fd;
        if (fd < 0 && errno != EEXIST) {
            directory_error(directory, temporary, STATUS_CANT_CREATE, errno, error);
            return -1;
        }
        if (fd >= 0)
            close(fd);
    }
    directory_error(directory, name, STATUS_CANT_CREATE, EEXIST, error);
    return -1;
}

/* Sees the written bytes to the disk and closes; 0, or errno. */
static int close_on_disk(int fd)
{
    int code = fsync(fd) == 0 ? 0 : errno;
    if (close(fd) != 0 && code == 0)
        code = errno;
    return code;
}

/* Gives the file a second name, so that it keeps the first one until another file takes that. Where
 * there are no hard links the second name is, for a moment, all that it has. */
static int keep_as(const struct directory *directory, const char *name, const char *previous)
{
    struct stat about;
    if (fstatat(directory->fd, previous, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISREG(about.st_mode))
        return EEXIST;
    unlinkat(directory->fd, previous, 0);
    if (linkat(directory->fd, name, directory->fd, previous, 0) == 0)
        return 0;
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    return renameat(directory->fd, name, directory->fd, previous) == 0 ? 0 : errno;
}

/* The second descriptor keeps the temporary file ours until it has its name. */
enum status directory_replace_commit(struct directory *directory, const char *name,
                                     const char *previous, int fd, struct error *error)
{
    char buffer[TEMPORARY_SIZE];
    const char *temporary = find_temporary(directory, name, fd, buffer);
    const int held = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    int code = held < 0 ? errno : 0;
    const int closed = close_on_disk(fd);
    code = code ? code : closed;
    if (code == 0 && !temporary)
        code = ENOENT;
    if (code == 0 && previous && directory_has(directory, name))
        code = keep_as(directory, name, previous);
    if (code == 0 && renameat(directory->fd, temporary, directory->fd, name) != 0)
        code = errno;
    if (code == 0)
        code = flush_names(directory->fd);
    if (code != 0 && temporary)
        unlinkat(directory->fd, temporary, 0);
    if (held >= 0)
        close(held);
    return code ? directory_error(directory, name, STATUS_IO, code, error) : STATUS_OK;
}

void directory_replace_abandon(struct directory *directory, const char *name, int fd)
{
    char buffer[TEMPORARY_SIZE];
    const char *temporary = find_temporary(directory, name, fd, buffer);
    if (temporary)
        unlinkat(directory->fd, temporary, 0);
    close(fd);
}

enum status directory_replace_file(struct directory *directory, const char *name, const void *bytes,
                                   size_t length, struct error *error)
{
    const int fd = directory_replace_begin(directory, name, error);
    if (fd < 0)
        return error->status;
    const int code = descriptor_write(fd, bytes, length);
    if (code == 0)
        return directory_replace_commit(directory, name, NULL, fd, error);
    directory_replace_abandon(directory, name, fd);
    return directory_error(directory, name, STATUS_IO, code, error);
}

int directory_open_input(const struct directory *directory, const char *name, uint64_t *length,
                         struct error *error)
{
    struct stat about;
    const int fd = open_regular(directory, name, O_RDONLY, STATUS_NO_INPUT, error);
    if (fd < 0)
        return -1;
    if (fstat(fd, &about) == 0) {
        *length = (uint64_t)about.st_size;
        return fd;
    }
    directory_error(directory, name, STATUS_NO_INPUT, errno, error);
    close(fd);
    return -1;
}

char *directory_read_file(const struct directory *directory, const char *name, size_t *length,
                          struct error *error)
{
    uint64_t size;
    const int fd = directory_open_input(directory, name, &size, error);
    if (fd < 0)
        return NULL;
    char *bytes = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    const int code = bytes ? descriptor_read(fd, bytes, (size_t)size, length) : ENOMEM;
    close(fd);
    if (code != 0) {
        free(bytes);
        directory_error(directory, name, STATUS_IO, code, error);
        return NULL;
    }
    bytes[*length] = '\0';
    return bytes;
}

double directory_free_bytes(const struct directory *directory)
{
    struct statvfs about;
    if (fstatvfs(directory->fd, &about) != 0)
        return 0.0;
    return (double)about.f_bavail * (double)about.f_frsize;
}
