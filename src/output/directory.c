#include "output/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/document.h"

static const char manifest_name[] = "run.json";
static const char lock_name[] = "run.lock";

struct directory {
    char *path;
    int fd;
    int lock; /* -1: not locked */
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

bool directory_take(struct directory *directory, const char *name)
{
    return unlinkat(directory->fd, name, 0) == 0;
}

/* --- the lock ----------------------------------------------------------------------------------
 */

/* Names the holder by the text that it wrote into the file. */
static enum status locked_by_another(struct directory *directory, int fd, struct error *error)
{
    char owner[160] = "";
    if (pread(fd, owner, sizeof owner - 1, 0) <= 0)
        snprintf(owner, sizeof owner, "another process");
    return error_set(error, STATUS_CANT_CREATE, "%s: in use by %s", directory->path, owner);
}

/* Is the open file still the one of that name? Its last holder may have removed it meanwhile. */
static bool still_there(const struct directory *directory, int fd, const char *name)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 &&
           fstatat(directory->fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* A process that was killed lives on while the disk takes what it wrote last: so long is waited for
 * its lock before it counts as held, in steps of a hundredth of a second. */
enum { LOCK_TRIES = 300 };

static bool wait_for_lock(int fd)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK || i == LOCK_TRIES)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* The kernel drops the lock with the process that holds it, so a dead one never stands in the way.
 */
static enum status take_lock(struct directory *directory, struct error *error)
{
    for (;;) {
        const int fd = openat(directory->fd, lock_name,
                              O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (fd < 0)
            return directory_error(directory, lock_name, STATUS_CANT_CREATE, errno, error);
        if (!wait_for_lock(fd)) {
            if (errno == EWOULDBLOCK)
                locked_by_another(directory, fd, error);
            else
                directory_error(directory, lock_name, STATUS_CANT_CREATE, errno, error);
            close(fd);
            return error->status;
        }
        if (still_there(directory, fd, lock_name)) {
            directory->lock = fd;
            return STATUS_OK;
        }
        close(fd);
    }
}

static enum status lock(struct directory *directory, struct error *error)
{
    if (take_lock(directory, error))
        return error->status;
    const int fd = directory->lock;
    char host[64] = "?", owner[128];
    gethostname(host, sizeof host - 1);
    const int length = snprintf(owner, sizeof owner, "process %ld on %s", (long)getpid(), host);
    const int code = ftruncate(fd, 0) == 0 ? directory_write_all(fd, owner, (size_t)length) : errno;
    return code ? directory_error(directory, lock_name, STATUS_IO, code, error) : STATUS_OK;
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

static enum status holds_run_already(const struct directory *directory, struct error *error)
{
    return error_set(error, STATUS_CANT_CREATE,
                     "%s: holds a run already; --restart continues it, --force replaces it, "
                     "-o DIR writes elsewhere",
                     directory->path);
}

/* Makes the directory if need be, and opens it. A link in its place is somebody else's choice of
 * where to write; with a slash behind its name it is the user's own. */
static enum status find_place(struct directory *directory, enum directory_mode mode,
                              struct error *error)
{
    const bool any = mode == DIRECTORY_ANY;
    const bool creates = mode == DIRECTORY_NEW || mode == DIRECTORY_FORCE;
    const enum status status = creates || any ? STATUS_CANT_CREATE : STATUS_NO_INPUT;
    directory->created = creates && mkdir(directory->path, 0777) == 0;
    if (creates && !directory->created && errno != EEXIST)
        return error_system(error, status, errno, directory->path);
    directory->fd =
        open(directory->path, O_RDONLY | O_DIRECTORY | (any ? 0 : O_NOFOLLOW) | O_CLOEXEC);
    struct stat about;
    if (directory->fd < 0 && lstat(directory->path, &about) == 0 && S_ISLNK(about.st_mode))
        return error_set(error, status, "%s: is a link; write %s/ to follow it", directory->path,
                         directory->path);
    return directory->fd < 0 ? error_system(error, status, errno, directory->path) : STATUS_OK;
}

static enum status enter(struct directory *directory, enum directory_mode mode, struct error *error)
{
    const bool creates = mode == DIRECTORY_NEW || mode == DIRECTORY_FORCE;
    if (find_place(directory, mode, error) || mode == DIRECTORY_ANY)
        return error->status;
    const bool holds_run = directory_has(directory, manifest_name);
    if (!creates && !holds_run)
        return error_set(error, STATUS_NO_INPUT, "%s: holds no run (no %s)", directory->path,
                         manifest_name);
    if (mode == DIRECTORY_READ)
        return STATUS_OK;
    if (mode == DIRECTORY_NEW && holds_run)
        return holds_run_already(directory, error);
    if (lock(directory, error))
        return error->status;
    /* Another process may have begun and ended one while this one waited for its turn. */
    if (mode == DIRECTORY_NEW && directory_has(directory, manifest_name))
        return holds_run_already(directory, error);
    return STATUS_OK;
}

enum status directory_open(const char *path, enum directory_mode mode, struct directory **result,
                           struct error *error)
{
    *result = NULL;
    struct directory *directory = calloc(1, sizeof *directory);
    if (!directory)
        return error_set(error, STATUS_MEMORY, "out of memory");
    directory->fd = directory->lock = -1;
    directory->path = strdup(path);
    const enum status status = directory->path ? enter(directory, mode, error)
                                               : error_set(error, STATUS_MEMORY, "out of memory");
    if (status)
        directory_close(directory);
    else
        *result = directory;
    return status;
}

void directory_close(struct directory *directory)
{
    if (!directory)
        return;
    if (directory->lock >= 0) {
        unlinkat(directory->fd, lock_name, 0);
        close(directory->lock);
    }
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

/* --- the files of a run ------------------------------------------------------------------------
 */

/* The manifest that is there, or NULL: with an error where it cannot be read, without where there
 * is none. */
static json_t *read_manifest(const struct directory *directory, struct error *error)
{
    if (!directory_has(directory, manifest_name))
        return NULL;
    size_t length;
    char *bytes = directory_read_file(directory, manifest_name, &length, error);
    if (!bytes)
        return NULL;
    bool no_memory;
    json_t *manifest = document_parse(bytes, length, &no_memory);
    free(bytes);
    if (no_memory) {
        directory_error(directory, manifest_name, STATUS_MEMORY, ENOMEM, error);
        return NULL;
    }
    if (json_is_array(json_object_get(manifest, "files")))
        return manifest;
    json_decref(manifest);
    error_set(error, STATUS_CANT_CREATE,
              "%s/%s: does not say which files belong to the run; remove them by hand",
              directory->path, manifest_name);
    return NULL;
}

static bool is_listed(const json_t *files, const char *name)
{
    size_t index;
    json_t *file;
    json_array_foreach(files, index, file)
    {
        if (json_is_string(file) && strcmp(json_string_value(file), name) == 0)
            return true;
    }
    return false;
}

/* Unlinks a file, also below plots/, but never through a link in the place of plots. */
static int remove_file(const struct directory *directory, const char *name)
{
    const char *slash = strchr(name, '/');
    if (!slash)
        return unlinkat(directory->fd, name, 0) == 0 || errno == ENOENT ? 0 : errno;
    const int plots =
        openat(directory->fd, "plots", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (plots < 0)
        return 0; /* not ours, or gone */
    const int code = unlinkat(plots, slash + 1, 0) == 0 || errno == ENOENT ? 0 : errno;
    close(plots);
    return code;
}

/* Removes the files that the manifest names, and then the manifest itself. */
static enum status remove_run(struct directory *directory, const json_t *manifest,
                              struct error *error)
{
    size_t index;
    json_t *file;
    json_array_foreach(json_object_get(manifest, "files"), index, file)
    {
        const char *name = json_string_value(file);
        if (!name || !plain_name(name) || strcmp(name, lock_name) == 0 ||
            strcmp(name, manifest_name) == 0)
            continue;
        const int code = remove_file(directory, name);
        if (code)
            return directory_error(directory, name, STATUS_CANT_CREATE, code, error);
    }
    unlinkat(directory->fd, "plots", AT_REMOVEDIR); /* only if that has become empty */
    const int code = remove_file(directory, manifest_name);
    return code ? directory_error(directory, manifest_name, STATUS_CANT_CREATE, code, error)
                : STATUS_OK;
}

enum status directory_claim(struct directory *directory, const char *const *names, size_t count,
                            struct error *error)
{
    json_t *manifest = read_manifest(directory, error);
    if (error->status)
        return error->status;
    const json_t *files = json_object_get(manifest, "files");
    for (size_t i = 0; i < count; i++)
        if (directory_has(directory, names[i]) && !is_listed(files, names[i]) &&
            strcmp(names[i], manifest_name) != 0)
            error_set(error, STATUS_CANT_CREATE,
                      "%s/%s: is there already and belongs to no run; move it away, or write "
                      "elsewhere with -o DIR",
                      directory->path, names[i]);
    if (manifest && !error->status)
        remove_run(directory, manifest, error);
    json_decref(manifest);
    return error->status;
}

enum status directory_remove(struct directory *directory,
                             bool (*which)(const void *context, const char *name),
                             const void *context, struct error *error)
{
    json_t *manifest = read_manifest(directory, error);
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

int directory_create_file(struct directory *directory, const char *name, struct error *error)
{
    const int fd =
        openat(directory->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        directory_error(directory, name, STATUS_CANT_CREATE, errno, error);
    return fd;
}

int directory_open_file(struct directory *directory, const char *name, struct error *error)
{
    return open_regular(directory, name, O_RDWR, STATUS_IO, error);
}

int directory_write_all(int fd, const void *bytes, size_t length)
{
    const char *p = bytes;
    while (length > 0) {
        const ssize_t written = write(fd, p, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        p += written;
        length -= (size_t)written;
    }
    return 0;
}

enum { TEMPORARY_SIZE = 256 };

static const char *temporary_name(const char *name, char buffer[TEMPORARY_SIZE])
{
    snprintf(buffer, TEMPORARY_SIZE, "%s.tmp", name);
    return buffer;
}

int directory_replace_begin(struct directory *directory, const char *name, struct error *error)
{
    char buffer[TEMPORARY_SIZE];
    const char *temporary = temporary_name(name, buffer);
    unlinkat(directory->fd, temporary, 0); /* litter of a process that was killed */
    return directory_create_file(directory, temporary, error);
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
    unlinkat(directory->fd, previous, 0);
    if (linkat(directory->fd, name, directory->fd, previous, 0) == 0)
        return 0;
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    return renameat(directory->fd, name, directory->fd, previous) == 0 ? 0 : errno;
}

enum status directory_replace_commit(struct directory *directory, const char *name,
                                     const char *previous, int fd, struct error *error)
{
    char buffer[TEMPORARY_SIZE];
    const char *temporary = temporary_name(name, buffer);
    int code = close_on_disk(fd);
    if (code == 0 && previous && directory_has(directory, name))
        code = keep_as(directory, name, previous);
    if (code == 0 && renameat(directory->fd, temporary, directory->fd, name) != 0)
        code = errno;
    if (code == 0 && fsync(directory->fd) != 0 && errno != EINVAL)
        code = errno; /* EINVAL: a file system whose directories cannot be waited for */
    if (code == 0)
        return STATUS_OK;
    unlinkat(directory->fd, temporary, 0);
    return directory_error(directory, name, STATUS_IO, code, error);
}

void directory_replace_abandon(struct directory *directory, const char *name, int fd)
{
    char buffer[TEMPORARY_SIZE];
    close(fd);
    unlinkat(directory->fd, temporary_name(name, buffer), 0);
}

enum status directory_replace_file(struct directory *directory, const char *name, const void *bytes,
                                   size_t length, struct error *error)
{
    const int fd = directory_replace_begin(directory, name, error);
    if (fd < 0)
        return error->status;
    const int code = directory_write_all(fd, bytes, length);
    if (code == 0)
        return directory_replace_commit(directory, name, NULL, fd, error);
    directory_replace_abandon(directory, name, fd);
    return directory_error(directory, name, STATUS_IO, code, error);
}

/* Up to `size` bytes from the start of fd; errno, or 0. */
static int read_all(int fd, char *bytes, size_t size, size_t *length)
{
    *length = 0;
    while (*length < size) {
        const ssize_t got = read(fd, bytes + *length, size - *length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break; /* it shrank meanwhile */
        *length += (size_t)got;
    }
    return 0;
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
    const int code = bytes ? read_all(fd, bytes, (size_t)size, length) : ENOMEM;
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
