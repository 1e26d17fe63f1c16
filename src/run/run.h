/*
 * A run: open, loop, close. The loop lets the backend advance to the next step at which anything
 * happens, and there shows the bodies to diagnostics and outputs. Its parts are in run/parts.h, for
 * those who work on it; run/record.h is what others may know of it.
 */
#ifndef ORRERY_RUN_RUN_H
#define ORRERY_RUN_RUN_H

#include <stdbool.h>

#include "base/status.h"
#include "config/configuration.h"
#include "run/options.h"

struct run;

/*
 * Opens everything that can be opened without writing: bodies, backend, diagnostics, outputs and
 * criteria. With `measure` false the initial conserved quantities, an O(N^2) sum, are left at
 * zero: enough for `orrery check`. Whatever is wrong with the config or its input shows here.
 */
enum status run_prepare(const struct config *config, const struct run_options *options,
                        bool measure, struct run **run, struct error *error);

/*
 * Only the experiment and the directory of a run that is there, locked, with its run.json: for a
 * replay. NULL with the error of either.
 */
struct run *run_open_bare(const struct config *config, const char *directory, struct error *error);

/*
 * Runs to the end and writes everything, run.json with the verdict last. STATUS_OK,
 * STATUS_EXPECT_FAILED, STATUS_STOPPED (a signal), or what went wrong.
 */
enum status run_execute(struct run *run, struct error *error);

/* Accepts NULL. */
void run_destroy(struct run *run);

#endif
