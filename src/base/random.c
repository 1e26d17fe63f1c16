#include "base/random.h"

#include <math.h>

gsl_rng *random_create(unsigned long seed, struct error *error)
{
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    if (!generator) {
        error_set(error, STATUS_MEMORY, "out of memory for a random generator");
        return NULL;
    }
    gsl_rng_set(generator, seed);
    return generator;
}

void random_destroy(gsl_rng *generator)
{
    gsl_rng_free(generator);
}

/* The formula of genrand_res53() in mt19937ar.c, by the authors of the generator: 27 bits of one
 * draw and 26 bits of a second. */
double random_uniform(gsl_rng *generator, double low, double high)
{
    const double upper = (double)(gsl_rng_get(generator) >> 5);
    const double lower = (double)(gsl_rng_get(generator) >> 6);
    const double u = (upper * 0x1p26 + lower) * 0x1p-53;
    return low + (high - low) * u;
}

/* Draws a point in the unit ball by rejection from the cube around it, without trigonometry, in
 * 1.91 tries on average. Returns the square of its distance from the origin, which is not 0. */
static double unit_ball(gsl_rng *generator, double point[3])
{
    double r2;
    do {
        for (int k = 0; k < 3; k++)
            point[k] = random_uniform(generator, -1.0, 1.0);
        r2 = point[0] * point[0] + point[1] * point[1] + point[2] * point[2];
    } while (r2 > 1.0 || r2 == 0.0);
    return r2;
}

void random_in_ball(gsl_rng *generator, double radius, double point[3])
{
    unit_ball(generator, point);
    for (int k = 0; k < 3; k++)
        point[k] *= radius;
}

void random_on_sphere(gsl_rng *generator, double length, double vector[3])
{
    const double scale = length / sqrt(unit_ball(generator, vector));
    for (int k = 0; k < 3; k++)
        vector[k] *= scale;
}
