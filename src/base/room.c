#include "base/room.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"

enum { PATH_SIZE = 4096, TEXT_SIZE = 16384 };

/* --- texts -------------------------------------------------------------------------------------
 */

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
    /* Version 1 has no word for "none": it says the largest whole number of pages. */
    const double none = 0x1p62;
    char *end;
    const double bytes = strtod(text, &end);
    return end == text || bytes >= none ? INFINITY : bytes;
}

/* Is `name` one of the `length` characters of a list with commas? */
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

int room_group(const char *text, const char *controller, const char **path)
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

/* --- files -------------------------------------------------------------------------------------
 */

/* The beginning of a file; "" where it cannot be read. */
static bool read_text(const char *root, const char *path, char text[TEXT_SIZE])
{
    char full[2 * PATH_SIZE];
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *file = fopen(full, "r");
    const size_t length = file ? fread(text, 1, TEXT_SIZE - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
    return length > 0;
}

/* The two versions, by their controller and their names of the same things. */
static const struct hierarchy {
    const char *controller, *mount, *limit, *usage, *inactive;
} hierarchies[] = {
    { "", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file" },
    { "", "/sys/fs/cgroup/unified", "memory.max", "memory.current", "inactive_file" },
    { "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
      "total_inactive_file" },
};

static bool read_of_group(const char *root, const char *group, const char *name,
                          char text[TEXT_SIZE])
{
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", group, name);
    return read_text(root, path, text);
}

/* What one group leaves: pages of files that nobody uses are given up when memory is wanted. */
static double left_in_group(const char *root, const struct hierarchy *h, const char *group)
{
    char text[TEXT_SIZE];
    if (!read_of_group(root, group, h->limit, text))
        return INFINITY;
    const double limit = room_limit(text);
    if (!isfinite(limit))
        return INFINITY;
    const double used = read_of_group(root, group, h->usage, text) ? strtod(text, NULL) : 0.0;
    read_of_group(root, group, "memory.stat", text);
    const double inactive = room_number(text, h->inactive);
    return fmax(0.0, limit - fmax(0.0, used - (inactive > 0.0 ? inactive : 0.0)));
}

/* The least of a group and of all above it. In a container the path may be that of the host, which
 * is not there: then only the top is looked at, which is the container's own. */
static double left_in_hierarchy(const char *root, const struct hierarchy *h, const char *groups)
{
    const char *path;
    const int length = room_group(groups, h->controller, &path);
    char group[PATH_SIZE];
    const size_t top = strlen(h->mount);
    snprintf(group, sizeof group, "%s%.*s", h->mount, length, length ? path : "");
    double least = INFINITY;
    for (;;) {
        least = fmin(least, left_in_group(root, h, group));
        char *slash = strrchr(group, '/');
        if (!slash || (size_t)(slash - group) < top)
            return least;
        *slash = '\0';
    }
}

struct room room_of_machine(const char *root)
{
    char text[TEXT_SIZE];
    struct room room = { INFINITY, "the machine" };
    if (read_text(root, "/proc/meminfo", text)) {
        const double available = room_number(text, "MemAvailable");
        if (!isnan(available))
            room.bytes = available;
    }
    if (!read_text(root, "/proc/self/cgroup", text))
        return room;
    for (size_t k = 0; k < COUNT_OF(hierarchies); k++) {
        const double left = left_in_hierarchy(root, &hierarchies[k], text);
        if (left < room.bytes)
            room = (struct room){ left, "the control group" };
    }
    return room;
}

/* --- limits of the process ---------------------------------------------------------------------
 */

/* Less what is in use, as /proc/self/status names it. */
static const struct process_limit {
    int resource;
    const char *used, *name;
} process_limits[] = {
    { RLIMIT_AS, "VmSize", "the limit of virtual memory (ulimit -v)" },
    { RLIMIT_DATA, "VmData", "the limit of data (ulimit -d)" },
};

struct room room_of_process(void)
{
    char text[TEXT_SIZE];
    struct room room = { INFINITY, "the process" };
    read_text("", "/proc/self/status", text);
    for (size_t k = 0; k < COUNT_OF(process_limits); k++) {
        const struct process_limit *p = &process_limits[k];
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)p->resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
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
