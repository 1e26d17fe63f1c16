/*
 * A rehearsal: the whole run with another step and without a trace, by its own backend and
 * integrator, under its own watch. The run with this step then moves in the same way to the bit,
 * and the watch comes to the same verdict.
 */
#ifndef ORRERY_RUN_REHEARSAL_H
#define ORRERY_RUN_REHEARSAL_H

#include <stdbool.h>

#include "base/status.h"
#include "diagnostics/watch.h"
#include "run/experiment.h"

struct rehearsal {
    double step;
    bool within;                /* no limit of the watch was passed, whatever on_jump says */
    double error_in_limits;     /* largest |E - E0| over the limit */
    char text[WATCH_TEXT_SIZE]; /* what the watch says of it; "" for nothing */
};

/* In pair interactions, or as much time as these take. */
double rehearsal_work(const struct experiment *experiment, double step);

/* Ends early where the energy is far off. STATUS_MEMORY, STATUS_UNAVAILABLE. */
enum status rehearse(const struct experiment *experiment, double step, struct rehearsal *rehearsal,
                     struct error *error);

#endif
