#include "run/replay.h"

#include <math.h>

#include "accuracy/copies.h"
#include "accuracy/energy-budget.h"

static const struct section *section_of(const struct config *config)
{
    return config_section(config, "energy_budget");
}

enum status replay_diagnostic(struct run *run, struct diagnostic **diagnostic, struct error *error)
{
    const struct config *config = run->experiment.config;
    const struct moment start = run_moment(run);
    const enum status status =
        energy_budget_create(section_of(config), &start, run->simulation->integrator,
                             copies_exact(config), diagnostic, error);
    run->observers.energy_budget = *diagnostic;
    return status;
}

/* Shows the bodies of a replay to the budget. */
static enum status look(struct run *run, const struct simulation *replay, struct error *error)
{
    const struct moment now = { .dt = run->simulation->step,
                                .physics = &replay->physics,
                                .bodies = replay->bodies };
    enum status status = STATUS_OK;
    for (size_t s = 0; s < replay->bodies->systems && !status; s++)
        status = energy_budget_sample(run->observers.energy_budget, &now, s, error);
    return status;
}

uint64_t replay_steps(const struct run *run)
{
    return (uint64_t)section_integer(section_of(run->experiment.config), "every");
}

/* An encounter in which a pair turns by some tenths of a radian in a step lasts for longer. */
enum { LOOK_EVERY = 5 };

/* Through the interval in steps of dt / factor. */
static enum status follow(struct run *run, struct simulation *replay, uint64_t factor,
                          struct error *error)
{
    const uint64_t all = replay_steps(run);
    enum status status = STATUS_OK;
    for (uint64_t step = 0; step < all && !status; step += LOOK_EVERY) {
        if (interruption_raised(&run->interruption))
            return interruption_status(&run->interruption, error);
        const uint64_t steps = all - step < LOOK_EVERY ? all - step : LOOK_EVERY;
        status = simulation_advance(replay, steps * factor, error);
        if (!status && factor > 1)
            status = simulation_fetch(replay, error);
        if (!status && factor > 1)
            status = look(run, replay, error);
    }
    return status ? status : simulation_measure(replay, error);
}

/* With forces in double, from where an interval begins. The budget gets the energies of all systems
 * at its end; NaN where it could not be followed. */
static enum status replay_as(struct run *run, const struct simulation *from,
                             enum energy_budget_replay kind, struct error *error)
{
    const uint64_t factor = kind == REPLAY_HALF_STEP ? 2 : 1;
    const struct force_options exact = force_exact(&from->options.force);
    const struct simulation_changes changes = { .refinement = (double)factor,
                                                .force = &exact,
                                                .backend = run->simulation->backend->class_ };
    struct simulation replay;
    struct error lost = { 0 };
    enum status status = simulation_copy(&replay, from, &changes, &lost);
    if (!status)
        status = follow(run, &replay, factor, &lost);
    for (size_t s = 0; s < from->bodies->systems && (!status || status == STATUS_NUMERICAL); s++)
        energy_budget_replayed(run->observers.energy_budget, s, kind,
                               status ? NAN : conserved_internal_energy(&replay.now[s]));
    simulation_destroy(&replay);
    return status == STATUS_NUMERICAL ? STATUS_OK : error_pass(error, &lost);
}

static enum status replay_from(struct run *run, const struct simulation *from, struct error *error)
{
    if (!copies_exact(run->experiment.config) && replay_as(run, from, REPLAY_EXACT_FORCE, error))
        return error->status;
    return replay_as(run, from, REPLAY_HALF_STEP, error);
}

/* Does the run come through the interval that begins now, or at least through another one? One that
 * begins at its end, and the only one of a run that is shorter, are replayed when it goes further.
 */
static bool is_reached(const struct run *run, uint64_t every)
{
    const struct schedule *schedule = &run->schedule;
    return schedule->step < schedule->last && every <= schedule->last;
}

enum status replay_interval(struct run *run, struct error *error)
{
    const uint64_t every = replay_steps(run);
    if (run->schedule.step % every != 0)
        return STATUS_OK;
    if (is_reached(run, every))
        return replay_from(run, run->simulation, error);
    energy_budget_postpone(run->observers.energy_budget);
    return STATUS_OK;
}

enum status replay_keep_start(struct run *run, struct error *error)
{
    return copies_replayed(run->experiment.config)
               ? simulation_copy(&run->start, run->simulation,
                                 &(struct simulation_changes){ .later = true }, error)
               : STATUS_OK;
}

enum status replay_resume(struct run *run, struct error *error)
{
    const struct diagnostic *const budget = run->observers.energy_budget;
    const uint64_t every = replay_steps(run);
    const bool begins = run->schedule.step % every == 0;
    const bool left_out = budget && energy_budget_postponed(budget);
    enum status status = STATUS_OK;
    if (left_out && is_reached(run, every) && (run->schedule.events_done || !begins))
        status = replay_from(run, begins ? run->simulation : &run->start, error);
    simulation_destroy(&run->start);
    return status;
}
