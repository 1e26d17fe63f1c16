/*
 * A trial run: a copy of the bodies moves through the whole run with another step, with a backend
 * and an integrator of its own, under an accuracy watch of its own; it writes nothing. A run with
 * this step then moves in the same way to the bit, and its watch comes to the same verdict. If the
 * energy error has a bound and the config the diagnostic `conservation`, the trial also measures it
 * at all rows at which the run will.
 */
#ifndef ORRERY_ESTIMATE_TRIAL_RUN_H
#define ORRERY_ESTIMATE_TRIAL_RUN_H

#include <stdbool.h>

#include "accuracy/watch.h"
#include "base/status.h"
#include "estimate/experiment.h"

struct trial_run {
    double step;
    bool within; /* no limit of the watch was passed, whatever watch.on_jump says, and the energy
                    error is at most half of the bound */
    double error_in_limits; /* largest error of energy or orbits over its limit: the watch's or, for
                               the energy, the bound if that is less */
    char text[WATCH_TEXT_SIZE]; /* watch_text() of the trial run */
};

/* Returns the work of one sum of the forces on all bodies, as the number of pair interactions that
 * the fast kernels compute in that time. */
double trial_run_pairs(const struct experiment *experiment);

/* Returns the work of a trial run, as the number of pair interactions that would take as long. The
 * arguments are those of trial_run_make(). */
double trial_run_work(const struct experiment *experiment, double step, double bound);

/* Makes a trial run with `step`. `bound` is the largest energy error that is wanted, in any column
 * that quantity_of_energy() names; if it is infinite, only the limits of the watch count. The trial
 * ends early if the energy is far off. STATUS_MEMORY, STATUS_UNAVAILABLE; STATUS_STOPPED if the
 * experiment's interruption asks for it. */
enum status trial_run_make(const struct experiment *experiment, double step, double bound,
                           struct trial_run *trial, struct error *error);

#endif
