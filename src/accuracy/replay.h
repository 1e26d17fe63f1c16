/* Replays of the intervals of a run, for its energy budget (energy-budget.h): a copy of the run
 * goes through an interval again with exact forces, and with half the step or the run's own. */
#ifndef ORRERY_ACCURACY_REPLAY_H
#define ORRERY_ACCURACY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "accuracy/energy-budget.h"
#include "base/status.h"
#include "config/configuration.h"
#include "simulation/simulation.h"

/* The replays of a run. All members but `start` are borrowed; the caller sets the first two. */
struct replays {
    const struct config *config;
    struct simulation *original; /* the simulation of the run */
    struct diagnostic *budget;   /* the diagnostic "energy-budget"; NULL: the run has none */
    struct simulation start;     /* copy of a continued run at step 0, for postponed replays */
};

/* Creates replays->budget, which the caller destroys, for a run that is about to begin. */
enum status replay_diagnostic(struct replays *replays, const struct moment *start,
                              struct error *error);

/* Returns the number of steps in an interval of the energy budget: energy_budget.every. */
uint64_t replay_steps(const struct replays *replays);

/* If an interval begins at `step`, whose measurements are done, replays it before the run goes on.
 * Postpones the replay if the run, whose last step is `last`, ends at `step` or before the end of
 * its first interval. A replay that ends in numbers that are not finite is no failure. */
enum status replay_interval(struct replays *replays, uint64_t step, uint64_t last,
                            struct error *error);

/* Copies the simulation of a continued run into replays->start while its bodies are still those of
 * step 0, since an interval whose replay was postponed may begin there. STATUS_MEMORY. */
enum status replay_keep_start(struct replays *replays, struct error *error);
/* Replays the interval to which `step`, the step of the checkpoint of a continued run, belongs, if
 * its replay was postponed and is due now that the run goes on to the step `last`. An interval that
 * begins at `step` is left to replay_interval(), unless `events_done` says that the events of this
 * step are over. Destroys the bodies that replay_keep_start() has kept. */
enum status replay_resume(struct replays *replays, uint64_t step, uint64_t last, bool events_done,
                          struct error *error);

#endif
