#include "config.h"

#include "integrator/pair-times.h"

#include <math.h>

/* Returns the time of a passage or of a fall, whichever is shorter, squared: |a| / |jerk| does not
 * show it for bodies that are at rest. */
CLONE_FOR_VECTORS
static double pair_time2(const struct physics *physics, const struct reference_motion *motion,
                         size_t i)
{
    const double *const x = motion->x[0], *const y = motion->x[1], *const z = motion->x[2];
    const double *const vx = motion->v[0], *const vy = motion->v[1], *const vz = motion->v[2];
    const double eps2 = physics->softening * physics->softening;
    double least = INFINITY;
#pragma omp simd reduction(min : least)
    for (size_t j = 0; j < motion->count; j++) {
        const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        const double wx = vx[j] - vx[i], wy = vy[j] - vy[i], wz = vz[j] - vz[i];
        const double r2 = dx * dx + dy * dy + dz * dz + eps2, v2 = wx * wx + wy * wy + wz * wz;
        const double m = physics->gravitational_constant * (motion->m[i] + motion->m[j]);
        const double fall2 = r2 * sqrt(r2) / m, passage2 = r2 / v2;
        const double shorter = fall2 < passage2 ? fall2 : passage2;
        const double time2 = j != i && r2 > 0 ? shorter : INFINITY;
        least = time2 < least ? time2 : least;
    }
    return least;
}

double pair_time(const struct physics *physics, const struct reference_motion *motion, size_t i)
{
    return sqrt(pair_time2(physics, motion, i));
}

/* The sizes of all pulls on a body, m r / (r^2 + eps^2)^(3/2), padding of no mass included; eight
 * sums, in the same order whatever the vectors are. */
CLONE_FOR_VECTORS
static double pulls(const struct physics *physics, const struct reference_motion *motion, size_t i)
{
    enum { SUMS = 8 };
    const double *const m = motion->m, *const x = motion->x[0], *const y = motion->x[1],
                        *const z = motion->x[2];
    const double eps2 = physics->softening * physics->softening;
    double sums[SUMS] = { 0 }, sum = 0;
    for (size_t j = 0; j < motion->count; j += SUMS)
#pragma omp simd
        for (size_t k = 0; k < SUMS; k++) {
            const double dx = x[j + k] - x[i], dy = y[j + k] - y[i], dz = z[j + k] - z[i];
            const double r2 = dx * dx + dy * dy + dz * dz;
            const double s2 = r2 + eps2 > 0 ? r2 + eps2 : 1;
            sums[k] += m[j + k] * sqrt(r2) / (s2 * sqrt(s2));
        }
    for (size_t k = 0; k < SUMS; k++)
        sum += sums[k];
    return sum;
}

double pair_pulls(const struct physics *physics, const struct reference_motion *motion, size_t i)
{
    return physics->gravitational_constant * pulls(physics, motion, i);
}
