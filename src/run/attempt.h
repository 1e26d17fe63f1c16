/*
 * The attempts of a run whose config asks for an accuracy (estimate/accuracy-target.h), so that
 * integrator and steps (a setting) are chosen. The run begins with the chosen setting or, on a
 * restart, with the one that run.json names. If it misses the accuracy, it begins anew with a finer
 * setting, so that its files are those of a run with that setting from the start.
 */
#ifndef ORRERY_RUN_ATTEMPT_H
#define ORRERY_RUN_ATTEMPT_H

#include "base/status.h"
#include "run/parts.h"

/* Chooses integrator and steps if `config` leaves them to the program: sets run->choice, and
 * run->chosen to the config with the chosen setting in it. Keeps a choice that is in run->choice
 * already. Returns the errors of choice_make(). */
enum status attempt_choose(struct run *run, const struct config *config, struct error *error);

/* Judges the run so far by the accuracy that its config asks for. If it misses that and another
 * setting may be tried, sets run->missed and returns STATUS_NUMERICAL. */
enum status attempt_judge(struct run *run, struct error *error);

/* Returns the work of the present attempt and of those that missed the accuracy, in the unit of
 * integrator_time(). */
double attempt_work(const struct run *run);

/* Tells whether the run has cost ten times what its pilots (short runs on copies) predicted, and
 * more than time.work_limit: bodies have come closer than in the pilots. False if it had cost as
 * much before this process began: whoever restarted it wants it to go on. */
bool attempt_costs_too_much(const struct run *run);

/* Writes "it has cost 12 times what was expected; ...", with the cause and what would avoid it; ""
 * if the run has not cost ten times as much. */
const char *attempt_cost_text(const struct run *run, char buffer[CHOICE_DEARER_SIZE]);

/* Writes ", which shorter steps do not lower: ...", with what would lower the energy error, if the
 * attempts show that the error of the forces limits it (choice_is_limited()); else "". Returns
 * `buffer`. */
enum { ATTEMPT_LIMIT_SIZE = 192 };
const char *attempt_limit_text(const struct run *run, char buffer[ATTEMPT_LIMIT_SIZE]);

/* Tells whether a run that has ended with `status` shall begin anew, and makes the next choice for
 * it. False if its steps were not chosen or are not why it ended. If no choice is left, a run that
 * missed its accuracy is made once more with the last one, to its end. */
bool attempt_again(struct run *run, enum status status);

/* Returns the finding (accuracy/finding.h) about the accuracy that the run was asked for: the
 * energy error by accuracy_target_error(), or the time until which its orbits are accurate. Its
 * bound is NaN if nothing was asked for. */
struct finding attempt_finding(const struct run *run);

#endif
