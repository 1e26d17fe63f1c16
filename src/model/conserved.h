/* Conserved quantities and the virial of one system. Always fp64, summed in a fixed order. */
#ifndef ORRERY_MODEL_CONSERVED_H
#define ORRERY_MODEL_CONSERVED_H

#include <stdbool.h>
#include <stddef.h>

#include "model/bodies.h"
#include "model/physics.h"

struct conserved {
    double mass;
    double kinetic; /* K = 1/2 sum m v^2 */
    double
        internal; /* K' = K - P^2/2M = 1/2 sum m |v - V|^2, V the velocity of the centre of mass */
    double potential; /* U = 1/2 sum m_i phi_i, softened as the forces are */
    double virial;    /* Clausius W = 1/2 sum_ij r_ij . F_ij; = sum m r.a in open space */
    double momentum[3];
    double angular_momentum[3]; /* about the origin */
    double center[3];           /* of mass */
};

/* E = K + U, in the frame of the positions and velocities as they are given. */
double conserved_energy(const struct conserved *conserved);

/*
 * E' = K' + U, without the motion of the whole: the same in every frame. Every judgement of an
 * energy takes this one, since a system that moves fast as a whole has so large an E that no error
 * shows in it.
 */
double conserved_internal_energy(const struct conserved *conserved);

/* max(|E0'|, |U0|), E0' and U0 those of `first`: what every energy error is measured in. */
double conserved_energy_scale(const struct conserved *first);

/* The energy error, (E' - E0') / max(|E0'|, |U0|); NaN where that is 0. */
double conserved_energy_error(const struct conserved *first, const struct conserved *now);

/*
 * V = P / M, the velocity of the centre of mass; 0 where no body has mass, and where the motion of
 * the whole is so slow that M V^2 / 2 is less than the rounding of the kinetic energy: the numbers
 * of a system at rest are then those without a frame, bit by bit.
 */
void conserved_velocity(double mass, double kinetic, const double momentum[3], double velocity[3]);

/* K' from K and from a sum of 1/2 m |v - V|^2, which is K where V is 0, and 0 where all that is
 * left is the rounding of velocities next to V. */
double conserved_internal(double kinetic, double sum);

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

/* --- bodies without mass ---------------------------------------------------------------------- */

/*
 * The energy of test bodies. Bodies without mass are in no sum over masses, so that nothing tells
 * how well their motion is integrated. Around a single body with mass each has a constant of its
 * own, the specific energy 1/2 |v - V|^2 - G M / sqrt(r^2 + eps^2); with two or more masses that
 * move there is none.
 */

/* Tells whether one body of the system has mass, and others have none. *center becomes the index,
 * in the arrays, of the first with mass. */
bool test_energy_applies(const struct bodies *bodies, size_t system, size_t *center);

/* The motion of a body without mass about the one that has it, per unit mass; all 0 if both are at
 * one place without softening. */
struct test_motion {
    double kinetic;   /* 1/2 |v - V|^2 */
    double potential; /* - G M / sqrt(r^2 + eps^2) */
    double r2;        /* r^2, to the nearest image */
    double virial;    /* r . a */
};

/* Both by their indices in the arrays. */
struct test_motion test_energy_motion(const struct physics *physics, const struct bodies *bodies,
                                      size_t center, size_t body);

/* The sum of the specific energies of the bodies without mass; NaN where it does not apply. */
double test_energy(const struct physics *physics, const struct bodies *bodies, size_t system);

#endif
