/* A set of bodies that are bound to one another, and the test whether another body is bound to
 * it. */
#ifndef ORRERY_DIAGNOSTICS_BOUND_SET_H
#define ORRERY_DIAGNOSTICS_BOUND_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "model/bodies.h"

/* Mass and momentum of the bound bodies, the momentum in a frame at rest; all zero for an empty
 * set. */
struct bound_set {
    double mass, momentum[3];
    double rotation; /* angular velocity Omega about z of the frame of positions and velocities */
};

/* Sets v to the velocity of the body at index i of the arrays in a frame at rest. Positions and
 * velocities of `bodies` are in a frame that turns with the angular velocity `rotation` about z;
 * the axes of both frames coincide at this moment. */
void bound_set_velocity(double rotation, const struct bodies *bodies, size_t i, double v[3]);

/* Adds the body at index i of the arrays to the set. */
void bound_set_add(struct bound_set *set, const struct bodies *bodies, size_t i);

/*
 * Tells whether the body at index i is bound to the others of the set, that is, whether 1/2 m R /
 * (m + R) |v - V|^2 + m phi < 0; for two bodies this is the energy of their orbit. Here R is the
 * mass of the others, V their mean velocity or, if given, `velocity` (in a frame at rest), and
 * `phi` the potential of the others at the body. `inside` says that the body belongs to the set. If
 * a body of the set has all of `whole`, the mass of all bodies that may be bound, it counts as
 * bound, since the others can only be bound to it.
 */
bool bound_set_holds(const struct bound_set *set, const struct bodies *bodies, size_t i,
                     bool inside, double phi, double whole, const double *velocity);

#endif
