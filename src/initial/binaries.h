/*
 * Primordial binaries: pairs of bodies that move together from the start. Semi-major axes are
 * uniform in ln a; eccentricities thermal, f(e) = 2e (Heggie 1975, MNRAS 173, 729), or all 0;
 * orientations isotropic, phases uniform in time; partners pair up at random.
 */
#ifndef ORRERY_INITIAL_BINARIES_H
#define ORRERY_INITIAL_BINARIES_H

#include <stddef.h>

#include <gsl/gsl_rng.h>

#include "config/configuration.h"
#include "initial/cluster-keys.h"
#include "model/bodies.h"

/* Checks relations that no single row can see. */
void binaries_check(const struct section *section, struct error *error);

/* Returns the number of binaries among `count` bodies: the fraction f of B + S, where 2 B + S =
 * count. */
size_t binaries_count(const struct cluster_keys *keys, size_t count);

/* Draws an orbit and puts the members, with masses[0] and masses[1], at `index` and behind, about a
 * centre of mass with this position and velocity. */
void binaries_set(const struct cluster_keys *keys, double G, gsl_rng *generator,
                  const double masses[2], const double position[3], const double velocity[3],
                  struct bodies *bodies, size_t index);

#endif
