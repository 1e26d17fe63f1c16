/*
 * The accuracy that a config asks for, so that the program may choose an integrator and its steps
 * (estimate/choice.h). It is either `time.energy_error`, the largest |E' - E0'| / max(|E0'|, |U0|)
 * that the run may have at any row, any frame and any check of its accuracy watch, with energies E'
 * about the centre of mass, or over 10 |U| if that is less (watch_enlarged()); or
 * `time.trust_until`, the time until which the orbits must be accurate (accuracy/trust.h). An
 * integrator or a step that the config itself gives is not chosen.
 */
#ifndef ORRERY_ESTIMATE_ACCURACY_TARGET_H
#define ORRERY_ESTIMATE_ACCURACY_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "integrator/integrator.h"

enum accuracy_target_of { TARGET_OF_WORST, TARGET_OF_Q90 };

struct accuracy_target {
    double error; /* largest energy error that is allowed; NaN: none is asked for */
    double until; /* time until which orbits must be accurate; NaN: none is given */
    double asked; /* largest error that a choice may have: `error`, or trust.tolerance (in
                     positions, over the size of the system) if `until` is given */
    enum accuracy_target_of of; /* the system of an ensemble whose error counts */
    double work; /* time.work_limit, in pair interactions: a run with more work stops, if that is
                    also far more than was expected (attempt_costs_too_much()) */
    bool integrator; /* the config names no integrator */
    bool step;       /* the config gives no step */
};

/* The values of the key `energy_error_of`, by enum accuracy_target_of, and a sentence for each. */
extern const char *const accuracy_target_names[], *const accuracy_target_help[];

/* Reports keys of the group `time` that need another key or exclude each other, and a trust_until
 * beyond the end of the run. */
void accuracy_target_check(const struct section *time, struct error *error);

struct accuracy_target accuracy_target(const struct config *config);

/* Tells whether the config asks for accurate orbits (time.trust_until), not for the energy. */
bool accuracy_target_of_orbits(const struct accuracy_target *target);

/* Returns the key by which the config asks for an accuracy: "time.energy_error" or
 * "time.trust_until"; NULL if it asks for none. */
const char *accuracy_target_key(const struct accuracy_target *target);

/* Tells whether the config asks for an accuracy and leaves integrator or step to be chosen. The
 * config that a run records has both. */
bool accuracy_target_leaves_choice(const struct config *config);

/* Puts into *counts the error that is compared with the target: the largest in size of the `errors`
 * of all systems, or for TARGET_OF_Q90 that which nine of ten systems do not exceed. An undefined
 * error makes the largest NaN, and is infinite among nine of ten. STATUS_MEMORY. */
enum status accuracy_target_error(const struct accuracy_target *target, const double *errors,
                                  size_t systems, double *counts, struct error *error);

#endif
