#include "estimate/pilot.h"

#include <math.h>
#include <stdlib.h>

#include "accuracy/copies.h"
#include "accuracy/shadow.h"
#include "accuracy/watch.h"
#include "base/memory.h"

/* The largest number of rows (moments at which energies are measured) of a pilot. For fixed steps
 * it is also at most one row in forces_per_row force evaluations, but least_rows are allowed. */
static const double most_rows = 1000.0, least_rows = 50.0, forces_per_row = 10.0;
/* The work of one call of the backend, in pair interactions: about a tenth of a second. */
static const double call_work = 1e8;

struct flight {
    const struct experiment *experiment;
    struct accuracy_target target;
    struct pilot_limits limits;
    struct config *config; /* the config with the setting in it */
    struct simulation simulation;
    struct watch *watch;
    struct diagnostic *trust; /* the diagnostic "trust" if orbits must be accurate, with its shadows
                                 below; else NULL */
    struct shadows *shadows;
    uint64_t compare; /* steps between two comparisons with the shadows */
    struct moment now;
    uint64_t steps;   /* steps in the run */
    uint64_t row;     /* steps between two measurements of the energies (rows) */
    uint64_t enough;  /* number of steps in the part limits.part of the run */
    bool all_rows;    /* the pilot leaves out no row of the run */
    double *largest;  /* [systems] largest energy errors so far */
    double observing; /* work of measuring energies so far */
    size_t kept;      /* number of errors in `history`, at steps that grow by a tenth or more */
    struct {
        uint64_t step;
        double error;
    } history[256];
};

/* --- opening ---------------------------------------------------------------------------------- */

/* Sets flight->row to the greatest common divisor of the run's cadences, so that a pilot sees all
 * rows of the run; or to a multiple of it if all rows would be too much work. */
static void plan_rows(struct flight *flight, const struct config *config,
                      const struct setting *setting)
{
    const uint64_t cadence = setting_cadence(config);
    const size_t forces = integrator_forces_per_step(setting->integrator);
    const double all = (double)flight->steps;
    const double most =
        integrator_chooses_steps(setting->integrator)
            ? most_rows
            : fmin(most_rows, fmax(least_rows, all * (double)forces / forces_per_row));
    /* Cadences that are longer than the run, of any length, have rows at its ends alone. */
    const double row = (double)cadence * (double)setting->times / (double)setting->over;
    flight->row = cadence > 0 && row < all ? (uint64_t)fmax(1.0, row) : flight->steps;
    flight->all_rows = all <= most * (double)flight->row;
    while (all > most * (double)flight->row)
        flight->row *= 2;
}

static enum status open_copy(struct flight *flight, const struct setting *setting,
                             struct error *error)
{
    struct simulation *const simulation = &flight->simulation;
    const struct simulation *const from = &flight->experiment->simulation;
    const struct simulation_changes changes = { .integrator = setting->integrator,
                                                .step = setting->step,
                                                .later = true };
    if (simulation_copy(simulation, from, &changes, error))
        return error->status;
    simulation->options.time = config_section(flight->config, "time");
    if (simulation_start(simulation, error))
        return error->status;
    return simulation_begin(simulation, error);
}

/* Creates the shadows (copies that show how accurate orbits are) as the run does, to compare them
 * with the bodies at the same steps. */
static enum status open_shadows(struct flight *flight, struct error *error)
{
    const struct section *const section = config_section(flight->config, "trust");
    flight->compare = (uint64_t)section_integer(section, "every");
    if (shadow_diagnostic(section, &flight->simulation, 0, true, &flight->trust, error))
        return error->status;
    return shadow_create(flight->config, &flight->simulation, flight->trust, NULL, &flight->shadows,
                         error);
}

static enum status open_flight(struct flight *flight, const struct config *config,
                               const struct setting *setting, struct error *error)
{
    struct simulation *const simulation = &flight->simulation;
    if (setting_apply(config, setting, &flight->config, error) || open_copy(flight, setting, error))
        return error->status;
    flight->steps = (uint64_t)experiment_step_count(flight->experiment, setting->step);
    flight->target = accuracy_target(config);
    plan_rows(flight, config, setting);
    flight->largest = memory_array(simulation->bodies->systems, sizeof *flight->largest, error);
    if (error->status)
        return error->status;
    if (watch_follow(config_section(flight->config, "watch"), simulation, (double)flight->steps,
                     &flight->now, &flight->watch, error))
        return error->status;
    flight->enough = (uint64_t)ceil(flight->limits.part * (double)flight->steps);
    return accuracy_target_of_orbits(&flight->target) ? open_shadows(flight, error) : STATUS_OK;
}

static void close_flight(struct flight *flight)
{
    watch_destroy(flight->watch);
    shadow_destroy(flight->shadows);
    diagnostic_destroy(flight->trust);
    simulation_destroy(&flight->simulation);
    memory_free(flight->largest);
    config_free(flight->config);
}

/* --- moving ----------------------------------------------------------------------------------- */

/* Compares the shadows (copies that show how accurate orbits are) with the bodies, which have been
 * fetched from the backend, if a comparison is due. */
static enum status compare(struct flight *flight, struct error *error)
{
    struct moment now = flight->now;
    if (!flight->trust ||
        (flight->now.step % flight->compare != 0 && flight->now.step != flight->steps))
        return STATUS_OK;
    now.physics = &flight->simulation.physics;
    now.bodies = flight->simulation.bodies;
    if (shadow_fetch(flight->shadows, error) ||
        diagnostic_measure(flight->trust, &now, &row_sink_nowhere, error))
        return error->status;
    return shadow_adjust(flight->shadows, error);
}

/* Returns the work of the motion so far, with that of the shadows: before the first comparison as
 * copies_work() estimates it, then as counted. */
static double work_with_shadows(const struct flight *flight)
{
    const double shadows = !flight->trust                       ? 0.0
                           : flight->now.step < flight->compare ? copies_work(flight->config)
                                                                : trust_cost(flight->trust);
    return simulation_time(&flight->simulation) * (1.0 + shadows);
}

/* Measures the energies, as the run does at its rows and at the checks of its watch, and puts the
 * error of the system that counts into *counts. For orbits, compares the shadows; *counts stays. */
static enum status look(struct flight *flight, double *counts, struct error *error)
{
    static const double cost = 1.5; /* work of measuring an energy over that of a force */
    struct simulation *const simulation = &flight->simulation;
    const size_t systems = simulation->bodies->systems;
    const bool last = flight->now.step == flight->steps;
    if (watch_look(flight->watch, simulation, &flight->now, last, error) || compare(flight, error))
        return error->status;
    for (size_t s = 0; s < systems; s++)
        flight->largest[s] =
            conserved_larger_error(flight->largest[s], simulation_energy_error(simulation, s) *
                                                           watch_enlarged(flight->watch, s));
    flight->observing += cost * force_work(&simulation->options.force, (double)systems,
                                           (double)simulation->bodies->count);
    if (flight->trust)
        return STATUS_OK;
    if (accuracy_target_error(&flight->target, flight->largest, systems, counts, error))
        return error->status;
    const bool room = flight->kept < COUNT_OF(flight->history);
    if (room && (flight->kept == 0 ||
                 (double)flight->now.step > 1.1 * (double)flight->history[flight->kept - 1].step)) {
        flight->history[flight->kept].step = flight->now.step;
        flight->history[flight->kept++].error = *counts;
    }
    return STATUS_OK;
}

/* Moves to step `next`, or until the work allowed is done, by short calls of the backend, between
 * which an interruption is noticed. */
static enum status move(struct flight *flight, uint64_t next, struct error *error)
{
    struct simulation *const simulation = &flight->simulation;
    struct interruption *const interruption = simulation->physics.interruption;
    uint64_t batch = 1;
    while (flight->now.step < next) {
        const uint64_t left = next - flight->now.step, steps = left < batch ? left : batch;
        const double before = simulation_time(&flight->simulation);
        if (interruption_raised(interruption))
            return interruption_status(interruption, error);
        if (simulation_advance(simulation, steps, error) ||
            shadow_advance(flight->shadows, steps, error))
            return error->status;
        flight->now.step += steps;
        const double work = simulation_time(&flight->simulation) - before;
        batch = work < 0.5 * call_work   ? 2 * batch
                : work > 2.0 * call_work ? (batch + 1) / 2
                                         : batch;
        if (work_with_shadows(flight) + flight->observing > flight->limits.work)
            break;
    }
    flight->now.time = (double)flight->now.step * flight->now.dt;
    return STATUS_OK;
}

static bool goes_on(const struct flight *flight, double counts)
{
    const double work = work_with_shadows(flight) + flight->observing;
    if (flight->trust && trust_outlook(flight->trust, flight->target.until).whole)
        return false;
    return flight->now.step < flight->steps && counts <= flight->limits.error &&
           work <= flight->limits.work &&
           (flight->now.step < flight->enough || work < flight->limits.little);
}

static enum status follow(struct flight *flight, double *counts, struct error *error)
{
    enum status status = look(flight, counts, error);
    while (!status && goes_on(flight, *counts)) {
        const uint64_t step = flight->now.step;
        const uint64_t row = (step / flight->row + 1) * flight->row;
        const uint64_t due = watch_next(flight->watch, step);
        const uint64_t shown = flight->trust ? (step / flight->compare + 1) * flight->compare : row;
        const uint64_t soon = row < due ? row : due, next = shown < soon ? shown : soon;
        status = move(flight, next < flight->steps ? next : flight->steps, error);
        if (!status)
            status = look(flight, counts, error);
    }
    return status;
}

/* --- the result ------------------------------------------------------------------------------- */

static void conclude(const struct flight *flight, enum status status, double counts,
                     struct pilot *pilot)
{
    const uint64_t quarter = flight->now.step / 4;
    pilot->part = (double)flight->now.step / (double)flight->steps;
    pilot->error = status || isnan(counts) ? INFINITY : counts;
    for (size_t k = 0; k < flight->kept && flight->history[k].step <= quarter; k++)
        pilot->early = flight->history[k].error;
    pilot->whole = !status && flight->now.step == flight->steps && flight->all_rows;
    pilot->within = !status && watch_within_limits(flight->watch, NULL);
    pilot->carried = INFINITY;
    if (!flight->trust)
        return;
    const struct trust_outlook outlook = trust_outlook(flight->trust, flight->target.until);
    if (!status && flight->now.step < flight->compare)
        pilot->part = 0.0; /* nothing was compared */
    pilot->error = status || isnan(outlook.error) ? INFINITY : outlook.error;
    pilot->carried = outlook.carried;
    pilot->whole = !status && outlook.whole;
}

enum status pilot_run(const struct experiment *experiment, const struct config *config,
                      const struct setting *setting, const struct pilot_limits *limits,
                      struct pilot *pilot, struct error *error)
{
    struct flight *flight = calloc(1, sizeof *flight);
    struct error broken = { 0 };
    double counts = 0.0;
    *pilot = (struct pilot){ .setting = *setting };
    if (!flight)
        return error_memory(error);
    flight->experiment = experiment;
    flight->limits = *limits;
    enum status status = open_flight(flight, config, setting, &broken);
    if (!status)
        status = follow(flight, &counts, &broken);
    if (flight->watch && (!status || status == STATUS_NUMERICAL)) {
        conclude(flight, status, counts, pilot);
        pilot->work = simulation_time(&flight->simulation);
        pilot->spent = work_with_shadows(flight) + flight->observing;
    }
    close_flight(flight);
    free(flight);
    return status == STATUS_NUMERICAL ? STATUS_OK : error_pass(error, &broken);
}
