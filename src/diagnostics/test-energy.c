#include "diagnostics/test-energy.h"

#include <math.h>

/* The first body with mass, and how many there are. */
static size_t find_mass(const struct bodies *b, size_t first, size_t *massive)
{
    size_t center = first;
    *massive = 0;
    for (size_t i = first; i < first + b->count; i++)
        if (b->m[i] > 0.0 && (*massive)++ == 0)
            center = i;
    return center;
}

bool test_energy_applies(const struct bodies *bodies, size_t system)
{
    size_t massive;
    find_mass(bodies, system * bodies->stride, &massive);
    return massive == 1 && bodies->count > 1;
}

double test_energy(const struct physics *physics, const struct bodies *b, size_t system)
{
    const size_t first = system * b->stride;
    const double eps2 = physics->softening * physics->softening;
    size_t massive;
    const size_t c = find_mass(b, first, &massive);
    if (massive != 1 || b->count < 2)
        return NAN;
    double sum = 0.0;
    for (size_t i = first; i < first + b->count; i++) {
        double d[3] = { b->x[i] - b->x[c], b->y[i] - b->y[c], b->z[i] - b->z[c] };
        for (int k = 0; k < 3 && physics->boundary == BOUNDARY_PERIODIC; k++)
            d[k] = physics_nearest_image(d[k], physics->box_length);
        const double vx = b->vx[i] - b->vx[c], vy = b->vy[i] - b->vy[c], vz = b->vz[i] - b->vz[c];
        const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps2);
        if (i != c && r > 0.0)
            sum +=
                0.5 * (vx * vx + vy * vy + vz * vz) - physics->gravitational_constant * b->m[c] / r;
    }
    return sum;
}
