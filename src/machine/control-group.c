#include "machine/control-group.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { PATH_SIZE = 4096 };

/* Tells whether `name` is one of the `length` characters of a list with commas. */
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

/* The least of a group and of all above it. In a container the path may be that of the host, which
 * is not there: then only the top is looked at, which is the container's own. */
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
