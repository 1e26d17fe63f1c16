/* The verdict of the watch on all that it has seen. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "accuracy/watch-bound.h"
#include "base/document.h"

/* The rows in the order of the table, and who makes them. If a system fails by several, the first
 * counts: others follow from it, except for the forces. */
enum { ENERGY_ERROR, ENERGY_DRIFT, ENERGY_CHANGE, ORBIT, FORCES, FASTEST_PAIR, ROWS };
static struct finding (*const make_row[ROWS])(const struct watch *, const struct record *) = {
    [ENERGY_ERROR] = watch_row_of_error,   [ENERGY_DRIFT] = watch_row_of_drift,
    [ENERGY_CHANGE] = watch_row_of_change, [ORBIT] = watch_bound_row,
    [FORCES] = watch_row_of_forces,        [FASTEST_PAIR] = watch_row_of_pair,
};

/* --- all systems ------------------------------------------------------------------------------ */

/* Returns the first system that counts; `systems` if none does. */
static size_t first_counted(const struct watch *watch, const bool *left_out)
{
    size_t s = 0;
    while (left_out && s < watch->systems && left_out[s])
        s++;
    return s;
}

/* Tells whether a system that counts fails by a row from `first` to `last`. */
static bool any_fails(const struct watch *watch, const bool *left_out, int first, int last)
{
    for (size_t s = 0; s < watch->systems; s++)
        for (int k = first; k <= last && !(left_out && left_out[s]); k++)
            if (make_row[k](watch, &watch->records[s]).severity == FINDING_FAILURE)
                return true;
    return false;
}

bool watch_within_limits(const struct watch *watch, const bool *left_out)
{
    /* If none counts, nothing is known. */
    return first_counted(watch, left_out) < watch->systems &&
           !any_fails(watch, left_out, 0, ROWS - 1);
}

bool watch_holds(const struct watch *watch, const bool *left_out)
{
    return watch->on_jump == ON_JUMP_WARN || watch_within_limits(watch, left_out);
}

/* The rows of the worst systems, each with the number of those beyond the bound. */
struct table {
    const bool *left_out; /* systems that the rows leave out, or NULL */
    struct finding rows[ROWS];
    struct finding worst; /* the failure that is the worst of all; its number is that of systems
                             that fail by any */
};

static const struct record *record_of(const struct watch *watch, const struct finding *row)
{
    return &watch->records[row->system - 1];
}

static void add_system(struct table *table, const struct watch *watch, size_t system)
{
    struct finding found[ROWS];
    const struct finding *lead = NULL;
    for (int k = 0; k < ROWS; k++) {
        struct finding *row = &table->rows[k];
        found[k] = make_row[k](watch, &watch->records[system]);
        found[k].system = system + 1;
        const size_t beyond = row->systems + (found[k].severity > FINDING_HELD);
        if (!row->name || finding_is_worse(&found[k], row))
            *row = found[k];
        row->systems = beyond;
        if (found[k].severity == FINDING_FAILURE &&
            (!lead || (k == FORCES && found[k].times > lead->times)))
            lead = &found[k];
    }
    const size_t failing = table->worst.systems + (lead != NULL);
    if (lead && (!table->worst.name || lead->times > table->worst.times))
        table->worst = *lead;
    table->worst.systems = failing;
}

/* Makes the table of the systems that count if any of these fails, else of all. */
static struct table find(const struct watch *watch, const bool *left_out)
{
    const bool some_count = first_counted(watch, left_out) < watch->systems;
    struct table table = { 0 };
    table.left_out = some_count && !watch_within_limits(watch, left_out) ? left_out : NULL;
    for (size_t s = 0; s < watch->systems; s++)
        if (!(table.left_out && table.left_out[s]))
            add_system(&table, watch, s);
    return table;
}

static double number_at(const struct record *record, size_t offset)
{
    double number;
    memcpy(&number, (const unsigned char *)record + offset, sizeof number);
    return number;
}

/* Returns the record whose number at `offset` is the largest. */
static const struct record *largest(const struct watch *watch, size_t offset)
{
    const struct record *found = watch->records;
    for (size_t s = 1; s < watch->systems; s++)
        if (number_at(&watch->records[s], offset) > number_at(found, offset))
            found = &watch->records[s];
    return found;
}

double watch_energy_error(const struct watch *watch)
{
    return largest(watch, offsetof(struct record, largest_error))->largest_error;
}

double watch_force_error(const struct watch *watch)
{
    return largest(watch, offsetof(struct record, force_error))->force_error;
}

double watch_judged_in_limits(const struct watch *watch)
{
    return largest(watch, offsetof(struct record, largest_judged))->largest_judged /
           watch->energy_error;
}

double watch_error_in_limits(const struct watch *watch)
{
    const struct table table = find(watch, NULL);
    return fmax(watch_energy_error(watch) / watch->energy_error, table.rows[ORBIT].times);
}

/* The changes that were too large. */
struct jumps {
    double count, sudden;       /* of all systems, and those of them that were jumps */
    const struct record *first; /* the system of the first of them */
};

static struct jumps count_jumps(const struct watch *watch, const bool *left_out)
{
    struct jumps jumps = { 0.0, 0.0, NULL };
    for (size_t s = 0; s < watch->systems; s++) {
        const struct record *r = &watch->records[s];
        if (left_out && left_out[s])
            continue;
        jumps.count += r->jumps;
        jumps.sudden += r->sudden;
        if (r->jumps > 0.0 && (!jumps.first || r->first_jump < jumps.first->first_jump))
            jumps.first = r;
    }
    jumps.first = jumps.first ? jumps.first : watch->records;
    return jumps;
}

/* --- what is said of them --------------------------------------------------------------------- */

/* Adds to the text, as far as there is room. */
static void say(char buffer[WATCH_TEXT_SIZE], const char *format, ...)
{
    const size_t used = strlen(buffer);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer + used, WATCH_TEXT_SIZE - used, format, arguments);
    va_end(arguments);
}

/* A row to be told: of the table, with the record of its system, " of system 3" for one of an
 * ensemble, counted from 1 as everywhere outside, and the time when it was worst. */
struct told {
    const struct watch *watch;
    const struct table *table;
    const struct record *record;
    char system[40], time[UNITS_TEXT_SIZE];
};

static void set_told(struct told *told, const struct record *record, double time)
{
    told->record = record;
    told->system[0] = '\0';
    if (told->watch->systems > 1)
        snprintf(told->system, sizeof told->system, " of system %zu",
                 (size_t)(record - told->watch->records) + 1);
    units_time(told->watch->units, time, 4, told->time);
}

static void say_error(struct told *told, char buffer[WATCH_TEXT_SIZE])
{
    const struct record *off = told->record;
    char name[WATCH_WHOSE_SIZE];
    set_told(told, off, off->error_time);
    say(buffer, "%s%s is off by %.3g %s at t = %s (limit %g)",
        watch_whose(told->watch, off->error_body, name), told->system, off->largest_error,
        watch_scale(off->largest_error, off->error_body), told->time, told->watch->energy_error);
}

/* Says nothing of a method that drifts if the error has been told. */
static void say_drift(struct told *told, char buffer[WATCH_TEXT_SIZE])
{
    const struct watch *watch = told->watch;
    const struct record *drift = told->record;
    const double change = watch_drift(watch, drift).change;
    const bool by_tests = drift->by_tests > 0.0;
    char name[WATCH_WHOSE_SIZE];
    if (watch->symplectic)
        say(buffer, "%s%s drifts by %+.3g %s over the run (limit %g)",
            by_tests ? "the specific energy of the worst test body" : "the energy", told->system,
            change, watch_scale(change, by_tests ? 0.0 : NAN), watch->energy_drift);
    else if (told->table->rows[ENERGY_ERROR].systems == 0)
        say(buffer, "the method is one that drifts: %s%s is off by %.3g %s (limit %g)",
            watch_whose(watch, drift->error_body, name), told->system, drift->largest_error,
            watch_scale(drift->largest_error, drift->error_body), watch->energy_drift);
}

static void say_jumps(struct told *told, char buffer[WATCH_TEXT_SIZE])
{
    const struct watch *watch = told->watch;
    char distance[UNITS_TEXT_SIZE], then[UNITS_TEXT_SIZE];
    const struct jumps jumps = count_jumps(watch, told->table->left_out);
    const struct record *first = jumps.first;
    const bool steady = jumps.sudden < jumps.count; /* some of them, or not known */
    const bool several = jumps.count > 1.0, of_tests = several && !isnan(first->jumped_body);
    char name[WATCH_WHOSE_SIZE], sudden[32] = "none", body[BODIES_NAME_SIZE + 8] = "";
    char pair[BODIES_PAIR_SIZE];
    set_told(told, first, first->first_jump);
    if (jumps.sudden > 0.0)
        snprintf(sudden, sizeof sudden, "%g of them", jumps.sudden);
    if (of_tests)
        snprintf(body, sizeof body, ", of %s,",
                 bodies_name(watch->bodies, (int64_t)first->jumped_body, name));
    say(buffer, "%g %s%s of %s", jumps.count, steady ? "change" : "jump", several ? "s" : "",
        of_tests ? "the specific energies of test bodies"
                 : watch_whose(watch, first->jumped_body, name));
    if (steady)
        say(buffer, " by more than %g %s within %d steps, %s seen to be sudden", watch->energy_jump,
            watch_scale(watch->energy_jump, first->jumped_body), JUMP_STEPS, sudden);
    if (isnan(first->jumped.ids[0])) {
        say(buffer, ", the first%s before t = %s; no two bodies attract each other", body,
            told->time);
        return;
    }
    say(buffer, ", the first%s before t = %s; the fastest pair, %s%s, was %s apart at t = %s", body,
        told->time,
        bodies_pair(watch->bodies, (int64_t)first->jumped.ids[0], (int64_t)first->jumped.ids[1],
                    pair),
        told->system, units_length(watch->units, first->jumped.distance, 3, distance),
        units_time(watch->units, first->jumped.time, 4, then));
}

static void say_orbit(struct told *told, char buffer[WATCH_TEXT_SIZE])
{
    char text[WATCH_BOUND_TEXT_SIZE];
    say(buffer, "%s%s", watch_bound_text(told->watch, &told->record->bound, text), told->system);
}

static void say_forces(struct told *told, char buffer[WATCH_TEXT_SIZE])
{
    set_told(told, told->record, told->record->force_time);
    say(buffer, "the forces%s are off by %.2g at t = %s (asked: %g)", told->system,
        told->record->force_error, told->time, told->watch->force.accuracy);
}

/* Says nothing beside jumps, which tell of a pair themselves. */
static void say_pair(struct told *told, char buffer[WATCH_TEXT_SIZE])
{
    const struct close_pair *pair = &told->record->fastest;
    char names[BODIES_PAIR_SIZE];
    set_told(told, told->record, pair->time);
    if (told->table->rows[ENERGY_CHANGE].systems == 0)
        say(buffer, "the step is too large for %s%s at t = %s",
            bodies_pair(told->watch->bodies, (int64_t)pair->ids[0], (int64_t)pair->ids[1], names),
            told->system, told->time);
}

/* Writes the sentence of a row that is beyond its bound; "" of one that is not. */
static const char *sentence(const struct watch *watch, const struct table *table, int row,
                            char buffer[WATCH_TEXT_SIZE])
{
    static void (*const say_row[ROWS])(struct told *,
                                       char[WATCH_TEXT_SIZE]) = { say_error, say_drift,  say_jumps,
                                                                  say_orbit, say_forces, say_pair };
    const size_t systems = table->rows[row].systems;
    struct told told = { .watch = watch, .table = table };
    buffer[0] = '\0';
    if (systems == 0)
        return buffer;
    set_told(&told, record_of(watch, &table->rows[row]), 0.0);
    say_row[row](&told, buffer);
    if (buffer[0] && watch->systems > 1 && systems > 1 &&
        (row == ENERGY_ERROR || row == ENERGY_DRIFT || row == ORBIT))
        say(buffer, ", the worst of %zu systems", systems);
    return buffer;
}

static const char none_counts[] = "every system is left out (ensemble.energy_error_limit)";

const char *watch_text(const struct watch *watch, const bool *left_out,
                       char buffer[WATCH_TEXT_SIZE])
{
    /* The possible cause is told before what follows from it. */
    static const int told[ROWS] = { FORCES,       ORBIT,        ENERGY_CHANGE,
                                    FASTEST_PAIR, ENERGY_ERROR, ENERGY_DRIFT };
    const struct table table = find(watch, left_out);
    char text[WATCH_TEXT_SIZE];
    buffer[0] = '\0';
    if (first_counted(watch, left_out) == watch->systems)
        say(buffer, "%s", none_counts);
    for (int k = 0; k < ROWS; k++)
        if (sentence(watch, &table, told[k], text)[0])
            say(buffer, "%s%s", buffer[0] ? "; " : "", text);
    return buffer;
}

struct finding watch_findings(const struct watch *watch, const bool *left_out,
                              struct findings *findings)
{
    struct table table = find(watch, left_out);
    const bool some_count = first_counted(watch, left_out) < watch->systems;
    const bool fails = !watch_holds(watch, left_out);
    char text[WATCH_TEXT_SIZE];
    if (!some_count) {
        struct finding none = finding_row("systems that count", 0.0, 1.0, true, NAN);
        none.from_below = true;
        none.severity = fails ? FINDING_FAILURE : FINDING_WARNING;
        findings_add(findings, &none, none_counts);
    }
    for (int k = 0; k <= ROWS; k++) {
        struct finding *row = k < ROWS ? &table.rows[k] : &table.worst;
        if (row->severity == FINDING_FAILURE && !(fails && some_count))
            row->severity = FINDING_WARNING; /* of systems that are left out, or not to be judged */
        if (k < ROWS)
            sentence(watch, &table, k, text);
        if (watch->systems == 1)
            row->system = 0;
        const bool untried = k == ORBIT && row->severity == FINDING_OPEN; /* nothing was bound */
        if (k < ROWS && isfinite(row->bound) && !isinf(row->value) && !untried)
            findings_add(findings, row, text);
    }
    return table.worst;
}

const char *watch_judged(const struct watch *watch, const bool *left_out, bool shadowed,
                         char buffer[WATCH_JUDGED_SIZE])
{
    const bool energy = any_fails(watch, left_out, ENERGY_ERROR, ENERGY_CHANGE);
    const bool orbits = any_fails(watch, left_out, ORBIT, ORBIT);
    const char *why = watch_bound_unjudged(watch);
    char unjudged[64] = "";
    if (why && watch->count > 2) /* two have all the energy that there is */
        snprintf(unjudged, sizeof unjudged, "; orbits of light bodies not judged (%.24s)", why);
    char forces[48] = "";
    const double force_error = watch_force_error(watch);
    if (force_error > 0.0)
        snprintf(forces, sizeof forces, "; force error %.2g (asked %g)", force_error,
                 watch->force.accuracy);
    snprintf(buffer, WATCH_JUDGED_SIZE, "energy %s%s%s%s; positions %s",
             energy ? "beyond its limits" : "held",
             orbits ? ", orbits of light bodies beyond their limit" : "", forces, unjudged,
             shadowed ? "compared with shadows (trust)"
                      : "not judged (trust = { shadow = true; } judges them)");
    return buffer;
}

/* Counted from 1, as in tables and trajectories. */
static json_t *system_of(const struct watch *watch, const struct record *record)
{
    return json_integer((json_int_t)(record - watch->records) + 1);
}

/* One of the record's. */
static json_t *pair_json(const struct watch *watch, const struct record *record,
                         const struct close_pair *pair)
{
    char names[BODIES_PAIR_SIZE];
    if (isnan(pair->time))
        return json_null();
    bodies_pair(watch->bodies, (int64_t)pair->ids[0], (int64_t)pair->ids[1], names);
    return json_pack("{s:o, s:I, s:I, s:s, s:o, s:o, s:o}", "system", system_of(watch, record),
                     "id_1", (json_int_t)pair->ids[0], "id_2", (json_int_t)pair->ids[1], "bodies",
                     names, "distance", document_number(pair->distance), "steps_per_time_scale",
                     document_number(pair->steps), "time", document_number(pair->time));
}

/* Null for the energy of a system. */
/* Null where nothing was audited. */
static json_t *forces_json(const struct watch *watch, const struct table *all)
{
    const struct record *forced = record_of(watch, &all->rows[FORCES]);
    if (!(forced->force_error > 0.0))
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "largest", document_number(forced->force_error),
                     "asked", document_number(watch->force.accuracy), "time",
                     document_number(forced->force_time), "system", system_of(watch, forced));
}

/* Null where there is none. */
static json_t *limits_json(const struct watch *watch)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "energy_error",
                     document_number(watch->energy_error), "orbit_error",
                     document_number(watch->orbit_error), "energy_drift",
                     document_number(watch->energy_drift), "energy_jump",
                     document_number(watch->energy_jump), "noise", document_number(watch->noise));
}

static json_t *error_json(const struct watch *watch, const struct table *all)
{
    const struct record *off = largest(watch, offsetof(struct record, largest_error));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "largest",
                     document_number(off->largest_error), "time", document_number(off->error_time),
                     "system", system_of(watch, off), "test_body", document_id(off->error_body),
                     "first_time_beyond", document_number(off->first_error), "pair",
                     pair_json(watch, off, &off->offending), "systems_beyond",
                     (json_int_t)all->rows[ENERGY_ERROR].systems);
}

static json_t *drift_json(const struct watch *watch, const struct table *all)
{
    const struct finding *row = &all->rows[ENERGY_DRIFT];
    const struct watch_drift drift = watch_drift(watch, record_of(watch, row));
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:I}", "change", document_number(drift.change),
                     "steadiness", document_number(drift.steadiness), "periods",
                     document_number(drift.periods), "system",
                     json_integer((json_int_t)row->system), "method_drifts", !watch->symplectic,
                     "systems_beyond", (json_int_t)row->systems);
}

static json_t *bound_json(const struct watch *watch, const struct table *all)
{
    const struct finding *row = &all->rows[ORBIT];
    json_t *found = watch_bound_json(watch, record_of(watch, row));
    document_set(&found, "system", json_integer((json_int_t)row->system));
    document_set(&found, "systems_beyond", json_integer((json_int_t)row->systems));
    return found;
}

json_t *watch_json(const struct watch *watch, const bool *left_out)
{
    const struct table all = find(watch, NULL);
    const struct jumps jumps = count_jumps(watch, NULL);
    const struct record *fastest = record_of(watch, &all.rows[FASTEST_PAIR]);
    const double most = largest(watch, offsetof(struct record, largest_jump))->largest_jump;
    char text[WATCH_TEXT_SIZE];
    return json_pack(
        "{s:b, s:s, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "holds",
        watch_holds(watch, left_out), "text", watch_text(watch, left_out, text), "limits",
        limits_json(watch), "energy_error", error_json(watch, &all), "energy_drift",
        drift_json(watch, &all), "energy_jumps", (json_int_t)jumps.count, "sudden_energy_jumps",
        (json_int_t)jumps.sudden, "largest_jump", document_number(most), "first_jump_time",
        document_number(jumps.first->first_jump), "first_jump_test_body",
        document_id(jumps.first->jumped_body), "first_jump_pair",
        pair_json(watch, jumps.first, &jumps.first->jumped), "fastest_pair",
        pair_json(watch, fastest, &fastest->fastest), "bound_orbits", bound_json(watch, &all),
        "force_error", forces_json(watch, &all));
}
