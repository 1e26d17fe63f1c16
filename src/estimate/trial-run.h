/*
 * A trial run: the whole run with another step and without a trace, by its own backend and
 * integrator, under its own watch. The run with this step then moves in the same way to the bit,
 * and the watch comes to the same verdict.
 */
#ifndef ORRERY_ESTIMATE_TRIAL_RUN_H
#define ORRERY_ESTIMATE_TRIAL_RUN_H

#include <stdbool.h>

#include "accuracy/watch.h"
#include "base/status.h"
#include "estimate/experiment.h"

struct trial_run {
    double step;
    bool within;                /* no limit of the watch was passed, whatever on_jump says, and the
                                   error is within half of the bound */
    double error_in_limits;     /* largest |E - E0| over the limit, or over the bound if that is
                                   less */
    char text[WATCH_TEXT_SIZE]; /* what the watch says of it; "" for nothing */
};

/* Returns the work of a trial run, in pair interactions that would take as long. */
double trial_run_work(const struct experiment *experiment, double step);

/* With the energy error that is wanted as a bound, over max(|E0|, |U0|); infinite: the limits of
 * the watch are all. Ends early where the energy is far off. STATUS_MEMORY, STATUS_UNAVAILABLE;
 * STATUS_STOPPED where the experiment's interruption asks for it. */
enum status trial_run_make(const struct experiment *experiment, double step, double bound,
                           struct trial_run *trial, struct error *error);

#endif
