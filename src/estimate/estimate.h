/* The cost of a run, before it is started. */
#ifndef ORRERY_ESTIMATE_ESTIMATE_H
#define ORRERY_ESTIMATE_ESTIMATE_H

#include <stdbool.h>

#include "base/status.h"
#include "estimate/need.h"
#include "estimate/timing.h"

struct estimate {
    struct memory_need memory;
    double disk_bytes;       /* size on disk of all rows and frames, and of the checkpoints */
    double checkpoint_bytes; /* the part for checkpoints, while one is being written */
    double frames;           /* number of frames of all outputs */
    struct timing timing;
};

/* Estimates memory, disk and, if `timed`, the duration of the run; otherwise estimate->timing is
 * zero. The errors of timing_measure(). */
enum status estimate_run(const struct estimated *x, bool timed, struct estimate *estimate,
                         struct error *error);

/* Returns the bytes for which the disk must have room, as in estimate->disk_bytes. */
double estimate_disk_bytes(const struct estimated *x);

#endif
