/*
 * The accuracy watch, at work in every run: it says when a result can no longer be trusted, and
 * because of whom. Numbers that are not finite end the run; an energy that is too far from that of
 * the start, drifts steadily or changes by too much within 1000 steps fails it; a step too large
 * for the fastest pair is said once. The energy is judged at steps of the watch's own, so that the
 * verdict does not depend on when something else is measured.
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

/* The method by which the bodies are moved, and for how long: it decides what is noise, whether
 * all error is drift, and whether the run sees an orbit lost. */
struct watch_method {
    struct force_options force; /* as the backend describes them */
    const struct integrator *integrator;
    double steps; /* from the start to the end */
};

/* `start` is the moment of step 0 with STATE and CONSERVED valid; not kept. STATUS_MEMORY. */
enum status watch_create(const struct section *section, const struct moment *start,
                         const struct watch_method *method, struct watch **watch,
                         struct error *error);
void watch_destroy(struct watch *watch); /* accepts NULL */

/* Returns the number of reals that it keeps for each system. */
size_t watch_system_reals(void);

/*
 * Forces of a method that leaves something out are audited at the first step and where `last` says
 * that the run ends: of 256 bodies beside direct sums. A run that misses the accuracy it asked for
 * fails. Tells whether this step needs NEED_ACCELERATIONS for it.
 */
bool watch_audits(const struct watch *watch, uint64_t step, bool last);

/* The largest error of the forces that was found; 0: nothing was audited. */
double watch_force_error(const struct watch *watch);

/* Returns the number of steps within which the watch wishes to check, with STATE. */
uint64_t watch_every(const struct watch *watch);

/* After `step` it judges the energy at the next multiple of this, and needs STATE and CONSERVED
 * there; at `step` itself, if that is one. */
uint64_t watch_stride(const struct watch *watch, uint64_t step);

/* The step after `step` at which it judges the energy: that multiple, or before it one at which the
 * bound pair that a step errs most in passes its pericentre; those are one in a hundred steps at
 * most, and ten. */
uint64_t watch_next(const struct watch *watch, uint64_t step);

/* Returns the state that must survive a restart, as of a diagnostic. */
double *watch_state(struct watch *watch, size_t *count);

/*
 * Checks a moment of which `valid` (enum need, or-ed) is there: state, sums or both. The energy
 * is judged at the steps of watch_next() and where `last` says that the run ends. Warnings go to
 * `tell`, which may be NULL, a line each, few in a run. STATUS_NUMERICAL, naming the body, when a
 * position, a velocity or an energy is not finite, and for an error or a jump when on_jump =
 * "stop"; STATUS_MEMORY.
 */
enum status watch_check(struct watch *watch, const struct moment *now, unsigned valid, bool last,
                        void (*tell)(void *context, const char *line), void *context,
                        struct error *error);

/*
 * A copy of a run that moves without a trace, under a watch of its own. watch_follow() creates the
 * watch of a simulation that has begun and makes `steps` steps; *now is its moment of step 0, which
 * the caller moves on. watch_look() fetches and measures the simulation, and checks that moment.
 */
enum status watch_follow(const struct section *section, const struct simulation *simulation,
                         double steps, struct moment *now, struct watch **watch,
                         struct error *error);
enum status watch_look(struct watch *watch, struct simulation *simulation, const struct moment *now,
                       bool last, struct error *error);

/* No limit was passed so far, whatever on_jump makes of it; left_out as below. */
bool watch_within_limits(const struct watch *watch, const bool *left_out);

/* The largest energy error of any system so far over the limit of the watch, and the largest as it
 * was judged, which is less where bodies pass each other closely; 0 without a limit. */
double watch_error_in_limits(const struct watch *watch);
double watch_judged_in_limits(const struct watch *watch);
/* The first of them over max(|E0|, |U0|). */
double watch_energy_error(const struct watch *watch);

/*
 * Adds the rows of the watch: for each quantity the worst of the systems that count if any of these
 * fails, else of all. Returns the failure that is the worst of all, with `systems` those that fail
 * by any; its severity is FINDING_FAILURE, or there is none. Of a system that fails by several the
 * first row counts, or the forces if these are worse.
 */
struct finding watch_findings(const struct watch *watch, const bool *left_out,
                              struct findings *findings);

/* No limit was passed so far, or on_jump = "warn". Systems with left_out[system] do not count;
 * NULL: all do. Where none counts, it does not hold. */
bool watch_holds(const struct watch *watch, const bool *left_out);

/* Writes the findings in a line for the summary: "the energy is off by 0.657 at t = 62.8 (limit
 * 0.005)"; "" if there is nothing to say. Where systems that count fail the run, it is of these. */
enum { WATCH_TEXT_SIZE = 512 };
const char *watch_text(const struct watch *watch, const bool *left_out,
                       char buffer[WATCH_TEXT_SIZE]);

/* Writes what the watch has judged: "energy held; positions not judged (trust = { shadow = true; }
 * judges them)", or, where shadows told of these, "energy held; positions compared with shadows
 * (trust)". Where orbits of light bodies are not judged, it says so: "energy held; orbits of light
 * bodies not judged (watch.orbit_error = 0); positions ...". */
enum { WATCH_JUDGED_SIZE = 256 };
const char *watch_judged(const struct watch *watch, const bool *left_out, bool shadowed,
                         char buffer[WATCH_JUDGED_SIZE]);

/* For run.json; a new reference. */
json_t *watch_json(const struct watch *watch, const bool *left_out);

#endif
