#include "machine/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "machine/control-group.h"

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
    /* Version 1 has no word for "none": it says the largest whole number of pages. */
    const double none = 0x1p62;
    char *end;
    const double bytes = strtod(text, &end);
    return end == text || bytes >= none ? INFINITY : bytes;
}

/* --- control groups --------------------------------------------------------------------------- */

/* The two versions' names of the same things. */
static const struct names {
    const char *limit, *usage, *inactive;
} names[] = {
    { "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file" },
    { "memory.max", "memory.current", "inactive_file" },
};

/* Returns the memory that one group has left: the kernel gives up pages of files that nobody uses
 * when memory is wanted. */
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
