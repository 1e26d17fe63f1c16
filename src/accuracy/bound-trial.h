/*
 * A trial of a method on a bound body: some periods of its orbit are integrated from one state by
 * the method with its step, and by gauss-radau, whose error is that of rounding. The two orbits
 * differ by the method's error alone, since the other bodies disturb both of them alike. The trial
 * ends early if these bodies take the orbit apart.
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
    BOUND_TRIAL_BODIES = 16 /* those of the orbit, and those that disturb it most */
};

struct bound_trial {
    /* The largest difference of the energy, over the potential energy at that moment (which is
     * never less than the energy of a bound body, and twice that on a circle), or of e^2, if that
     * is larger; infinite if the method has lost the body altogether. */
    double error;
    double beyond; /* the time from the start until the error passed the limit; infinite: never */
    /* The steady change of the energy by the method, over that of the orbit, per unit of time: from
     * the mean of the first to that of the last of the periods. It is 0 if the trial ended before
     * the last one. */
    double rate;
    double mean_step;    /* of the method */
    double interactions; /* ordered pairs that were summed */
};

/* The integrator and the steps that move a body. The members from `key` on are for an integrator
 * that chooses its own steps. */
struct bound_method {
    const struct integrator *integrator;
    double dt;         /* its step; the grid on which block steps end */
    double limit;      /* of the error of a trial */
    double key;        /* the value of integrator_key(); NaN: its default */
    double refinement; /* as in struct backend_options */
    double mean_step;  /* the run's, which bodies outside of the trial may shorten; INFINITY:
                          the bodies of the trial alone choose it */
    double grid;       /* the run's, which is dt or some doublings of it */
    double fastest;    /* the shortest step that a body of the run takes next */
    bool crowded;      /* not all bodies are in the trial: the others count in a block's size */
    double levels[ADAPTIVE_LEVELS]; /* numbers of the system's bodies by step: adaptive_class */
};

/* Finds how a system of a run is moved. For an integrator that chooses its own steps, *method also
 * says how the bodies that a trial leaves out shorten the steps of the others, which needs the
 * run's simulation in `now`. STATUS_MEMORY. */
enum status bound_method_of(const struct moment *now, size_t system,
                            const struct integrator *integrator, double limit,
                            struct bound_method *method, struct error *error);

/* Tells whether the run has taken the steps that a trial needs to know. */
bool bound_method_known(const struct bound_method *method);

/* Halves the grid on which block steps end, as long as it is longer than the orbit's period, until
 * a trial takes no more than `interactions`. Steps of the other bodies are shorter then than in the
 * run. */
void bound_method_shorten_grid(struct bound_method *method, const struct bodies *bodies,
                               const struct bound_orbit *orbit, double interactions);

/* Estimates the pair interactions of the trial of an orbit. */
double bound_trial_cost(const struct bodies *bodies, const struct bound_method *method,
                        const struct bound_orbit *orbit);

/* Returns the longest period of an orbit whose trial takes no more than `interactions`; INFINITY
 * with an integrator that chooses its own steps. */
double bound_trial_longest(const struct bodies *bodies, const struct bound_method *method,
                           double interactions);

/* Makes a trial of an orbit of a system, whose bodies stay as they are. STATUS_MEMORY. */
enum status bound_trial(const struct physics *physics, const struct bodies *bodies, size_t system,
                        const struct bound_orbit *orbit, const struct bound_method *method,
                        struct bound_trial *trial, struct error *error);

#endif
