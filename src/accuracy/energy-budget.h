/*
 * The origin of the energy error. The run is cut into intervals. Each is replayed, from the run's
 * own state at its beginning, with half the step and, if its forces are not in double, with forces
 * in double. Since the exact motion keeps the energy, the differences between the changes of the
 * energy are the error of the step and that of the forces; the rest is rounding, or not explained.
 * As a diagnostic, energy-budget.csv. See docs/theory.md.
 */
#ifndef ORRERY_ACCURACY_ENERGY_BUDGET_H
#define ORRERY_ACCURACY_ENERGY_BUDGET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "config/parameter.h"
#include "diagnostics/diagnostic.h"
#include "integrator/integrator.h"

extern const struct parameter energy_budget_parameters[]; /* of the group `energy_budget` */
extern const size_t energy_budget_parameter_count;

/* The ways in which an interval is replayed. */
enum energy_budget_replay {
    REPLAY_EXACT_FORCE, /* forces in double; only where the run's are not */
    REPLAY_HALF_STEP,   /* with forces in double too */
    ENERGY_BUDGET_REPLAYS
};

/* The diagnostic of a run, named "energy-budget"; `exact` says that its forces are in double. */
enum status energy_budget_create(const struct section *section, const struct moment *start,
                                 const struct integrator *integrator, bool exact,
                                 struct diagnostic **budget, struct error *error);

/* Looks for the fastest pair of the interval that was begun, in its replay; `now` has the dt of the
 * run. STATUS_MEMORY. */
enum status energy_budget_sample(struct diagnostic *budget, const struct moment *now, size_t system,
                                 struct error *error);
/* Takes the internal energy of a system at the end of the interval, replayed. */
void energy_budget_replayed(struct diagnostic *budget, size_t system,
                            enum energy_budget_replay replay, double energy);

/* The interval that was begun is to be replayed later, if at all; and is that so? */
void energy_budget_postpone(struct diagnostic *budget);
bool energy_budget_postponed(const struct diagnostic *budget);

/* "truncation 2e-05, encounters 3e-04 (bodies 3 and 7), ...", of the system with the largest error;
 * says so where they do not add up. */
enum { ENERGY_BUDGET_TEXT_SIZE = 320 };
const char *energy_budget_text(const struct diagnostic *budget,
                               char buffer[ENERGY_BUDGET_TEXT_SIZE]);

/* For run.json, of the same system; a new reference. */
json_t *energy_budget_json(const struct diagnostic *budget);

#endif
