/*
 * A pilot: a copy of the bodies that moves through the beginning of the run, or all of it, with a
 * setting (integrator and steps) that is tried, under an accuracy watch of its own; it writes
 * nothing. A run with this setting then moves in the same way to the bit, and is observed at the
 * same steps, unless these are too many for a pilot. If orbits must be accurate, the pilot has
 * shadows as the run has (accuracy/trust.h).
 */
#ifndef ORRERY_ESTIMATE_PILOT_H
#define ORRERY_ESTIMATE_PILOT_H

#include <stdbool.h>

#include "base/status.h"
#include "estimate/experiment.h"
#include "estimate/setting.h"

struct pilot_limits {
    double work;   /* work after which the pilot ends, in pair interactions of a direct sum */
    double error;  /* relative energy error, of the system that counts (accuracy_target_error()),
                      beyond which the pilot ends; INFINITY: no limit */
    double part;   /* part of the run after which the pilot ends, once the work `little` is done */
    double little; /* work before which `part` does not end the pilot; less than `work` */
};

struct pilot {
    struct setting setting;
    double part;  /* part of the run that was seen; for orbits, 0 before a comparison */
    double error; /* largest energy error, of the system that counts, INFINITY if numbers were not
                     finite; for orbits, the error expected at time.trust_until */
    double early; /* largest energy error in the first quarter of the part that was seen */
    /* Work of the motion, in pair interactions, without that of shadows and energies. */
    double work;
    double spent;   /* work of motion, shadows and energies */
    double carried; /* for orbits, time when rounding errors reach trust.tolerance; or INFINITY */
    bool whole; /* the pilot went to the end and left out no row or check of the run; for orbits, it
                   saw all that decides about them */
    bool within; /* no limit of the accuracy watch was passed */
};

/* Makes a pilot with the setting, which is applied to `config`. The bodies are those of
 * `experiment`, which may have been created with any setting of `config`, and are not moved.
 * STATUS_CONFIG, with the reason, if the setting cannot be taken; STATUS_MEMORY,
 * STATUS_UNAVAILABLE; STATUS_STOPPED if the experiment's interruption asks for it. */
enum status pilot_run(const struct experiment *experiment, const struct config *config,
                      const struct setting *setting, const struct pilot_limits *limits,
                      struct pilot *pilot, struct error *error);

#endif
