/*
 * Masses of stars by the initial mass functions of the literature: Salpeter (1955, ApJ 121, 161),
 * dN/dm ~ m^-2.35; Kroupa (2001, MNRAS 322, 231), m^-0.3 below 0.08 solar masses, m^-1.3 to 0.5 and
 * m^-2.3 above; and two components, light and heavy bodies.
 */
#ifndef ORRERY_INITIAL_MASSES_H
#define ORRERY_INITIAL_MASSES_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_rng.h>

#include "config/configuration.h"
#include "initial/cluster-keys.h"
#include "model/physics.h"

/* Checks relations that no single row can see. */
void masses_check(const struct section *section, struct error *error);

/* Tells whether they are drawn in solar masses. */
bool masses_are_stellar(const struct section *section);

/* Returns the solar mass in the units of the run, if the stars shall have their real masses: if
 * they are drawn in solar masses, these units know one, and the key `mass` is unset. Else 0. */
double masses_solar(const struct section *section, const struct physics *physics);

/*
 * Draws `count` masses: with a `solar_mass` as they are, else scaled so that they add up to
 * keys->mass, or to 1 where it is unset. Returns the sum. Equal masses draw nothing.
 */
double masses_draw(const struct cluster_keys *keys, double solar_mass, gsl_rng *generator,
                   double *masses, size_t count);

#endif
