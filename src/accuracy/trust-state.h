/* The state of trust.h: for the sources that measure it, and those that report it. */
#ifndef ORRERY_ACCURACY_TRUST_STATE_H
#define ORRERY_ACCURACY_TRUST_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accuracy/growth.h"
#include "accuracy/trust.h"
#include "model/units.h"

/* A divergence over time, and when it has first reached the tolerance. */
struct trust_rise {
    double last;  /* value at the last event */
    double until; /* INFINITY before */
};

enum {
    TRUST_ORBITS = 8,
    TRUST_CENTERS = 2
}; /* orbits that are followed at most; bodies about
    * which one goes */

/* An orbit within the system: of a moon, whose error is no part of the size of the whole. All
 * numbers; distances of the body from what it goes around, over the orbit's size. */
struct trust_orbit {
    double body, centers[TRUST_CENTERS]; /* places in the system; centers[1] < 0: only one */
    double ids[1 + TRUST_CENTERS], shares[TRUST_CENTERS]; /* of the mass of the centre */
    double size;                                          /* its semi-major axis at the start */
    struct trust_rise rounding, error;
};

/* The state of one system, all numbers. Distances are over the size, velocities over the speed. */
struct trust_state {
    double size;       /* a length */
    double speed;      /* sqrt(G M / size) */
    double noise;      /* what the rounding errors of one step add to the distance in phase space */
    double step, time; /* of the last sample */
    double start, last;  /* distance of the twin in phase space: at its start, and then */
    double grown;        /* ln of the growth before the twin was brought nearer */
    double rounded;      /* distance in phase space that rounding errors make */
    double nearing;      /* what trust_take_nearing() is to say */
    double moved;        /* the twin was brought nearer at least once */
    double displacement; /* of the twin at the start */
    double lost[TRUST_SHADOWS];
    double carried[TRUST_SHADOWS]; /* steps of the run that it was carried along for */
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
    double richardson; /* error of the step over its difference to half the step */
    size_t systems;
    const struct units *units;   /* of the run, for what is said */
    const struct bodies *bodies; /* of the run, borrowed, for their names */
    const struct bodies *shadows[TRUST_SHADOWS];
    const int64_t *slots[TRUST_SHADOWS];
    double *sorted; /* room for a number of each system */
};

static inline struct trust_state *trust_state_of(const struct trust *trust, size_t system)
{
    return (struct trust_state *)trust->diagnostic.state + system;
}

/* Fits the growth over at least the time that a body takes through the system. */
static inline struct growth_fit trust_fit_growth(const struct trust_state *state)
{
    return growth_fit(&state->growth, state->size / state->speed);
}

#endif
