/* The prospects of the criteria of `expect`: which of them the run cannot meet, as the config and
 * the rows of step 0 tell; and those of diagnostics whose rows will be too rare. */
#ifndef ORRERY_ESTIMATE_PROSPECTS_H
#define ORRERY_ESTIMATE_PROSPECTS_H

#include "base/status.h"
#include "base/text.h"
#include "estimate/experiment.h"
#include "observation/criteria.h"

/*
 * Refuses (STATUS_CONFIG) a criterion for which the run would surely fail: no row lies between its
 * times; its quantity is undefined at step 0 and that row counts; or it is an energy error that is
 * undefined at step 0 and therefore always. If only a condition of stop_when could give it a row,
 * appends a sentence to `warnings` instead; also for each diagnostic whose `every` is too large for
 * it. `criteria` are those of the experiment before the first step. The rows of step 0 are measured
 * if that takes no longer than a second or two.
 * STATUS_MEMORY, STATUS_STOPPED and the errors of a backend.
 */
enum status prospects_check(const struct experiment *experiment, const struct criteria *criteria,
                            struct text *warnings, struct error *error);

#endif
