/* The exactness of the forces of a moment: some of them are compared with direct sums in double
 * precision. */
#ifndef ORRERY_DIAGNOSTICS_FORCE_ERROR_H
#define ORRERY_DIAGNOSTICS_FORCE_ERROR_H

#include "base/status.h"
#include "diagnostics/diagnostic.h"

struct force_audit {
    double error; /* rms of |a - a_direct| over that of |a_direct|; NaN: all a_direct are 0 */
    double error_99, error_9999; /* of all but 1 in 100, or in 10,000, of the bodies |a - a_direct|
                                    is at most this, over the same rms; NaN: there are fewer */
    double largest;              /* |a - a_direct| of the worst body, over the same rms */
    double worst;                /* id of that body */
};

enum { FORCE_AUDIT_BODY_BYTES = 4 * sizeof(double) }; /* at most, for each body that it takes */

/*
 * Compares accelerations of a system with direct sums: of the `count` bodies with the smallest
 * hashes of their ids, or of all bodies if there are no more. The moment has NEED_STATE and
 * NEED_ACCELERATIONS. May be interrupted. STATUS_MEMORY, STATUS_STOPPED.
 */
enum status force_audit(const struct moment *now, size_t system, size_t count,
                        struct force_audit *audit, struct error *error);

#endif
