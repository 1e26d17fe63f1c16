/*
 * The progress of the process that holds a directory, for those who look on from outside. A run
 * leaves it in its lock once a second: the file is there for exactly as long as the run is, or
 * longer where it was killed, and nobody waits for a disk.
 */
#ifndef ORRERY_OUTPUT_PROGRESS_H
#define ORRERY_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "output/directory.h"
#include "output/lock.h"

struct progress {
    bool held;                  /* a process holds the directory */
    char owner[LOCK_TEXT_SIZE]; /* "process 12 on host": it, or the one that was killed; or "" */
    bool known;                 /* it has left the following */
    uint64_t first_step, step, last; /* where that process began, was, and would end */
    double seconds, rate;            /* since it began; pair interactions per second */
    char stamp[CLOCK_STAMP_SIZE];    /* when it was so */
};

/* Leaves the numbers of `progress` in the lock of a directory that this process holds. */
void progress_write(const struct directory *directory, const struct progress *progress);

/* Reads the progress of the directory of that kind at `path`; nothing held and nothing known if
 * there is none. */
struct progress progress_read(const char *path, const struct directory_kind *kind);

#endif
