/*
 * How much memory this process can still have: the least of what the machine has available, what
 * its control groups leave (Linux, versions 1 and 2) and what `ulimit` leaves.
 */
#ifndef ORRERY_BASE_ROOM_H
#define ORRERY_BASE_ROOM_H

#ifdef __cplusplus
extern "C" {
#endif

struct room {
    double bytes;      /* infinite where nothing is known */
    const char *limit; /* who sets it, as the subject of "has": "the machine" */
};

/* What all processes share, without what is in use now; from the files below `root`, which has
 * /proc and /sys/fs/cgroup: "" is this machine. */
struct room room_of_machine(const char *root);

/* What the limits of this process leave it, and will leave each of its children. */
struct room room_of_process(void);

/* The lesser of both. */
struct room room_left(void);

/* The parts of it, from the text of those files. The number behind `key` (a line "key: 12 kB" or
 * "key 12"), in bytes; NaN without such a line. */
double room_number(const char *text, const char *key);

/* A limit of a control group: a number of bytes, or "max"; infinite for none at all. */
double room_limit(const char *text);

/*
 * The path of the process in the hierarchy of a controller, from the text of /proc/self/cgroup
 * ("9:cpu,memory:/path"; version 2 has no controllers: ""). Its length, 0 where there is none;
 * *path points into `text`.
 */
int room_group(const char *text, const char *controller, const char **path);

#ifdef __cplusplus
}
#endif

#endif
