/*
 * Direct summation as a student would write it: the specification of every other kernel, and what
 * the serial backend runs. One thread, fp64, j in ascending order, G applied to the sum.
 */
#ifndef ORRERY_FORCE_REFERENCE_H
#define ORRERY_FORCE_REFERENCE_H

#include "model/bodies.h"
#include "model/physics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* bodies->ax, ay, az of all systems; a pair with r^2 + eps^2 = 0 contributes 0. */
void reference_accelerations(const struct physics *physics, const struct bodies *bodies);

/* phi and psi (see conserved_measure()) of all systems. */
void reference_potentials(const struct physics *physics, const struct bodies *bodies, double *phi,
                          double *psi);

/* The same of bodies [first, last) of every system alone. */
void reference_accelerations_of(const struct physics *physics, const struct bodies *bodies,
                                size_t first, size_t last);
void reference_potentials_of(const struct physics *physics, const struct bodies *bodies,
                             size_t first, size_t last, double *phi, double *psi);

#ifdef __cplusplus
}
#endif

#endif
