/*
 * The accuracy that a run is asked for, in the place of an integrator and its steps: by
 * `time.energy_error` the largest |E' - E0'| / max(|E0'|, |U0'|) that it may have at any row, any
 * frame and any look of its watch; or by `time.trust_until` orbits that are accurate until a time
 * (accuracy/trust.h). What the config leaves out is chosen (estimate/choice.h).
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
    double error;               /* of the energy; NaN: none is */
    double until;               /* time until which orbits are to be accurate; NaN: none is */
    double asked;               /* the bound of what the choice compares: `error`, or of the orbits
                                   at that time trust.tolerance */
    enum accuracy_target_of of; /* of which system of an ensemble */
    double work;                /* beyond which a run stops that costs far more than expected, see
                                   attempt_costs_too_much() */
    bool integrator;            /* is to be chosen */
    bool step;                  /* is: time.step is not given */
};

/* The choices of `energy_error_of`, as enum accuracy_target_of, and a sentence for each. */
extern const char *const accuracy_target_names[], *const accuracy_target_help[];

/* Reports keys that stand alone, and a time that is no time of the run. */
void accuracy_target_check(const struct section *time, struct error *error);

struct accuracy_target accuracy_target(const struct config *config);

/* Tells whether the accuracy is one of orbits. */
bool accuracy_target_of_orbits(const struct accuracy_target *target);

/* The key that asks for it: "time.energy_error"; NULL: nothing is asked for. */
const char *accuracy_target_key(const struct accuracy_target *target);

/* Tells whether anything is left to be chosen. The echo of a run has all of it. */
bool accuracy_target_leaves_choice(const struct config *config);

/* The error that counts of those of all systems: the largest, or the one that nine of ten are not
 * beyond. NaN where that is undefined. STATUS_MEMORY. */
enum status accuracy_target_error(const struct accuracy_target *target, const double *errors,
                                  size_t systems, double *counts, struct error *error);

#endif
