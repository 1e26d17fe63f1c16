/* Replays of the intervals of a run, for its energy budget (diagnostics/energy-budget.h). */
#ifndef ORRERY_RUN_REPLAY_H
#define ORRERY_RUN_REPLAY_H

#include <stdbool.h>

#include "base/status.h"
#include "config/config.h"
#include "run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Does the config ask for them? */
bool replay_wanted(const struct config *config);

/* Further systems' work for each system of the run. */
double replay_work(const struct config *config);

/* The diagnostic of a run that is about to begin; sets run->energy_budget. */
enum status replay_diagnostic(struct run *run, struct diagnostic **diagnostic, struct error *error);

/* The interval that begins at the step just measured, ahead of the run. A replay that ends in
 * numbers that are not finite is no failure of the run. */
enum status replay_interval(struct run *run, struct error *error);

#ifdef __cplusplus
}
#endif

#endif
