/*
 * A trial of a method, which is an integrator with its step, on the orbit of a bound body. Some
 * periods of the orbit are integrated twice from one state: by the method, and by the integrator
 * gauss-radau, whose error is that of rounding. Since the bodies that disturb the orbit do so in
 * both alike, the two results differ by the method's error alone. The trial ends early if these
 * bodies take the orbit apart.
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
    BOUND_TRIAL_BODIES = 16 /* at most: those of the orbit, and those that disturb it most */
};

struct bound_trial {
    /* The largest difference so far between the orbits of method and gauss-radau: in energy, over
     * the size of the potential energy at that moment, or in e^2, whichever is larger. (The
     * potential energy of a bound body is in size no less than its energy, and on a circle twice
     * that.) Infinite if the method's integration breaks down. */
    double error;
    double beyond; /* time in the trial until `error` passed the limit; INFINITY: it did not */
    /* The steady change of the energy by the method, over the orbit's energy, per unit of time:
     * between its mean over the first period and its mean over the last one. 0 if the trial ended
     * before the last period. */
    double rate;
    double mean_step;    /* the method's mean step, in time */
    double interactions; /* ordered pairs that all integrations of the trial have summed */
};

/* A method: the integrator and the steps that move a body. The members from `key` on are for an
 * integrator that chooses its own steps. */
struct bound_method {
    const struct integrator *integrator;
    double dt;    /* its step; with block steps, the grid step at whose ends all bodies are due */
    double limit; /* largest error that a trial may have to be accepted */
    double key;   /* value of the integrator's own key (its accuracy); NaN: the default */
    double refinement; /* factor by which steps are shorter than by `key` alone; 0 stands for 1 */
    double mean_step;  /* mean step in the run, which bodies outside of the trial may shorten;
                          INFINITY: the bodies of the trial alone choose it */
    double grid;       /* grid step of the run: dt times a power of 2, 2^0 included */
    double fastest;    /* the shortest step that a body of the run takes next; 0: not known */
    bool crowded; /* block steps, and some bodies are outside of the trial: integrators decide by
                     the number of bodies that move at one time, so these count */
    double levels[ADAPTIVE_LEVELS]; /* [k]: bodies of the run whose next step is grid / 2^k */
};

/* Finds the method that moves a system of a run. For an integrator that chooses its own steps,
 * *method also says how the bodies outside of a trial shorten the steps of those in it; this needs
 * `now->simulation`, that of the run. `limit` becomes that of the method. STATUS_MEMORY. */
enum status bound_method_of(const struct moment *now, size_t system,
                            const struct integrator *integrator, double limit,
                            struct bound_method *method, struct error *error);

/* Tells whether the steps of bodies outside of a trial are known, as from the first step of the run
 * on; until then there can be no trial. */
bool bound_method_known(const struct bound_method *method);

/* For block steps, halves the method's grid step, as long as it is longer than the orbit's period,
 * until a trial takes no more than `interactions` pair interactions. In the trial the steps of the
 * other bodies are then shorter than in the run. */
void bound_method_shorten_grid(struct bound_method *method, const struct bodies *bodies,
                               const struct bound_orbit *orbit, double interactions);

/* Estimates the number of pair interactions that a trial of the method on the orbit takes. */
double bound_trial_cost(const struct bodies *bodies, const struct bound_method *method,
                        const struct bound_orbit *orbit);

/* Returns the longest period of an orbit whose trial takes no more than `interactions` pair
 * interactions; INFINITY with an integrator that chooses its own steps. */
double bound_trial_longest(const struct bodies *bodies, const struct bound_method *method,
                           double interactions);

/* Tries the method on an orbit: integrates a copy of its bodies, and of those that disturb it most,
 * for some periods, and puts the method's error into *trial. The bodies of the system stay as they
 * are. STATUS_MEMORY. */
enum status bound_trial(const struct physics *physics, const struct bodies *bodies, size_t system,
                        const struct bound_orbit *orbit, const struct bound_method *method,
                        struct bound_trial *trial, struct error *error);

#endif
