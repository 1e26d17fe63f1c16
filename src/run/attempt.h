/*
 * The attempts of a run that is asked for an error (estimate/accuracy-target.h). The run begins
 * with the setting that was chosen or, on a restart, with the one that run.json names. If it misses
 * the error, it begins anew with a finer setting, so that its files are those of a run with that
 * setting from the start.
 */
#ifndef ORRERY_RUN_ATTEMPT_H
#define ORRERY_RUN_ATTEMPT_H

#include "base/status.h"
#include "run/parts.h"

/* Sets run->choice and run->chosen, the config with the choice, if `config` leaves something to be
 * chosen. Keeps a choice that is in run->choice already. The errors of choice_make(). */
enum status attempt_choose(struct run *run, const struct config *config, struct error *error);

/* Judges the errors so far by the accuracy that was asked for. Sets run->missed and returns
 * STATUS_NUMERICAL if they exceed it and another choice may be tried. */
enum status attempt_judge(struct run *run, struct error *error);

/* Returns the work of the run and of the attempts that missed the error, see integrator_time(). */
double attempt_work(const struct run *run);

/* Tells whether the run has cost ten times what its pilots predicted, and more than
 * time.work_limit: bodies have come closer than in the pilots. False if it had cost as much already
 * when this process began: then somebody wants it all the same. */
bool attempt_costs_too_much(const struct run *run);

/* Writes "it has cost 12 times what was expected; ...", with the cause and what would avoid it; ""
 * if the run has not cost ten times as much. */
const char *attempt_cost_text(const struct run *run, char buffer[CHOICE_DEARER_SIZE]);

/* Tells whether a run that has ended with `status` shall begin anew, and makes the next choice for
 * it. False if its steps were not chosen or did not end it. If no choice is left, a run that missed
 * its error is made once more with the last one, to its end. */
bool attempt_again(struct run *run, enum status status);

/* Returns the finding about the accuracy that the run was asked for: the energy error by
 * accuracy_target_error(), or the time until which its orbits are accurate. Its bound is NaN if
 * nothing was asked for. */
struct finding attempt_finding(const struct run *run);

#endif
