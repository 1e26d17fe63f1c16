#include "output/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"

/* The beginning of the text of every lock; a file with another text is no lock. */
static const char mark[] = "process ";

bool lock_is_named(int folder, const char *name, int fd)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* The end of the first line of a lock that was made without flock(): for such a lock flock() does
 * not tell whether it is held. */
static const char lockless[] = ", without a lock";

/* The seconds without a new note after which a process on another machine that made a lock without
 * flock() is taken for dead. A run writes a note once per second, unless a step or a measurement
 * takes longer. */
static const double longest_silence = 600.0;

/* The variable of the environment, and its value, by which a user does without locks. Parallel file
 * systems may be mounted without locks; then the user must see to it that no two processes work in
 * one folder. */
static const char variable[] = "ORRERY_LOCKS", none[] = "none";

void lock_do_without(void)
{
    setenv(variable, none, 1); /* if memory is exhausted, locks are tried after all */
}

static bool goes_without(void)
{
    const char *const wish = getenv(variable);
    return wish && strcmp(wish, none) == 0;
}

static bool knows_no_locks(int code)
{
    /* NOLINTNEXTLINE(misc-redundant-expression): two numbers on some systems */
    return code == ENOLCK || code == ENOSYS || code == ENOTSUP || code == EOPNOTSUPP;
}

/* Calls flock(); succeeds without it if the user does without locks. */
static int lock_file(int fd, int operation)
{
    return goes_without() ? 0 : flock(fd, operation);
}

/* Tries to lock a hundred times per second for `patience` seconds, since flock() has no time limit.
 * Returns 0, or errno: EWOULDBLOCK if the lock is still held. */
static int wait_for_lock(int fd, enum lock_kind kind, double patience)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    const int operation = (kind == LOCK_SHARED ? LOCK_SH : LOCK_EX) | LOCK_NB;
    const double end = clock_seconds() + patience;
    while (lock_file(fd, operation) != 0) {
        if (errno != EWOULDBLOCK || clock_seconds() > end)
            return errno;
        nanosleep(&pause, NULL);
    }
    return 0;
}

static void read_line(int fd, size_t from, char line[LOCK_TEXT_SIZE])
{
    const ssize_t got = pread(fd, line, LOCK_TEXT_SIZE - 1, (off_t)from);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

/* Tells whether the file is a lock: a regular file that is empty or begins as the holder of a lock
 * writes it, perhaps cut short. */
static bool is_lock(int fd)
{
    char owner[LOCK_TEXT_SIZE];
    struct stat about;
    read_line(fd, 0, owner);
    const size_t length = strlen(owner) < strlen(mark) ? strlen(owner) : strlen(mark);
    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && strncmp(owner, mark, length) == 0;
}

static enum status held_by_another(int fd, const char *path, struct error *error)
{
    char owner[LOCK_TEXT_SIZE];
    read_line(fd, 0, owner);
    return error_set(error, STATUS_CANT_CREATE, "%s: in use by %s", path,
                     owner[0] ? owner : "another process");
}

enum { HOST_SIZE = 64 };

static int write_owner(int fd, enum lock_kind kind)
{
    char host[HOST_SIZE] = "?", owner[LOCK_TEXT_SIZE];
    gethostname(host, sizeof host - 1);
    const int length =
        snprintf(owner, sizeof owner, "%s%ld on %s%s%s\n", mark, (long)getpid(), host,
                 kind == LOCK_SHARED ? ", and perhaps others that began before" : "",
                 goes_without() ? lockless : "");
    return ftruncate(fd, 0) == 0 ? descriptor_write(fd, owner, (size_t)length) : errno;
}

/* Opens the file of a lock, makes it if there is none, and waits for the lock. *fd becomes -1 if
 * the last holder has removed the file meanwhile, so that the caller tries again. */
static enum status try_lock(int folder, const char *path, const char *name, enum lock_kind kind,
                            double patience, int *fd, struct error *error)
{
    *fd = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (*fd < 0)
        return error_file(error, STATUS_CANT_CREATE, errno, path, name);
    const int code = wait_for_lock(*fd, kind, patience);
    if (code == 0 && lock_is_named(folder, name, *fd) && is_lock(*fd))
        return STATUS_OK;
    if (code == EWOULDBLOCK)
        held_by_another(*fd, path, error);
    else if (knows_no_locks(code)) {
        struct stat about;
        if (fstat(*fd, &about) == 0 && about.st_size == 0)
            unlinkat(folder, name, 0); /* removes a file that openat() has made above */
        error_set(error, STATUS_CANT_CREATE,
                  "%s: the file system takes no locks (%s), which keep two processes apart; write "
                  "elsewhere, or use --no-lock (ORRERY_LOCKS=none in the environment) and see to "
                  "it that one "
                  "process at a time works there",
                  path, strerror(code));
    } else if (code)
        error_file(error, STATUS_CANT_CREATE, code, path, name);
    else if (!is_lock(*fd))
        error_set(error, STATUS_CANT_CREATE, "%s/%s: is there already and is no lock; move it away",
                  path, name);
    close(*fd);
    *fd = -1;
    return error->status;
}

enum status lock_take(int folder, const char *path, const char *name, enum lock_kind kind,
                      double patience, int *lock, struct error *error)
{
    int fd = -1;
    *lock = -1;
    while (fd < 0)
        if (try_lock(folder, path, name, kind, patience, &fd, error))
            return error->status;
    const int code = write_owner(fd, kind);
    if (code == 0) {
        *lock = fd;
        return STATUS_OK;
    }
    lock_release(folder, name, fd);
    return error_file(error, STATUS_IO, code, path, name);
}

void lock_note(int lock, const char *line)
{
    char owner[LOCK_TEXT_SIZE], note[LOCK_TEXT_SIZE];
    read_line(lock, 0, owner);
    const int length = snprintf(note, sizeof note, "%.150s\n", line);
    const ssize_t written = pwrite(lock, note, (size_t)length, (off_t)strlen(owner) + 1);
    (void)written;
}

/* Tells whether another process holds the lock, by trying to take it, since the kernel tells it in
 * no other way. A network file system grants an exclusive lock only to a process that may write the
 * file; so a shared lock is tried too. */
static bool is_held(int fd)
{
    if (lock_file(fd, LOCK_EX | LOCK_NB) == 0)
        return false;
    return errno == EWOULDBLOCK || (lock_file(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK);
}

/* Tells whether the process that made a lock without flock() is alive, as far as this machine can
 * tell: by its number here, by the age of its last note (`written`) elsewhere. */
static bool seems_alive(const char *owner, time_t written)
{
    const size_t length = strlen(owner), end = strlen(lockless);
    char host[HOST_SIZE] = "?", place[HOST_SIZE];
    long process;
    if (length < end || strcmp(owner + length - end, lockless) != 0 ||
        sscanf(owner, "process %ld on %63[^, ]", &process, place) != 2 || process <= 0)
        return false;
    gethostname(host, sizeof host - 1);
    if (strcmp(host, place) == 0)
        return kill((pid_t)process, 0) == 0 || errno == EPERM;
    return difftime(time(NULL), written) < longest_silence;
}

struct lock_view lock_look(int folder, const char *name)
{
    struct lock_view view = { 0 };
    struct stat about;
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = openat(folder, name, O_RDWR | flags);
    if (fd < 0)
        fd = openat(folder, name, O_RDONLY | flags);
    if (fd < 0)
        return view;
    if (is_lock(fd) && fstat(fd, &about) == 0) {
        read_line(fd, 0, view.owner);
        read_line(fd, strlen(view.owner) + 1, view.note);
        view.written = about.st_mtime;
        view.held = is_held(fd) || seems_alive(view.owner, about.st_mtime);
    }
    close(fd);
    return view;
}

/* Releases a lock. If several processes share it, only the last of them can lock the file
 * exclusively, and only then is the file removed; so no process loses a file that it still
 * holds. */
void lock_release(int folder, const char *name, int lock)
{
    if (lock_file(lock, LOCK_EX | LOCK_NB) == 0 && lock_is_named(folder, name, lock))
        unlinkat(folder, name, 0);
    close(lock);
}

bool lock_temporary(int folder, const char *name, int fd)
{
    return lock_file(fd, LOCK_EX | LOCK_NB) == 0 ? lock_is_named(folder, name, fd)
                                                 : errno != EWOULDBLOCK;
}

bool lock_remove_litter(int folder, const char *name)
{
    struct stat about;
    const int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    const bool dead = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && !goes_without() &&
                      flock(fd, LOCK_EX | LOCK_NB) == 0 && lock_is_named(folder, name, fd);
    const bool removed = dead && unlinkat(folder, name, 0) == 0;
    close(fd);
    return removed;
}
