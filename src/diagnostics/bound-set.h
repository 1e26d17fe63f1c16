/* The bodies that are bound to one another, and the test whether another is bound to them. */
#ifndef ORRERY_DIAGNOSTICS_BOUND_SET_H
#define ORRERY_DIAGNOSTICS_BOUND_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "model/bodies.h"

/* Mass and momentum of the bound bodies; all zero: there are none. */
struct bound_set {
    double mass, momentum[3];
    double rotation; /* Omega of the frame that positions and velocities are in, about the z axis */
};

/* Sets v to the velocity of the body at index i in a frame at rest, whose axes are now those of the
 * frame of the positions and velocities, which turns with `rotation` about z. */
void bound_set_velocity(double rotation, const struct bodies *bodies, size_t i, double v[3]);

/* Adds the body at index i of the arrays to the set. */
void bound_set_add(struct bound_set *set, const struct bodies *bodies, size_t i);

/*
 * Tells whether the body at index i is bound to the others of the set: whether
 * 1/2 m R / (m + R) |v - V|^2 + m phi < 0, for two bodies the energy of their orbit. R is the mass
 * of the others, V their mean velocity or, if given, `velocity`, and `phi` the potential of the
 * others at the body. `inside` says that the body belongs to the set. A body of the set that alone
 * has `whole`, the mass of all bodies that may be bound, counts as bound: the others are bound to
 * it.
 */
bool bound_set_holds(const struct bound_set *set, const struct bodies *bodies, size_t i,
                     bool inside, double phi, double whole, const double *velocity);

#endif
