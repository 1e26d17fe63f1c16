/* Changes of one whole system, whose first body stands at index `first` of the arrays. */
#ifndef ORRERY_INITIAL_ADJUST_H
#define ORRERY_INITIAL_ADJUST_H

#include "model/bodies.h"

/* Moves the centre of mass to the origin and to rest. Some mass is required. */
void adjust_center(struct bodies *bodies, size_t first);

/* Multiplies positions and velocities. */
void adjust_scale(struct bodies *bodies, size_t first, double positions, double velocities);

/* v -> V + factor (v - V). */
void adjust_velocities(struct bodies *bodies, size_t first, const double V[3], double factor);

#endif
