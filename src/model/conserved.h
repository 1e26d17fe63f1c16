/* Conserved quantities and the virial of one system. Always fp64, summed in a fixed order. */
#ifndef ORRERY_MODEL_CONSERVED_H
#define ORRERY_MODEL_CONSERVED_H

#include <stddef.h>

#include "model/bodies.h"

struct conserved {
    double mass;
    double kinetic;   /* K = 1/2 sum m v^2 */
    double potential; /* U = 1/2 sum m_i phi_i, softened as the forces are */
    double virial;    /* Clausius W = 1/2 sum_ij r_ij . F_ij; = sum m r.a in open space */
    double momentum[3];
    double angular_momentum[3]; /* about the origin */
    double center[3];           /* of mass */
};

/* E = K + U. */
double conserved_energy(const struct conserved *conserved);

/* dE/E0 = (E - E0) / |E0|, E0 the energy of `first`; NaN where that is 0. */
double conserved_energy_error(const struct conserved *first, const struct conserved *now);

/* The larger in size of the largest error so far and another; once undefined, it stays so. */
double conserved_larger_error(double largest, double error);

/*
 * The sums over system `system`, from its bodies and from the potentials of all of them:
 * phi (energy per mass) and psi, each body's share of the pair virial per mass,
 * psi_i = sum_j r_ij . a_ij = -G sum_j m_j r_ij^2 / (r_ij^2 + eps^2)^(3/2); the arrays are laid
 * out like those of `bodies`. So W = 1/2 sum m_i psi_i.
 * Sums are compensated (Neumaier 1974), so that the error does not grow with the count.
 */
void conserved_measure(const struct bodies *bodies, size_t system, const double *phi,
                       const double *psi, struct conserved *conserved);

#endif
