/* The bodies that are bound to one another, and whether others are bound to them. */
#ifndef ORRERY_DIAGNOSTICS_BOUND_SET_H
#define ORRERY_DIAGNOSTICS_BOUND_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "model/bodies.h"

/* Mass and momentum of the bound bodies; all zero: there are none. */
struct bound_set {
    double mass, momentum[3];
};

/* Adds the body at index i of the arrays. */
void bound_set_add(struct bound_set *set, const struct bodies *bodies, size_t i);

/*
 * Tells whether the body at index i is bound to the others of the set, where `inside` says that it
 * belongs to the set and `phi` is its potential by the others: with their mass R and mean velocity
 * V_R, or `velocity` in the place of V_R, if 1/2 m R / (m + R) |v - V_R|^2 + m phi < 0. For two
 * bodies this is the energy of their orbit. `whole` is the mass of all bodies that may be bound: a
 * single body that has all of it is the one to which the others are bound.
 */
bool bound_set_holds(const struct bound_set *set, const struct bodies *bodies, size_t i,
                     bool inside, double phi, double whole, const double *velocity);

#endif
