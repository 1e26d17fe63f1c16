/* The state of the diagnostic "trust" (trust.h), for the trust-*.c. */
#ifndef ORRERY_ACCURACY_TRUST_STATE_H
#define ORRERY_ACCURACY_TRUST_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accuracy/growth.h"
#include "accuracy/trust.h"
#include "model/units.h"

/* A distance between the run and other orbits, which rises over time. */
struct trust_rise {
    double last;  /* the distance at the last sample */
    double until; /* time when the distance first reached trust.tolerance; INFINITY before */
};

enum {
    TRUST_ORBITS = 8, /* the most orbits of a system that are followed */
    TRUST_CENTERS = 2 /* the most bodies that an orbit goes about */
};

/* An orbit within the system, such as a moon's, that is too small for its error to show in the
 * distances of the whole system. All members are doubles, as checkpoints save them. Both rises are
 * of the position of the body relative to its centre, over the orbit's size. */
struct trust_orbit {
    double body, centers[TRUST_CENTERS]; /* indices in the system; centers[1] < 0: only one */
    double ids[1 + TRUST_CENTERS], shares[TRUST_CENTERS]; /* ids of body and centre; shares of the
                                                             centre's bodies in its mass */
    double size; /* the orbit's semi-major axis at the start */
    struct trust_rise rounding, error;
};

/* The state of one system; all members are doubles, as checkpoints save them. Distances are in
 * units of `size`, velocities in units of `speed`. */
struct trust_state {
    double size;        /* size of the system, in the unit of length */
    double speed;       /* sqrt(G M / size) */
    double noise;       /* distance in phase space that the rounding errors of one step make */
    double step, time;  /* step and time of the last sample */
    double start, last; /* distance of the twin (a displaced copy) from the run in phase space, when
                           it began or was last brought nearer; and at the last sample */
    double grown;       /* ln of the growth until the twin was last brought nearer */
    double rounded;     /* distance in phase space that all rounding errors so far have made */
    double nearing;     /* factor for the twin's distance that trust_take_nearing() returns next */
    double moved;       /* 1: the twin was brought nearer at least once; or 0 */
    double displacement; /* distance of each body of the twin from its original at the start */
    double lost[TRUST_SHADOWS];    /* 1: this shadow was lost (not finite, or stuck); or 0 */
    double carried[TRUST_SHADOWS]; /* steps of the run during which the system had this shadow */
    struct trust_rise rounding, error;
    struct growth growth;
    double orbit_count;
    struct trust_orbit orbits[TRUST_ORBITS];
};

enum { TRUST_STATE_LENGTH = sizeof(struct trust_state) / sizeof(double) };

struct trust {
    struct diagnostic diagnostic;
    uint64_t every;
    double tolerance, displacement;
    bool half_step;
    /* Error of the step over the distance of the shadow with half the step: 1 / (1 - 2^-order). */
    double richardson;
    size_t systems;
    const struct units *units;   /* units of the run, for texts */
    const struct bodies *bodies; /* bodies of the run, borrowed, for their names */
    const struct bodies *shadows[TRUST_SHADOWS];
    const int64_t *slots[TRUST_SHADOWS];
    double *sorted; /* [systems], room in which values of all systems are sorted */
};

static inline struct trust_state *trust_state_of(const struct trust *trust, size_t system)
{
    return (struct trust_state *)trust->diagnostic.state + system;
}

/* Measures the scales of a system (its size and speed, and what rounding adds in a step) and begins
 * its state with them. STATUS_MEMORY. */
enum status trust_begin(const struct trust *trust, const struct moment *start, size_t system,
                        const struct integrator *integrator, const struct trust_force *force,
                        struct error *error);

/* Fits the growth of the distance of the twin (a displaced copy); an exponential one has to last
 * for the time in which a body crosses the system. */
static inline struct growth_fit trust_fit_growth(const struct trust_state *state)
{
    return growth_fit(&state->growth, state->size / state->speed);
}

#endif
