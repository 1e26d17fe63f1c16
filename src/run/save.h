/* Writing the checkpoints of a run, and what must be kept for them. */
#ifndef ORRERY_RUN_SAVE_H
#define ORRERY_RUN_SAVE_H

#include "base/status.h"
#include "run/parts.h"

/*
 * Keeps where the files stand and the state of diagnostics, before the last step makes its events
 * off their cadence: a restart with a later end takes these back. Into run->autosave.before_last.
 */
enum status save_keep_early(struct run *run, struct error *error);
void save_free(struct kept *kept); /* accepts NULL */

/*
 * Writes checkpoint.orr at the step that the run has reached, after everything that belongs to
 * this step was written, unless that is done already; tries twice. STATUS_IO, STATUS_MEMORY,
 * STATUS_NUMERICAL (a body is not finite): the last checkpoint is intact.
 */
enum status save_checkpoint(struct run *run, struct error *error);

#endif
