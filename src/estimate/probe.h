/*
 * A probe of one system: its motion until the end of the run, followed with steps that adapt to the
 * fastest pair, so that the closest passages are seen before a step is chosen. For few bodies.
 */
#ifndef ORRERY_ESTIMATE_PROBE_H
#define ORRERY_ESTIMATE_PROBE_H

#include <stddef.h>

#include "base/status.h"
#include "estimate/experiment.h"
#include "space/nearest.h"

/* A sample of the probe at one of its steps. */
struct probe_sample {
    double time;
    struct nearest_pair pair; /* the fastest */
    double depth;             /* |U| of the pair over the larger of |E| and |U| of the start */
};

struct probe_observer {
    void (*sample)(void *context, const struct probe_sample *sample);
    void *context;
};

enum probe_end {
    PROBE_FINISHED,
    PROBE_COLLIDED, /* two bodies met head-on: no step is small enough */
    PROBE_TOO_LONG, /* the work that was allowed did not suffice */
    PROBE_LOST      /* its energy was not kept, with ever more steps */
};

/*
 * Follows the system. If the energy is lost it begins again with more steps, and the observer sees
 * both. `work` is the work that it may do, in pair interactions; the work done is taken from it.
 * STATUS_MEMORY.
 */
enum status probe_follow(const struct experiment *experiment, size_t system,
                         const struct probe_observer *observer, double *work, enum probe_end *end,
                         struct error *error);

#endif
