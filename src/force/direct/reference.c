#include "force/direct/reference.h"

static double separation(const struct physics *physics, double x_i, double x_j)
{
    const double d = x_j - x_i;
    return physics->boundary == BOUNDARY_PERIODIC ? physics_nearest_image(d, physics->box_length)
                                                  : d;
}

/* Computes a_i = G sum_j m_j r_ij / (r_ij^2 + eps^2)^(3/2); j = i is at r_ij = 0 and adds
 * nothing. */
static void accelerate(const struct physics *physics, const struct bodies *bodies, size_t first,
                       size_t last, size_t i)
{
    const double G = physics->gravitational_constant;
    const double eps2 = physics->softening * physics->softening;
    double ax = 0, ay = 0, az = 0;
    for (size_t j = first; j < last; j++) {
        const double dx = separation(physics, bodies->x[i], bodies->x[j]);
        const double dy = separation(physics, bodies->y[i], bodies->y[j]);
        const double dz = separation(physics, bodies->z[i], bodies->z[j]);
        const double r2 = dx * dx + dy * dy + dz * dz + eps2;
        const double f = r2 > 0 ? bodies->m[j] / (r2 * sqrt(r2)) : 0;
        ax += f * dx;
        ay += f * dy;
        az += f * dz;
    }
    bodies->ax[i] = G * ax;
    bodies->ay[i] = G * ay;
    bodies->az[i] = G * az;
}

void reference_accelerations_of(const struct physics *physics, const struct bodies *bodies,
                                size_t system, size_t first, size_t last)
{
    const size_t start = system * bodies->stride, end = start + bodies->count;
    double done = 0;
    for (size_t i = start + first; i < end && i < start + last; i++) {
        if (interruption_after(physics->interruption, &done, (double)bodies->count))
            return;
        accelerate(physics, bodies, start, end, i);
    }
}

void reference_accelerations(const struct physics *physics, const struct bodies *bodies)
{
    for (size_t s = 0; s < bodies->systems; s++)
        reference_accelerations_of(physics, bodies, s, 0, bodies->count);
}

/* Computes phi_i = -G sum_j m_j / (r_ij^2 + eps^2)^(1/2) and psi_i = sum_j r_ij . a_ij over all
 * other bodies j. */
static void find_potential(const struct physics *physics, const struct bodies *bodies, size_t first,
                           size_t last, size_t i, double *phi, double *psi)
{
    const double G = physics->gravitational_constant;
    const double eps2 = physics->softening * physics->softening;
    double potential = 0, virial = 0;
    for (size_t j = first; j < last; j++) {
        if (j == i)
            continue;
        const double dx = separation(physics, bodies->x[i], bodies->x[j]);
        const double dy = separation(physics, bodies->y[i], bodies->y[j]);
        const double dz = separation(physics, bodies->z[i], bodies->z[j]);
        const double r2 = dx * dx + dy * dy + dz * dz;
        if (r2 + eps2 > 0) {
            const double phi_j = bodies->m[j] / sqrt(r2 + eps2);
            potential += phi_j;
            virial += phi_j * (r2 / (r2 + eps2));
        }
    }
    phi[i] = -G * potential;
    psi[i] = -G * virial;
}

void reference_potentials_of(const struct physics *physics, const struct bodies *bodies,
                             size_t system, size_t first, size_t last, double *phi, double *psi)
{
    const size_t start = system * bodies->stride, end = start + bodies->count;
    double done = 0;
    for (size_t i = start + first; i < end && i < start + last; i++) {
        if (interruption_after(physics->interruption, &done, (double)bodies->count))
            return;
        find_potential(physics, bodies, start, end, i, phi, psi);
    }
}

void reference_potentials(const struct physics *physics, const struct bodies *bodies, double *phi,
                          double *psi)
{
    for (size_t s = 0; s < bodies->systems; s++)
        reference_potentials_of(physics, bodies, s, 0, bodies->count, phi, psi);
}

void reference_jerk(const struct physics *physics, const struct reference_motion *motion, size_t i,
                    double a[3], double jerk[3])
{
    const double G = physics->gravitational_constant;
    const double eps2 = physics->softening * physics->softening;
    double sum_a[3] = { 0 }, sum_jerk[3] = { 0 };
    for (size_t j = 0; j < motion->count; j++) {
        double r[3], v[3], r2 = eps2, rv = 0;
        for (int axis = 0; axis < 3; axis++) {
            r[axis] = separation(physics, motion->x[axis][i], motion->x[axis][j]);
            v[axis] = motion->v[axis][j] - motion->v[axis][i];
            r2 += r[axis] * r[axis];
            rv += r[axis] * v[axis];
        }
        const double f = r2 > 0 ? motion->m[j] / (r2 * sqrt(r2)) : 0;
        const double w = r2 > 0 ? 3 * rv / r2 : 0;
        for (int axis = 0; axis < 3; axis++) {
            sum_a[axis] += f * r[axis];
            sum_jerk[axis] += f * (v[axis] - w * r[axis]);
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        a[axis] = G * sum_a[axis];
        jerk[axis] = G * sum_jerk[axis];
    }
}

size_t reference_strongest(const struct physics *physics, const struct reference_motion *motion,
                           size_t i)
{
    const double eps2 = physics->softening * physics->softening;
    size_t strongest = i;
    double most = 0;
    for (size_t j = 0; j < motion->count; j++) {
        double r2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            const double d = separation(physics, motion->x[axis][i], motion->x[axis][j]);
            r2 += d * d;
        }
        const double s2 = r2 + eps2; /* the size of the pull is m r / s^3 */
        const double pull = s2 > 0 ? motion->m[j] * sqrt(r2) / (s2 * sqrt(s2)) : INFINITY;
        if (j != i && pull > most) {
            most = pull;
            strongest = j;
        }
    }
    return strongest;
}
