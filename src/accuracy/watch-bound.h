/*
 * The judgement of the watch on the orbits of bound bodies, whatever their share of the energy of
 * the whole is. A body whose passage of what it is bound to takes few steps is in doubt; then a
 * trial tells what the method makes of its orbit (accuracy/bound-trial.h). Trials are at steps
 * that the number of steps, the bodies and the work of the run decide alone, and take a part of
 * that work.
 */
#ifndef ORRERY_ACCURACY_WATCH_BOUND_H
#define ORRERY_ACCURACY_WATCH_BOUND_H

#include "accuracy/watch-energy.h"

/* Looks at the bodies of a system at the steps that are for it, and at the last one; the state must
 * be valid. STATUS_NUMERICAL with on_jump = "stop", STATUS_MEMORY. */
enum status watch_bound_check(struct watch *watch, const struct check *check, size_t system,
                              bool last, struct error *error);

/* Why no orbit of this run is judged: "watch.orbit_error = 0"; NULL where they are. */
const char *watch_bound_unjudged(const struct watch *watch);

/* The row of a system: the error of its worst orbit or, once it has failed by that, the steps of a
 * period. An orbit that only a trial finds lost, after the time reached, has none. */
struct finding watch_bound_row(const struct watch *watch, const struct record *record);

/* "body 3 has 4.4 steps per period about body 1 (limit 6): a step of 0.1 d holds" */
enum { WATCH_BOUND_TEXT_SIZE = 320 };
const char *watch_bound_text(const struct watch *watch, const struct bound_record *bound,
                             char buffer[WATCH_BOUND_TEXT_SIZE]);

/* For run.json: the system's; a new reference. */
json_t *watch_bound_json(const struct watch *watch, const struct record *record);

#endif
