/*
 * The memory that this process can still have: the least of the machine's available memory, the
 * rest in its control groups (Linux, versions 1 and 2) and the rest of `ulimit`.
 */
#ifndef ORRERY_MACHINE_ROOM_H
#define ORRERY_MACHINE_ROOM_H

#include <stdbool.h>

struct room {
    double bytes;      /* infinite where nothing is known */
    const char *limit; /* who sets it, as the subject of "has": "the machine" */
};

/* Returns the room that all processes share, without the memory in use now; read from the files
 * below `root`, which has /proc and /sys/fs/cgroup: "" is this machine. */
struct room room_of_machine(const char *root);

/* Returns the room that the limits of this process leave it, and will leave each of its
 * children. */
struct room room_of_process(void);

/* The lesser of both. */
struct room room_left(void);

/* The parts of it, from the text of those files. The number behind `key` (a line "key: 12 kB" or
 * "key 12"), in bytes; NaN without such a line. */
double room_number(const char *text, const char *key);

/* A limit of a control group: a number of bytes, or "max"; infinite for none at all. */
double room_limit(const char *text);

/* --- control groups --------------------------------------------------------------------------- */

/* The control groups that this process is in (Linux, versions 1 and 2), whose limits are those of
 * its container or its job. */

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
