/* Bodies for tests of their motion. */
#ifndef ORRERY_VALIDATION_MOTION_CASE_H
#define ORRERY_VALIDATION_MOTION_CASE_H

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <string.h>

#include "force/direct/reference.h"
#include "model/bodies.h"
#include "model/physics.h"
#include "unit.h"

/* Returns a view of the bodies of a system, for sums of the reference. */
static inline struct reference_motion motion_of(const struct bodies *b, size_t system)
{
    const size_t first = system * b->stride;
    return (struct reference_motion){ b->m + first,
                                      { b->x + first, b->y + first, b->z + first },
                                      { b->vx + first, b->vy + first, b->vz + first },
                                      b->count };
}

static inline struct bodies *motion_bodies(size_t systems, size_t count)
{
    static struct error error;
    struct bodies *bodies;
    assert_int_equal(bodies_create(systems, count, &bodies, &error), STATUS_OK);
    return bodies;
}

/* Returns systems of random bodies: positions and velocities in [-1, 1]^3, masses in [0.5, 1.5] /
 * count. System s is made with the random seed `seed` + s, however many systems there are. */
static inline struct bodies *motion_cube(size_t systems, size_t count, unsigned long seed)
{
    struct bodies *bodies = motion_bodies(systems, count);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t s = 0; s < systems; s++) {
        gsl_rng_set(random, seed + s);
        for (size_t i = s * bodies->stride; i < s * bodies->stride + count; i++) {
            double *const coordinates[] = { &bodies->x[i],  &bodies->y[i],  &bodies->z[i],
                                            &bodies->vx[i], &bodies->vy[i], &bodies->vz[i] };
            bodies->m[i] = (0.5 + gsl_rng_uniform(random)) / (double)count;
            for (size_t k = 0; k < 6; k++)
                *coordinates[k] = 2 * gsl_rng_uniform(random) - 1;
        }
    }
    gsl_rng_free(random);
    return bodies;
}

static inline void motion_set(struct bodies *bodies, size_t i, double m, const double x[3],
                              const double v[3])
{
    bodies->m[i] = m;
    bodies->x[i] = x[0];
    bodies->y[i] = x[1];
    bodies->z[i] = x[2];
    bodies->vx[i] = v[0];
    bodies->vy[i] = v[1];
    bodies->vz[i] = v[2];
}

/*
 * Returns two bodies of masses m and 1 - m (G = 1) at the pericentre of a Kepler orbit of
 * semi-major axis 1 and eccentricity e, about their centre of mass at rest; the period is 2 pi.
 */
static inline struct bodies *motion_orbit(double m, double e)
{
    struct bodies *bodies = motion_bodies(1, 2);
    const double r = 1 - e, v = sqrt((1 + e) / (1 - e));
    motion_set(bodies, 0, m, (double[]){ -r * (1 - m), 0, 0 }, (double[]){ 0, -v * (1 - m), 0 });
    motion_set(bodies, 1, 1 - m, (double[]){ r * m, 0, 0 }, (double[]){ 0, v * m, 0 });
    return bodies;
}

/* Tells whether system `a` of A and system `b` of B have positions and velocities of the same
 * bits. */
static inline bool motion_equal(const struct bodies *A, size_t a, const struct bodies *B, size_t b)
{
    const double *const left[] = { A->x, A->y, A->z, A->vx, A->vy, A->vz };
    const double *const right[] = { B->x, B->y, B->z, B->vx, B->vy, B->vz };
    bool equal = A->count == B->count;
    for (size_t k = 0; k < 6; k++)
        equal = equal && memcmp(left[k] + a * A->stride, right[k] + b * B->stride,
                                A->count * sizeof(double)) == 0;
    return equal;
}

#endif
