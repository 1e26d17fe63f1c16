/* Direct summation as a student would write it: the specification of every other force kernel, and
 * the code that the serial backend runs. It uses one thread and fp64, adds the bodies j in
 * ascending order, and multiplies the sum by G. */
#ifndef ORRERY_FORCE_DIRECT_REFERENCE_H
#define ORRERY_FORCE_DIRECT_REFERENCE_H

#include <stddef.h>

#include "model/bodies.h"
#include "model/physics.h"

/* Returns the number of ordered pairs of bodies that the reference visits in an evaluation: N^2 for
 * each system. */
static inline double reference_pairs(double systems, double count)
{
    return systems * count * count;
}

/* Computes bodies->ax, ay, az of all systems; a pair with r^2 + eps^2 = 0 contributes 0. */
void reference_accelerations(const struct physics *physics, const struct bodies *bodies);

/* Computes the potential phi and the virial term psi of each body (see conserved_measure()) of all
 * systems. */
void reference_potentials(const struct physics *physics, const struct bodies *bodies, double *phi,
                          double *psi);

/* Compute the accelerations, or phi and psi, of the bodies [first, last) of one system alone. The
 * arrays phi and psi are laid out like those of `bodies`. */
void reference_accelerations_of(const struct physics *physics, const struct bodies *bodies,
                                size_t system, size_t first, size_t last);
void reference_potentials_of(const struct physics *physics, const struct bodies *bodies,
                             size_t system, size_t first, size_t last, double *phi, double *psi);

/*
 * The bodies of one system, `count` in number; the arrays begin at body 0. reference_jerk()
 * computes acceleration and jerk of body i:
 *   a_i = G sum_j m_j r / (r^2 + eps^2)^(3/2),
 *   jerk_i = da_i/dt = G sum_j m_j (v - 3 (r . v) / (r^2 + eps^2) r) / (r^2 + eps^2)^(3/2)
 * with r and v the position and the velocity of j relative to i. (Makino & Aarseth 1992)
 */
struct reference_motion {
    const double *m, *x[3], *v[3];
    size_t count;
};
void reference_jerk(const struct physics *physics, const struct reference_motion *motion, size_t i,
                    double a[3], double jerk[3]);

/* Returns the index of the body that pulls body i most; i itself if none does. */
size_t reference_strongest(const struct physics *physics, const struct reference_motion *motion,
                           size_t i);

#endif
