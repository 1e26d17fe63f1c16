#include "diagnostics/bound-set.h"

#define LEAST_SHARE 1e-14 /* part of a mass: a smaller difference is rounding */

/* The velocity in a frame at rest is v + Omega x r. */
void bound_set_velocity(double rotation, const struct bodies *b, size_t i, double v[3])
{
    v[0] = b->vx[i] - rotation * b->y[i];
    v[1] = b->vy[i] + rotation * b->x[i];
    v[2] = b->vz[i];
}

void bound_set_add(struct bound_set *set, const struct bodies *b, size_t i)
{
    double v[3];
    bound_set_velocity(set->rotation, b, i, v);
    set->mass += b->m[i];
    for (int k = 0; k < 3; k++)
        set->momentum[k] += b->m[i] * v[k];
}

bool bound_set_holds(const struct bound_set *set, const struct bodies *b, size_t i, bool inside,
                     double phi, double whole, const double *velocity)
{
    const double own = inside ? b->m[i] : 0.0, others = set->mass - own;
    double v[3], v2 = 0.0;
    bound_set_velocity(set->rotation, b, i, v);
    if (whole - own <= LEAST_SHARE * whole)
        return true;
    for (int k = 0; k < 3; k++) {
        const double dv =
            v[k] - (velocity ? velocity[k] : (set->momentum[k] - own * v[k]) / others);
        v2 += dv * dv;
    }
    return others > LEAST_SHARE * set->mass && 0.5 * others / (others + b->m[i]) * v2 + phi < 0.0;
}
