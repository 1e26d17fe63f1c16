/* One force by fast multipoles: its errors beside direct sums, and where its time goes. */
#ifndef ORRERY_BENCH_MULTIPOLES_H
#define ORRERY_BENCH_MULTIPOLES_H

#include "base/status.h"
#include "diagnostics/force-error.h"
#include "force/method.h"

struct multipoles {
    struct force_audit errors;    /* of `compared` bodies, those with the least hashes of ids */
    struct force_profile profile; /* NaN: the backend has none */
    size_t compared;
};

extern const struct multipoles multipoles_unknown; /* NaN */

enum { MULTIPOLES_COMPARED = 10000 /* bodies at most */ };

/*
 * Finds the accelerations of the bodies by a force of these options, and compares those of the
 * first system with direct sums in double: of as many bodies as take 10^9 pairs together, but 500
 * at least. STATUS_MEMORY, STATUS_CONFIG (a periodic box), STATUS_STOPPED.
 */
enum status multipoles_measure(const struct force_options *options, const struct physics *physics,
                               struct bodies *bodies, struct multipoles *multipoles,
                               struct error *error);

#endif
