/*
 * The orbit of a body about its centre: another body with mass, or the centre of mass of the two
 * heaviest bodies if it goes around both of them. Of several orbits on which a body could be, and
 * which the other bodies hardly disturb, the one with the shortest passage counts: a moon's about
 * its planet, not about the star. In a periodic box the bodies are seen as their nearest images,
 * and an orbit is narrower than half of the box.
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

/* The osculating orbit: the one that the body would take if there were only the centre. */
struct bound_orbit {
    size_t body; /* within the system */
    struct bound_center center;
    double energy;          /* 1/2 v^2 - G M / s per unit mass, s^2 = r^2 + eps^2; < 0 if bound */
    double potential;       /* G M / s */
    double reduced_mass;    /* of the body and the centre; 0 if the body has no mass */
    double eccentricity;    /* e, from 1 + 2 energy h^2 / (G M)^2, which is e^2 when eps = 0 */
    double semi_major_axis; /* a, G M / (-2 energy) */
    double period;          /* 2 pi (S^3 / G M)^(1/2), S^2 = a^2 + eps^2 */
    double passage;         /* the same with the pericentre for a, `period` at most */
};

/* Returns the osculating orbit of a body about a centre; a, `period` and `passage` are NaN if they
 * are not bound. M is the mass of body and centre together. */
struct bound_orbit bound_orbit_about(const struct physics *physics, const struct bodies *bodies,
                                     size_t system, size_t body, const struct bound_center *center);

/* The orbits that are looked for: those with a shorter passage than `passage`. If the period is not
 * less than `period`, |energy| times the reduced mass has to be less than `energy` as well. */
struct bound_filter {
    double passage, period, energy;
    double longest; /* the longest period */
};

/* Finds the orbit with the shortest passage among those of the filter that other bodies hardly
 * disturb; *found is false if there is none. Takes O(N^2) for few bodies; among many, only the
 * heaviest bodies and the nearest neighbours are tried as centres. STATUS_MEMORY,
 * STATUS_NUMERICAL. */
enum status bound_orbit_fastest(const struct physics *physics, const struct bodies *bodies,
                                size_t system, const struct bound_filter *filter, bool *found,
                                struct bound_orbit *orbit, struct error *error);

/* Finds for each body in open space the orbit with the shortest passage that other bodies hardly
 * disturb. Keeps the `most` smallest ones, by ascending a, and puts their number into *count, in a
 * periodic box 0. STATUS_MEMORY, STATUS_NUMERICAL. */
enum status bound_orbits_smallest(const struct physics *physics, const struct bodies *bodies,
                                  size_t system, size_t most, struct bound_orbit *orbits,
                                  size_t *count, struct error *error);

enum { BOUND_ORBITS_BODY_BYTES = 7 * sizeof(double) }; /* the memory of a search */

/* Copies the bodies of an orbit into a system of its own, which the caller destroys: first those of
 * the centre, then the body itself, then the others with the strongest tides, up to `most` in all;
 * in a periodic box their nearest images, so that the system is in open space. The orbit, with its
 * indices in that system, goes to *inner. STATUS_MEMORY. */
enum status bound_orbit_isolate(const struct physics *physics, const struct bodies *bodies,
                                size_t system, const struct bound_orbit *orbit, size_t most,
                                struct bodies **isolated, struct bound_orbit *inner,
                                struct error *error);

#endif
