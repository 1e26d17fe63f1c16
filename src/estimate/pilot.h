/*
 * A pilot: the beginning of the run, or all of it, with another setting, on a copy of the bodies,
 * under a watch of its own; it writes nothing. A run with this setting then moves in the same way
 * to the bit, and is observed at the same steps. If orbits must be accurate, the pilot has the
 * shadows of the run.
 */
#ifndef ORRERY_ESTIMATE_PILOT_H
#define ORRERY_ESTIMATE_PILOT_H

#include <stdbool.h>

#include "base/status.h"
#include "estimate/experiment.h"
#include "estimate/setting.h"

/* The limits of a pilot. */
struct pilot_limits {
    double work;   /* work after which the pilot ends, in pair interactions of a direct sum */
    double error;  /* energy error beyond which it ends */
    double part;   /* part of the run after which it ends, if it has also done the work `little` */
    double little; /* see `part`; less than `work` */
};

struct pilot {
    struct setting setting;
    double part;    /* part of the run that was seen */
    double error;   /* largest energy error, of the system that counts; infinite: numbers were not
                       finite. For orbits the error expected at the time until which they must be
                       accurate */
    double early;   /* largest energy error in the first quarter of that part */
    double work;    /* work of the motion, without that of the energies */
    double spent;   /* work of motion, shadows and energies */
    double carried; /* time when roundings reach trust.tolerance, by the shadows; else INFINITY */
    bool whole;     /* it went to the end and saw all rows and checks of the run; for orbits, it saw
                       all that decides about them */
    bool within;    /* no limit of the watch was passed */
};

/* Makes a pilot with the setting. `experiment` may be one of any setting of `config`, and is not
 * moved. STATUS_CONFIG, with the reason, if the setting cannot be taken; STATUS_MEMORY,
 * STATUS_UNAVAILABLE; STATUS_STOPPED if the experiment's interruption asks for it. */
enum status pilot_run(const struct experiment *experiment, const struct config *config,
                      const struct setting *setting, const struct pilot_limits *limits,
                      struct pilot *pilot, struct error *error);

#endif
