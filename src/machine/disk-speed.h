/*
 * The speed at which the disk below a folder takes data that must survive a crash: measured with a
 * file without a name (O_TMPFILE, Linux), which nobody else can see and which is gone when it is
 * closed.
 */
#ifndef ORRERY_MACHINE_DISK_SPEED_H
#define ORRERY_MACHINE_DISK_SPEED_H

#include <stddef.h>

struct disk_speed {
    double rate;  /* bytes per second of a long write that is flushed */
    double flush; /* seconds of flushing little */
};

/*
 * Measures the speed in the deepest folder of `path` that exists, which may be `path` itself.
 * `bytes` is the amount that will be written at a time; the trial writes as much, within bounds.
 * Returns 0, or errno if the disk has no files without a name or cannot be written; then *speed
 * stays as it was.
 */
int disk_speed_measure(const char *path, size_t bytes, struct disk_speed *speed);

#endif
