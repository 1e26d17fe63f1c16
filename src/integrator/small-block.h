/* What the few bodies of a block do to each other. */
#ifndef ORRERY_INTEGRATOR_SMALL_BLOCK_H
#define ORRERY_INTEGRATOR_SMALL_BLOCK_H

#include "model/physics.h"

enum { SMALL_BLOCK = 32 }; /* bodies, at most */

/* Where they are is x + shift, for which separations are not rounded: two bodies may be as close as
 * roundings of x. */
struct small_block {
    double m[SMALL_BLOCK], x[3][SMALL_BLOCK], shift[3][SMALL_BLOCK], v[3][SMALL_BLOCK];
    size_t count;
};

/* Adds `sign` times the acceleration and the jerk of body k by the others to a[axis][k] and
 * rate[axis][k], for all bodies of the block. */
void small_block_add_forces(const struct physics *physics, const struct small_block *block,
                            double sign, double *const a[3], double *const rate[3]);

#endif
