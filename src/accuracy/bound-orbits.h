/*
 * The orbit of a body about what it is bound to most tightly: another body with mass, or the two
 * heaviest bodies together where it goes around both of them. Of several orbits on which it could
 * be, the one with the shortest period counts that the other bodies leave alone: a moon's about its
 * planet, not about the star. In a periodic box the bodies are seen as their nearest images, and an
 * orbit is narrower than half of the box.
 */
#ifndef ORRERY_ACCURACY_BOUND_ORBITS_H
#define ORRERY_ACCURACY_BOUND_ORBITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"

enum { BOUND_CENTER_BODIES = 2 };

/* The center of a body's orbit: one body, or two at their centre of mass; indices within the
 * system. */
struct bound_center {
    size_t count;
    size_t bodies[BOUND_CENTER_BODIES];
};

/* The osculating orbit: what the body would do if there were nothing else. */
struct bound_orbit {
    size_t body; /* within the system */
    struct bound_center center;
    double energy;       /* 1/2 v^2 - G M / s per unit mass, s^2 = r^2 + eps^2; < 0 where bound */
    double potential;    /* G M / s */
    double reduced_mass; /* of the body and the centre; 0 for one without mass */
    double eccentricity; /* e, from 1 + 2 energy h^2 / (G M)^2, which is e^2 when eps = 0 */
    double semi_major_axis; /* a, G M / (-2 energy) */
    double period;          /* 2 pi (S^3 / G M)^(1/2), S^2 = a^2 + eps^2 */
    double passage;         /* the same at the pericentre: how fast it moves there */
};

/* The orbit of one body about one centre as they stand; `period` is NaN where they are not bound.
 * M is the mass of all of them. */
struct bound_orbit bound_orbit_about(const struct physics *physics, const struct bodies *bodies,
                                     size_t system, size_t body, const struct bound_center *center);

/* The orbits that are looked for: their passage is shorter than `passage`; and those whose period
 * is at least `period` have an energy, times the reduced mass, that is smaller than `energy`. */
struct bound_filter {
    double passage, period, energy;
    double longest; /* no period is longer */
};

/* Finds, of these orbits, as far as no other body disturbs them, the one of the shortest passage;
 * *found is false if there is none. It takes O(N^2) for few bodies; among many, it looks at the
 * heaviest ones and the neighbours. STATUS_MEMORY, STATUS_NUMERICAL. */
enum status bound_orbit_fastest(const struct physics *physics, const struct bodies *bodies,
                                size_t system, const struct bound_filter *filter, bool *found,
                                struct bound_orbit *orbit, struct error *error);

/* The same, in open space, for each body that has such an orbit: the `most` smallest ones, by
 * ascending a, and how many there are. */
enum status bound_orbits_smallest(const struct physics *physics, const struct bodies *bodies,
                                  size_t system, size_t most, struct bound_orbit *orbits,
                                  size_t *count, struct error *error);

enum { BOUND_ORBITS_BODY_BYTES = 7 * sizeof(double) }; /* that the search borrows for each body */

/* A system of its own for the caller to destroy: the orbit's bodies, first those of the centre,
 * then the body itself, and the others that pull them apart most, up to `most` in all; in a
 * periodic box the nearest images, which open space is enough for. The orbit in it goes to *inner.
 * STATUS_MEMORY. */
enum status bound_orbit_isolate(const struct physics *physics, const struct bodies *bodies,
                                size_t system, const struct bound_orbit *orbit, size_t most,
                                struct bodies **isolated, struct bound_orbit *inner,
                                struct error *error);

#endif
