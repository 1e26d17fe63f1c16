/* By what a run has failed the watch, in numbers. */
#include <math.h>
#include <stdio.h>

#include "accuracy/watch-bound.h"

static double drift_of(const struct watch *watch, const struct record *record)
{
    return watch->symplectic ? fabs(watch_drift(watch, record).change) : record->largest_error;
}

/* Tells whether the energy fails, by the first of the limits that is passed. */
static bool energy_fails(const struct watch *watch, const struct record *record,
                         struct watch_failure *failure)
{
    const struct {
        const char *what;
        bool fails;
        double value, limit;
    } kinds[] = {
        { "energy error", !isnan(record->first_error), record->largest_error, watch->energy_error },
        { "energy drift", watch_drifts(watch, record), drift_of(watch, record),
          watch->energy_drift },
        { "energy change within 1000 steps", record->jumps > 0.0, record->largest_jump,
          watch->energy_jump },
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].fails) {
            *failure = (struct watch_failure){ .what = kinds[k].what,
                                               .value = kinds[k].value,
                                               .limit = kinds[k].limit };
            if (!isnan(record->error_body))
                snprintf(failure->whose, sizeof failure->whose, " of test body %.0f",
                         record->error_body);
            return true;
        }
    return false;
}

/* Tells whether the orbits of bound bodies fail. */
static bool orbit_fails(const struct watch *watch, const struct record *record,
                        struct watch_failure *failure)
{
    const struct bound_record *bound = &record->bound;
    const bool few = bound->few > 0.0;
    if (!watch_bound_fails(watch, record))
        return false;
    *failure =
        (struct watch_failure){ .what = few ? "steps per period" : "orbit error",
                                .value = few ? bound->steps : bound->error,
                                .limit = few ? watch_bound_least_steps(watch) : watch->orbit_error,
                                .too_few = few };
    snprintf(failure->whose, sizeof failure->whose, " of body %.0f about body %.0f", bound->body,
             bound->centers[0]);
    return true;
}

/* Tells whether the forces miss the accuracy that was asked for. */
static bool force_fails(const struct watch *watch, const struct record *record,
                        struct watch_failure *failure)
{
    *failure = (struct watch_failure){ .what = "force error",
                                       .value = record->force_error,
                                       .limit = watch->force.accuracy,
                                       .of_force = true };
    return watch_force_fails(watch, record);
}

/* Returns the size of a failure over its limit. */
static double size_of(const struct watch_failure *failure)
{
    return failure->too_few ? failure->limit / failure->value : failure->value / failure->limit;
}

bool watch_failure(const struct watch *watch, const bool *left_out, struct watch_failure *failure)
{
    size_t systems = 0;
    *failure = (struct watch_failure){ 0 };
    for (size_t s = 0; s < watch->systems; s++) {
        const struct record *record = &watch->records[s];
        struct watch_failure found, force;
        if (left_out && left_out[s])
            continue;
        const bool moves =
            energy_fails(watch, record, &found) || orbit_fails(watch, record, &found);
        const bool misses = force_fails(watch, record, &force);
        if (!moves && !misses)
            continue;
        if (misses && (!moves || size_of(&force) > size_of(&found)))
            found = force;
        systems++;
        found.system = watch->systems > 1 ? s + 1 : 0;
        if (systems == 1 || size_of(&found) > size_of(failure))
            *failure = found;
    }
    failure->systems = systems;
    return systems > 0;
}

double watch_energy_error(const struct watch *watch)
{
    double largest = 0.0;
    for (size_t s = 0; s < watch->systems; s++)
        largest = fmax(largest, watch->records[s].largest_error);
    return largest;
}

double watch_force_error(const struct watch *watch)
{
    double largest = 0.0;
    for (size_t s = 0; s < watch->systems; s++)
        largest = fmax(largest, watch->records[s].force_error);
    return largest;
}
