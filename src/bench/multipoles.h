/* One force evaluation by fast multipoles: its errors beside direct sums, and the parts of its
 * time. */
#ifndef ORRERY_BENCH_MULTIPOLES_H
#define ORRERY_BENCH_MULTIPOLES_H

#include "base/status.h"
#include "diagnostics/force-error.h"
#include "force/method.h"

struct multipoles {
    struct force_audit errors;    /* for a sample: the bodies with the least hashes of ids */
    struct force_profile profile; /* shares of the time; NaN: not measured */
};

extern const struct multipoles multipoles_unknown; /* all members are NaN */

enum { MULTIPOLES_COMPARED = 10000 /* the most bodies that are compared with direct sums */ };

/*
 * Finds the accelerations of the bodies by a force with these options, and compares those in the
 * first system with direct sums in double: for as many bodies as take 10^9 pairs together, but 500
 * to MULTIPOLES_COMPARED, or all if these are fewer. STATUS_MEMORY, STATUS_CONFIG (a periodic box),
 * STATUS_STOPPED.
 */
enum status multipoles_measure(const struct force_options *options, const struct physics *physics,
                               struct bodies *bodies, struct multipoles *multipoles,
                               struct error *error);

#endif
