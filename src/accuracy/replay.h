/* Replays of the intervals of a run, for its energy budget (energy-budget.h). */
#ifndef ORRERY_ACCURACY_REPLAY_H
#define ORRERY_ACCURACY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "accuracy/energy-budget.h"
#include "base/status.h"
#include "config/configuration.h"
#include "simulation/simulation.h"

/* All borrowed but for `start`. The caller sets the first two. */
struct replays {
    const struct config *config;
    struct simulation *original; /* that of the run */
    struct diagnostic *budget;   /* NULL where the run has none */
    struct simulation start;     /* where those of a run that goes on may begin */
};

/* Creates the diagnostic, replays->budget, of a run that is about to begin; the caller destroys
 * it. */
enum status replay_diagnostic(struct replays *replays, const struct moment *start,
                              struct error *error);

/* Returns the grid steps of an interval. */
uint64_t replay_steps(const struct replays *replays);

/* Replays the interval that begins at `step`, just measured, ahead of the run, unless the run ends
 * at `last` before it. A replay that ends in numbers that are not finite is no failure of the
 * run. */
enum status replay_interval(struct replays *replays, uint64_t step, uint64_t last,
                            struct error *error);

/* Keeps the bodies of a run that goes on, while they are those of step 0, since an interval that
 * was not replayed may begin there. STATUS_MEMORY. */
enum status replay_keep_start(struct replays *replays, struct error *error);
/* Replays the interval that the run is in at `step` if it was left out, but the run now goes beyond
 * it; `events_done`: those of this step. Destroys what replay_keep_start() has kept. */
enum status replay_resume(struct replays *replays, uint64_t step, uint64_t last, bool events_done,
                          struct error *error);

#endif
