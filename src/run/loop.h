/* The loop: advance to the next step at which anything happens, and let it happen. */
#ifndef ORRERY_RUN_LOOP_H
#define ORRERY_RUN_LOOP_H

#include "run/parts.h"

/* To the last step, or until something asks to stop (STATUS_STOPPED, with a checkpoint). */
enum status loop_run(struct run *run, struct error *error);

#endif
