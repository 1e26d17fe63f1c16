#include "accuracy/watch-bound.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "accuracy/bound-trial.h"
#include "accuracy/unbound.h"
#include "base/document.h"

/* Orbits are checked at those steps of the watch that are multiples of FEW_EVERY in a system of up
 * to VERY_FEW_BODIES bodies, of MANY_EVERY in a larger one, and at the end of the run. */
enum { FEW_EVERY = 100, MANY_EVERY = 1000, VERY_FEW_BODIES = 16 };
/* The multiple for an integrator that chooses its own steps, whose grid steps may be long. */
enum { GRID_EVERY = 10 };

/*
 * Steps in the passage of a pericentre from which on no orbit is in doubt. A pair alone stays
 * within 0.01 of its energy then, by any method of the second order or a higher one that does not
 * drift, for e up to 0.9 (measured). A method of the first order, whose error is proportional to
 * the step, needs the second number for that.
 */
static const double sure_steps = 20.0, sure_steps_first_order = 300.0;
/* The number of such steps for a method that is not symplectic: with that many steps in the period
 * of a circular orbit, Runge-Kutta's fourth order changes its energy by 1e-8 of |U| per period. */
static const double sure_steps_drifting = 150.0;

/* Pairs with less than this part of the system's energy are light: the energy of the system does
 * not show their errors, so that their orbits are judged. (By default the limit of the orbit error
 * is 1 / light times that of the energy error.) */
static const double light = 0.1;

/* A body whose orbit is in doubt is tried again after the part `again` of the steps so far, or as
 * soon as the passage of its pericentre has become shorter by the factor `faster`. */
static const double again = 0.25, faster = 0.8;

/* The trials of a system (integrations of single orbits, bound-trial.h) may take its equal share of
 * `free_work` pair interactions, some 40 ms, and in addition the part `work_share` of the
 * interactions that the run has done. An interaction in a trial, by the plain loops of the
 * reference kernel, takes some twenty times as long as one by the run's kernels, so that the
 * addition is at most a fifth of the run's time. */
static const double free_work = 4e6, work_share = 0.01;

/* The part of the limit that the error of a trial with the proposed step may reach. */
static const double spare = 0.5;
/* The pair interactions that the search for a step that keeps an orbit may take: some 0.1 s. */
static const double search_work = 1e7;

/*
 * The least number of fixed steps in a period, below which a run fails. With a method of an order
 * above 2 fewer than six may do, so that a trial decides; with fewer than three no method of fixed
 * steps keeps even a circular orbit (measured: theory.md, "Light bodies").
 */
enum { LEAST_STEPS = 6, LEAST_STEPS_HIGH_ORDER = 3 };
static int least_steps_of(const struct watch *watch)
{
    return watch->integrator->order > 2 ? LEAST_STEPS_HIGH_ORDER : LEAST_STEPS;
}

const char *watch_bound_unjudged(const struct watch *watch)
{
    return isinf(watch->orbit_error) ? "watch.orbit_error = 0"
           : watch->turns            ? "physics.rotation != 0"
                                     : NULL;
}

size_t watch_bound_unbound(const struct watch *watch, const struct record *record)
{
    if (record->by_tests > 0.0)
        return 0; /* their energies are judged */
    return unbound_count(watch->physics, watch->bodies, (size_t)(record - watch->records),
                         light * record->level.scale);
}

static bool has_failed(const struct bound_record *bound)
{
    return !isnan(bound->first) && bound->due <= bound->drift_time;
}

/* Tells whether an orbit will pass the limit of the orbit error later than the time reached,
 * according to its trial. */
static bool is_foreseen(const struct bound_record *bound)
{
    return !isnan(bound->first) && bound->due > bound->drift_time;
}

/* Tells whether an orbit that was beyond the limit in a trial must still be found again at the next
 * check before it counts. */
static bool is_waiting(const struct bound_record *bound)
{
    return isnan(bound->first) && !isnan(bound->pending);
}

struct finding watch_bound_row(const struct watch *watch, const struct record *record)
{
    const struct bound_record *bound = &record->bound;
    const bool fails = has_failed(bound);
    const bool tried = !isnan(bound->body) && !is_waiting(bound);
    const double error = !tried ? NAN : is_foreseen(bound) ? 0.0 : bound->error;
    const double limit = watch_bound_unjudged(watch) ? INFINITY : watch->orbit_error;
    struct finding row = finding_row("orbit error", error, limit, fails, bound->first);
    if (bound->few > 0.0 && !is_foreseen(bound))
        row.times = fmax(row.times, least_steps_of(watch) / bound->steps);
    if (fails && bound->few > 0.0) {
        row.subject = FINDING_OF_STEPS;
        row.name = "steps per period";
        row.value = bound->steps;
        row.bound = least_steps_of(watch);
        row.from_below = true;
    }
    if (!tried)
        row.severity = FINDING_OPEN;
    row.bodies[0] = bound->body;
    row.bodies[1] = bound->centers[0];
    row.named = watch->bodies;
    return row;
}

/* --- what is said ----------------------------------------------------------------------------- */

const char *watch_bound_text(const struct watch *watch, const struct bound_record *bound,
                             char buffer[WATCH_BOUND_TEXT_SIZE])
{
    char body[BODIES_NAME_SIZE], about[BODIES_PAIR_SIZE], mend[80 + UNITS_TEXT_SIZE] = "";
    char step[UNITS_TEXT_SIZE], by[80];
    const int64_t center = (int64_t)bound->centers[0];
    bodies_name(watch->bodies, (int64_t)bound->body, body);
    if (isnan(bound->centers[1]))
        bodies_name(watch->bodies, center, about);
    else
        bodies_pair(watch->bodies, center, (int64_t)bound->centers[1], about);
    snprintf(by, sizeof by, "at %.3g steps per period", bound->steps);
    if (watch->chooses_steps)
        snprintf(by, sizeof by, "by the steps that %s chooses", watch->integrator->variant.name);
    if (!isnan(bound->holds) && watch->chooses_steps)
        snprintf(mend, sizeof mend, "; time.%s = %.3g follows it",
                 integrator_key(watch->integrator)->key, bound->holds);
    else if (!isnan(bound->holds))
        snprintf(mend, sizeof mend, "; a step of %s follows it",
                 units_time(watch->units, bound->holds, 3, step));
    if (bound->few > 0.0)
        snprintf(buffer, WATCH_BOUND_TEXT_SIZE,
                 "the orbit of %s about %s has %.3g steps per period (%d at least)%s", body, about,
                 bound->steps, least_steps_of(watch), mend);
    else
        snprintf(buffer, WATCH_BOUND_TEXT_SIZE,
                 "the orbit of %s about %s is off by %.3g of its potential energy (limit %g) in a "
                 "trial of %d periods, %s%s",
                 body, about, bound->error, watch->orbit_error, BOUND_TRIAL_PERIODS, by, mend);
    return buffer;
}

json_t *watch_bound_json(const struct watch *watch, const struct record *record)
{
    const struct bound_record *bound = &record->bound;
    const bool foreseen = is_foreseen(bound), chooses = watch->chooses_steps;
    const double largest = foreseen || is_waiting(bound) ? 0.0 : bound->error;
    json_t *json = DOCUMENT(
        { "judged", json_boolean(!watch_bound_unjudged(watch)) },
        { "largest", document_number(largest) }, { "body", document_id(bound->body) },
        { "about", document_id(bound->centers[0]) }, { "and", document_id(bound->centers[1]) },
        { "steps_per_period", document_number(chooses ? NAN : bound->steps) },
        { "time", document_number(bound->time) },
        { "first_time_beyond", document_number(foreseen ? NAN : bound->first) },
        { "step_that_holds", document_number(chooses ? NAN : bound->holds) });
    if (chooses)
        document_set(&json, "key_that_holds", document_number(bound->holds));
    return json;
}

/* The most systems of an ensemble, beside the first one that fails, that are reported and for which
 * a step that holds is looked for. */
enum { MOST_TOLD = 2 };

static size_t others_failed(const struct watch *watch, size_t system)
{
    size_t others = 0;
    for (size_t s = 0; s < watch->systems; s++)
        others += s != system && has_failed(&watch->records[s].bound);
    return others;
}

static enum status tell(const struct watch *watch, const struct check *check, size_t system,
                        struct error *error)
{
    char text[WATCH_BOUND_TEXT_SIZE], time[UNITS_TEXT_SIZE], line[2 * WATCH_BOUND_TEXT_SIZE];
    if (others_failed(watch, system) > MOST_TOLD && watch->on_jump != ON_JUMP_STOP)
        return STATUS_OK;
    snprintf(line, sizeof line, "system %zu: at t = %s %s", system + 1,
             units_time(watch->units, check->now->time, 6, time),
             watch_bound_text(watch, &watch->records[system].bound, text));
    if (watch->on_jump == ON_JUMP_STOP)
        return error_set(error, STATUS_NUMERICAL, "%s", line);
    char warning[2 * WATCH_BOUND_TEXT_SIZE + 16];
    snprintf(warning, sizeof warning, "WARNING: %s", line);
    if (check->tell)
        check->tell(check->context, warning);
    return STATUS_OK;
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool drifts(const struct watch *watch)
{
    return !watch->integrator->symplectic;
}

static double sure_passage(const struct watch *watch)
{
    if (watch->chooses_steps)
        return INFINITY; /* then dt says nothing about how well an orbit is followed */
    if (watch->integrator->order == 1)
        return drifts(watch) ? INFINITY : sure_steps_first_order;
    return drifts(watch) ? sure_steps_drifting : sure_steps;
}

/* Halves the steps of a method, and rounds *value, dt or the integrator's key, down to one digit. A
 * dt becomes at least so short that a period has twice the least number of steps. */
static void halve(const struct watch *watch, const struct bound_orbit *orbit, double *value)
{
    if (watch->chooses_steps)
        *value = text_round_down(*value * exp2(-watch->integrator->key_degree));
    else
        *value = text_round_down(fmin(0.5 * *value, orbit->period / (2.0 * least_steps_of(watch))));
}

/* Shortens the steps of the method with halve() until error and drift of a trial stay within
 * `spare` of the limit; *holds is then that dt, or that value of the integrator's key. *holds is
 * NaN if this would take more than search_work, or with a method of the first order. */
static enum status find_step(const struct watch *watch, const struct moment *now, size_t system,
                             const struct bound_orbit *orbit, struct bound_method method,
                             double *holds, struct error *error)
{
    const bool chooses = watch->chooses_steps;
    const double limit = spare * watch->orbit_error;
    double *const value = chooses ? &method.key : &method.dt, work = 0.0;
    *holds = NAN;
    if (watch->integrator->order == 1)
        return STATUS_OK; /* another method is needed, not a shorter step */
    if (chooses && isnan(*value))
        *value = integrator_key(watch->integrator)->default_value.real;
    while (isnan(*holds)) {
        struct bound_trial trial;
        halve(watch, orbit, value);
        bound_method_shorten_grid(&method, now->bodies, orbit, 0.1 * search_work);
        work += bound_trial_cost(now->bodies, &method, orbit);
        if (!(work < search_work))
            break;
        if (bound_trial(now->physics, now->bodies, system, orbit, &method, &trial, error))
            return error->status;
        const double drift = chooses ? fabs(trial.rate) * watch->end : 0.0;
        if (trial.error <= limit && drift <= limit)
            *holds = *value;
    }
    return STATUS_OK;
}

static void keep(struct bound_record *bound, const struct moment *now, size_t system,
                 const struct bound_orbit *orbit, double error)
{
    const int64_t *const ids = now->bodies->id + system * now->bodies->stride;
    bound->error = error;
    bound->body = (double)ids[orbit->body];
    for (size_t c = 0; c < orbit->center.count; c++)
        bound->centers[c] = (double)ids[orbit->center.bodies[c]];
    for (size_t c = orbit->center.count; c < BOUND_CENTER_BODIES; c++)
        bound->centers[c] = NAN;
    bound->steps = orbit->period / now->dt;
    bound->time = now->time;
}

/* Reports an orbit that passes the limit before the run ends; not one that would do so later. */
static enum status tell_lost(struct watch *watch, const struct check *check, size_t system,
                             struct error *error)
{
    struct bound_record *bound = &watch->records[system].bound;
    if (bound->due > watch->end)
        return STATUS_OK;
    if (watch->on_jump == ON_JUMP_STOP)
        bound->due = check->now->time; /* the run ends here */
    return tell(watch, check, system, error);
}

static enum status fail(struct watch *watch, const struct check *check, size_t system,
                        const struct bound_orbit *orbit, const struct bound_method *method,
                        struct error *error)
{
    struct bound_record *bound = &watch->records[system].bound;
    bound->first = check->now->time;
    /* The watch of a copy (pilot or trial run) reports nothing, and needs no step that holds. */
    if (check->tell && others_failed(watch, system) <= MOST_TOLD &&
        find_step(watch, check->now, system, orbit, *method, &bound->holds, error))
        return error->status;
    return tell_lost(watch, check, system, error);
}

/* Returns the work that the run has done in a system so far, in pair interactions. */
static double work_done(const struct watch *watch, const struct moment *now, size_t system)
{
    const double each = force_work(&watch->force, 1.0, (double)now->bodies->count);
    if (watch->chooses_steps && now->simulation)
        return simulation_work_done(now->simulation, system).interactions;
    return (double)now->step * each * (double)integrator_forces_per_step(watch->integrator);
}

static double work_left(const struct watch *watch, const struct moment *now, size_t system)
{
    return free_work / (double)watch->systems + work_share * work_done(watch, now, system) -
           watch->records[system].bound.work;
}

static bool is_due(const struct watch *watch, const struct moment *now, size_t system,
                   const struct bound_orbit *orbit, const struct bound_method *method)
{
    const struct bound_record *bound = &watch->records[system].bound;
    const bool again_due = (double)now->step >= bound->next || isnan(bound->tried) ||
                           orbit->passage / now->dt < faster * bound->tried;
    const double cost = bound_trial_cost(now->bodies, method, orbit);
    return again_due && bound_method_known(method) && cost <= work_left(watch, now, system);
}

static enum status try_orbit(struct watch *watch, const struct check *check, size_t system,
                             const struct bound_orbit *orbit, const struct bound_method *method,
                             struct error *error)
{
    const struct moment *now = check->now;
    struct bound_record *bound = &watch->records[system].bound;
    struct bound_trial trial;
    if (bound_trial(now->physics, now->bodies, system, orbit, method, &trial, error))
        return error->status;
    bound->work += trial.interactions;
    bound->tried = orbit->passage / now->dt;
    bound->next = (double)now->step * (1.0 + again);
    bound->rate = drifts(watch) && isfinite(trial.rate) ? trial.rate : 0.0;
    if (trial.error > watch->orbit_error)
        bound->due = now->time + trial.beyond;
    if (trial.error > bound->error)
        keep(bound, now, system, orbit, trial.error);
    return STATUS_OK;
}

/*
 * Notes that an orbit beyond the limit must be found again at the next check before it fails the
 * run: among many bodies, pairs that soon part say nothing about the run.
 */
static void wait_for_it(struct bound_record *bound, const struct bound_orbit *orbit)
{
    bound->pending = (double)orbit->body;
    for (size_t c = 0; c < BOUND_CENTER_BODIES; c++)
        bound->about[c] = c < orbit->center.count ? (double)orbit->center.bodies[c] : NAN;
}

/* Tells whether an orbit may be that of a chance pair among many bodies, which soon parts. A body
 * that goes around most of the mass is no chance pair; nor is one with too few steps in a period at
 * the start, which the method may have thrown out before the next check. */
static bool is_chance(const struct watch *watch, const struct moment *now, size_t system,
                      const struct bound_orbit *orbit)
{
    const struct bodies *const b = now->bodies;
    const double *const m = b->m + system * b->stride;
    double all = 0.0, center = 0.0;
    for (size_t i = 0; i < b->count; i++)
        all += m[i];
    for (size_t c = 0; c < orbit->center.count; c++)
        center += m[orbit->center.bodies[c]];
    const bool hopeless = now->step == 0 && watch->records[system].bound.few > 0.0;
    return b->count > FEW_BODIES && !hopeless && center < 0.5 * all;
}

/* Tells whether the orbit that was to be found again is still there, with a passage shorter than
 * `sure`, and puts it into *orbit. If it is gone, the record forgets it. */
static bool is_found_again(struct bound_record *bound, const struct moment *now, size_t system,
                           double sure, struct bound_orbit *orbit)
{
    if (isnan(bound->pending))
        return false;
    struct bound_center center = { 1, { (size_t)bound->about[0] } };
    if (!isnan(bound->about[1]))
        center = (struct bound_center){ 2, { (size_t)bound->about[0], (size_t)bound->about[1] } };
    *orbit = bound_orbit_about(now->physics, now->bodies, system, (size_t)bound->pending, &center);
    if (orbit->passage < sure)
        return true;
    bound->pending = bound->tried = NAN;
    bound->error = bound->rate = bound->drift = bound->few = 0.0;
    return false;
}

/* Judges an orbit in doubt: by the steps in its period, or by a trial if one is due. Beyond the
 * limit it fails the run or, if it may be that of a chance pair, must be found again first. */
static enum status look_at_orbit(struct watch *watch, const struct check *check, size_t system,
                                 const struct bound_orbit *orbit, const struct bound_method *method,
                                 struct error *error)
{
    const struct moment *now = check->now;
    struct bound_record *bound = &watch->records[system].bound;
    struct bound_method tried = *method;
    bound_method_shorten_grid(&tried, now->bodies, orbit, work_left(watch, now, system));
    bound->due = now->time;
    bound->few = !watch->chooses_steps && orbit->period < least_steps_of(watch) * now->dt;
    if (bound->few > 0.0)
        keep(bound, now, system, orbit, bound->error);
    else if (is_due(watch, now, system, orbit, &tried) &&
             try_orbit(watch, check, system, orbit, &tried, error))
        return error->status;
    if (fabs(bound->drift) > bound->error)
        keep(bound, now, system, orbit, fabs(bound->drift));
    if (!(bound->few > 0.0) && bound->error <= watch->orbit_error)
        return STATUS_OK;
    if (!is_chance(watch, now, system, orbit))
        return fail(watch, check, system, orbit, method, error);
    wait_for_it(bound, orbit);
    return STATUS_OK;
}

/* With on_jump = "stop", ends a continued run if an orbit that was to pass the limit after the
 * run's former end does so before its new one. */
static enum status stop_when_foreseen(struct watch *watch, const struct check *check, size_t system,
                                      struct error *error)
{
    return watch->on_jump == ON_JUMP_STOP ? tell_lost(watch, check, system, error) : STATUS_OK;
}

enum status watch_bound_check(struct watch *watch, const struct check *check, size_t system,
                              bool last, struct error *error)
{
    const struct moment *now = check->now;
    const struct record *record = &watch->records[system];
    struct bound_record *bound = &watch->records[system].bound;
    const uint64_t every = watch->chooses_steps                   ? GRID_EVERY
                           : now->bodies->count > VERY_FEW_BODIES ? MANY_EVERY
                                                                  : FEW_EVERY;
    bool found;
    struct bound_orbit orbit;
    /* After one step a trial knows the steps of the bodies outside of it, and can be made. */
    const bool first = watch->chooses_steps && now->step == 1;
    if ((now->step % every != 0 && !first && !last) || watch_bound_unjudged(watch))
        return STATUS_OK;
    bound->drift += bound->rate * (now->time - bound->drift_time);
    bound->drift_time = now->time;
    if (!isnan(bound->first))
        return stop_when_foreseen(watch, check, system, error);
    struct bound_method method;
    if (bound_method_of(now, system, watch->integrator, watch->orbit_error, &method, error))
        return error->status;
    const double affordable =
        bound_trial_longest(now->bodies, &method, work_left(watch, now, system));
    const struct bound_filter filter = {
        .passage = sure_passage(watch) * now->dt,
        .period = watch->chooses_steps ? 0.0 : LEAST_STEPS * now->dt,
        /* Orbits that would cost too much to be tried must not hide those that can be. */
        .longest = fmax(least_steps_of(watch) * now->dt, affordable),
        .energy = record->by_tests > 0.0 ? 0.0 : light * record->level.scale,
    };
    if (is_found_again(bound, now, system, filter.passage, &orbit)) {
        if (orbit.period > now->time)
            return STATUS_OK;
        bound->due = now->time;
        return fail(watch, check, system, &orbit, &method, error);
    }
    if (bound_orbit_fastest(now->physics, now->bodies, system, &filter, &found, &orbit, error))
        return error->status;
    if (found)
        return look_at_orbit(watch, check, system, &orbit, &method, error);
    bound->rate = 0.0;
    return STATUS_OK;
}
