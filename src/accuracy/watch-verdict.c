/* The verdict of the accuracy watch: a sentence on each row of its table (watch-table.h) that is
 * beyond its bound, and what run.json says. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "accuracy/watch-bound.h"
#include "accuracy/watch-table.h"
#include "base/document.h"

/* The changes of the energy within JUMP_STEPS that were too large. */
struct large_changes {
    double count, sudden; /* number of changes in all systems, and of those that were jumps */
    /* Record of the system with the first change; record 0 if there is none. */
    const struct record *first;
};

static struct large_changes count_large_changes(const struct watch *watch, const bool *left_out)
{
    struct large_changes all = { 0.0, 0.0, watch->records };
    for (size_t s = 0; s < watch->systems; s++) {
        const struct record *r = &watch->records[s];
        if (!watch_table_counts(left_out, s) || !(r->large_changes > 0.0))
            continue;
        if (all.count == 0.0 || r->first_jump < all.first->first_jump)
            all.first = r;
        all.count += r->large_changes;
        all.sudden += r->sudden;
    }
    return all;
}

/* --- the sentences ---------------------------------------------------------------------------- */

/* The sentence on a row of the table, to which functions add. */
struct sentence {
    const struct watch *watch;
    const struct watch_table *table;
    const struct record *record; /* the record of the row's system */
    char system[40];             /* " of system 3", if there are several; else "" */
    char text[WATCH_TEXT_SIZE];
};

static void say(char text[WATCH_TEXT_SIZE], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, WATCH_TEXT_SIZE - used, format, arguments);
    va_end(arguments);
}

/* Makes the system of this record the subject of the sentence. Systems are counted from 1, as
 * everywhere outside of the program. */
static void set_record(struct sentence *s, const struct record *record)
{
    s->record = record;
    s->system[0] = '\0';
    if (s->watch->systems > 1)
        snprintf(s->system, sizeof s->system, " of system %zu",
                 (size_t)(record - s->watch->records) + 1);
}

static void say_error(struct sentence *s)
{
    const struct record *const off = s->record;
    const bool hidden = off->hiding > 0.0;
    const double error = hidden ? FAST * off->largest_judged : off->largest_error;
    char name[WATCH_WHOSE_SIZE], time[UNITS_TEXT_SIZE];
    say(s->text, "%s%s is off by %.3g %s", watch_whose(s->watch, off->error_body, name), s->system,
        error, hidden ? watch_hidden_scale(off) : watch_scale(error, off->error_body));
    if (hidden)
        say(s->text,
            ", beyond the limit %g since t = %s; max(|E0|, |U0|), %.2g times |U|, hides it",
            FAST * s->watch->energy_error, units_time(s->watch->units, off->first_error, 4, time),
            off->hiding);
    else
        say(s->text, " at t = %s (limit %g)", units_time(s->watch->units, off->error_time, 4, time),
            s->watch->energy_error);
}

/* Says by how much the energy drifts. For a method whose whole error is drift it says nothing if
 * the sentence on the energy error says it. */
static void say_drift(struct sentence *s)
{
    const struct watch *const watch = s->watch;
    const struct record *const drift = s->record;
    const double change = watch_drift(watch, drift).change;
    const bool by_tests = drift->by_tests > 0.0;
    char name[WATCH_WHOSE_SIZE];
    if (!watch->method_drifts)
        say(s->text, "%s%s drifts by %+.3g %s over the run (limit %g)",
            by_tests ? "the specific energy of the worst test body" : "the energy", s->system,
            change, watch_scale(change, by_tests ? 0.0 : NAN), watch->energy_drift);
    else if (s->table->rows[WATCH_ROW_ERROR].systems == 0)
        say(s->text, "the method is one that drifts: %s%s is off by %.3g %s (limit %g)",
            watch_whose(watch, drift->error_body, name), s->system, drift->largest_error,
            watch_scale(drift->largest_error, drift->error_body), watch->energy_drift);
}

/* Says how many changes of the energy were too large in all systems; body, time and pair are those
 * of the first change. */
static void say_large_changes(struct sentence *s)
{
    const struct watch *const watch = s->watch;
    const struct large_changes all = count_large_changes(watch, s->table->left_out);
    const double body = all.first->jumped_body;
    const struct close_pair *const pair = &all.first->jumped;
    const bool all_sudden = all.sudden == all.count, several = all.count > 1.0;
    const bool of_tests = several && !isnan(body);
    char name[WATCH_WHOSE_SIZE], names[BODIES_PAIR_SIZE];
    char distance[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    set_record(s, all.first);
    say(s->text, "%g %s%s of %s", all.count, all_sudden ? "jump" : "change", several ? "s" : "",
        of_tests ? "the specific energies of test bodies" : watch_whose(watch, body, name));
    if (!all_sudden)
        say(s->text, " by more than %g %s within %d steps, ", watch->energy_jump,
            watch_scale(watch->energy_jump, body), JUMP_STEPS);
    if (!all_sudden && all.sudden > 0.0)
        say(s->text, "%g of them seen to be sudden", all.sudden);
    else if (!all_sudden)
        say(s->text, "none seen to be sudden");
    say(s->text, ", the first");
    if (of_tests)
        say(s->text, ", of %s,", bodies_name(watch->bodies, (int64_t)body, name));
    say(s->text, " before t = %s; ", units_time(watch->units, all.first->first_jump, 4, time));
    if (isnan(pair->ids[0]))
        say(s->text, "no two bodies attract each other");
    else
        say(s->text, "the fastest pair then, %s%s, was %s apart at t = %s",
            bodies_pair(watch->bodies, (int64_t)pair->ids[0], (int64_t)pair->ids[1], names),
            s->system, units_length(watch->units, pair->distance, 3, distance),
            units_time(watch->units, pair->time, 4, time));
}

static void say_orbit(struct sentence *s)
{
    char text[WATCH_BOUND_TEXT_SIZE];
    say(s->text, "%s%s", watch_bound_text(s->watch, &s->record->bound, text), s->system);
}

static void say_forces(struct sentence *s)
{
    char time[UNITS_TEXT_SIZE];
    say(s->text, "the forces%s are off by %.2g +- %.1g at t = %s (asked: %g)", s->system,
        s->record->force_error, s->record->force_uncertainty,
        units_time(s->watch->units, s->record->force_time, 4, time), s->watch->force.accuracy);
}

/* Says for which pair the step is too large, unless a sentence on jumps names a pair already. */
static void say_pair(struct sentence *s)
{
    const struct close_pair *const pair = &s->record->fastest;
    char names[BODIES_PAIR_SIZE], time[UNITS_TEXT_SIZE];
    if (s->table->rows[WATCH_ROW_CHANGE].systems == 0)
        say(s->text, "the step is too large for %s%s at t = %s",
            bodies_pair(s->watch->bodies, (int64_t)pair->ids[0], (int64_t)pair->ids[1], names),
            s->system, units_time(s->watch->units, pair->time, 4, time));
}

static const struct {
    void (*say)(struct sentence *);
    bool of_worst; /* the sentence is about the worst system alone */
} sayings[WATCH_ROWS] = {
    [WATCH_ROW_ERROR] = { say_error, true },           [WATCH_ROW_DRIFT] = { say_drift, true },
    [WATCH_ROW_CHANGE] = { say_large_changes, false }, [WATCH_ROW_ORBIT] = { say_orbit, true },
    [WATCH_ROW_FORCES] = { say_forces, false },        [WATCH_ROW_PAIR] = { say_pair, false },
};

static struct sentence sentence_on(const struct watch *watch, const struct watch_table *table,
                                   int row)
{
    struct sentence s = { .watch = watch, .table = table };
    const size_t systems = table->rows[row].systems;
    if (systems == 0)
        return s;
    set_record(&s, watch_table_record(watch, &table->rows[row]));
    sayings[row].say(&s);
    if (s.text[0] && systems > 1 && sayings[row].of_worst)
        say(s.text, ", the worst of %zu systems", systems);
    return s;
}

static const char none_counts[] = "every system is left out (ensemble.energy_error_limit)";

const char *watch_text(const struct watch *watch, const bool *left_out,
                       char buffer[WATCH_TEXT_SIZE])
{
    /* The order of the sentences: possible causes come first. */
    static const int order[WATCH_ROWS] = { WATCH_ROW_FORCES, WATCH_ROW_ORBIT, WATCH_ROW_CHANGE,
                                           WATCH_ROW_PAIR,   WATCH_ROW_ERROR, WATCH_ROW_DRIFT };
    const struct watch_table table = watch_table_make(watch, left_out);
    snprintf(buffer, WATCH_TEXT_SIZE, "%s",
             watch_table_any_counts(watch, left_out) ? "" : none_counts);
    for (int k = 0; k < WATCH_ROWS; k++) {
        const struct sentence s = sentence_on(watch, &table, order[k]);
        if (s.text[0])
            say(buffer, "%s%s", buffer[0] ? "; " : "", s.text);
    }
    return buffer;
}

/* Returns a row as callers get it: a failure is a warning unless `judged` is true, and the system
 * of a run with a single one has the number 0. */
static struct finding row_outside(const struct watch *watch, const struct finding *row, bool judged)
{
    struct finding outside = *row;
    if (row->severity == FINDING_FAILURE && !judged)
        outside.severity = FINDING_WARNING;
    if (watch->systems == 1)
        outside.system = 0;
    return outside;
}

struct finding watch_findings(const struct watch *watch, const bool *left_out,
                              struct findings *findings)
{
    const struct watch_table table = watch_table_make(watch, left_out);
    const bool some_count = watch_table_any_counts(watch, left_out),
               fails = !watch_holds(watch, left_out);
    if (!some_count) {
        struct finding none = finding_row("systems that count", 0.0, 1.0, true, NAN);
        none.from_below = true;
        none.severity = fails ? FINDING_FAILURE : FINDING_WARNING;
        findings_add(findings, &none, none_counts);
    }
    for (int k = 0; k < WATCH_ROWS; k++) {
        const struct finding row = row_outside(watch, &table.rows[k], fails && some_count);
        const bool untried = k == WATCH_ROW_ORBIT && row.severity == FINDING_OPEN;
        if (isfinite(row.bound) && !isinf(row.value) && !untried)
            findings_add(findings, &row, sentence_on(watch, &table, k).text);
    }
    return row_outside(watch, &table.worst, fails && some_count);
}

/* Says why the energy was not judged; "" if it was, in some system that counts. */
static const char *energy_unjudged(const struct watch *watch, const bool *left_out)
{
    if (!watch_table_any_counts(watch, left_out))
        return none_counts;
    if (isinf(watch->energy_error) && isinf(watch->energy_drift) && isinf(watch->energy_jump))
        return "watch.energy_error, energy_drift and energy_jump are 0";
    for (size_t s = 0; s < watch->systems; s++)
        if (watch_table_counts(left_out, s) && watch_has_energy(watch, &watch->records[s]))
            return "";
    return "the energies at the start are 0";
}

const char *watch_judged(const struct watch *watch, const bool *left_out, bool shadowed,
                         char buffer[WATCH_JUDGED_SIZE])
{
    const bool energy = watch_table_fails(watch, left_out, WATCH_ROW_ERROR, WATCH_ROW_CHANGE);
    const bool orbits = watch_table_fails(watch, left_out, WATCH_ROW_ORBIT, WATCH_ROW_ORBIT);
    const char *const unknown = energy_unjudged(watch, left_out);
    double times = 0.0, hiding;
    size_t unbound = 0;
    const char *of = "";
    for (size_t s = 0; s < watch->systems; s++) {
        const struct record *const record = &watch->records[s];
        if (!watch_table_counts(left_out, s))
            continue;
        if ((hiding = watch_hiding(watch, record)) > times) {
            times = hiding;
            of = isfinite(record->own) ? " of the cluster alone" : "";
        }
        unbound += watch_bound_unbound(watch, record);
    }
    char scale[80] = "";
    if (times > 0.0)
        snprintf(scale, sizeof scale, " (max(|E0|, |U0|) is %.2g times |U|%s)", times, of);
    const char *why = watch_bound_unjudged(watch);
    char unjudged[80] = "";
    if (why && watch->count > 2) /* two bodies: their orbit has all the energy */
        snprintf(unjudged, sizeof unjudged, "; orbits of light bodies not judged (%.24s)", why);
    else if (unbound > 0)
        snprintf(unjudged, sizeof unjudged, "; orbit%s of %zu unbound light %s not judged",
                 unbound > 1 ? "s" : "", unbound, unbound > 1 ? "bodies" : "body");
    char forces[64] = "";
    const struct record *const forced =
        watch_table_largest(watch, offsetof(struct record, force_error));
    if (forced->force_error > 0.0)
        snprintf(forces, sizeof forces, "; force error %.2g +- %.1g (asked %g)",
                 forced->force_error, forced->force_uncertainty, watch->force.accuracy);
    snprintf(buffer, WATCH_JUDGED_SIZE, "energy %s%s%s%s%s%s; positions %s",
             energy       ? "beyond the watch's limits"
             : unknown[0] ? "not judged ("
                          : "within the watch's limits",
             energy ? "" : unknown, energy || !unknown[0] ? scale : ")",
             orbits ? ", orbits of light bodies beyond their limit" : "", forces, unjudged,
             shadowed ? "compared with shadows (trust)"
                      : "not judged (trust = { shadow = true; } judges them)");
    return buffer;
}

/* --- run.json --------------------------------------------------------------------------------- */

static json_t *system_of(const struct watch *watch, const struct record *record)
{
    return json_integer((json_int_t)(record - watch->records) + 1);
}

static json_t *pair_json(const struct watch *watch, const struct record *record,
                         const struct close_pair *pair)
{
    char names[BODIES_PAIR_SIZE];
    if (isnan(pair->time))
        return json_null();
    bodies_pair(watch->bodies, (int64_t)pair->ids[0], (int64_t)pair->ids[1], names);
    return DOCUMENT(
        { "system", system_of(watch, record) }, { "id_1", json_integer((json_int_t)pair->ids[0]) },
        { "id_2", json_integer((json_int_t)pair->ids[1]) }, { "bodies", json_string(names) },
        { "distance", document_number(pair->distance) },
        { "steps_per_time_scale", document_number(pair->steps) },
        { "time", document_number(pair->time) });
}

static json_t *forces_json(const struct watch *watch, const struct watch_table *all)
{
    const struct record *forced = watch_table_record(watch, &all->rows[WATCH_ROW_FORCES]);
    if (!(forced->force_error > 0.0))
        return json_null();
    return DOCUMENT({ "largest", document_number(forced->force_error) },
                    { "uncertainty", document_number(forced->force_uncertainty) },
                    { "asked", document_number(watch->force.accuracy) },
                    { "time", document_number(forced->force_time) },
                    { "system", system_of(watch, forced) });
}

static json_t *limits_json(const struct watch *watch)
{
    return DOCUMENT({ "energy_error", document_number(watch->energy_error) },
                    { "orbit_error", document_number(watch->orbit_error) },
                    { "energy_drift", document_number(watch->energy_drift) },
                    { "energy_jump", document_number(watch->energy_jump) },
                    { "noise", document_number(watch->noise) });
}

/* Returns an error or a change of the energy; null while only the start was measured. A run may end
 * before its first check: then its last step is measured. */
static json_t *after_start(const struct watch *watch, double number)
{
    const struct record *const off =
        watch_table_largest(watch, offsetof(struct record, largest_error));
    const bool measured = watch->history->seen > 0.0 || off->error_time > 0.0;
    return document_number(measured ? number : NAN);
}

static json_t *error_json(const struct watch *watch, const struct watch_table *all)
{
    const struct record *off = watch_table_largest(watch, offsetof(struct record, largest_error));
    return DOCUMENT(
        { "largest", after_start(watch, off->largest_error) },
        { "time", document_number(off->error_time) }, { "system", system_of(watch, off) },
        { "test_body", document_id(off->error_body) },
        { "first_time_beyond", document_number(off->first_error) },
        { "pair", pair_json(watch, off, &off->offending) },
        { "systems_beyond", json_integer((json_int_t)all->rows[WATCH_ROW_ERROR].systems) });
}

static json_t *drift_json(const struct watch *watch, const struct watch_table *all)
{
    const struct finding *row = &all->rows[WATCH_ROW_DRIFT];
    const struct watch_drift drift = watch_drift(watch, watch_table_record(watch, row));
    return DOCUMENT({ "change", document_number(drift.change) },
                    { "steadiness", document_number(drift.steadiness) },
                    { "periods", document_number(drift.periods) },
                    { "system", json_integer((json_int_t)row->system) },
                    { "method_drifts", json_boolean(watch->method_drifts) },
                    { "systems_beyond", json_integer((json_int_t)row->systems) });
}

static json_t *bound_json(const struct watch *watch, const struct watch_table *all)
{
    const struct finding *row = &all->rows[WATCH_ROW_ORBIT];
    json_t *found = watch_bound_json(watch, watch_table_record(watch, row));
    document_set(&found, "system", json_integer((json_int_t)row->system));
    document_set(&found, "systems_beyond", json_integer((json_int_t)row->systems));
    return found;
}

json_t *watch_json(const struct watch *watch, const bool *left_out)
{
    const struct watch_table all = watch_table_make(watch, NULL);
    const struct large_changes changes = count_large_changes(watch, NULL);
    const struct record *fastest = watch_table_record(watch, &all.rows[WATCH_ROW_PAIR]);
    const double most =
        watch_table_largest(watch, offsetof(struct record, largest_jump))->largest_jump;
    char text[WATCH_TEXT_SIZE];
    return DOCUMENT({ "holds", json_boolean(watch_holds(watch, left_out)) },
                    { "text", json_string(watch_text(watch, left_out, text)) },
                    { "energy_unjudged", json_string(energy_unjudged(watch, left_out)) },
                    { "limits", limits_json(watch) }, { "energy_error", error_json(watch, &all) },
                    { "energy_drift", drift_json(watch, &all) },
                    { "energy_jumps", json_integer((json_int_t)changes.count) },
                    { "sudden_energy_jumps", json_integer((json_int_t)changes.sudden) },
                    { "largest_jump", after_start(watch, most) },
                    { "first_jump_time", document_number(changes.first->first_jump) },
                    { "first_jump_test_body", document_id(changes.first->jumped_body) },
                    { "first_jump_pair", pair_json(watch, changes.first, &changes.first->jumped) },
                    { "fastest_pair", pair_json(watch, fastest, &fastest->fastest) },
                    { "bound_orbits", bound_json(watch, &all) },
                    { "force_error", forces_json(watch, &all) });
}
