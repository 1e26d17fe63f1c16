/* Conserved quantities and the virial of one system: always in fp64, summed in a fixed order. */
#ifndef ORRERY_MODEL_CONSERVED_H
#define ORRERY_MODEL_CONSERVED_H

#include <stdbool.h>
#include <stddef.h>

#include "model/bodies.h"
#include "model/physics.h"

struct conserved {
    double mass;
    double kinetic;   /* K = 1/2 sum m v^2 */
    double internal;  /* K' = 1/2 sum m |v - V|^2, V the velocity of the centre of mass */
    double potential; /* U = 1/2 sum m_i phi_i, softened as the forces are */
    double virial;    /* Clausius W = 1/2 sum_ij r_ij . F_ij; = sum m r.a in open space */
    double momentum[3];
    double angular_momentum[3]; /* about the origin */
    double center[3];           /* centre of mass */
};

/* Returns E = K + U, with the velocities as they are given. */
double conserved_energy(const struct conserved *conserved);

/* Returns E' = K' + U, the energy without the motion of the system as a whole: the same in every
 * inertial frame. Errors of energies are always those of E', since a system that moves fast as a
 * whole has so large an E that no error shows in it. */
double conserved_internal_energy(const struct conserved *conserved);

/* Returns max(|E0'|, |U0|), with E0' and U0 those of `first`, the start: energy errors are in units
 * of this. */
double conserved_energy_scale(const struct conserved *first);

/* Returns the energy error, (E' - E0') / max(|E0'|, |U0|), with E' of `now` and E0', U0 of `first`,
 * the start; NaN if the denominator is 0. */
double conserved_energy_error(const struct conserved *first, const struct conserved *now);

/*
 * Finds V = P / M, the velocity of the centre of mass, from M (`mass`), P (`momentum`) and the
 * kinetic energy K. V is set to 0 if no body has mass, and also if the motion of the whole is so
 * slow that M V^2 / 2 is less than the rounding of K: then the sums for a system at rest have the
 * same bits as if V did not exist.
 */
void conserved_velocity(double mass, double kinetic, const double momentum[3], double velocity[3]);

/* Returns K', the kinetic energy in the frame of the centre of mass: `sum`, which is the sum of 1/2
 * m |v - V|^2 (K itself if V is 0); or 0 if `sum` is so small beside K (`kinetic`) that rounding of
 * the velocities alone can have made it. */
double conserved_internal(double kinetic, double sum);

/* Returns the larger of `largest`, the largest |error| so far, and |error|; NaN if one of them is
 * NaN. */
double conserved_larger_error(double largest, double error);

/*
 * Measures system `system` from its bodies and from two arrays that are laid out like those of
 * `bodies`: phi, the potential of each body (energy per mass), and psi, its share of the pair
 * virial per mass, psi_i = sum_j r_ij . a_ij = -G sum_j m_j r_ij^2 / (r_ij^2 + eps^2)^(3/2), so
 * that W = 1/2 sum m_i psi_i. Sums are compensated (Neumaier 1974), so that their rounding error
 * does not grow with the number of bodies.
 */
void conserved_measure(const struct bodies *bodies, size_t system, const double *phi,
                       const double *psi, struct conserved *conserved);

/* --- bodies without mass ---------------------------------------------------------------------- */

/*
 * The energy of test bodies, which are bodies without mass. They are in no sum over masses, so that
 * the energy of the system does not tell how well their motion is integrated. Around a single body
 * with mass each of them has a constant of its own, the specific energy 1/2 |v - V|^2 - G M /
 * sqrt(r^2 + eps^2), where V and M belong to that body; with two or more masses that move there is
 * no such constant.
 */

/* Tells whether exactly one body of the system has mass and there are other bodies. *center becomes
 * the index, in the arrays, of the first body with mass, or of the first body if none has. */
bool test_energy_applies(const struct bodies *bodies, size_t system, size_t *center);

/* The motion of a body without mass about the body that has mass, per unit mass. r is their
 * distance, M, V mass and velocity of the latter, v that of the former. All 0 if both are at one
 * place without softening. */
struct test_motion {
    double kinetic;   /* 1/2 |v - V|^2 */
    double potential; /* - G M / sqrt(r^2 + eps^2) */
    double r2;        /* r^2, with the nearest image in a periodic box */
    double virial;    /* r . a, with the acceleration a of the body without mass */
};

/* Returns the motion of body `body` about body `center`, both indices of the arrays. */
struct test_motion test_energy_motion(const struct physics *physics, const struct bodies *bodies,
                                      size_t center, size_t body);

/* Returns the sum of the specific energies of the bodies without mass; NaN if test_energy_applies()
 * is false. */
double test_energy(const struct physics *physics, const struct bodies *bodies, size_t system);

#endif
