/* Bodies drawn from known distributions by code that is independent of src/initial. */
#ifndef ORRERY_VALIDATION_SAMPLE_H
#define ORRERY_VALIDATION_SAMPLE_H

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "model/bodies.h"
#include "unit.h"

static inline struct bodies *sample_create(size_t systems, size_t count)
{
    struct error error = { 0 };
    struct bodies *bodies;
    assert_int_equal(bodies_create(systems, count, &bodies, &error), STATUS_OK);
    return bodies;
}

/* Puts a body of mass m at a random point of the sphere of radius r about the origin; `at` is its
 * index. */
static inline void sample_set(struct bodies *b, size_t at, double m, double r, gsl_rng *random)
{
    gsl_ran_dir_3d(random, &b->x[at], &b->y[at], &b->z[at]);
    b->m[at] = m;
    b->x[at] *= r, b->y[at] *= r, b->z[at] *= r;
}

/* Returns the radius within which Plummer's sphere of mass 1 and scale length a has a fraction of
 * its mass: the inverse of M(r) = (1 + a^2 / r^2)^(-3/2). */
static inline double sample_plummer_radius(double a, double fraction)
{
    return a / sqrt(pow(fraction, -2.0 / 3.0) - 1.0);
}

static inline void sample_plummer(struct bodies *b, size_t system, double a, gsl_rng *random)
{
    for (size_t i = 0; i < b->count; i++)
        sample_set(b, system * b->stride + i, 1.0 / (double)b->count,
                   sample_plummer_radius(a, gsl_rng_uniform_pos(random)), random);
}

/* Draws the positions of a system from a uniform ball of mass 1 and radius R. */
static inline void sample_ball(struct bodies *b, size_t system, double R, gsl_rng *random)
{
    for (size_t i = 0; i < b->count; i++)
        sample_set(b, system * b->stride + i, 1.0 / (double)b->count,
                   R * cbrt(gsl_rng_uniform(random)), random);
}

#endif
