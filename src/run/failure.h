/* The snapshot of a run whose numbers have failed: the bodies as they are, for a look at them. */
#ifndef ORRERY_RUN_FAILURE_H
#define ORRERY_RUN_FAILURE_H

#include "base/status.h"
#include "run/parts.h"

extern const char failure_name[]; /* "failure.xyz" */

/*
 * Writes all bodies as one frame of extended XYZ; its column `finite` is 0 for those whose position
 * or velocity is not. In place of one that is there only if that is the run's own. STATUS_IO,
 * STATUS_CANT_CREATE, STATUS_MEMORY, or what the device reports.
 */
enum status failure_save(struct run *run, struct error *error);

/* Removes that of an earlier attempt, for a run that goes on. */
void failure_forget(struct run *run);

#endif
