#include "accuracy/unbound.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>

#include "model/vec3.h"

enum { HEAVIEST = 8 };

/* Bodies are called unbound only if the HEAVIEST bodies have this part of the mass or more: in a
 * cluster a body is bound to the whole, not to a few bodies. */
static const double most_mass = 0.9;

/* The mass of a centre, its momentum, and G M / s summed over its bodies at the distances from the
 * body that may be bound to it. */
struct pull {
    double m, p[3], phi;
};

static struct pull pull_of(const struct physics *physics, const struct bodies *b, size_t i,
                           size_t k)
{
    const double d[] = { b->x[i] - b->x[k], b->y[i] - b->y[k], b->z[i] - b->z[k] }, m = b->m[k];
    const double s2 = vec3_dot(d, d) + physics->softening * physics->softening;
    return (struct pull){ m,
                          { m * b->vx[k], m * b->vy[k], m * b->vz[k] },
                          physics->gravitational_constant * m / sqrt(s2) };
}

/* Returns the kinetic energy of body i and the centre about their centre of mass, per unit mass of
 * the body. */
static double kinetic_about(const struct bodies *b, size_t i, const struct pull *pull)
{
    const double m = pull->m;
    const double v[] = { b->vx[i] - pull->p[0] / m, b->vy[i] - pull->p[1] / m,
                         b->vz[i] - pull->p[2] / m };
    return 0.5 * vec3_dot(v, v) * m / (m + b->m[i]);
}

/* Tells whether body i is bound to none of the heaviest bodies and to no first few of them
 * together, and has less kinetic energy than `energy`. */
static bool is_unbound(const struct physics *physics, const struct bodies *b, size_t i,
                       const size_t *heaviest, size_t heavy_count, size_t first, double energy)
{
    struct pull all = { 0 };
    for (size_t k = 0; k < heavy_count; k++) {
        const size_t at = first + heaviest[k];
        if (at == i || !(b->m[at] > 0.0))
            continue;
        const struct pull one = pull_of(physics, b, i, at);
        all.m += one.m;
        all.phi += one.phi;
        for (int axis = 0; axis < 3; axis++)
            all.p[axis] += one.p[axis];
        if (kinetic_about(b, i, &one) < one.phi || kinetic_about(b, i, &all) < all.phi)
            return false;
    }
    return all.m > 0.0 && b->m[i] * kinetic_about(b, i, &all) < energy;
}

size_t unbound_count(const struct physics *physics, const struct bodies *b, size_t system,
                     double energy)
{
    const size_t first = system * b->stride;
    const size_t heavy_count = b->count < HEAVIEST ? b->count : HEAVIEST;
    size_t heaviest[HEAVIEST], unbound = 0;
    double all = 0.0, heavy = 0.0;
    gsl_sort_largest_index(heaviest, heavy_count, b->m + first, 1, b->count);
    for (size_t i = 0; i < b->count; i++)
        all += b->m[first + i];
    for (size_t k = 0; k < heavy_count; k++)
        heavy += b->m[first + heaviest[k]];
    if (physics->boundary != BOUNDARY_OPEN || physics->external || heavy < most_mass * all)
        return 0;
    for (size_t i = first; i < first + b->count; i++)
        unbound += is_unbound(physics, b, i, heaviest, heavy_count, first, energy);
    return unbound;
}
