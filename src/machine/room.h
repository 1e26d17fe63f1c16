/*
 * The memory that this process can still have: the least of the machine's available memory, the
 * rest in its control groups (Linux, versions 1 and 2) and the rest of `ulimit`.
 */
#ifndef ORRERY_MACHINE_ROOM_H
#define ORRERY_MACHINE_ROOM_H

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

#endif
