/* The cost of a run, before it is started. */
#ifndef ORRERY_ESTIMATE_ESTIMATE_H
#define ORRERY_ESTIMATE_ESTIMATE_H

#include <stdbool.h>

#include "base/status.h"
#include "estimate/need.h"
#include "estimate/timing.h"

struct estimate {
    struct memory_need memory;
    double disk_bytes;       /* of all rows and frames, and of the checkpoints */
    double checkpoint_bytes; /* of them, those of the checkpoints, while one is being written */
    double frames;           /* of all outputs */
    struct timing timing;
};

/* With `timed` false timing is left at zero. */
enum status estimate_run(const struct estimated *x, bool timed, struct estimate *estimate,
                         struct error *error);

/* The bytes alone: what the disk must have room for. */
double estimate_disk_bytes(const struct estimated *x);

#endif
