/*
 * The duration of a run, from measured parts: each thing that happens in it is tried on its own
 * bodies, or on the first of many, and counted.
 */
#ifndef ORRERY_ESTIMATE_TIMING_H
#define ORRERY_ESTIMATE_TIMING_H

#include "base/status.h"
#include "estimate/experiment.h"
#include "machine/disk-speed.h"
#include "observation/observers.h"
#include "observation/schedule.h"

/* A run that is open, as far as its cost goes; all borrowed. */
struct estimated {
    const struct experiment *experiment; /* with its simulation started */
    const struct schedule *schedule;
    const struct observers *observers;
    const char *directory; /* as the options give it; NULL for the usual one */
    double state_bytes;    /* what observers and criteria keep for a restart */
};

/* A number of events, and the seconds of each. */
struct timing_item {
    double count, each;
};

struct timing {
    struct timing_item forces;      /* steps */
    struct timing_item energies;    /* sums over all pairs, for diagnostics and the watch */
    struct timing_item diagnostics; /* events of any of them, with their rows */
    struct timing_item outputs;     /* frames */
    struct timing_item checkpoints;
    struct disk_speed disk;
    int disk_error; /* errno where it could not be measured, and is as disks usually are; or 0 */
    double seconds; /* of all */
    double rate;    /* pair interactions per second in the steps */
    double interactions; /* in all steps */
    double own_steps;    /* of an integrator that chooses them, as it began; or 0 */
};

double timing_item_seconds(const struct timing_item *part);

/* Takes about a second at most where a step takes less. STATUS_MEMORY, or what a backend or a
 * diagnostic reports. */
enum status timing_measure(const struct estimated *x, struct timing *timing, struct error *error);

#endif
