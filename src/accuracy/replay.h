/* Replays of the intervals of a run, for its energy budget (energy-budget.h). */
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
    struct simulation *original; /* that of the run */
    struct diagnostic *budget;   /* NULL where the run has none */
    struct simulation start;     /* step 0 of a run that is continued, where a replay may begin */
};

/* Creates the diagnostic, replays->budget, of a run that is about to begin; the caller destroys
 * it. */
enum status replay_diagnostic(struct replays *replays, const struct moment *start,
                              struct error *error);

/* Returns the grid steps of an interval. */
uint64_t replay_steps(const struct replays *replays);

/* Replays the interval that begins at `step`, if one does, ahead of the run, when `step` has been
 * measured. Postpones the replay if the run, whose last step is `last`, ends at `step`, or before
 * its first interval does. A replay that ends in numbers that are not finite is no failure of the
 * run. */
enum status replay_interval(struct replays *replays, uint64_t step, uint64_t last,
                            struct error *error);

/* Keeps the bodies of a run that is continued as long as they are still those of step 0: an
 * interval whose replay was postponed may begin there. STATUS_MEMORY. */
enum status replay_keep_start(struct replays *replays, struct error *error);
/* Replays the interval that a continued run is in at `step`, if its replay was postponed and is due
 * now that the run goes on to `last`. An interval that begins at `step` is left to
 * replay_interval(), unless `events_done` says that the events of this step are over. Destroys the
 * bodies that replay_keep_start() has kept. */
enum status replay_resume(struct replays *replays, uint64_t step, uint64_t last, bool events_done,
                          struct error *error);

#endif
