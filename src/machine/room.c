#include "config.h" /* defines _GNU_SOURCE, which declares O_TMPFILE */

#include "machine/room.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/memory.h"

/* --- texts ------------------------------------------------------------------------------------ */

double room_number(const char *text, const char *key)
{
    const size_t length = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0 || !strchr(": \t", line[length]) || !line[length])
            continue;
        char *end;
        const double number = strtod(line + length + (line[length] == ':'), &end);
        return number * (strncmp(end, " kB", 3) == 0 ? 1024.0 : 1.0);
    }
    return NAN;
}

double room_limit(const char *text)
{
    /* Version 2 of control groups says "max" for "no limit", which strtod() does not take. Version
     * 1 has no word for it: the file then has a number just below 2^63. */
    const double none = 0x1p62;
    char *end;
    const double bytes = strtod(text, &end);
    return end == text || bytes >= none ? INFINITY : bytes;
}

/* --- control groups --------------------------------------------------------------------------- */

/* Names in versions 1 and 2 of control groups: the files of the memory limit and of the memory in
 * use, and the key in the file memory.stat for the inactive pages of cached files. */
static const struct names {
    const char *limit, *usage, *inactive;
} names[] = {
    { "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file" },
    { "memory.max", "memory.current", "inactive_file" },
};

/* Returns the bytes of memory that one control group still allows: its limit less the memory in
 * use; infinite without a limit. Inactive pages of cached files count as free, since the kernel
 * gives them up when a process wants memory. */
static double left_in_group(const char *root, const char *group, int version)
{
    const struct names *const name = &names[version - 1];
    char text[CONTROL_GROUP_TEXT_SIZE];
    if (!control_group_read(root, group, name->limit, text))
        return INFINITY;
    const double limit = room_limit(text);
    if (!isfinite(limit))
        return INFINITY;
    const double used =
        control_group_read(root, group, name->usage, text) ? strtod(text, NULL) : 0.0;
    control_group_read(root, group, "memory.stat", text);
    const double inactive = room_number(text, name->inactive);
    return fmax(0.0, limit - fmax(0.0, used - (inactive > 0.0 ? inactive : 0.0)));
}

struct room room_of_machine(const char *root)
{
    char text[CONTROL_GROUP_TEXT_SIZE];
    struct room room = { INFINITY, "the machine" };
    if (control_group_read(root, "", "proc/meminfo", text)) {
        const double available = room_number(text, "MemAvailable");
        if (!isnan(available))
            room.bytes = available;
    }
    const double left = control_group_least(root, "memory", left_in_group);
    return left < room.bytes ? (struct room){ left, "the control group" } : room;
}

/* --- limits of the process -------------------------------------------------------------------- */

/* Limits of this process: the resource of getrlimit(), the key in /proc/self/status for the part of
 * it that is in use, and its name in messages. */
static const struct process_limit {
    int resource;
    const char *used, *name;
} process_limits[] = {
    { RLIMIT_AS, "VmSize", "the limit of virtual memory (ulimit -v)" },
    { RLIMIT_DATA, "VmData", "the limit of data (ulimit -d)" },
};

struct room room_of_process(void)
{
    char text[CONTROL_GROUP_TEXT_SIZE];
    struct room room = { INFINITY, "the process" };
    control_group_read("", "", "proc/self/status", text);
    for (size_t k = 0; k < COUNT_OF(process_limits); k++) {
        const struct process_limit *p = &process_limits[k];
        struct rlimit limit;
        if (getrlimit(p->resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
            continue;
        const double used = room_number(text, p->used);
        const double left = fmax(0.0, (double)limit.rlim_cur - (isnan(used) ? 0.0 : used));
        if (left < room.bytes)
            room = (struct room){ left, p->name };
    }
    return room;
}

struct room room_left(void)
{
    const struct room machine = room_of_machine(""), process = room_of_process();
    return process.bytes < machine.bytes ? process : machine;
}

/* --- control groups --------------------------------------------------------------------------- */

enum { PATH_SIZE = 4096 };

/* Tells whether `name` is one of the names in `list`, `length` characters long, where commas
 * separate them and a colon follows the last. The name "" is only in an empty list. */
static bool listed(const char *list, size_t length, const char *name)
{
    const size_t wanted = strlen(name);
    if (wanted == 0)
        return length == 0;
    for (const char *p = list; p < list + length; p += strcspn(p, ",:") + 1)
        if (strncmp(p, name, wanted) == 0 && strchr(",:", p[wanted]))
            return true;
    return false;
}

int control_group_path(const char *text, const char *controller, const char **path)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *list = line + strcspn(line, ":\n");
        const char *end = *list == ':' ? list + 1 + strcspn(list + 1, ":\n") : list;
        if (*end != ':' || !listed(list + 1, (size_t)(end - list - 1), controller))
            continue;
        *path = end + 1;
        return (int)strcspn(*path, "\n");
    }
    return 0;
}

bool control_group_read(const char *root, const char *group, const char *name,
                        char text[CONTROL_GROUP_TEXT_SIZE])
{
    char path[2 * PATH_SIZE];
    snprintf(path, sizeof path, "%s%s/%s", root, group, name);
    FILE *file = fopen(path, "r");
    const size_t length = file ? fread(text, 1, CONTROL_GROUP_TEXT_SIZE - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
    return length > 0;
}

/* Returns the least value that look() finds for the control group of this process and for all
 * groups above it, up to the one whose folder is `mount`. `path` (`length` characters) is the
 * folder of the process's group below `mount`. In a container it may be a path of the host that
 * does not exist inside: then only `mount` itself counts, which is the group of the container. */
static double least_of_hierarchy(const char *root, const char *mount, const char *path, int length,
                                 control_group_look *look, int version)
{
    char group[PATH_SIZE];
    const size_t top = strlen(mount);
    snprintf(group, sizeof group, "%s%.*s", mount, length, length ? path : "");
    double least = INFINITY;
    for (;;) {
        least = fmin(least, look(root, group, version));
        char *slash = strrchr(group, '/');
        if (!slash || (size_t)(slash - group) < top)
            return least;
        *slash = '\0';
    }
}

double control_group_least(const char *root, const char *controller, control_group_look *look)
{
    char text[CONTROL_GROUP_TEXT_SIZE], own[64];
    snprintf(own, sizeof own, "/sys/fs/cgroup/%s", controller);
    const struct {
        const char *controller, *mount;
        int version;
    } hierarchies[] = { { "", "/sys/fs/cgroup", 2 },
                        { "", "/sys/fs/cgroup/unified", 2 },
                        { controller, own, 1 } };
    double least = INFINITY;
    control_group_read(root, "", "proc/self/cgroup", text);
    for (size_t k = 0; k < COUNT_OF(hierarchies); k++) {
        const char *path;
        const int length = control_group_path(text, hierarchies[k].controller, &path);
        least = fmin(least, least_of_hierarchy(root, hierarchies[k].mount, path, length, look,
                                               hierarchies[k].version));
    }
    return least;
}

/* --- the disk --------------------------------------------------------------------------------- */

enum { BLOCK_SIZE = 65536, LITTLE = 4096, MOST_FLUSHES = 8 };
/* The most and the fewest bytes of the long write that is timed: a shorter one takes too little
 * time to yield a rate. */
static const size_t most_bytes = 8 << 20, least_bytes = 256 << 10;
/* Writes of LITTLE bytes are timed until they have taken this many seconds together, but at most
 * MOST_FLUSHES of them. */
static const double enough_seconds = 0.1;

/* Fills a block with pseudo-random bytes, which a file system cannot compress. */
static void fill_block(unsigned char block[BLOCK_SIZE])
{
    uint64_t state = 88172645463325252u; /* seed and shifts of xorshift64 (Marsaglia 2003) */
    for (size_t i = 0; i < BLOCK_SIZE; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        block[i] = (unsigned char)state;
    }
}

/* Opens a file without a name (O_TMPFILE) in the deepest folder of `path` that exists. Returns its
 * descriptor, or -1 with errno. */
static int open_unnamed(const char *path)
{
#ifdef O_TMPFILE
    char folder[PATH_SIZE];
    if (snprintf(folder, sizeof folder, "%s", path) >= PATH_SIZE) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (;;) {
        const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != ENOENT || strcmp(folder, ".") == 0 || strcmp(folder, "/") == 0)
            return fd;
        char *slash = strrchr(folder, '/');
        if (slash)
            slash[slash == folder] = '\0';
        else
            strcpy(folder, ".");
    }
#else
    (void)path;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

static int write_and_flush(int fd, const unsigned char *block, size_t bytes, double *seconds)
{
    const double before = clock_seconds();
    for (size_t done = 0; done < bytes; done += BLOCK_SIZE) {
        const size_t length = bytes - done < BLOCK_SIZE ? bytes - done : BLOCK_SIZE;
        const int failed = descriptor_write(fd, block, length);
        if (failed)
            return failed;
    }
    if (fsync(fd))
        return errno;
    *seconds = clock_seconds() - before;
    return 0;
}

static int measure_file(int fd, size_t bytes, struct disk_speed *speed)
{
    static const double least_seconds = 1e-9;
    unsigned char block[BLOCK_SIZE];
    double all = 0.0, last = 0.0;
    int flushes = 0;
    fill_block(block);
    /* The first write is not counted, since its flush also writes the metadata of the new file. */
    int failed = write_and_flush(fd, block, LITTLE, &last);
    for (; !failed && flushes < MOST_FLUSHES && all < enough_seconds; flushes++) {
        failed = write_and_flush(fd, block, LITTLE, &last);
        all += last;
    }
    if (!failed)
        failed = write_and_flush(fd, block, bytes, &last);
    if (failed)
        return failed;
    const double flush = all / flushes;
    *speed = (struct disk_speed){ (double)bytes / fmax(last - flush, least_seconds), flush };
    return 0;
}

int disk_speed_measure(const char *path, size_t bytes, struct disk_speed *speed)
{
    const int fd = open_unnamed(path);
    if (fd < 0)
        return errno;
    const size_t tried = bytes < least_bytes ? least_bytes : bytes;
    const int failed = measure_file(fd, tried < most_bytes ? tried : most_bytes, speed);
    close(fd);
    return failed;
}
