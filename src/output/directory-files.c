#include "output/directory-files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/memory.h"
#include "output/lock.h"

enum status directory_error(const struct directory *directory, const char *name, enum status status,
                            int code, struct error *error)
{
    return error_file(error, status, code, directory->path, name);
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

int directory_flush_names(int folder)
{
    /* EINVAL comes from file systems that cannot flush a directory: nothing can be done there. */
    return fsync(folder) == 0 || errno == EINVAL ? 0 : errno;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Opens a file that must be a regular one: no link, no device, and no pipe, which would block. Puts
 * its stat() into *about; returns -1 with an error of `status` otherwise. */
static int open_regular(const struct directory *directory, const char *name, int flags,
                        enum status status, struct stat *about, struct error *error)
{
    const int fd = openat(directory->fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        directory_error(directory, name, status, errno, error);
        return -1;
    }
    if (fstat(fd, about) == 0 && S_ISREG(about->st_mode))
        return fd;
    close(fd);
    error_set(error, status, "%s/%s: is not a regular file", directory->path, name);
    return -1;
}

/* The flags of a file that grows during a run. Every write goes to the end of the file, wherever
 * that is: if somebody cuts the file meanwhile, its length stays too short, and the next check
 * notices that. */
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
    struct stat about;
    return open_regular(directory, name, growing, STATUS_IO, &about, error);
}

/* --- files that are replaced as a whole ------------------------------------------------------- */

enum { TEMPORARY_SIZE = 256, TEMPORARIES = 1000 };

/* Writes the temporary name for `name` into `buffer`: number 0 is the usual one, the other numbers
 * are for processes that replace the same file at the same time. The end of a long name is cut, so
 * that the system accepts the result. */
static const char *temporary_name(const char *name, unsigned number, char buffer[TEMPORARY_SIZE])
{
    if (number == 0)
        snprintf(buffer, TEMPORARY_SIZE, "%.200s.orrery.tmp", name);
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
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
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

/* Returns that of the temporary names for `name` which the open file `fd` has; NULL if another
 * process has removed the file. */
static const char *find_temporary(const struct directory *directory, const char *name, int fd,
                                  char buffer[TEMPORARY_SIZE])
{
    for (unsigned number = 0; number < TEMPORARIES; number++)
        if (lock_is_named(directory->fd, temporary_name(name, number, buffer), fd))
            return buffer;
    return NULL;
}

void directory_replace_forget(struct directory *directory, const char *name)
{
    char buffer[TEMPORARY_SIZE];
    lock_remove_litter(directory->fd, temporary_name(name, 0, buffer));
}

/* Begins to replace a file: makes and locks a temporary file. A temporary file that a killed
 * process has left is removed first; that of a living process stays, and the next number is
 * tried. */
int directory_replace_begin(struct directory *directory, const char *name, struct error *error)
{
    if (directory_replaceable(directory, name, error))
        return -1;
    for (unsigned number = 0; number < TEMPORARIES; number++) {
        char buffer[TEMPORARY_SIZE];
        const char *temporary = temporary_name(name, number, buffer);
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

static int close_on_disk(int fd)
{
    int code = fsync(fd) == 0 ? 0 : errno;
    if (close(fd) != 0 && code == 0)
        code = errno;
    return code;
}

/* Gives the file `name` the second name `previous`: so the file still has its first name until a
 * new file takes that. Without hard links the file is renamed, and nothing is called `name` for a
 * moment. Returns 0, or errno. */
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

/* Puts a temporary file in place. The duplicate descriptor `held` keeps the file locked until it
 * has its final name. */
enum status directory_replace_commit(struct directory *directory, const char *name,
                                     const char *previous, int fd, int failure, struct error *error)
{
    if (failure) {
        directory_replace_abandon(directory, name, fd);
        return directory_error(directory, name, failure == ECANCELED ? STATUS_STOPPED : STATUS_IO,
                               failure, error);
    }
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
        code = directory_flush_names(directory->fd);
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
    const int failure = descriptor_write(fd, bytes, length);
    return directory_replace_commit(directory, name, NULL, fd, failure, error);
}

int directory_open_input(const struct directory *directory, const char *name, uint64_t *length,
                         struct error *error)
{
    struct stat about;
    const int fd = open_regular(directory, name, O_RDONLY, STATUS_NO_INPUT, &about, error);
    if (fd >= 0)
        *length = (uint64_t)about.st_size;
    return fd;
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
