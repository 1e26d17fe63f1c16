/*
 * Light bodies on no orbit: those that fly through a system of a few heavy bodies, or away from it.
 * The energy of the whole does not show their errors, and there is no orbit whose error the
 * accuracy watch could measure (bound-orbits.h), so that the verdict only counts them.
 *
 * A body is unbound if its kinetic energy about each of the heaviest bodies, and about the centre
 * of mass of each first few of them together, exceeds its potential energy there:
 *
 *     1/2 v^2 M / (M + m) >= sum over these bodies of G M_k / (r_k^2 + eps^2)^(1/2)
 *
 * with the mass m of the body, its speed v relative to the centre of mass, and the mass M of the
 * heavy bodies together.
 */
#ifndef ORRERY_ACCURACY_UNBOUND_H
#define ORRERY_ACCURACY_UNBOUND_H

#include <stddef.h>

#include "model/bodies.h"
#include "model/physics.h"

/* Counts the bodies of a system that are bound neither to one of the eight heaviest bodies nor to
 * several of these together, and whose kinetic energy about them is below `energy`. Returns 0 in a
 * cluster (where the eight have less than nine tenths of the mass), in a periodic box and in
 * external fields. */
size_t unbound_count(const struct physics *physics, const struct bodies *bodies, size_t system,
                     double energy);

#endif
