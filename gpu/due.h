/*
 * The sums of force/jerk.h on a GPU: accelerations, and jerks in open space, of the bodies that are
 * due. The host has the state and the logic of block steps. For each block it sends the predicted
 * positions and velocities of all bodies to the first GPU and gets the sums back, so a block costs
 * a wait of the host and some 50 bytes per body on the bus. Softening, precisions and the order of
 * sums are those of kernels.h.
 */
#ifndef ORRERY_GPU_DUE_H
#define ORRERY_GPU_DUE_H

#include "force/jerk.h"

extern const struct jerk_class gpu_due;

#endif
