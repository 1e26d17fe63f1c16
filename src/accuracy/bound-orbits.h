/*
 * Osculating orbits of bodies. The centre of an orbit is another body with mass, or the centre of
 * mass of the two heaviest bodies if the orbit goes around both of them. A body may be bound to
 * several centres: among its orbits that the other bodies hardly disturb, the one with the shortest
 * passage of the pericentre counts, so a moon's orbit about its planet, not that about the star. In
 * a periodic box each body is taken at its image nearest to the centre, and only orbits with an
 * apocentre distance below a quarter of the side count.
 */
#ifndef ORRERY_ACCURACY_BOUND_ORBITS_H
#define ORRERY_ACCURACY_BOUND_ORBITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"

enum { BOUND_CENTER_BODIES = 2 };

/* The centre of a body's orbit: `count` = 1: one body, 2: the centre of mass of two. `bodies` has
 * their indices within the system. */
struct bound_center {
    size_t count;
    size_t bodies[BOUND_CENTER_BODIES];
};

/* The osculating orbit: the one that the body would take if there were only the centre. M is the
 * mass of body and centre together, r their distance, eps the softening length, h = |r x v|. */
struct bound_orbit {
    size_t body; /* index within the system */
    struct bound_center center;
    double energy;          /* 1/2 v^2 - G M / s per unit mass, s^2 = r^2 + eps^2; < 0 if bound */
    double potential;       /* size of the potential energy per unit mass, G M / s */
    double reduced_mass;    /* reduced mass of body and centre; 0 if the body has no mass */
    double eccentricity;    /* e, from 1 + 2 energy h^2 / (G M)^2, which is e^2 when eps = 0 */
    double semi_major_axis; /* a, G M / (-2 energy) */
    double period;          /* 2 pi (S^3 / G M)^(1/2), S^2 = a^2 + eps^2 */
    double passage; /* time scale of the pericentre passage: `period` with the pericentre distance
                       in place of a; at most `period` */
};

/* Returns the osculating orbit of a body about a centre. The semi-major axis, `period` and
 * `passage` are NaN if the body is not bound to the centre. */
struct bound_orbit bound_orbit_about(const struct physics *physics, const struct bodies *bodies,
                                     size_t system, size_t body, const struct bound_center *center);

/* The conditions on the orbits that a search may find: a pericentre passage shorter than `passage`,
 * a period of at most `longest`, and either a period shorter than `period` or a binding energy
 * (|energy| times the reduced mass) below `energy`. */
struct bound_filter {
    double passage, period, energy;
    double longest;
};

/* Finds, among the orbits of a system that meet the filter and that other bodies hardly disturb,
 * the one with the shortest passage of the pericentre; *found is false if there is none. In a
 * system of up to 64 bodies every body with mass is tried as a centre; in a larger one only the
 * heaviest bodies and the nearest neighbours. STATUS_MEMORY, STATUS_NUMERICAL. */
enum status bound_orbit_fastest(const struct physics *physics, const struct bodies *bodies,
                                size_t system, const struct bound_filter *filter, bool *found,
                                struct bound_orbit *orbit, struct error *error);

/* Finds for each body of a system, among its orbits that other bodies hardly disturb, the one with
 * the shortest passage of the pericentre. Puts the `most` of these orbits with the smallest
 * semi-major axes into `orbits`, in ascending order, and their number into *count. In a periodic
 * box none is looked for, and *count is 0. STATUS_MEMORY, STATUS_NUMERICAL. */
enum status bound_orbits_smallest(const struct physics *physics, const struct bodies *bodies,
                                  size_t system, size_t most, struct bound_orbit *orbits,
                                  size_t *count, struct error *error);

enum { BOUND_ORBITS_BODY_BYTES = 7 * sizeof(double) }; /* memory for a search, per body */

/* Copies the bodies of an orbit into a new system, which the caller destroys: first those of the
 * centre, then the body itself, then the others whose tides on the orbit are strongest, up to
 * `most` bodies in all. In a periodic box each is copied at its image nearest to the centre, so
 * that the new system is in open space. *inner is the orbit with indices in the new system.
 * STATUS_MEMORY. */
enum status bound_orbit_isolate(const struct physics *physics, const struct bodies *bodies,
                                size_t system, const struct bound_orbit *orbit, size_t most,
                                struct bodies **isolated, struct bound_orbit *inner,
                                struct error *error);

#endif
