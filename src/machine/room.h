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

/* Returns the lesser of the two: the room of this machine and that of this process. */
struct room room_left(void);

/* Returns the number behind `key` in the text of a file of /proc or of a control group (a line
 * "key: 12 kB" or "key 12"), in bytes; NaN if there is no such line. */
double room_number(const char *text, const char *key);

/* Returns the limit in the text of a control group's file: a number of bytes, or "max"; infinite if
 * there is no limit. */
double room_limit(const char *text);

/* --- control groups --------------------------------------------------------------------------- */

/* The control groups that this process is in (Linux, versions 1 and 2), whose limits are those of
 * its container or its job. */

enum { CONTROL_GROUP_TEXT_SIZE = 16384 };

/* Returns the limit of a group, as its files state it; infinity if it sets none. `group` is the
 * folder of the group below `root`; the version of control groups decides the names of the
 * files. */
typedef double control_group_look(const char *root, const char *group, int version);

/* Returns the least limit that look() finds for the groups of this process and all above them, as
 * far as these may limit what `controller` ("memory", "cpu") controls. Their files are below
 * `root`, which has /proc and /sys/fs/cgroup: "" is this machine. */
double control_group_least(const char *root, const char *controller, control_group_look *look);

/* Reads the beginning of file `name` of a group into `text`; if it cannot be read, "" and false.
 * With group = "" it reads any file below `root`. */
bool control_group_read(const char *root, const char *group, const char *name,
                        char text[CONTROL_GROUP_TEXT_SIZE]);

/*
 * Finds the path of this process in the hierarchy of a controller in `text`, that of
 * /proc/self/cgroup ("9:cpu,memory:/path"; the hierarchy of version 2 has no controllers: "").
 * *path points into `text`. Returns the length of the path; 0 if there is none.
 */
int control_group_path(const char *text, const char *controller, const char **path);

#endif
