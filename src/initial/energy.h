/* Energies of one system, whose first body stands at index `first` of the arrays, for initial
 * conditions that are scaled to an energy or a virial ratio. */
#ifndef ORRERY_INITIAL_ENERGY_H
#define ORRERY_INITIAL_ENERGY_H

#include "base/status.h"
#include "force/force-options.h"
#include "model/bodies.h"
#include "model/physics.h"

/* Returns K = 1/2 sum m v^2. */
double energy_kinetic(const struct bodies *bodies, size_t first);

/* Returns K' = 1/2 sum m |v - V|^2; V becomes the velocity of the centre of mass. */
double energy_internal(const struct bodies *bodies, size_t first, double V[3]);

struct pair_sums {
    double potential; /* U = -G sum m_i m_j / s over pairs, s^2 = r^2 + eps^2 */
    double virial;    /* Clausius virial W = -G sum m_i m_j r^2 / s^3 over pairs */
};

/*
 * Returns the sums over all pairs of the system, each counted once, in double precision. Threads
 * share the work; the result does not depend on their number. If the interruption in `physics` is
 * raised, the sums end early and mean nothing.
 */
struct pair_sums energy_pairs(const struct physics *physics, const struct bodies *bodies,
                              size_t first);

/*
 * Finds the sums of energy_pairs() as the force method of the run has them. A method that
 * approximates (the fast multipole method) gives them in open space by its potentials, which takes
 * less time; otherwise, and if `forces` is NULL, they are summed over all pairs. STATUS_MEMORY,
 * STATUS_STOPPED.
 */
enum status energy_of_run(const struct force_options *forces, const struct physics *physics,
                          const struct bodies *bodies, size_t first, struct pair_sums *sums,
                          struct error *error);

#endif
