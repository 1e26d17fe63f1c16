/*
 * The origin of the energy error. The run is cut into intervals. Each is replayed from the run's
 * own state at its beginning: with half the step and, if its forces are not in double, with forces
 * in double. Since the exact motion keeps the energy, the differences between the changes of the
 * energy are the error of the step and that of the forces; the rest is rounding, or not explained.
 * The rows of this diagnostic are energy-budget.csv. See docs/theory.md.
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
    REPLAY_HALF_STEP,   /* half the step, and forces in double too */
    ENERGY_BUDGET_REPLAYS
};

/* Creates the diagnostic "energy-budget" of a run; `exact` says that the run's forces are in
 * double. STATUS_MEMORY. */
enum status energy_budget_create(const struct section *section, const struct moment *start,
                                 const struct integrator *integrator, bool exact,
                                 struct diagnostic **budget, struct error *error);

/* Looks whether the fastest pair of `now` turns by more in a step than those seen before in the
 * current interval; the bodies of `now` are those of a replay, or of the beginning, and its dt is
 * the run's. STATUS_MEMORY. */
enum status energy_budget_sample(struct diagnostic *budget, const struct moment *now, size_t system,
                                 struct error *error);
/* Takes the internal energy that a system has when a replay of the current interval ends; NaN if
 * the replay broke off. */
void energy_budget_replayed(struct diagnostic *budget, size_t system,
                            enum energy_budget_replay replay, double energy);

/* Notes that the current interval is to be replayed later, if at all; tells whether that was
 * noted. */
void energy_budget_postpone(struct diagnostic *budget);
bool energy_budget_postponed(const struct diagnostic *budget);

/* Writes "of 3e-04 at its largest: step 2e-05, encounters 3e-04 (most of bodies 3 and 7), ..." for
 * the system with the largest error, and says so if the parts do not add up. Returns `buffer`. */
enum { ENERGY_BUDGET_TEXT_SIZE = 320 };
const char *energy_budget_text(const struct diagnostic *budget,
                               char buffer[ENERGY_BUDGET_TEXT_SIZE]);

/* Returns the budget of the same system for run.json, a new reference. */
json_t *energy_budget_json(const struct diagnostic *budget);

#endif
