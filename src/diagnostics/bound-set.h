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
    double rotation;    /* angular velocity about z of the frame of the bodies */
    const bool *member; /* whether each body may be bound; NULL: all may */
    bool *bound;        /* whether each body is bound; at first all that may be */
    double *phi;        /* potential at each body by those that may hold it, energy over mass */
    size_t *changed;    /* scratch */
    double mass;        /* mass of all bodies that may be bound */
    /* Adds to phi the potential of `count` bodies, whose numbers are in `which`, when they become
     * bound (sign 1), or takes it away when they no longer are (-1). NULL: phi stays as it is. */
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

/* Decides for all bodies that may be bound whether they are, in the frame of the bound ones or, if
 * given, of `velocity`; the potential changes only afterwards. Tells whether any came or left. */
bool bound_search_judge(struct bound_search *search, const double *velocity);

/* Decides again (bound_search_judge()) until nothing changes, at most 100 times, since the bound
 * bodies make the frame and the potential in which others may be bound. */
void bound_search_settle(struct bound_search *search);

#endif
