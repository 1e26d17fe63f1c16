/*
 * The speed at which the disk below a folder takes data that must survive a crash, and which
 * fsync() therefore flushes. It is measured with a file without a name (O_TMPFILE, Linux), which
 * nobody else can see and which is gone when it is closed.
 */
#ifndef ORRERY_MACHINE_DISK_SPEED_H
#define ORRERY_MACHINE_DISK_SPEED_H

#include <stddef.h>

struct disk_speed {
    double rate;  /* bytes per second of a long write that is flushed */
    double flush; /* seconds that it takes to write and flush 4 KiB */
};

/*
 * Measures the speed in the deepest folder of `path` that exists, which may be `path` itself.
 * `bytes` is the size of the writes that the caller plans; the trial writes as much, but from 256
 * KiB to 8 MiB. Returns 0; or an errno, with *speed unchanged, if the file system has no files
 * without a name or cannot be written.
 */
int disk_speed_measure(const char *path, size_t bytes, struct disk_speed *speed);

#endif
