/*
 * The sums on a GPU for integrators that choose their own steps. The host has the state and decides
 * the steps; for each evaluation it sends the positions (and for jerks the velocities) of all
 * bodies to the first GPU and gets back accelerations (and jerks) of the bodies that are due, those
 * whose step ends now. So an evaluation costs a wait of the host and 24 bytes per body on the bus,
 * or 48 with velocities, and as many back for each body that is due. Softening, precisions and the
 * order of sums are those of kernels.h; jerks need open space.
 */
#ifndef ORRERY_GPU_DUE_H
#define ORRERY_GPU_DUE_H

#include "force/method.h"

/* Direct sums on the first GPU, for integrators that choose their own steps only: accelerations of
 * all bodies (force_create(); this method computes no potentials), and the sums of force/jerk.h for
 * the bodies that are due. */
extern const struct force_method gpu_due;

#endif
