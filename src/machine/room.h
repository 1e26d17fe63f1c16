/*
 * The memory that this process can still have: the least of what the machine has available, what
 * the control groups of the process (Linux, versions 1 and 2) still allow, and what `ulimit` still
 * allows; and the speed of a disk.
 */
#ifndef ORRERY_MACHINE_ROOM_H
#define ORRERY_MACHINE_ROOM_H

#include <stdbool.h>
#include <stddef.h>

struct room {
    double bytes; /* infinite if no limit is known */
    /* The name of what sets the limit, as the subject of messages: "the machine". */
    const char *limit;
};

/* Returns the memory that is still free in this machine or in the control groups of this process,
 * whichever is less. Reads files below the folder `root`, which has proc and sys/fs/cgroup: "" for
 * this machine, another folder in tests. */
struct room room_of_machine(const char *root);

/* Returns the memory that this process can still take within its own limits (`ulimit`), which its
 * children inherit. */
struct room room_of_process(void);

/* Returns the lesser of room_of_machine("") and room_of_process(). */
struct room room_left(void);

/* Returns the number behind `key` in the text of a file of /proc or of a control group, which has a
 * line "key: 12 kB" (here 12288 is returned) or "key 12"; NaN if there is no such line. */
double room_number(const char *text, const char *key);

/* Returns the limit in the text of a control group's file: a number of bytes, or "max"; infinite if
 * there is no limit. */
double room_limit(const char *text);

/* --- control groups --------------------------------------------------------------------------- */

/* A control group of Linux is a set of processes that share limits of memory and CPU time: a
 * container, or a job of a batch system. The functions below read the limits of the groups that
 * this process is in, from the files of version 1 or 2. */

enum { CONTROL_GROUP_TEXT_SIZE = 16384 };

/* A function that returns what one control group allows, as its files state it: bytes of memory or
 * CPU cores; infinity if it sets no limit. `group` is the path of the group's folder below `root`,
 * and `version`, 1 or 2, decides the names of the files. */
typedef double control_group_look(const char *root, const char *group, int version);

/* Returns the least value that look() finds for the control groups of this process and all groups
 * above them, in every hierarchy of groups that may limit the resource `controller` ("memory" or
 * "cpu"); infinite if none does. `root`: as for room_of_machine(). */
double control_group_least(const char *root, const char *controller, control_group_look *look);

/* Reads the file `name` in the folder `group` below `root`, which may both be "", and puts its
 * first CONTROL_GROUP_TEXT_SIZE - 1 bytes into `text`. Returns false, with "" in `text`, if it
 * cannot be read or is empty. */
bool control_group_read(const char *root, const char *group, const char *name,
                        char text[CONTROL_GROUP_TEXT_SIZE]);

/*
 * Finds the path of this process's control group in the hierarchy of `controller` ("memory", "cpu";
 * "" for version 2, whose only hierarchy has no name). `text` is the content of /proc/self/cgroup,
 * with lines such as "9:cpu,memory:/path". *path then points to "/path" in `text`, which goes on
 * behind it. Returns the length of the path; 0 if there is none.
 */
int control_group_path(const char *text, const char *controller, const char **path);

/* --- the disk --------------------------------------------------------------------------------- */

/*
 * The speed at which a disk takes data that must survive a crash, which the writer therefore
 * flushes by fsync(). It is measured with a file without a name (O_TMPFILE of Linux), which nobody
 * else can see and which is gone when it is closed.
 */

struct disk_speed {
    double rate;  /* bytes per second of a long write, without the time of its flush */
    double flush; /* seconds for writing and flushing 4 KiB */
};

/*
 * Measures the disk of `path` or, if there is no such folder, of the deepest folder above it that
 * exists. `bytes` is the size of the writes that the caller plans; the trial writes as much, but at
 * least 256 KiB and at most 8 MiB. Returns 0; or an errno, with *speed unchanged, if the file
 * system has no files without a name or cannot be written.
 */
int disk_speed_measure(const char *path, size_t bytes, struct disk_speed *speed);

#endif
