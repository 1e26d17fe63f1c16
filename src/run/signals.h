/*
 * The requests to a run by signals: SIGINT, SIGTERM, SIGUSR1, SIGHUP (unless it is ignored) and
 * SIGXCPU ask it to end early, and a second SIGINT ends it at once; SIGUSR2 asks for a checkpoint.
 */
#ifndef ORRERY_RUN_SIGNALS_H
#define ORRERY_RUN_SIGNALS_H

#include <stdbool.h>

/*
 * Prepares a process that will run an experiment; called before anything else. From here on SIGUSR2
 * is kept for the run, and until signals_catch() a signal that asks to stop ends the process with
 * STATUS_STOPPED. After signals_catch() its handlers stay until the process ends.
 */
void signals_expect(void);

/* Limits the time after signals_expect(): the process ends with STATUS_STOPPED after `seconds`
 * seconds, unless signals_catch() comes first. */
void signals_limit(double seconds);

/*
 * Prepares a process that was forked to run one of several experiments. Until signals_catch() it
 * ends with STATUS_STOPPED and without a message at a signal that asks to stop, or after `seconds`
 * seconds (INFINITY: never).
 */
void signals_leave_quietly(double seconds);

/* Install the handlers for a run, and restore the earlier ones after it; to call either twice does
 * no harm. */
void signals_catch(void);
void signals_release(void);

/* Returns the number of the signal that asked to stop, or 0. */
int signals_stop(void);
/* Tell whether a signal has asked for a checkpoint. signals_checkpoint() also takes the request,
 * which its caller serves; signals_checkpoint_waits() leaves it. */
bool signals_checkpoint(void);
bool signals_checkpoint_waits(void);

#endif
