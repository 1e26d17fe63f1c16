#include "output/workplace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "output/lock.h"

enum { WORKPLACE_NAME_SIZE = 64, MOST_FOLDERS = 100 };

/* The lock in the folder, by which other processes see that the process that works there is
 * alive. */
static const char workplace_lock[] = "work.lock";

static const char *workplace_name(const struct directory_kind *kind, unsigned number,
                                  char name[WORKPLACE_NAME_SIZE])
{
    snprintf(name, WORKPLACE_NAME_SIZE, "%.*s.orrery-%u.tmp", (int)strcspn(kind->manifest, "."),
             kind->manifest, number);
    return name;
}

static int open_folder(int within, const char *name)
{
    return openat(within, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Removes the regular files of an open folder, except its lock. */
static void empty(int folder)
{
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const entries = again >= 0 ? fdopendir(again) : NULL;
    struct stat about;
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (strcmp(entry->d_name, workplace_lock) != 0 &&
            fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(about.st_mode))
            unlinkat(folder, entry->d_name, 0);
    if (entries)
        closedir(entries);
    else if (again >= 0)
        close(again);
}

/* Removes the folder `name` if no living process holds its lock. Returns true if the folder is
 * gone. */
static bool remove_litter(const struct directory *directory, const char *name)
{
    struct error held = { 0 };
    int lock;
    const int folder = open_folder(directory->fd, name);
    if (folder < 0)
        return errno == ENOENT;
    if (lock_take(folder, name, workplace_lock, LOCK_ALONE, 0.0, &lock, &held) == STATUS_OK) {
        empty(folder);
        lock_release(folder, workplace_lock, lock);
    }
    close(folder);
    return !held.status && unlinkat(directory->fd, name, AT_REMOVEDIR) == 0;
}

void workplace_clean(const struct directory *directory, const struct directory_kind *kind)
{
    char name[WORKPLACE_NAME_SIZE];
    for (unsigned number = 1; number <= MOST_FOLDERS; number++)
        if (directory_has(directory, workplace_name(kind, number, name)))
            remove_litter(directory, name);
}

/* Locks a new folder. Returns false if another process has locked it first, to remove it as one
 * that a dead process left. */
static bool hold(struct directory *work)
{
    struct error held = { 0 };
    return lock_take(work->fd, work->path, workplace_lock, LOCK_ALONE, 0.0, &work->lock, &held) ==
           STATUS_OK;
}

enum status workplace_open(const struct directory *directory, struct directory **result,
                           struct error *error)
{
    char name[WORKPLACE_NAME_SIZE];
    struct directory *work = calloc(1, sizeof *work);
    const size_t size = strlen(directory->path) + sizeof name + 1;
    *result = NULL;
    if (!work || !(work->path = malloc(size))) {
        free(work);
        return error_memory(error);
    }
    work->kind = directory->kind;
    work->fd = work->lock = work->files_lock = -1;
    workplace_clean(directory, directory->kind);
    int code = EEXIST;
    for (unsigned number = 1; number <= MOST_FOLDERS && code == EEXIST; number++) {
        snprintf(work->path, size, "%s/%s", directory->path,
                 workplace_name(directory->kind, number, name));
        code = mkdirat(directory->fd, name, 0700) == 0 ? 0 : errno;
        if (code)
            continue;
        work->fd = open_folder(directory->fd, name);
        if (work->fd >= 0 && hold(work)) {
            *result = work;
            return STATUS_OK;
        }
        if (work->fd >= 0)
            close(work->fd);
        unlinkat(directory->fd, name, AT_REMOVEDIR);
        code = EEXIST;
    }
    error_system(error, STATUS_CANT_CREATE, code, work->path);
    free(work->path);
    free(work);
    return error->status;
}

void workplace_close(const struct directory *directory, struct directory *work)
{
    if (!work)
        return;
    empty(work->fd);
    lock_release(work->fd, workplace_lock, work->lock);
    close(work->fd);
    unlinkat(directory->fd, strrchr(work->path, '/') + 1, AT_REMOVEDIR);
    free(work->path);
    free(work);
}

int workplace_folder(const struct directory *work)
{
    return work->fd;
}

enum status workplace_write(struct directory *work, const char *name, const void *bytes,
                            size_t length, struct error *error)
{
    const int fd = directory_create_file(work, name, error);
    if (fd < 0)
        return error->status;
    int code = descriptor_write(fd, bytes, length);
    if (close(fd) != 0 && code == 0)
        code = errno;
    return code ? directory_error(work, name, STATUS_IO, code, error) : STATUS_OK;
}

enum status workplace_move(const struct directory *work, const char *name, int place,
                           const char *as, struct error *error)
{
    uint64_t length;
    const int fd = directory_open_input(work, name, &length, error);
    if (fd < 0)
        return error->status;
    int code = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    if (code == 0 && renameat(work->fd, name, place, as) != 0)
        code = errno;
    close(fd);
    return code ? directory_error(work, name, STATUS_IO, code, error) : STATUS_OK;
}

enum status workplace_put(const struct directory *directory, const struct directory *work,
                          const char *const *names, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++)
        if (directory_replaceable(directory, names[i], error) ||
            workplace_move(work, names[i], directory->fd, names[i], error))
            return error->status;
    const int code = directory_flush_names(directory->fd);
    return code ? error_system(error, STATUS_IO, code, directory->path) : STATUS_OK;
}
