/*
 * Preloaded into orrery by the fault harness: counts its calls on files, and lets one of them go
 * wrong. The calls are made of the kernel, so that no other wrapper is asked. A process and those
 * that it forks count together: the nth call of a study is that of whichever member makes it.
 *
 * ORRERY_FAULT="WHAT VALUE NTH TIMES CALLS FILE": at the NTH of the calls named in CALLS
 * ("write,fsync", "all") on a file whose path ends in FILE ("" for any: "-"), and at TIMES - 1
 * more, WHAT happens:
 *
 *   error    it fails with errno VALUE; a close() still closes
 *   full     a write() takes half of the bytes, and all further ones fail with errno VALUE
 *   short    a write() or read() moves half of the bytes, or one
 *   kill     the process ends before the call
 *   killall  the process ends before the call, and all of its group with it
 *   torn     as kill, after half of the bytes of a write()
 *   signal   signal VALUE is raised before the call
 *   clock    from here on the clocks are VALUE seconds ahead (CALLS = clock)
 *
 * ORRERY_FAULT_LOG=FILE gets a line for each call that counts: its name and path.
 * ORRERY_FAULT_JOURNAL=FILE gets all that was done to files and folders, by the numbers of their
 * inodes, so that powercut.py can build what a power cut would have left of it:
 *
 *   write INODE OFFSET LENGTH, and behind the line the bytes
 *   truncate INODE LENGTH
 *   fsync INODE
 *   create FOLDER NAME INODE, mkdir FOLDER NAME INODE
 *   rename FOLDER NAME FOLDER NAME, link FOLDER NAME FOLDER NAME
 *   unlink FOLDER NAME
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NAMES = 256, NAME_SIZE = 96 };

enum outcome { GO_ON, FAIL, HALF };

static struct {
    char what[16], calls[128], file[NAME_SIZE];
    long value, nth, times;
} fault;
/* The state that the processes which the program forks share with it. */
struct shared {
    atomic_long counted;
    atomic_bool filled;
};
static struct shared alone, *shared = &alone;
static bool leads_group; /* the process that the harness has started, of those it forks */
static int log_fd = -1, journal_fd = -1;
static char names[NAMES][NAME_SIZE]; /* of the files that are open */

/* The file that the environment names, out of the way of the numbers that the program gets. */
static int open_record(const char *variable)
{
    const char *path = getenv(variable);
    if (!path)
        return -1;
    const int fd =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    const int record = fcntl(fd, F_DUPFD_CLOEXEC, NAMES);
    syscall(SYS_close, fd);
    return record;
}

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("ORRERY_FAULT");
    if (!text || sscanf(text, "%15s %ld %ld %ld %127s %95s", fault.what, &fault.value, &fault.nth,
                        &fault.times, fault.calls, fault.file) != 6)
        memset(&fault, 0, sizeof fault);
    void *page =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED)
        shared = page;
    leads_group = getpgrp() == getpid();
    log_fd = open_record("ORRERY_FAULT_LOG");
    journal_fd = open_record("ORRERY_FAULT_JOURNAL");
}

static const char *name_of(int fd)
{
    return fd >= 0 && fd < NAMES ? names[fd] : "";
}

static void remember(int fd, const char *path)
{
    if (fd >= 0 && fd < NAMES)
        snprintf(names[fd], NAME_SIZE, "%s", path);
}

/* Is the word one of those of the list? */
static bool listed(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += length)
        if ((p == list || p[-1] == ',') && (p[length] == ',' || p[length] == '\0'))
            return true;
    return strcmp(list, "all") == 0 && strcmp(word, "clock") != 0;
}

static bool concerns(const char *call, const char *path)
{
    const size_t length = strlen(path), end = strlen(fault.file);
    return listed(fault.calls, call) &&
           (strcmp(fault.file, "-") == 0 ||
            (length >= end && strcmp(path + length - end, fault.file) == 0));
}

static void end_process(void)
{
    /* Never the group of the harness itself. */
    const bool all = strcmp(fault.what, "killall") == 0 && leads_group;
    syscall(SYS_kill, all ? 0 : getpid(), SIGKILL);
}

/* Decides the outcome of this call. `half` does half of it, for torn. */
static enum outcome outcome_of(const char *call, const char *path, bool moves_bytes)
{
    if (!fault.calls[0] || !concerns(call, path))
        return GO_ON;
    const long n = atomic_fetch_add(&shared->counted, 1) + 1;
    if (log_fd >= 0) {
        char line[2 * NAME_SIZE];
        const int length = snprintf(line, sizeof line, "%s %s\n", call, path);
        syscall(SYS_write, log_fd, line, (size_t)length);
    }
    if (n < fault.nth || n - fault.nth >= fault.times)
        return GO_ON;
    const char *what = fault.what;
    if (strncmp(what, "kill", 4) == 0)
        end_process();
    if (strcmp(what, "signal") == 0)
        raise((int)fault.value);
    if (strcmp(what, "torn") == 0 || strcmp(what, "short") == 0)
        return moves_bytes ? HALF : GO_ON;
    if (strcmp(what, "full") == 0 && moves_bytes && !atomic_exchange(&shared->filled, true))
        return HALF;
    if (strcmp(what, "error") != 0 && strcmp(what, "full") != 0)
        return GO_ON;
    errno = (int)fault.value;
    return FAIL;
}

/* --- the journal ------------------------------------------------------------------------------ */

/* A line, and the bytes that belong to it, in one piece: processes share the journal. */
static void note(const void *bytes, size_t length, const char *format, ...)
{
    char line[4 * NAME_SIZE];
    if (journal_fd < 0)
        return;
    const int code = errno;
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const struct iovec parts[] = { { line, (size_t)size }, { (void *)bytes, length } };
    syscall(SYS_writev, journal_fd, parts, 2);
    errno = code;
}

static unsigned long inode_of(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 ? (unsigned long)about.st_ino : 0;
}

/* The folder of a path. */
static unsigned long folder_of(int directory, const char *path)
{
    char folder[NAME_SIZE] = ".";
    const char *slash = strrchr(path, '/');
    struct stat about;
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + 1), path);
    return fstatat(directory, folder, &about, 0) == 0 ? (unsigned long)about.st_ino : 0;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Notes a write. The bytes end at the file's offset, unless `offset` says otherwise. No disk keeps
 * the bytes of a pipe; and its reader may end this process before the line is whole. */
static ssize_t note_write(int fd, const void *bytes, ssize_t count, off_t offset)
{
    const int code = errno;
    const off_t end = offset >= 0 ? offset + count : syscall(SYS_lseek, fd, 0, SEEK_CUR);
    if (journal_fd >= 0 && count > 0 && end >= count)
        note(bytes, (size_t)count, "write %lu %ld %zd\n", inode_of(fd), (long)(end - count), count);
    errno = code;
    return count;
}

/* A call with two names that succeeded with 0. */
static int note_names(int result, const char *call, int from, const char *old, int to,
                      const char *path)
{
    if (result == 0 && journal_fd >= 0)
        note("", 0, "%s %lu %s %lu %s\n", call, folder_of(from, old), last_name(old),
             folder_of(to, path), last_name(path));
    return result;
}

static void note_new(const char *call, int directory, const char *path)
{
    struct stat about;
    if (journal_fd >= 0 && fstatat(directory, path, &about, AT_SYMLINK_NOFOLLOW) == 0)
        note("", 0, "%s %lu %s %lu\n", call, folder_of(directory, path), last_name(path),
             (unsigned long)about.st_ino);
}

/* --- calls on an open file ---------------------------------------------------------------- */

static size_t part(size_t length, enum outcome outcome)
{
    return outcome == HALF && length > 1 ? length / 2 : length;
}

static ssize_t moved(ssize_t count)
{
    if (strcmp(fault.what, "torn") == 0)
        end_process();
    return count;
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    const enum outcome outcome = outcome_of("write", name_of(fd), true);
    if (outcome == FAIL)
        return -1;
    const ssize_t count =
        note_write(fd, bytes, syscall(SYS_write, fd, bytes, part(length, outcome)), -1);
    return outcome == HALF ? moved(count) : count;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    const enum outcome outcome = outcome_of("write", name_of(fd), true);
    if (outcome == FAIL)
        return -1;
    const ssize_t count = note_write(
        fd, bytes, syscall(SYS_pwrite64, fd, bytes, part(length, outcome), offset), offset);
    return outcome == HALF ? moved(count) : count;
}

ssize_t read(int fd, void *bytes, size_t length)
{
    const enum outcome outcome = outcome_of("read", name_of(fd), true);
    return outcome == FAIL ? -1 : syscall(SYS_read, fd, bytes, part(length, outcome));
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
    const enum outcome outcome = outcome_of("read", name_of(fd), true);
    return outcome == FAIL ? -1 : syscall(SYS_pread64, fd, bytes, part(length, outcome), offset);
}

int fsync(int fd)
{
    if (outcome_of("fsync", name_of(fd), false) == FAIL)
        return -1;
    const int result = (int)syscall(SYS_fsync, fd);
    if (result == 0 && journal_fd >= 0)
        note("", 0, "fsync %lu\n", inode_of(fd));
    return result;
}

int ftruncate(int fd, off_t length)
{
    if (outcome_of("ftruncate", name_of(fd), false) == FAIL)
        return -1;
    const int result = (int)syscall(SYS_ftruncate, fd, length);
    if (result == 0 && journal_fd >= 0)
        note("", 0, "truncate %lu %ld\n", inode_of(fd), (long)length);
    return result;
}

int close(int fd)
{
    const bool fails = outcome_of("close", name_of(fd), false) == FAIL;
    const int code = errno, result = (int)syscall(SYS_close, fd);
    remember(fd, "");
    errno = fails ? code : errno;
    return fails ? -1 : result;
}

int flock(int fd, int operation)
{
    return outcome_of("flock", name_of(fd), false) == FAIL ? -1
                                                           : (int)syscall(SYS_flock, fd, operation);
}

/* --- calls on a name -------------------------------------------------------------------------- */

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
    if (outcome_of("open", path, false) == FAIL)
        return -1;
    struct stat about;
    const bool is_new = journal_fd >= 0 && (flags & O_CREAT) &&
                        fstatat(directory, path, &about, AT_SYMLINK_NOFOLLOW) != 0;
    const int fd = (int)syscall(SYS_openat, directory, path, flags, mode);
    remember(fd, path);
    if (fd >= 0 && is_new)
        note_new("create", directory, path);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = va_arg(arguments, mode_t); /* of no meaning unless a file is made */
    va_end(arguments);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return open_at(directory, path, flags, mode);
}

int renameat(int from, const char *old, int to, const char *path)
{
    if (outcome_of("rename", path, false) == FAIL)
        return -1;
    return note_names((int)syscall(SYS_renameat2, from, old, to, path, 0), "rename", from, old, to,
                      path);
}

int rename(const char *old, const char *path)
{
    return renameat(AT_FDCWD, old, AT_FDCWD, path);
}

int linkat(int from, const char *old, int to, const char *path, int flags)
{
    if (outcome_of("link", path, false) == FAIL)
        return -1;
    return note_names((int)syscall(SYS_linkat, from, old, to, path, flags), "link", from, old, to,
                      path);
}

int unlinkat(int directory, const char *path, int flags)
{
    if (outcome_of("unlink", path, false) == FAIL)
        return -1;
    const int result = (int)syscall(SYS_unlinkat, directory, path, flags);
    if (result == 0 && journal_fd >= 0)
        note("", 0, "unlink %lu %s\n", folder_of(directory, path), last_name(path));
    return result;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode)
{
    if (outcome_of("mkdir", path, false) == FAIL)
        return -1;
    const int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (result == 0)
        note_new("mkdir", AT_FDCWD, path);
    return result;
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

/* --- clocks ----------------------------------------------------------------------------------- */

static long ahead(void)
{
    if (!listed(fault.calls, "clock"))
        return 0;
    return atomic_fetch_add(&shared->counted, 1) + 1 >= fault.nth ? fault.value : 0;
}

/* FILE says which of them jump: "realtime", or all ("-"). */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    const int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME || strcmp(fault.file, "-") == 0)
        now->tv_sec += ahead();
    return result;
}

time_t time(time_t *result)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result)
        *result = now.tv_sec;
    return now.tv_sec;
}
