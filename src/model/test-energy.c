#include "model/test-energy.h"

#include <math.h>

#include "model/pair.h"

bool test_energy_applies(const struct bodies *b, size_t system, size_t *center)
{
    const size_t first = system * b->stride;
    size_t massive = 0;
    *center = first;
    for (size_t i = first; i < first + b->count; i++)
        if (b->m[i] > 0.0 && massive++ == 0)
            *center = i;
    return massive == 1 && b->count > 1;
}

struct test_motion test_energy_motion(const struct physics *physics, const struct bodies *b,
                                      size_t c, size_t i)
{
    const double eps2 = physics->softening * physics->softening;
    double d[3], v[3];
    pair_separation(physics, b, c, i, d);
    pair_velocity(b, c, i, v);
    const double r2 = vec3_dot(d, d), r = sqrt(r2 + eps2);
    if (!(r > 0.0))
        return (struct test_motion){ 0 };
    const double potential = -(physics->gravitational_constant * b->m[c] / r);
    return (struct test_motion){ 0.5 * vec3_dot(v, v), potential, r2,
                                 potential * r2 / (r2 + eps2) };
}

double test_energy(const struct physics *physics, const struct bodies *b, size_t system)
{
    const size_t first = system * b->stride;
    size_t center;
    if (!test_energy_applies(b, system, &center))
        return NAN;
    double sum = 0.0;
    for (size_t i = first; i < first + b->count; i++)
        if (i != center) {
            const struct test_motion motion = test_energy_motion(physics, b, center, i);
            sum += motion.kinetic + motion.potential;
        }
    return sum;
}
