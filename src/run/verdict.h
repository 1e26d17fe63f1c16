/* The sentence about a run that failed: the quantity, by how much, and the remedy. */
#ifndef ORRERY_RUN_VERDICT_H
#define ORRERY_RUN_VERDICT_H

#include "base/status.h"
#include "run/parts.h"

/*
 * "failed: energy error 0.22, bound 0.0005 (447 times): the step is 10 times too long; time.step =
 * 0.0009 holds (orrery check)", into the run's own `verdict`, for summary, run.json and reports; ""
 * for a run that did not fail, or was stopped, or met an error of the outside. `reason` is what
 * ended a run of STATUS_NUMERICAL.
 */
void verdict_make(struct run *run, enum status status, const char *reason);

/* Makes the table of findings of a run as it stands; `ended`: it has come to its end. Returns the
 * worst failure by the watch (watch_findings()). */
struct finding verdict_findings(const struct run *run, bool ended, struct findings *findings);

/* Takes the sentence of a run that was done before from its run.json. */
void verdict_recall(struct run *run);

#endif
