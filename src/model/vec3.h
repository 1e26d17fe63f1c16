/* Vectors of three components, for code that treats one pair of bodies; the sums over all pairs are
 * written out in their kernels. */
#ifndef ORRERY_MODEL_VEC3_H
#define ORRERY_MODEL_VEC3_H

#include <math.h>

#include "model/bodies.h"
#include "model/physics.h"

/* Returns a . b, summed from the first component on. */
DEVICE_INLINE double vec3_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Returns |a|. */
DEVICE_INLINE double vec3_length(const double a[3])
{
    return sqrt(vec3_dot(a, a));
}

/* Puts a x b into c, which is neither a nor b. */
static inline void vec3_cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Returns the axis (0, 1, 2) of the longest side of a box from corner `low` to corner `high`; the
 * first one of equally long sides. */
static inline int vec3_longest_side(const double low[3], const double high[3])
{
    int longest = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[longest] - low[longest])
            longest = k;
    return longest;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* Functions on one pair of bodies, the indices i and j of the arrays: how body j is seen from body
 * i. */

/* Puts x_j - x_i into r, to the nearest image of body j where space is periodic. */
static inline void pair_separation(const struct physics *physics, const struct bodies *b, size_t i,
                                   size_t j, double r[3])
{
    r[0] = b->x[j] - b->x[i];
    r[1] = b->y[j] - b->y[i];
    r[2] = b->z[j] - b->z[i];
    for (int k = 0; k < 3 && physics->boundary == BOUNDARY_PERIODIC; k++)
        r[k] = physics_nearest_image(r[k], physics->box_length);
}

/* Puts v_j - v_i into v. */
static inline void pair_velocity(const struct bodies *b, size_t i, size_t j, double v[3])
{
    v[0] = b->vx[j] - b->vx[i];
    v[1] = b->vy[j] - b->vy[i];
    v[2] = b->vz[j] - b->vz[i];
}

#endif
