/*
 * A trial of a method on a bound body: from one state, some periods of its orbit by the method with
 * its step and by gauss-radau, whose error is that of rounding. What the two make of the orbit
 * differs by the method's error alone: the other bodies disturb both of them alike. It ends where
 * they take the orbit apart.
 */
#ifndef ORRERY_ACCURACY_BOUND_TRIAL_H
#define ORRERY_ACCURACY_BOUND_TRIAL_H

#include "accuracy/bound-orbits.h"
#include "base/status.h"
#include "integrator/integrator.h"
#include "model/bodies.h"
#include "model/physics.h"

enum { BOUND_TRIAL_PERIODS = 5 };

struct bound_trial {
    /* The largest difference of the energy, and of that part of it that belongs to the motion to
     * and fro, e^2, over the energy of the orbit (where the body is nearer than a, over its
     * potential); infinite where the method has lost the body altogether. */
    double error;
    double beyond; /* the time from the start until the error passed the limit; infinite: never */
    /* The steady change of the energy by the method, over that of the orbit, per unit of time: from
     * the first to the last of the periods, each as a mean. */
    double rate;
    double interactions; /* ordered pairs that were summed */
};

/* By what a body is moved. */
struct bound_method {
    const struct integrator *integrator;
    double dt;
    double limit; /* of the error */
};

/* About how many pair interactions the trial of an orbit takes. */
double bound_trial_cost(const struct bodies *bodies, const struct bound_method *method,
                        const struct bound_orbit *orbit);

/* Returns the longest period of which a whole trial takes no more than this work. */
double bound_trial_longest(const struct bodies *bodies, const struct bound_method *method,
                           double interactions);

/* The bodies stay as they are. STATUS_MEMORY. */
enum status bound_trial(const struct physics *physics, const struct bodies *bodies, size_t system,
                        const struct bound_orbit *orbit, const struct bound_method *method,
                        struct bound_trial *trial, struct error *error);

#endif
