/*
 * The bound pairs of a system in open space: two bodies of which each is the nearest neighbour of
 * the other, and whose relative motion has a negative energy, 1/2 v^2 - G (m_i + m_j) / s < 0,
 * s^2 = r^2 + eps^2. In O(N log N). A pair with a third body between its members is missed as long
 * as that lasts; of a hierarchical triple the inner pair is found.
 */
#ifndef ORRERY_SPACE_BOUND_PAIRS_H
#define ORRERY_SPACE_BOUND_PAIRS_H

#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"
#include "space/neighbours.h"

struct bound_pair {
    size_t i, j;      /* i < j, within the system */
    double energy;    /* of its binding, > 0: mu (G (m_i + m_j) / s - 1/2 v^2), mu the reduced mass;
                       * 0 for a member without mass */
    double potential; /* of the pair alone, -G m_i m_j / s */
    double virial;    /* Clausius, -G m_i m_j r^2 / s^3 */
};

struct bound_pairs {
    size_t count;
    struct bound_pair *pairs; /* by ascending i */
    size_t *pair_of;          /* of each body; NO_BOUND_PAIR for a single one */
};

#define NO_BOUND_PAIR ((size_t)-1)

/* At most, for each body, while they are looked for and kept. */
enum { BOUND_PAIRS_BODY_BYTES = NEIGHBOURS_BODY_BYTES + 5 * sizeof(double) };

/* Their order does not depend on the threads. STATUS_MEMORY; STATUS_NUMERICAL when a body is
 * nowhere (NaN, infinite). */
enum status bound_pairs_create(const struct physics *physics, const struct bodies *bodies,
                               size_t system, int threads, struct bound_pairs *found,
                               struct error *error);
void bound_pairs_destroy(struct bound_pairs *found); /* what create() has filled, or all zero */

/* The pair that a body belongs to; NULL for a single one. */
const struct bound_pair *bound_pairs_of(const struct bound_pairs *found, size_t i);

/* The one that is bound most; NULL without pairs. The first of equal ones. */
const struct bound_pair *bound_pairs_hardest(const struct bound_pairs *found);

/* The bodies of the system in their order, with each pair as one body at its centre of mass, in the
 * slot of its first member: a system of its own, for the caller to destroy. STATUS_MEMORY. */
enum status bound_pairs_merge(const struct bound_pairs *found, const struct bodies *bodies,
                              size_t system, struct bodies **merged, struct error *error);

/* Kinetic energy in the frame of the centre of mass of bodies that are one system. */
double bound_pairs_kinetic(const struct bodies *bodies);

#endif
