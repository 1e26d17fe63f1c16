/*
 * The requests to a run by signals: SIGINT, SIGTERM, SIGUSR1, SIGHUP (unless it is ignored) and
 * SIGXCPU stop it after the current step, a second SIGINT at once; SIGUSR2 asks for a checkpoint.
 */
#ifndef ORRERY_RUN_SIGNALS_H
#define ORRERY_RUN_SIGNALS_H

#include <stdbool.h>

/*
 * For a process that will run an experiment, before anything else: from here on SIGUSR2 is kept for
 * the run, and what asks to stop ends the process with STATUS_STOPPED. Nothing is given back then.
 */
void signals_expect(void);

/* Limits the time after signals_expect(): the process ends in the same way after `seconds`
 * seconds, unless signals_catch() comes before. */
void signals_limit(double seconds);

/*
 * For a process that was forked to run one of several experiments, before it begins: until
 * signals_catch() what asks to stop ends it with STATUS_STOPPED and without a word, and so does the
 * time, after `seconds` seconds (INFINITY: never).
 */
void signals_leave_quietly(double seconds);

/* Takes the signals over, and gives them back; once more is as good as once. */
void signals_catch(void);
void signals_release(void);

/* The number of the signal that asked to stop, or 0. */
int signals_stop(void);
/* Was a checkpoint asked for since the last call? And is one, without being served by that? */
bool signals_checkpoint(void);
bool signals_checkpoint_waits(void);

#endif
