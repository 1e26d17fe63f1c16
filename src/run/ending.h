/* The requests of the outside to a run at work: to end early, by a signal, the time limit or the
 * file `stop`; or to save a checkpoint. */
#ifndef ORRERY_RUN_ENDING_H
#define ORRERY_RUN_ENDING_H

#include "run/parts.h"

/* The seconds after which the events of a step are interrupted. */
#define ENDING_LONG_EVENTS 0.5

/* Lends run->interruption to all that will work for the run; before its experiment is made. */
void ending_begin(struct run *run);

/* Says why the run should end now, into `reason`, and in time where the next `wait` seconds could
 * be too long for the time limit; false if it should go on. What `reason` has from a control file
 * stays. */
enum { ENDING_REASON_SIZE = 64 };
bool ending_wanted(const struct run *run, double wait, char reason[ENDING_REASON_SIZE]);

/* Takes the control files: `stop` into `reason`, `checkpoint` into run->autosave.wanted. */
void ending_take_files(struct run *run, char reason[ENDING_REASON_SIZE]);

#endif
