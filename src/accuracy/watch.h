/*
 * The accuracy watch, at work in every run: it says when a result can no longer be trusted, and
 * because of which body or pair. Numbers that are not finite end the run; an energy that is too far
 * from that of the start, drifts steadily or changes by too much within 1000 steps fails it; a step
 * too large for the fastest pair causes a warning, once. The energy is judged at steps of the
 * watch's own, so that the verdict does not depend on when something else is measured.
 */
#ifndef ORRERY_ACCURACY_WATCH_H
#define ORRERY_ACCURACY_WATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accuracy/finding.h"
#include "base/status.h"
#include "config/configuration.h"
#include "config/parameter.h"
#include "diagnostics/diagnostic.h"
#include "force/method.h"
#include "integrator/integrator.h"

/* The group `watch` of the config: every, energy_error, energy_drift, energy_jump,
 * orbit_error, on_jump, least_steps. */
extern const struct parameter watch_parameters[];
extern const size_t watch_parameter_count;

struct watch; /* opaque */

/* The method by which the bodies are moved, and the length of the run. They decide which energy
 * changes are noise, whether the whole error is drift, and which orbits are lost before the end. */
struct watch_method {
    struct force_options force; /* the resolved options, as the backend describes them */
    const struct integrator *integrator;
    double steps; /* number of steps from the start to the end of the run */
};

/* Creates the watch of a run. `start` is the moment of step 0, with NEED_STATE and NEED_CONSERVED
 * valid; its bodies and units are borrowed. STATUS_MEMORY. */
enum status watch_create(const struct section *section, const struct moment *start,
                         const struct watch_method *method, struct watch **watch,
                         struct error *error);
void watch_destroy(struct watch *watch); /* accepts NULL */

/* Returns the number of doubles that the watch keeps for each system, without those for its test
 * bodies (bodies without mass). */
size_t watch_system_reals(void);

/*
 * Tells whether the watch measures the errors of the forces at this step, for which it needs
 * NEED_ACCELERATIONS: at step 0 and where `last` says that the run ends, if the force method leaves
 * a part of the forces out. The forces on up to 256 bodies of each system are then compared with
 * direct sums; a run whose forces miss the accuracy that the config asks for fails.
 */
bool watch_audits(const struct watch *watch, uint64_t step, bool last);

/* Returns watch.every, the most steps between two calls of watch_check() with NEED_STATE. */
uint64_t watch_every(const struct watch *watch);

/* Returns the stride of the watch at `step`, which grows during a run: the watch judges the energy
 * at multiples of it, and needs NEED_STATE and NEED_CONSERVED there. */
uint64_t watch_stride(const struct watch *watch, uint64_t step);

/* Returns the next step after `step` at which the watch judges the energy: the next multiple of the
 * stride or, before it, a step at which the bound pair with the largest error per step passes its
 * pericentre (in open space, with more than 64 bodies in up to 64 systems). There are at most ten
 * such passages, and one more for each hundred steps. */
uint64_t watch_next(const struct watch *watch, uint64_t step);

/* Returns the numbers that a checkpoint saves and a restart puts back; *count is their number. */
double *watch_state(struct watch *watch, size_t *count);

/*
 * Checks a moment of which `valid` (enum need, or-ed) is there. The energy is judged at the steps
 * of watch_next() and where `last` says that the run ends. Warnings go to `tell`, which may be
 * NULL, a line each, few in a run. STATUS_NUMERICAL, naming the body, when a position, a velocity
 * or an energy is not finite, and for an error or a jump when on_jump = "stop"; STATUS_MEMORY.
 */
enum status watch_check(struct watch *watch, const struct moment *now, unsigned valid, bool last,
                        void (*tell)(void *context, const char *line), void *context,
                        struct error *error);

/*
 * The watch of a copy of a run, which reports nothing. watch_follow() creates it for a simulation
 * that has begun and will make `steps` steps, and sets *now to the moment of step 0; the caller
 * moves *now on. watch_look() fetches and measures the simulation, and checks the moment `now`.
 */
enum status watch_follow(const struct section *section, const struct simulation *simulation,
                         double steps, struct moment *now, struct watch **watch,
                         struct error *error);
enum status watch_look(struct watch *watch, struct simulation *simulation, const struct moment *now,
                       bool last, struct error *error);

/* Tells whether no system has passed a limit so far, and some system counts: those with
 * left_out[system] do not (NULL: all do). watch.on_jump does not matter. */
bool watch_within_limits(const struct watch *watch, const bool *left_out);

/* Returns the largest error of any system so far over its limit, of the energy or of a bound orbit;
 * 0 without limits. */
double watch_error_in_limits(const struct watch *watch);
/* Returns the largest energy error as it was judged, over its limit: while bodies pass each other
 * closely, errors count less, and beside a fast body more (watch-energy.h). */
double watch_judged_in_limits(const struct watch *watch);
/* Returns max(|E0|, |U0|) of a system over 10 |U| if the energy of fast bodies, or of the orbit of
 * a cluster, is so large that errors of the bound bodies would not show beside it; else 1. */
double watch_enlarged(const struct watch *watch, size_t system);
/* Returns the largest energy error, over max(|E0|, |U0|). */
double watch_energy_error(const struct watch *watch);

/*
 * Adds the rows of the watch to the findings: for each quantity the row of the worst system, among
 * the systems that count if any of these fails, else among all. Returns the worst failure, whose
 * `systems` is the number of systems that fail by any quantity; without a failure, a row with a
 * lower severity. Of several failures of one system the first row counts, or that of the forces if
 * these are worse. `left_out` as in watch_holds().
 */
struct finding watch_findings(const struct watch *watch, const bool *left_out,
                              struct findings *findings);

/* Tells whether watch.on_jump is "warn", or a system counts and none that counts has passed a limit
 * so far. Systems with left_out[system] do not count; NULL: all do. */
bool watch_holds(const struct watch *watch, const bool *left_out);

/* Writes the findings in a line for the summary: "the energy is off by 0.657 at t = 62.8 (limit
 * 0.005)"; "" if there are none. If systems that count fail, the line is about these. */
enum { WATCH_TEXT_SIZE = 512 };
const char *watch_text(const struct watch *watch, const bool *left_out,
                       char buffer[WATCH_TEXT_SIZE]);

/* Writes what the watch has judged: "energy within the watch's limits; positions not judged (trust
 * = { shadow = true; } judges them)", or, if `shadowed`, "...; positions compared with shadows
 * (trust)". In between it says that orbits of light bodies are not judged, and by which key, or the
 * orbits of how many, since these bodies are unbound at present; and behind "energy" why that was
 * not judged, or by how much max(|E0|, |U0|), the energy to which the errors in tables are
 * relative, exceeds |U|, since nearly all of it is that of fast bodies or of a cluster's
 * orbit. */
enum { WATCH_JUDGED_SIZE = 400 };
const char *watch_judged(const struct watch *watch, const bool *left_out, bool shadowed,
                         char buffer[WATCH_JUDGED_SIZE]);

/* Returns an object for run.json, a new reference. */
json_t *watch_json(const struct watch *watch, const bool *left_out);

#endif
