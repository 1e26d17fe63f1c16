/*
 * A pilot of a run: the beginning of it with another setting, or all of it, on a copy of its bodies
 * and without a trace, under its own watch. The run with this setting then moves in the same way to
 * the bit, and is looked at at the same steps. Where orbits are to be accurate, it has the shadows
 * of the run.
 */
#ifndef ORRERY_ESTIMATE_PILOT_H
#define ORRERY_ESTIMATE_PILOT_H

#include <stdbool.h>

#include "base/status.h"
#include "estimate/experiment.h"
#include "estimate/setting.h"

/* The limits of a pilot. */
struct pilot_limits {
    double work;   /* in the time of a pair of a direct sum; it ends once it has done as much */
    double error;  /* or once its energy is farther off */
    double part;   /* or once it has seen this part of the run and done as much work as: */
    double little; /* which is less than `work` */
};

struct pilot {
    struct setting setting;
    double part;  /* of the run that was seen */
    double error; /* the largest, of the system that counts; infinite: the numbers failed. Of orbits
                     that which is expected at the time until which they are to be accurate */
    double early; /* the same of the first quarter of that part */
    double work;  /* of the motion until there, without that of the energies */
    double spent; /* all work */
    double carried; /* when roundings reach trust.tolerance, by the shadows; else INFINITY */
    bool whole;  /* to the end, and all rows and looks were seen; all that decides about orbits */
    bool within; /* the watch passes it so far */
};

/* `experiment` is of any setting of `config`, and is not moved. STATUS_CONFIG where the setting
 * cannot be taken, with the reason; STATUS_MEMORY, STATUS_UNAVAILABLE; STATUS_STOPPED where the
 * experiment's interruption asks for it. */
enum status pilot_run(const struct experiment *experiment, const struct config *config,
                      const struct setting *setting, const struct pilot_limits *limits,
                      struct pilot *pilot, struct error *error);

#endif
