/*
 * The attempts of a run that is asked for an error (estimate/accuracy-target.h). It begins with the
 * setting that was chosen, or that its directory names if it goes on; and where it misses the error
 * it begins anew with a finer one, so that its files are those of a run with that setting from the
 * start.
 */
#ifndef ORRERY_RUN_ATTEMPT_H
#define ORRERY_RUN_ATTEMPT_H

#include "base/status.h"
#include "run/parts.h"

/* Sets run->choice and run->chosen, the config with the choice, if `config` leaves something to be
 * chosen. Takes a choice that is there already. */
enum status attempt_choose(struct run *run, const struct config *config, struct error *error);

/* Looks at the errors so far, as they have just been judged. STATUS_NUMERICAL, with run->missed,
 * where the error is missed and another choice is there. */
enum status attempt_judge(struct run *run, struct error *error);

/* The work of the run and of the attempts that missed the error, see integrator_time(). */
double attempt_work(const struct run *run);

/* Tells whether the run has cost ten times what its pilots predicted, and more than
 * time.work_limit: bodies have come closer than was seen. A run that had cost as much when this
 * process began goes on, since somebody wants it all the same. */
bool attempt_costs_too_much(const struct run *run);

/* "it has cost 12 times what was expected; ...": why, and what would avoid it; "" where it has not
 * cost ten times as much. */
const char *attempt_cost_text(const struct run *run, char buffer[CHOICE_DEARER_SIZE]);

/* Takes the next choice for a run that has ended like this; false where there is none, or where
 * that was no matter of its steps. */
bool attempt_again(struct run *run, enum status status);

/* Returns the row of what the run was asked for: the error of the energy, the largest of the system
 * that counts, see accuracy_target_error(); or the time until which the orbits are accurate. Its
 * bound is NaN if nothing was asked for. */
struct finding attempt_finding(const struct run *run);

#endif
