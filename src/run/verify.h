/*
 * The proof that restarts of a run are exact: it is computed again from checkpoint.orr.prev to the
 * step of checkpoint.orr, whose bits must come out.
 */
#ifndef ORRERY_RUN_VERIFY_H
#define ORRERY_RUN_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/configuration.h"
#include "run/restart.h"

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
