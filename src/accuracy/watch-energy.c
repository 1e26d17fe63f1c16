#include "accuracy/watch-energy.h"

#include <math.h>
#include <stdio.h>

#include "model/conserved.h"

/* --- an energy beside what it was ------------------------------------------------------------- */

static double inertia_of(const struct bodies *b, size_t system, const double center[3])
{
    double sum = 0.0;
    for (size_t i = system * b->stride; i < system * b->stride + b->count; i++) {
        const double x = b->x[i] - center[0], y = b->y[i] - center[1], z = b->z[i] - center[2];
        sum += b->m[i] * (x * x + y * y + z * z);
    }
    return sum;
}

/*
 * Tells whether the energy has jumped since the last check, `steps` steps ago, rather than changed
 * steadily. A change within one step and a change in all the steps between two checks look alike at
 * the second check; but a steady change has gone on before, at such a rate. If the rate before is
 * not known, the change is not called a jump.
 */
static bool is_sudden(const struct level *level, double energy, double steps)
{
    const double most = 0.5;
    const double change = energy - level->last, whole = energy - level->mark;
    return fabs(change) > most * fabs(whole) && level->rate * steps / change < 1.0 - most;
}

/* An energy and the values that it is judged by, `steps` steps after the last check. */
struct reading {
    double energy, potential; /* E, |U| */
    double step, steps;
    double limit; /* limit of the change, over the scale */
    /* The scale in `judged` is at most FAST times the lesser of `own` and the largest |U|, and at
     * least `least` times the scale of the start. */
    double own, least;
};

/* Updates the mean of |U| over the steps so far; each value counts for the steps before it. */
static void follow_potential(struct level *level, const struct reading *reading)
{
    if (reading->step > 0.0)
        level->usual += (reading->potential - level->usual) * reading->steps / reading->step;
}

/* Updates level->beyond by a change, and tells whether all changes since then are too many for a
 * swing. */
static bool is_lasting(struct level *level, double change, const struct reading *reading)
{
    static const double part = 1.0 / 16.0; /* of the run so far: no swing lasts longer */
    if (!(fabs(change) > reading->limit))
        level->beyond = NAN;
    else if (isnan(level->beyond))
        level->beyond = reading->step;
    return reading->step - level->beyond > fmax(JUMP_STEPS, part * reading->step);
}

/* Returns the deviation of an energy from those of the start and of the last mark, which `level`
 * has; leaves out the ids, I and |W|. The level keeps the energy as that of the last check. */
static struct watch_deviation compare(struct level *level, const struct reading *reading)
{
    follow_potential(level, reading);
    level->deepest = fmax(level->deepest, reading->potential);
    const double change = reading->energy - level->start, jump = reading->energy - level->mark;
    const double depth = reading->potential - DEEP * level->usual;
    const double scale = fmax(level->scale, depth);
    const double bounded = fmin(level->scale, FAST * fmin(reading->own, level->deepest));
    const double judging = fmax(fmax(bounded, reading->least * level->scale), depth);
    struct watch_deviation found = { .change = change / level->scale,
                                     .jump = jump / level->scale,
                                     .judged = fabs(change) / judging,
                                     .judged_jump = fabs(jump) / scale,
                                     .deep = depth > 0.0,
                                     .sudden = is_sudden(level, reading->energy, reading->steps) };
    found.lasting = is_lasting(level, found.change, reading);
    if (reading->steps > 0.0)
        level->rate = (reading->energy - level->last) / reading->steps;
    level->last = reading->energy;
    return found;
}

/* Finds the deviation of the test body (a body without mass) whose energy has changed most, and of
 * that whose energy has jumped most. */
static struct watch_deviation compare_test_bodies(struct watch *watch, const struct moment *now,
                                                  size_t system, double steps)
{
    const struct bodies *b = now->bodies;
    const size_t first = system * b->stride;
    struct level *levels = watch->levels + system * watch->test_count;
    struct watch_deviation worst = { .change_body = NAN, .jump_body = NAN };
    size_t center;
    test_energy_applies(b, system, &center);
    for (size_t i = 0; i < b->count; i++) {
        if (!(levels[i].scale > 0.0))
            continue;
        const struct test_motion motion = test_energy_motion(now->physics, b, center, first + i);
        const struct reading reading = { motion.kinetic + motion.potential,
                                         fabs(motion.potential),
                                         (double)now->step,
                                         steps,
                                         watch->energy_error,
                                         INFINITY,
                                         1.0 };
        const struct watch_deviation found = compare(&levels[i], &reading);
        worst.judged = fmax(worst.judged, found.judged);
        worst.lasting |= found.lasting;
        worst.deep |= found.deep;
        if (isnan(worst.change_body) || fabs(found.change) > worst.change) {
            worst.change = fabs(found.change);
            worst.change_body = (double)b->id[first + i];
            worst.inertia = motion.r2;
            worst.virial = fabs(motion.virial);
        }
        if (isnan(worst.jump_body) || found.judged_jump > worst.judged_jump) {
            worst.judged_jump = found.judged_jump;
            worst.jump = found.jump;
            worst.sudden = found.sudden;
            worst.jump_body = (double)b->id[first + i];
        }
    }
    return worst;
}

/* Tells whether energies that do not belong to bound bodies may hide the errors of these. */
static bool may_hide(const struct watch *watch, const struct record *record)
{
    return watch->may_hide || isfinite(record->own);
}

struct watch_deviation watch_observe(struct watch *watch, const struct moment *now, size_t system,
                                     double steps)
{
    struct record *record = &watch->records[system];
    const struct conserved *c = &now->conserved[system];
    if (record->by_tests > 0.0)
        return compare_test_bodies(watch, now, system, steps);
    const bool bounded = may_hide(watch, record) && isfinite(watch->energy_error);
    const struct reading reading = { conserved_internal_energy(c),
                                     fabs(c->potential),
                                     (double)now->step,
                                     steps,
                                     watch->energy_error,
                                     record->own,
                                     bounded ? watch->noise / watch->energy_error : 1.0 };
    struct watch_deviation found = compare(&record->level, &reading);
    found.change_body = found.jump_body = NAN;
    found.inertia = inertia_of(now->bodies, system, c->center);
    found.virial = fabs(c->virial);
    return found;
}

/* --- judgement -------------------------------------------------------------------------------- */

const char *watch_whose(const struct watch *watch, double body, char buffer[WATCH_WHOSE_SIZE])
{
    char name[FINDING_TEST_BODY_SIZE];
    if (isnan(body))
        return "the energy";
    snprintf(buffer, WATCH_WHOSE_SIZE, "the specific energy of %s",
             finding_test_body(watch->bodies, body, name));
    return buffer;
}

const char *watch_scale(double change, double body)
{
    if (fabs(change) < 1.0)
        return isnan(body) ? "of max(|E0|, |U0|)" : "of max(|e0|, |u0|)";
    return isnan(body) ? "times max(|E0|, |U0|)" : "times max(|e0|, |u0|)";
}

/* The most jumps of a system, and the most systems, that are reported; others are only counted. */
enum { JUMPS_TOLD = 3, SYSTEMS_TOLD = 3 };

/* Finds the pair that may have changed the energy: of the fastest pair at the last search and the
 * fastest pair now, the faster one. */
static enum status find_candidate(const struct record *record, const struct check *check,
                                  size_t system, struct close_pair *candidate, struct error *error)
{
    struct close_pair present = close_pair_none;
    if ((check->valid & NEED_STATE) && close_pair_find(check->now, system, &present, error))
        return error->status;
    *candidate = present.steps < record->last.steps ? present : record->last;
    return STATUS_OK;
}

/* Gives the user `line`, and `more` behind it, as a warning; or ends the run with `line` if
 * watch.on_jump is "stop". */
static enum status report(const struct watch *watch, const struct check *check, const char *line,
                          const char *more, struct error *error)
{
    if (watch->on_jump == ON_JUMP_STOP)
        return error_set(error, STATUS_NUMERICAL, "%s", line);
    char warning[4 * WATCH_TEXT_SIZE];
    snprintf(warning, sizeof warning, "WARNING: %s%s", line, more);
    if (check->tell)
        check->tell(check->context, warning);
    return STATUS_OK;
}

/* Tells whether SYSTEMS_TOLD other systems have gone wrong, so that this one is not reported. */
static bool enough_told(const struct watch *watch, size_t system)
{
    size_t others = 0;
    for (size_t s = 0; s < watch->systems && others < SYSTEMS_TOLD; s++) {
        const struct record *record = &watch->records[s];
        others += s != system && (record->large_changes > 0.0 || !isnan(record->first_error));
    }
    return others == SYSTEMS_TOLD;
}

/* Counts a change within JUMP_STEPS that was too large; reports it if few have been reported
 * before, or on_jump = "stop". */
static enum status report_jump(struct watch *watch, const struct check *check, size_t system,
                               const struct watch_deviation *deviation, struct error *error)
{
    struct record *record = &watch->records[system];
    struct close_pair candidate;
    record->large_changes += 1.0;
    record->sudden += deviation->sudden;
    record->largest_jump = fmax(record->largest_jump, fabs(deviation->jump));
    const bool quiet = (record->large_changes > JUMPS_TOLD || enough_told(watch, system)) &&
                       watch->on_jump != ON_JUMP_STOP;
    if (quiet && record->large_changes > 1.0)
        return STATUS_OK;
    if (find_candidate(record, check, system, &candidate, error))
        return error->status;
    if (record->large_changes == 1.0) {
        record->first_jump = check->now->time;
        record->jumped_body = deviation->jump_body;
        record->jumped = candidate;
    }
    if (quiet)
        return STATUS_OK;
    char text[WATCH_TEXT_SIZE], line[3 * WATCH_TEXT_SIZE], name[WATCH_WHOSE_SIZE];
    char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE];
    snprintf(line, sizeof line,
             "system %zu: %s %s by %+.3g %s between t = %s and t = %s; fastest pair: %s",
             system + 1, watch_whose(watch, deviation->jump_body, name),
             deviation->sudden ? "jumped" : "changed", deviation->jump,
             watch_scale(deviation->jump, deviation->jump_body),
             units_time(watch->units, record->time, 6, from),
             units_time(watch->units, check->now->time, 6, to),
             close_pair_text(watch, &candidate, text));
    return report(watch, check, line,
                  record->large_changes == JUMPS_TOLD ? "; later ones are only counted" : "",
                  error);
}

/* Notes the first error of a system beyond the limit. It is reported for the first systems, unless
 * a jump has just been reported (`told`). */
static enum status report_error(struct watch *watch, const struct check *check, size_t system,
                                const struct watch_deviation *deviation, bool told,
                                struct error *error)
{
    struct record *record = &watch->records[system];
    const bool quiet = told || enough_told(watch, system);
    record->hiding =
        record->largest_error <= watch->energy_error ? watch_hiding(watch, record) : 0.0;
    record->first_error = check->now->time;
    if (find_candidate(record, check, system, &record->offending, error))
        return error->status;
    if (quiet && watch->on_jump != ON_JUMP_STOP)
        return STATUS_OK;
    char text[WATCH_TEXT_SIZE], line[3 * WATCH_TEXT_SIZE], name[WATCH_WHOSE_SIZE],
        time[UNITS_TEXT_SIZE];
    const bool hidden = record->hiding > 0.0;
    const double change = deviation->change * (hidden ? record->hiding : 1.0);
    snprintf(line, sizeof line,
             "system %zu: %s is off by %+.3g %s since the start, at t = %s; fastest pair: %s",
             system + 1, watch_whose(watch, deviation->change_body, name), change,
             hidden ? watch_hidden_scale(record) : watch_scale(change, deviation->change_body),
             units_time(watch->units, check->now->time, 6, time),
             close_pair_text(watch, &record->offending, text));
    return report(watch, check, line, "", error);
}

/* Lets changes within JUMP_STEPS be counted from the present energies on. Done in the middle of an
 * encounter only after a jump: else the way back out of it would count as such a change. */
static void mark(struct watch *watch, double time, size_t system)
{
    struct record *record = &watch->records[system];
    struct level *levels = watch->levels + system * watch->test_count;
    record->time = time;
    record->level.mark = record->level.last;
    for (size_t i = 0; record->by_tests > 0.0 && i < watch->test_count; i++)
        levels[i].mark = levels[i].last;
}

enum status watch_judge(struct watch *watch, const struct check *check, size_t system,
                        const struct watch_deviation *deviation, struct error *error)
{
    const struct moment *now = check->now;
    struct record *record = &watch->records[system];
    const bool jumped = deviation->judged_jump > watch->energy_jump;
    enum status status = STATUS_OK;
    if (fabs(deviation->change) > record->largest_error) {
        record->largest_error = fabs(deviation->change);
        record->error_time = now->time;
        record->error_body = deviation->change_body;
    }
    record->largest_judged = fmax(record->largest_judged, deviation->judged);
    const bool beyond = deviation->judged > watch->energy_error || deviation->lasting;
    if (jumped)
        status = report_jump(watch, check, system, deviation, error);
    if (!status && beyond && isnan(record->first_error))
        status = report_error(watch, check, system, deviation, jumped, error);
    if (jumped || (now->step % JUMP_STEPS == 0 && !deviation->deep))
        mark(watch, now->time, system);
    return status;
}

/* --- the history of the energy ---------------------------------------------------------------- */

static void merge(double windows[WINDOWS])
{
    for (size_t k = 0; k < LEAST_WINDOWS; k++)
        windows[k] = windows[2 * k] + windows[2 * k + 1];
    for (size_t k = LEAST_WINDOWS; k < WINDOWS; k++)
        windows[k] = 0.0;
}

void watch_extend_history(struct watch *watch, uint64_t step)
{
    struct history *history = watch->history;
    while ((double)step >= WINDOWS * history->width) {
        history->width *= 2.0;
        merge(history->counts);
        for (size_t s = 0; s < watch->systems; s++)
            merge(watch->records[s].windows);
    }
    history->counts[(size_t)((double)step / history->width)] += 1.0;
}

void watch_add_to_history(struct watch *watch, uint64_t step, size_t system,
                          const struct watch_deviation *deviation)
{
    struct record *record = &watch->records[system];
    record->windows[(size_t)((double)step / watch->history->width)] += deviation->change;
    record->inertia += deviation->inertia;
    record->virial += deviation->virial;
}

/* --- drift ------------------------------------------------------------------------------------ */

struct watch_drift watch_drift(const struct watch *watch, const struct record *record)
{
    const struct history *history = watch->history;
    const size_t n = history->judged > 0.0 ? (size_t)(history->judged / history->width) : 0;
    if (n < LEAST_WINDOWS)
        return (struct watch_drift){ NAN, NAN, NAN };
    double mean = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
    for (size_t k = 0; k < n; k++)
        mean += record->windows[k] / history->counts[k] / (double)n;
    for (size_t k = 0; k < n; k++) {
        const double x = (double)k - 0.5 * (double)(n - 1);
        const double y = record->windows[k] / history->counts[k] - mean;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    const double tau = sqrt(record->inertia / record->virial);
    return (struct watch_drift){ xy / xx * (double)n, yy > 0.0 ? xy * xy / (xx * yy) : 0.0,
                                 (double)n * history->width * watch->dt / (2.0 * M_PI * tau) };
}

/* The least steadiness (r squared of the line through the windows) and the least number of periods
 * with which a change counts as a drift. Half an oscillation looks like a line (0.985), four fifths
 * of one less so (0.87); a random walk is above 0.95 once in some fifty times. */
static const double least_steadiness = 0.95, least_periods = 0.8;

/* Tells whether the drift is beyond its limit; of a method that drifts it is the whole error. */
static bool drifts(const struct watch *watch, const struct record *record)
{
    if (watch->method_drifts)
        return record->largest_error > watch->energy_drift;
    const struct watch_drift drift = watch_drift(watch, record);
    return fabs(drift.change) > watch->energy_drift && drift.steadiness > least_steadiness &&
           drift.periods > least_periods;
}

/* --- what was found --------------------------------------------------------------------------- */

bool watch_has_energy(const struct watch *watch, const struct record *record)
{
    const size_t system = (size_t)(record - watch->records);
    const struct level *levels = watch->levels + system * watch->test_count;
    double scale = record->by_tests > 0.0 ? 0.0 : record->level.scale;
    for (size_t i = 0; record->by_tests > 0.0 && i < watch->test_count; i++)
        scale = fmax(scale, levels[i].scale);
    return scale > 0.0;
}

double watch_hiding(const struct watch *watch, const struct record *record)
{
    const double times = record->level.scale / fmin(record->own, record->level.deepest);
    if (!isnan(record->first_error))
        return record->hiding;
    return may_hide(watch, record) && times > FAST ? times : 0.0;
}

const char *watch_hidden_scale(const struct record *record)
{
    return isfinite(record->own) ? "times the cluster's own |U0|" : "times the largest |U|";
}

double watch_enlarged(const struct watch *watch, size_t system)
{
    return fmax(watch_hiding(watch, &watch->records[system]) / FAST, 1.0);
}

static struct finding row_of(const struct watch *watch, const struct record *record,
                             const char *name, double value, double limit, bool beyond,
                             double since)
{
    const bool judged = watch_has_energy(watch, record);
    struct finding row = finding_row(name, judged ? value : NAN, limit, beyond, since);
    if (!judged)
        row.severity = FINDING_OPEN;
    row.bodies[0] = record->error_body;
    row.named = watch->bodies;
    return row;
}

struct finding watch_row_of_error(const struct watch *watch, const struct record *record)
{
    const bool beyond = !isnan(record->first_error);
    const bool hidden = watch_hiding(watch, record) > 0.0;
    return row_of(watch, record, hidden ? "energy error over 10 |U|" : "energy error",
                  beyond && !hidden ? record->largest_error : record->largest_judged,
                  watch->energy_error, beyond, record->first_error);
}

struct finding watch_row_of_drift(const struct watch *watch, const struct record *record)
{
    const double change =
        watch->method_drifts ? record->largest_error : fabs(watch_drift(watch, record).change);
    struct finding row = row_of(watch, record, "energy drift", change, watch->energy_drift,
                                drifts(watch, record), NAN);
    if (row.severity == FINDING_HELD && !(change <= watch->energy_drift))
        row.severity = FINDING_OPEN;
    return row;
}

struct finding watch_row_of_change(const struct watch *watch, const struct record *record)
{
    const bool beyond = record->large_changes > 0.0;
    return row_of(watch, record, "energy change within 1000 steps",
                  beyond ? record->largest_jump : NAN, watch->energy_jump, beyond,
                  record->first_jump);
}
