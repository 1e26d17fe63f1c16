/* The control groups that this process is in (Linux, versions 1 and 2), whose limits are those of
 * its container or its job. */
#ifndef ORRERY_MACHINE_CONTROL_GROUP_H
#define ORRERY_MACHINE_CONTROL_GROUP_H

#include <stdbool.h>

enum { CONTROL_GROUP_TEXT_SIZE = 16384 };

/* Returns the limit of a group, as its files state it; infinity if it sets none. `group` is the
 * folder of the group below `root`; the version of control groups decides the names of the
 * files. */
typedef double control_group_look(const char *root, const char *group, int version);

/* The least of the groups of this process and of all above them that may limit what `controller`
 * controls; from the files below `root`, which has /proc and /sys/fs/cgroup: "" is this machine. */
double control_group_least(const char *root, const char *controller, control_group_look *look);

/* The beginning of a file of a group; "" and false where it cannot be read. With group = "", any
 * file below `root`. */
bool control_group_read(const char *root, const char *group, const char *name,
                        char text[CONTROL_GROUP_TEXT_SIZE]);

/*
 * The path of the process in the hierarchy of a controller, from the text of /proc/self/cgroup
 * ("9:cpu,memory:/path"; version 2 has no controllers: ""). Its length, 0 where there is none;
 * *path points into `text`.
 */
int control_group_path(const char *text, const char *controller, const char **path);

#endif
