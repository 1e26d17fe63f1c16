/*
 * The energy budget: the causes of the energy error of a run. The run is cut into intervals. Each
 * is replayed from the run's own state at its beginning with exact forces, direct sums in double:
 * with half the step and, if the run's forces are not exact, with its own step. Since the exact
 * motion keeps the energy, the energies of run and replays at the end of the interval differ by the
 * error of the step and that of the forces; the rest of the error is rounding, or not explained.
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

/* The keys of the config's group `energy_budget`. */
extern const struct parameter energy_budget_parameters[];
extern const size_t energy_budget_parameter_count;

enum energy_budget_replay {
    REPLAY_START,       /* the energy at its beginning, by exact sums; only if the run's are not */
    REPLAY_EXACT_FORCE, /* the run's step, exact forces; only if the run's are not */
    REPLAY_HALF_STEP,   /* half the run's step, exact forces */
    ENERGY_BUDGET_REPLAYS
};

/* Creates the diagnostic "energy-budget" of a run; `exact` says that the run's forces are direct
 * sums in double. STATUS_MEMORY. */
enum status energy_budget_create(const struct section *section, const struct moment *start,
                                 const struct integrator *integrator, bool exact,
                                 struct diagnostic **budget, struct error *error);

/* Measures by what angle the fastest pair of a system turns in one step of the run, and keeps the
 * largest angle of the current interval with the ids of its pair. `now` has the run's dt, and the
 * bodies at the beginning of the interval or those of a replay within it. Does nothing with an
 * integrator that chooses its own steps. STATUS_MEMORY. */
enum status energy_budget_sample(struct diagnostic *budget, const struct moment *now, size_t system,
                                 struct error *error);
/* Notes the internal energy (conserved_internal_energy()) that a system has at the end of a replay
 * of the current interval, by a copy of the run, or at its beginning (REPLAY_START); NaN if the
 * replay broke off. */
void energy_budget_replayed(struct diagnostic *budget, size_t system,
                            enum energy_budget_replay replay, double energy);

/* energy_budget_postpone() notes that the interval that begins now is replayed only if the run is
 * continued; energy_budget_postponed() tells whether that was noted. */
void energy_budget_postpone(struct diagnostic *budget);
bool energy_budget_postponed(const struct diagnostic *budget);

/* Writes the budget of the system with the largest energy error: "of 3e-04, the largest of its rows
 * (every 100 steps): step 2e-05, encounters 3e-04 (most of bodies 3 and 7), ...", and says so if
 * the parts do not add up. Returns `buffer`. */
enum { ENERGY_BUDGET_TEXT_SIZE = 384 };
const char *energy_budget_text(const struct diagnostic *budget,
                               char buffer[ENERGY_BUDGET_TEXT_SIZE]);

/* Returns the budget of the system with the largest energy error for run.json, a new reference. */
json_t *energy_budget_json(const struct diagnostic *budget);

#endif
