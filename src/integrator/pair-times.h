/*
 * The times of the pairs of a body, one by one, for cases that the sums of their pulls do not show:
 * the shortest time of a pair, and the sizes of the pulls that may cancel. Direct sums over all
 * bodies.
 */
#ifndef ORRERY_INTEGRATOR_PAIR_TIMES_H
#define ORRERY_INTEGRATOR_PAIR_TIMES_H

#include "force/direct/reference.h"

/* The shortest time of a passage, s/v, or of a fall, (s^3 / G(m_i + m_j))^(1/2), of body i with
 * another one, s^2 = r^2 + eps^2; INFINITY where there is no other. */
double pair_time(const struct physics *physics, const struct reference_motion *motion, size_t i);

/* G sum_j m_j r / s^3. In open space the arrays go on to a multiple of 8 bodies, with masses of 0.
 */
double pair_pulls(const struct physics *physics, const struct reference_motion *motion, size_t i);

#endif
