#include "diagnostics/bound-set.h"

#define LEAST_SHARE 1e-14 /* of a mass: less is what rounding leaves of nothing */

void bound_set_add(struct bound_set *set, const struct bodies *b, size_t i)
{
    set->mass += b->m[i];
    set->momentum[0] += b->m[i] * b->vx[i];
    set->momentum[1] += b->m[i] * b->vy[i];
    set->momentum[2] += b->m[i] * b->vz[i];
}

bool bound_set_holds(const struct bound_set *set, const struct bodies *b, size_t i, bool inside,
                     double phi, double whole, const double *velocity)
{
    const double own = inside ? b->m[i] : 0.0, others = set->mass - own;
    const double v[] = { b->vx[i], b->vy[i], b->vz[i] };
    double v2 = 0.0;
    if (whole - own <= LEAST_SHARE * whole)
        return true;
    for (int k = 0; k < 3; k++) {
        const double dv =
            v[k] - (velocity ? velocity[k] : (set->momentum[k] - own * v[k]) / others);
        v2 += dv * dv;
    }
    return others > LEAST_SHARE * set->mass && 0.5 * others / (others + b->m[i]) * v2 + phi < 0.0;
}
