/*
 * The bound pairs of a system in open space: two bodies of which each is the nearest neighbour of
 * the other, and whose relative motion has a negative energy, 1/2 v^2 - G (m_i + m_j) / s < 0 with
 * s^2 = r^2 + eps^2. The search takes O(N log N). A pair with a third body between its members is
 * missed as long as the third body is there; of a hierarchical triple the inner pair is found.
 */
#ifndef ORRERY_SPACE_BOUND_PAIRS_H
#define ORRERY_SPACE_BOUND_PAIRS_H

#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"
#include "space/neighbours.h"

struct bound_pair {
    size_t i, j;      /* indices of the two bodies within the system, i < j */
    double energy;    /* binding energy > 0: mu (G (m_i + m_j) / s - 1/2 v^2), mu the reduced
                         mass; 0 if one member has no mass */
    double potential; /* potential energy between the two, -G m_i m_j / s */
    double virial;    /* the pair's part of Clausius's virial, -G m_i m_j r^2 / s^3 */
};

struct bound_pairs {
    size_t count;
    struct bound_pair *pairs; /* by ascending index i */
    size_t *pair_of; /* index in `pairs` of the pair of each body; NO_BOUND_PAIR if it has none */
};

#define NO_BOUND_PAIR ((size_t)-1)

/* The most bytes for each body of the system that the search and its result take. */
enum { BOUND_PAIRS_BODY_BYTES = NEIGHBOURS_BODY_BYTES + 5 * sizeof(double) };

/* Finds the bound pairs of a system by `threads` threads; their order does not depend on the
 * threads. STATUS_MEMORY; STATUS_NUMERICAL if a position is no number (NaN, infinite). */
enum status bound_pairs_create(const struct physics *physics, const struct bodies *bodies,
                               size_t system, int threads, struct bound_pairs *found,
                               struct error *error);
void bound_pairs_destroy(struct bound_pairs *found); /* accepts what create() made, and all zero */

/* Returns the pair to which body i of the system belongs; NULL if to none. */
const struct bound_pair *bound_pairs_of(const struct bound_pairs *found, size_t i);

/* Returns the pair with the largest binding energy, the first of equal ones; NULL if there are no
 * pairs. */
const struct bound_pair *bound_pairs_hardest(const struct bound_pairs *found);

/* Creates *merged, a system of its own that the caller destroys: the bodies of the system in their
 * order, but each pair as one body at its centre of mass, in the place of its first member.
 * STATUS_MEMORY. */
enum status bound_pairs_merge(const struct bound_pairs *found, const struct bodies *bodies,
                              size_t system, struct bodies **merged, struct error *error);

/* Returns the kinetic energy of bodies that are one system, in the frame of its centre of mass. */
double bound_pairs_kinetic(const struct bodies *bodies);

#endif
