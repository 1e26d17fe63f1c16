/*
 * A trial of a method on a bound body: from one state, some periods of its orbit by the method with
 * its step and by gauss-radau, whose error is that of rounding. What the two make of the orbit
 * differs by the method's error alone: the other bodies disturb both of them alike. It ends where
 * they take the orbit apart.
 */
#ifndef ORRERY_ACCURACY_BOUND_TRIAL_H
#define ORRERY_ACCURACY_BOUND_TRIAL_H

#include <stdbool.h>

#include "accuracy/bound-orbits.h"
#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "integrator/integrator.h"
#include "model/bodies.h"
#include "model/physics.h"

enum {
    BOUND_TRIAL_PERIODS = 5,
    BOUND_TRIAL_BODIES = 16 /* those of the orbit, and who disturbs it most */
};

struct bound_trial {
    /* The largest difference of the energy, and of that part of it that belongs to the motion to
     * and fro, e^2, over the energy of the orbit (where the body is nearer than a, over its
     * potential); infinite where the method has lost the body altogether. */
    double error;
    double beyond; /* the time from the start until the error passed the limit; infinite: never */
    /* The steady change of the energy by the method, over that of the orbit, per unit of time: from
     * the first to the last of the periods, each as a mean. With steps of its own 0 where
     * encounters made it grow, and not the method. */
    double rate;
    double mean_step;    /* of the method */
    double interactions; /* ordered pairs that were summed */
};

/* By what a body is moved. The last members are for an integrator that chooses its own steps. */
struct bound_method {
    const struct integrator *integrator;
    double dt;         /* its step; the grid on which block steps end */
    double limit;      /* of the error */
    double key;        /* the value of integrator_key(); NaN: its default */
    double refinement; /* as in struct backend_options */
    double mean_step;  /* of the run, that bodies outside of the trial may shorten; INFINITY: the
                          bodies of the trial alone choose it */
    double grid;       /* of the run, which is dt or some doublings of it */
    double fastest;    /* the step that a body of the run takes next, the shortest */
    bool crowded;      /* bodies outside of the trial decide which blocks are small */
    double levels[ADAPTIVE_LEVELS]; /* bodies of the system by their steps, see adaptive_class */
};

/* By what a system of a run is moved: with an integrator that chooses its own steps also by what
 * the bodies that a trial leaves out have to do with the steps of the others. `now` needs the run's
 * simulation for that. STATUS_MEMORY. */
enum status bound_method_of(const struct moment *now, size_t system,
                            const struct integrator *integrator, double limit,
                            struct bound_method *method, struct error *error);

/* Tells whether the run has taken the steps that a trial needs to know. */
bool bound_method_known(const struct bound_method *method);

/* Halves a grid of several periods, on which block steps end, until a trial takes no more than
 * these interactions: the steps of bodies around are shorter then than in the run. */
void bound_method_shorten_grid(struct bound_method *method, const struct bodies *bodies,
                               const struct bound_orbit *orbit, double interactions);

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
