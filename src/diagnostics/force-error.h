/* Measures the error of the accelerations of a moment: some of them are compared with direct sums
 * in double precision. */
#ifndef ORRERY_DIAGNOSTICS_FORCE_ERROR_H
#define ORRERY_DIAGNOSTICS_FORCE_ERROR_H

#include "base/status.h"
#include "diagnostics/diagnostic.h"

/* The errors |a - a_direct|, a the acceleration of a body and a_direct the direct sum, over the
 * root mean square of |a_direct|. NaN if all a_direct are 0. */
struct force_audit {
    double error;                /* root mean square of the errors */
    double uncertainty;          /* its standard error, from the choice of bodies; 0: all of them */
    double error_99, error_9999; /* 1 in 100, 1 in 10,000 exceed this; NaN: fewer bodies */
    double largest;
    double worst; /* id of the body with the largest error */
};

enum { FORCE_AUDIT_BODY_BYTES = 4 * sizeof(double) }; /* the most memory, for each compared body */

/* Compares the accelerations of `count` bodies of a system, or of all if there are no more, with
 * direct sums: those bodies whose ids have the smallest hashes. The moment must have NEED_STATE and
 * NEED_ACCELERATIONS. It may be interrupted. STATUS_MEMORY, STATUS_STOPPED. */
enum status force_audit(const struct moment *now, size_t system, size_t count,
                        struct force_audit *audit, struct error *error);

#endif
