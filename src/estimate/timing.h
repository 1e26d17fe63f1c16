/* The duration of a run, from measured parts: everything that happens in the run is timed on a copy
 * of its bodies, or of the first of many, and multiplied by how often it happens. */
#ifndef ORRERY_ESTIMATE_TIMING_H
#define ORRERY_ESTIMATE_TIMING_H

#include "base/status.h"
#include "estimate/experiment.h"
#include "machine/room.h"
#include "observation/observers.h"
#include "observation/schedule.h"

/* The parts of an open run from which its cost is estimated; all borrowed. */
struct estimated {
    const struct experiment *experiment; /* the experiment, with its simulation started */
    const struct schedule *schedule;
    const struct observers *observers;
    const char *directory; /* run directory given in the options; NULL for the usual one */
    double state_bytes;    /* bytes of the state of observers and criteria in a checkpoint */
};

/* A number of events, and the seconds of each. */
struct timing_item {
    double count, each;
};

struct timing {
    struct timing_item forces;      /* steps, with their forces */
    struct timing_item energies;    /* sums of energies, for diagnostics and the watch */
    struct timing_item diagnostics; /* events of all diagnostics, with the rows that they write */
    struct timing_item outputs;     /* frames of all outputs */
    struct timing_item checkpoints;
    struct disk_speed disk;
    int disk_error; /* errno if the disk could not be measured and a usual speed is assumed; or 0 */
    double seconds; /* seconds of all these parts together: the duration of the run */
    double rate;    /* pair interactions per second in the steps */
    double interactions; /* pair interactions in all steps of the run and its copies */
    double own_steps; /* for an integrator that chooses its own: its steps in the whole run, if they
                         go on as they began; else 0 */
};

double timing_item_seconds(const struct timing_item *part);

/* Measures the parts. Takes some 0.1 s for each part and each diagnostic, unless a single step or
 * event takes longer. STATUS_MEMORY, and the errors of backends and diagnostics. */
enum status timing_measure(const struct estimated *x, struct timing *timing, struct error *error);

#endif
