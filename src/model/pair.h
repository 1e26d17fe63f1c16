/* One pair of bodies: how body j is seen from body i, at the indices of the arrays. The sums over
 * all pairs do the same in their kernels. */
#ifndef ORRERY_MODEL_PAIR_H
#define ORRERY_MODEL_PAIR_H

#include "model/bodies.h"
#include "model/physics.h"
#include "model/vec3.h"

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
