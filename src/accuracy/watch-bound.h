/*
 * The judgement of the accuracy watch on the orbits of bound bodies, however small their share of
 * the system's energy. An orbit is in doubt if the passage of its pericentre takes few steps; then
 * a trial (accuracy/bound-trial.h) measures the error of integrator and step in this orbit. The
 * steps of the run at which there are trials depend on nothing but the number of steps, the bodies
 * and the work of the run, and trials take a part of that work.
 */
#ifndef ORRERY_ACCURACY_WATCH_BOUND_H
#define ORRERY_ACCURACY_WATCH_BOUND_H

#include "accuracy/watch-energy.h"

/* Checks the orbits of a system's bound bodies, at the steps that are due and where `last` says
 * that the run ends; the positions and velocities of the moment must be valid. STATUS_NUMERICAL
 * with on_jump = "stop", STATUS_MEMORY. */
enum status watch_bound_check(struct watch *watch, const struct check *check, size_t system,
                              bool last, struct error *error);

/* Returns why no orbit is judged, such as "watch.orbit_error = 0"; NULL if orbits are judged. */
const char *watch_bound_unjudged(const struct watch *watch);

/* Counts the light bodies of a system that are not bound now: none of the watch's judgements is on
 * them. */
size_t watch_bound_unbound(const struct watch *watch, const struct record *record);

/* Returns the row of findings of a system: the error of its worst orbit, or the steps in the period
 * of that orbit if the system fails since these are too few. The error is 0 as long as an orbit is
 * to pass the limit, according to its trial, at a time that the run has not reached. */
struct finding watch_bound_row(const struct watch *watch, const struct record *record);

/* Writes "the orbit of body 3 about body 1 has 4.4 steps per period (6 at least); a step of 0.1 d
 * follows it", or by how much the orbit is off. Returns `buffer`. */
enum { WATCH_BOUND_TEXT_SIZE = 320 };
const char *watch_bound_text(const struct watch *watch, const struct bound_record *bound,
                             char buffer[WATCH_BOUND_TEXT_SIZE]);

/* Returns an object for run.json on the orbits of a system, a new reference. */
json_t *watch_bound_json(const struct watch *watch, const struct record *record);

#endif
