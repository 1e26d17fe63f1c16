/* Replays of the intervals of a run, for its energy budget (diagnostics/energy-budget.h). */
#ifndef ORRERY_RUN_REPLAY_H
#define ORRERY_RUN_REPLAY_H

#include "run/parts.h"

/* The diagnostic of a run that is about to begin; sets run->observers.energy_budget. */
enum status replay_diagnostic(struct run *run, struct diagnostic **diagnostic, struct error *error);

/* The interval that begins at the step just measured, ahead of the run. A replay that ends in
 * numbers that are not finite is no failure of the run. */
enum status replay_interval(struct run *run, struct error *error);

#endif
