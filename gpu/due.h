/*
 * The sums on a GPU for integrators that choose their own steps. The host has the state and decides
 * the steps; for each evaluation it sends the positions (and for jerks the velocities) of all
 * bodies to the first GPU and gets back accelerations (and jerks) of the bodies that are due. So an
 * evaluation costs a wait of the host and some 50 bytes per body on the bus. Softening, precisions
 * and the order of sums are those of kernels.h; jerks need open space.
 */
#ifndef ORRERY_GPU_DUE_H
#define ORRERY_GPU_DUE_H

#include "force/method.h"

/* Direct sums, for such integrators only: a force of all bodies (force_create()), whose other
 * observers are missing, and the sums of force/jerk.h. */
extern const struct force_method gpu_due;

/* Returns the failure of a device in the sums of a force of this method; its status is STATUS_OK if
 * there was none. Accelerations are not finite after one. */
const struct error *gpu_due_failure(const struct force *force);

#endif
