/* The verdict of the watch on all that it has seen. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "accuracy/watch-bound.h"
#include "base/document.h"

/* The findings about all systems together; records are those of the worst. */
struct finding {
    double jumps, sudden; /* changes that were too large, and those of them that were jumps */
    size_t beyond, drifting, unbound; /* systems; the last with an orbit that is lost */
    const struct record *jumped, *off, *drift, *fastest, *bound, *forced;
};

/* Tells whether a is before b. Times are NaN where it never was. */
static bool before(double a, double b)
{
    return a < b || (isnan(b) && !isnan(a));
}

static double drift_size(const struct watch *watch, const struct record *record)
{
    return watch->symplectic ? fabs(watch_drift(watch, record).change) : record->largest_error;
}

/* The first system that counts; `systems` if none does. */
static size_t first_counted(const struct watch *watch, const bool *left_out)
{
    size_t s = 0;
    while (left_out && s < watch->systems && left_out[s])
        s++;
    return s;
}

/* Finds the worst among the systems that fail the run, if any do. */
static struct finding find(const struct watch *watch, const bool *left_out)
{
    size_t s = first_counted(watch, left_out);
    if (s == watch->systems || watch_within_limits(watch, left_out)) {
        left_out = NULL;
        s = 0;
    }
    const struct record *r = &watch->records[s];
    struct finding all = { 0.0, 0.0, 0, 0, 0, r, r, r, r, r, r };
    bool drifting = false; /* all.drift does */
    for (; s < watch->systems; s++) {
        if (left_out && left_out[s])
            continue;
        r = &watch->records[s];
        const bool now = watch_drifts(watch, r);
        all.beyond += !isnan(r->first_error);
        all.jumps += r->jumps;
        all.sudden += r->sudden;
        all.drifting += now;
        if (before(r->first_jump, all.jumped->first_jump))
            all.jumped = r;
        if (r->largest_error > all.off->largest_error)
            all.off = r;
        if ((now && !drifting) ||
            (now == drifting && drift_size(watch, r) > drift_size(watch, all.drift)))
            all.drift = r;
        drifting |= now;
        all.unbound += watch_bound_fails(watch, r);
        if (watch_bound_in_limits(watch, r) > watch_bound_in_limits(watch, all.bound))
            all.bound = r;
        if (r->fastest.steps < all.fastest->fastest.steps)
            all.fastest = r;
        if (r->force_error > all.forced->force_error)
            all.forced = r;
    }
    return all;
}

static bool energy_fails(const struct watch *watch, const struct record *record)
{
    return record->jumps > 0.0 || !isnan(record->first_error) || watch_drifts(watch, record);
}

/* Tells whether a system that counts fails so. */
static bool any_fails(const struct watch *watch, const bool *left_out,
                      bool (*fails)(const struct watch *, const struct record *))
{
    for (size_t s = 0; s < watch->systems; s++)
        if (!(left_out && left_out[s]) && fails(watch, &watch->records[s]))
            return true;
    return false;
}

bool watch_within_limits(const struct watch *watch, const bool *left_out)
{
    if (any_fails(watch, left_out, energy_fails) || any_fails(watch, left_out, watch_bound_fails) ||
        any_fails(watch, left_out, watch_force_fails))
        return false;
    return first_counted(watch, left_out) < watch->systems; /* of nobody nothing is known */
}

bool watch_holds(const struct watch *watch, const bool *left_out)
{
    return watch->on_jump == ON_JUMP_WARN || watch_within_limits(watch, left_out);
}

double watch_error_in_limits(const struct watch *watch)
{
    double largest = 0.0;
    for (size_t s = 0; s < watch->systems; s++)
        largest = fmax(largest, fmax(watch->records[s].largest_error / watch->energy_error,
                                     watch_bound_in_limits(watch, &watch->records[s])));
    return largest;
}

double watch_judged_in_limits(const struct watch *watch)
{
    double largest = 0.0;
    for (size_t s = 0; s < watch->systems; s++)
        largest = fmax(largest, watch->records[s].largest_judged);
    return largest / watch->energy_error;
}

/* Adds to the text, as far as there is room. */
static void say(char buffer[WATCH_TEXT_SIZE], const char *format, ...)
{
    const size_t used = strlen(buffer);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer + used, WATCH_TEXT_SIZE - used, format, arguments);
    va_end(arguments);
}

/* Names the system of an ensemble: " of system 3"; counted from 1 as everywhere outside. */
enum { SYSTEM_SIZE = 40 };
static const char *which(const struct watch *watch, const struct record *record,
                         char buffer[SYSTEM_SIZE])
{
    buffer[0] = '\0';
    if (watch->systems > 1)
        snprintf(buffer, SYSTEM_SIZE, " of system %zu", (size_t)(record - watch->records) + 1);
    return buffer;
}

/* And of how many it is the worst. */
static void say_worst(const struct watch *watch, size_t systems, char buffer[WATCH_TEXT_SIZE])
{
    if (watch->systems > 1 && systems > 1)
        say(buffer, ", the worst of %zu systems", systems);
}

static void say_drift(const struct watch *watch, const struct finding *all,
                      char buffer[WATCH_TEXT_SIZE])
{
    const struct record *drift = all->drift;
    char name[WATCH_WHOSE_SIZE], system[SYSTEM_SIZE];
    if (!watch->symplectic && all->beyond > 0)
        return;
    if (watch->symplectic)
        say(buffer, "%s%s%s drifts by %+.3g %s over the run (limit %g)", buffer[0] ? "; " : "",
            drift->by_tests > 0.0 ? "the specific energy of the worst test body" : "the energy",
            which(watch, drift, system), watch_drift(watch, drift).change,
            watch_scale(watch_drift(watch, drift).change, drift->by_tests > 0.0 ? 0.0 : NAN),
            watch->energy_drift);
    else
        say(buffer, "%sthe method is one that drifts: %s%s is off by %.3g %s (limit %g)",
            buffer[0] ? "; " : "", watch_whose(drift->error_body, name),
            which(watch, drift, system), drift->largest_error,
            watch_scale(drift->largest_error, drift->error_body), watch->energy_drift);
    say_worst(watch, all->drifting, buffer);
}

static void say_jumps(const struct watch *watch, const struct finding *all,
                      char buffer[WATCH_TEXT_SIZE])
{
    char time[UNITS_TEXT_SIZE], distance[UNITS_TEXT_SIZE], then[UNITS_TEXT_SIZE];
    const struct record *first = all->jumped;
    const bool steady = all->sudden < all->jumps; /* some of them, or not known */
    const bool several = all->jumps > 1.0, of_tests = several && !isnan(first->jumped_body);
    char name[WATCH_WHOSE_SIZE], system[SYSTEM_SIZE], sudden[32] = "none", body[32] = "";
    if (all->sudden > 0.0)
        snprintf(sudden, sizeof sudden, "%g of them", all->sudden);
    if (of_tests)
        snprintf(body, sizeof body, ", of body %.0f,", first->jumped_body);
    say(buffer, "%s%g %s%s of %s", buffer[0] ? "; " : "", all->jumps, steady ? "change" : "jump",
        several ? "s" : "",
        of_tests ? "the specific energies of test bodies" : watch_whose(first->jumped_body, name));
    if (steady)
        say(buffer, " by more than %g %s within %d steps, %s seen to be sudden", watch->energy_jump,
            watch_scale(watch->energy_jump, first->jumped_body), JUMP_STEPS, sudden);
    say(buffer,
        ", the first%s before t = %s; the fastest pair, bodies %.0f and %.0f%s, was %s apart at "
        "t = %s",
        body, units_time(watch->units, first->first_jump, 4, time), first->jumped.ids[0],
        first->jumped.ids[1], which(watch, first, system),
        units_length(watch->units, first->jumped.distance, 3, distance),
        units_time(watch->units, first->jumped.time, 4, then));
}

static void say_bound(const struct watch *watch, const struct finding *all,
                      char buffer[WATCH_TEXT_SIZE])
{
    char text[WATCH_BOUND_TEXT_SIZE], system[SYSTEM_SIZE];
    say(buffer, "%s%s%s", buffer[0] ? "; " : "", watch_bound_text(watch, &all->bound->bound, text),
        which(watch, all->bound, system));
    say_worst(watch, all->unbound, buffer);
}

const char *watch_text(const struct watch *watch, const bool *left_out,
                       char buffer[WATCH_TEXT_SIZE])
{
    const struct finding all = find(watch, left_out);
    const struct close_pair *fastest = &all.fastest->fastest;
    char name[WATCH_WHOSE_SIZE], system[SYSTEM_SIZE], time[UNITS_TEXT_SIZE];
    buffer[0] = '\0';
    if (first_counted(watch, left_out) == watch->systems)
        say(buffer, "every system is left out (ensemble.energy_error_limit)");
    if (watch_force_fails(watch, all.forced))
        say(buffer, "the forces%s are off by %.2g at t = %s (asked: %g)",
            which(watch, all.forced, system), all.forced->force_error,
            units_time(watch->units, all.forced->force_time, 4, time), watch->force.accuracy);
    if (all.unbound > 0)
        say_bound(watch, &all, buffer);
    if (all.jumps > 0.0)
        say_jumps(watch, &all, buffer);
    else if (fastest->steps < watch->least_steps)
        say(buffer, "%sthe step is too large for bodies %.0f and %.0f%s at t = %s",
            buffer[0] ? "; " : "", fastest->ids[0], fastest->ids[1],
            which(watch, all.fastest, system), units_time(watch->units, fastest->time, 4, time));
    if (all.beyond > 0) {
        say(buffer, "%s%s%s is off by %.3g %s at t = %s (limit %g)", buffer[0] ? "; " : "",
            watch_whose(all.off->error_body, name), which(watch, all.off, system),
            all.off->largest_error, watch_scale(all.off->largest_error, all.off->error_body),
            units_time(watch->units, all.off->error_time, 4, time), watch->energy_error);
        say_worst(watch, all.beyond, buffer);
    }
    if (all.drifting > 0)
        say_drift(watch, &all, buffer);
    return buffer;
}

const char *watch_judged(const struct watch *watch, const bool *left_out, bool shadowed,
                         char buffer[WATCH_JUDGED_SIZE])
{
    const bool energy = any_fails(watch, left_out, energy_fails);
    const bool orbits = any_fails(watch, left_out, watch_bound_fails);
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
                      : "not judged (trust = { shadow = true; } does)");
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
    if (isnan(pair->time))
        return json_null();
    return json_pack("{s:o, s:I, s:I, s:o, s:o, s:o}", "system", system_of(watch, record), "id_1",
                     (json_int_t)pair->ids[0], "id_2", (json_int_t)pair->ids[1], "distance",
                     document_number(pair->distance), "steps_per_time_scale",
                     document_number(pair->steps), "time", document_number(pair->time));
}

/* Null for the energy of a system. */
static json_t *body_json(double id)
{
    return isnan(id) ? json_null() : json_integer((json_int_t)id);
}

/* Null where nothing was audited. */
static json_t *forces_json(const struct watch *watch, const struct finding *all)
{
    if (!(all->forced->force_error > 0.0))
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "largest", document_number(all->forced->force_error),
                     "asked", document_number(watch->force.accuracy), "time",
                     document_number(all->forced->force_time), "system",
                     system_of(watch, all->forced));
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

static json_t *error_json(const struct watch *watch, const struct finding *all)
{
    const struct record *off = all->off;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "largest", document_number(off->largest_error),
        "time", document_number(off->error_time), "system", system_of(watch, off), "test_body",
        body_json(off->error_body), "first_time_beyond", document_number(off->first_error), "pair",
        pair_json(watch, off, &off->offending), "systems_beyond", (json_int_t)all->beyond);
}

static json_t *drift_json(const struct watch *watch, const struct finding *all)
{
    const struct watch_drift drift = watch_drift(watch, all->drift);
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:I}", "change", document_number(drift.change),
                     "steadiness", document_number(drift.steadiness), "periods",
                     document_number(drift.periods), "system", system_of(watch, all->drift),
                     "method_drifts", !watch->symplectic, "systems_beyond",
                     (json_int_t)all->drifting);
}

static json_t *bound_json(const struct watch *watch, const struct finding *all)
{
    json_t *const found = watch_bound_json(watch, all->bound);
    if (found &&
        (json_object_set_new(found, "system", system_of(watch, all->bound)) ||
         json_object_set_new(found, "systems_beyond", json_integer((json_int_t)all->unbound)))) {
        json_decref(found);
        return NULL;
    }
    return found;
}

json_t *watch_json(const struct watch *watch, const bool *left_out)
{
    const struct finding all = find(watch, NULL);
    char text[WATCH_TEXT_SIZE];
    double largest = 0.0;
    for (size_t s = 0; s < watch->systems; s++)
        largest = fmax(largest, watch->records[s].largest_jump);
    return json_pack(
        "{s:b, s:s, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "holds",
        watch_holds(watch, left_out), "text", watch_text(watch, left_out, text), "limits",
        limits_json(watch), "energy_error", error_json(watch, &all), "energy_drift",
        drift_json(watch, &all), "energy_jumps", (json_int_t)all.jumps, "sudden_energy_jumps",
        (json_int_t)all.sudden, "largest_jump", document_number(largest), "first_jump_time",
        document_number(all.jumped->first_jump), "first_jump_test_body",
        body_json(all.jumped->jumped_body), "first_jump_pair",
        pair_json(watch, all.jumped, &all.jumped->jumped), "fastest_pair",
        pair_json(watch, all.fastest, &all.fastest->fastest), "bound_orbits",
        bound_json(watch, &all), "force_error", forces_json(watch, &all));
}
