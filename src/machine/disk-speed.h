/*
 * The speed at which a disk takes data that must survive a crash, which the writer therefore
 * flushes by fsync(). It is measured with a file without a name (O_TMPFILE of Linux), which nobody
 * else can see and which is gone when it is closed.
 */
#ifndef ORRERY_MACHINE_DISK_SPEED_H
#define ORRERY_MACHINE_DISK_SPEED_H

#include <stddef.h>

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
