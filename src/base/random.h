/* Random numbers: the Mersenne Twister MT19937 (Matsumoto & Nishimura 1998, as GSL has it), and the
 * distributions that initial conditions need beyond gsl_ran_*. All use only arithmetic that IEEE
 * 754 rounds correctly, so a seed gives the same bits on every machine. */
#ifndef ORRERY_BASE_RANDOM_H
#define ORRERY_BASE_RANDOM_H

#include <gsl/gsl_rng.h>

#include "base/status.h"

/* The largest seed. No two seeds from 1 to it give the same stream (GSL reads 0 as 4357). */
#define RANDOM_SEED_MAX 4294967295u

/* Creates a generator, which the caller owns; NULL with STATUS_MEMORY. */
gsl_rng *random_create(unsigned long seed, struct error *error);
void random_destroy(gsl_rng *generator); /* accepts NULL */

/* Returns a number uniform in [low, high], made of 53 random bits; gsl_rng_uniform() has 32. */
double random_uniform(gsl_rng *generator, double low, double high);

/* Draws a point, uniform in the ball of this radius about the origin. */
void random_in_ball(gsl_rng *generator, double radius, double point[3]);

/* Draws a vector of this length with an isotropic direction. */
void random_on_sphere(gsl_rng *generator, double length, double vector[3]);

#endif
