/* Replays of the intervals of a run, for its energy budget (accuracy/energy-budget.h). */
#ifndef ORRERY_RUN_REPLAY_H
#define ORRERY_RUN_REPLAY_H

#include "run/parts.h"

/* The diagnostic of a run that is about to begin; sets run->observers.energy_budget. */
enum status replay_diagnostic(struct run *run, struct diagnostic **diagnostic, struct error *error);

/* Grid steps of an interval. */
uint64_t replay_steps(const struct run *run);

/* The interval that begins at the step just measured, ahead of the run, unless the run ends before
 * it. A replay that ends in numbers that are not finite is no failure of the run. */
enum status replay_interval(struct run *run, struct error *error);

/* Keeps the bodies of a run that goes on, while they are those of step 0, since an interval that
 * was not replayed may begin there. STATUS_MEMORY. */
enum status replay_keep_start(struct run *run, struct error *error);
/* Replays the interval that the run is in if it was left out, but the run now goes beyond it. */
enum status replay_resume(struct run *run, struct error *error);

#endif
