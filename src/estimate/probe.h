/* A probe: a copy of one system of few bodies moves until the end of the run, with steps that adapt
 * to the fastest pair, to find the closest passages before a step is chosen. */
#ifndef ORRERY_ESTIMATE_PROBE_H
#define ORRERY_ESTIMATE_PROBE_H

#include <stddef.h>

#include "base/status.h"
#include "estimate/experiment.h"
#include "space/nearest.h"

/* The sample that a probe gives at each of its steps. */
struct probe_sample {
    double time;
    struct nearest_pair pair; /* the fastest pair */
    double depth; /* |potential energy| of the pair over max(|E0|, |U0|) of the system */
};

struct probe_observer {
    void (*sample)(void *context, const struct probe_sample *sample);
    void *context;
};

enum probe_end {
    PROBE_FINISHED,
    PROBE_COLLIDED, /* two bodies met head-on: no step is small enough */
    PROBE_TOO_LONG, /* the work that was allowed did not suffice */
    PROBE_LOST      /* the energy error was too large, even with the most steps in a period */
};

/*
 * Follows the system, and gives a sample of each step to the observer. If the energy error at the
 * end is too large, the probe begins again with more steps, and the observer gets the samples of
 * both. *work is the work allowed, in pair interactions; the work done is subtracted.
 * STATUS_MEMORY; STATUS_STOPPED if the experiment's interruption asks for it.
 */
enum status probe_follow(const struct experiment *experiment, size_t system,
                         const struct probe_observer *observer, double *work, enum probe_end *end,
                         struct error *error);

#endif
