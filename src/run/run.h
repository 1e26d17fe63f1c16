/*
 * A run: open, loop, close. The loop lets the backend advance to the next step at which anything
 * happens, and there shows the bodies to diagnostics and outputs. Its parts are in run/parts.h, for
 * those who work on it; run/record.h is what others may know of it.
 */
#ifndef ORRERY_RUN_RUN_H
#define ORRERY_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/configuration.h"
#include "run/options.h"
#include "run/restart.h"

struct run;

/*
 * Opens everything that can be opened without writing: bodies, backend, diagnostics, outputs and
 * criteria. With `measure` false the initial conserved quantities, an O(N^2) sum, are left at
 * zero: enough for `orrery check`. Whatever is wrong with the config or its input shows here.
 */
enum status run_prepare(const struct config *config, const struct run_options *options,
                        bool measure, struct run **run, struct error *error);

/*
 * Runs to the end and writes everything, run.json with the verdict last. STATUS_OK,
 * STATUS_EXPECT_FAILED, STATUS_STOPPED (a signal), or what went wrong.
 */
enum status run_execute(struct run *run, struct error *error);

/* Accepts NULL. */
void run_destroy(struct run *run);

/* --- verification ----------------------------------------------------------------------------- */

/*
 * The proof that restarts of a run are exact: it is computed again from checkpoint.orr.prev to the
 * step of checkpoint.orr, whose bits must come out.
 */

struct verification {
    uint64_t from, to; /* steps */
    bool same_build;   /* as the one that wrote the checkpoints, on the same kind of machine */
    struct restart_difference difference;
    double seconds;
};

/*
 * Replays the run in `directory`, whose resolved configuration is `config`, and notes the outcome
 * as "verified" in its run.json. `progress` is called now and then and may be NULL. STATUS_OK;
 * STATUS_EXPECT_FAILED when bits differ, STATUS_UNAVAILABLE when they do but another build had
 * computed them (nothing is noted then); STATUS_NO_INPUT when there is nothing to compare,
 * STATUS_DATA for a damaged checkpoint, STATUS_CONFIG when `config` is not that of the run, and
 * what opening, computing and writing report.
 */
enum status verify_run(const struct config *config, const char *directory,
                       void (*progress)(void *context, double done), void *context,
                       struct verification *verification, struct error *error);

#endif
