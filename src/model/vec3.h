/* Vectors of three components, for what is done with one pair of bodies; the sums over all pairs
 * are written out in their kernels. */
#ifndef ORRERY_MODEL_VEC3_H
#define ORRERY_MODEL_VEC3_H

#include <math.h>

/* Returns a . b, summed from the first component on. */
static inline double vec3_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Returns |a|. */
static inline double vec3_length(const double a[3])
{
    return sqrt(vec3_dot(a, a));
}

/* Puts a x b into c, which is neither of them. */
static inline void vec3_cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

#endif
