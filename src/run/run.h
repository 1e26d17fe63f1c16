/*
 * A run: open, loop, close. The loop lets the backend advance the bodies to the next step with an
 * event, and there shows them to diagnostics and outputs. The sources of src/run share the parts in
 * run/parts.h; run/record.h is for those who report a run.
 */
#ifndef ORRERY_RUN_RUN_H
#define ORRERY_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/configuration.h"
#include "run/options.h"

struct run;

/*
 * Opens everything that can be opened without writing: bodies, backend, diagnostics, outputs and
 * criteria; all errors of the config and its input show here. If `measure` is false, all that needs
 * sums over pairs at the start (conserved quantities, error of the forces, time scales) stays zero,
 * and the run gets no shadows: enough for `orrery check` and estimates.
 */
enum status run_prepare(const struct config *config, const struct run_options *options,
                        bool measure, struct run **run, struct error *error);

/*
 * Advances the run to its end and writes everything; run.json with the verdict comes last.
 * STATUS_OK, STATUS_EXPECT_FAILED, STATUS_STOPPED (by a signal, a control file, a time limit or the
 * run's cost), or the error that ended it.
 */
enum status run_execute(struct run *run, struct error *error);

/* Frees the run; accepts NULL. */
void run_destroy(struct run *run);

/* --- verification ----------------------------------------------------------------------------- */

/* The proof that restarts of a run are exact: the steps from checkpoint.orr.prev to checkpoint.orr
 * are computed again, and must give the bits in checkpoint.orr. */

enum { RESTART_NO_BODY = -1 };

/* The difference, bit by bit, between the present state of bodies and integrator and that of a
 * checkpoint. */
struct restart_difference {
    size_t values; /* number of 64-bit values that differ */
    /* Array with the first value that differs: "vx", or "the integrator's state" */
    const char *array;
    int64_t id; /* id of the body with the first value that differs, or RESTART_NO_BODY */
};

struct verification {
    uint64_t from, to; /* steps of the two checkpoints */
    bool same_build;   /* the checkpoints were written by this build, on the same kind of machine */
    struct restart_difference difference;
    double seconds; /* seconds in which the steps were computed again */
};

/*
 * Computes the last steps of the run in `directory` again (see above); its resolved configuration
 * is `config`. Notes the outcome as "verified" in its run.json. `progress` is called after each
 * call of the backend with the part that is done, 0 to 1, and may be NULL. STATUS_OK if all bits
 * are equal, STATUS_EXPECT_FAILED if they differ, STATUS_UNAVAILABLE if they differ but another
 * build had computed them (nothing is noted then); STATUS_NO_INPUT if there is nothing to compare,
 * STATUS_DATA for a damaged checkpoint, STATUS_CONFIG if `config` is not that of the run; and the
 * errors of opening, computing and writing.
 */
enum status verify_run(const struct config *config, const char *directory,
                       void (*progress)(void *context, double done), void *context,
                       struct verification *verification, struct error *error);

#endif
