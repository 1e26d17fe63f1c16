/*
 * The sums on a GPU for integrators that choose their own steps. The host has the state, decides
 * the steps and moves the bodies that are due, those whose step ends now. Under hermite4 and
 * block-leapfrog the first GPU keeps a copy of the state, from which it predicts all bodies: for
 * each evaluation it gets 48 bytes for each body that was due in the one before, its position and
 * velocity, or 96 if forces other than the GPU's sums act on these bodies, too. Under gauss-radau
 * it gets the positions of all bodies, 24 bytes each. It gives back accelerations (and jerks) of
 * the bodies that are due. Softening, precisions and the order of sums are those of kernels.h;
 * jerks need open space.
 */
#ifndef ORRERY_GPU_DUE_H
#define ORRERY_GPU_DUE_H

#include "force/method.h"

/* Direct sums on the first GPU, for integrators that choose their own steps only: accelerations of
 * all bodies (force_create(); this method computes no potentials), and the sums of force/jerk.h for
 * the bodies that are due. */
extern const struct force_method gpu_due;

#endif
