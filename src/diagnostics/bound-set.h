/* A set of bodies that are bound to one another, and the test whether another body is bound to
 * it. */
#ifndef ORRERY_DIAGNOSTICS_BOUND_SET_H
#define ORRERY_DIAGNOSTICS_BOUND_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "model/bodies.h"

/* Mass and momentum of the bound bodies, the momentum in a frame at rest; all zero for an empty
 * set. */
struct bound_set {
    double mass, momentum[3];
    double rotation; /* angular velocity Omega about z of the frame of positions and velocities */
};

/* Sets v to the velocity of the body at index i of the arrays in a frame at rest. Positions and
 * velocities of `bodies` are in a frame that turns with the angular velocity `rotation` about z;
 * the axes of both frames coincide at this moment. */
void bound_set_velocity(double rotation, const struct bodies *bodies, size_t i, double v[3]);

/* One system while its bound bodies are sought. The arrays, which are borrowed, have an element for
 * each of its bodies. */
struct bound_search {
    const struct bodies *bodies;
    size_t first;       /* index of its first body */
    double rotation;    /* as that of a set */
    const bool *member; /* may be bound; NULL: all may */
    bool *bound;        /* is bound; at first all that may be */
    double *phi;        /* potential of the bodies that it may be bound to, energy over mass */
    size_t *changed;    /* scratch */
    double mass;        /* of all that may be bound */
    /* Called for `count` bodies, whose numbers are in `which`, before they come to be bound (sign
     * 1) or no longer are (-1): their part in phi. NULL: phi stays as it is. */
    void (*move)(struct bound_search *search, const size_t *which, size_t count, double sign);
};

/* Returns mass and momentum of the bodies that are bound now. */
struct bound_set bound_search_set(const struct bound_search *search);

/*
 * Tells whether body number i of the system is bound to the others of the set: whether
 * 1/2 m R / (m + R) |v - V|^2 + m phi < 0, for two bodies the energy of their orbit. R is the mass
 * of the others, V their mean velocity or, if given, `velocity`, and phi the potential of the
 * others at the body. A bound body that alone has the mass of all that may be bound counts as
 * bound: the others are bound to it.
 */
bool bound_search_holds(const struct bound_search *search, const struct bound_set *set, size_t i,
                        const double *velocity);

/* Judges all that may be bound in one frame, that of the bound ones or, if given, of `velocity`,
 * and in one potential. Tells whether any changed. */
bool bound_search_judge(struct bound_search *search, const double *velocity);

/* Judges all again until nothing changes, since the bound bodies decide the frame and the potential
 * in which others may be bound. */
void bound_search_settle(struct bound_search *search);

#endif
