#include "accuracy/replay.h"

#include <math.h>

#include "accuracy/copies.h"
#include "backend/host.h"

enum status replay_diagnostic(struct replays *replays, const struct moment *start,
                              struct error *error)
{
    return energy_budget_create(config_section(replays->config, "energy_budget"), start,
                                replays->original->integrator, copies_exact(replays->config),
                                &replays->budget, error);
}

/* Lets the energy budget look for the fastest pair among the present bodies of a replay. */
static enum status look(struct replays *replays, const struct simulation *replay,
                        struct error *error)
{
    const struct moment now = { .dt = replays->original->step,
                                .physics = &replay->physics,
                                .bodies = replay->bodies };
    enum status status = STATUS_OK;
    for (size_t s = 0; s < replay->bodies->systems && !status; s++)
        status = energy_budget_sample(replays->budget, &now, s, error);
    return status;
}

uint64_t replay_steps(const struct replays *replays)
{
    return (uint64_t)section_integer(config_section(replays->config, "energy_budget"), "every");
}

/* Steps of the run between two looks for the fastest pair. An encounter in which a pair turns by
 * 0.3 radians in a step lasts longer: half a turn takes ten steps. */
enum { LOOK_EVERY = 5 };

/* Advances a replay (a copy of the run) by `steps` of its own steps. Not every backend notices an
 * interruption while it works: if a step takes long, each call is for one step. */
static enum status advance(struct simulation *replay, uint64_t steps, struct error *error)
{
    const double work = force_work(&replay->options.force, (double)replay->bodies->systems,
                                   (double)replay->bodies->count);
    const uint64_t each = work < HOST_LONG_SUM ? steps : 1;
    enum status status = STATUS_OK;
    for (uint64_t step = 0; step < steps && !status; step += each) {
        if (interruption_raised(replay->physics.interruption))
            return interruption_status(replay->physics.interruption, error);
        status = simulation_advance(replay, each, error);
    }
    return status;
}

/* Advances a replay through its interval of the run in steps of dt / factor, and measures its
 * energies at the end. With half the step, the energy budget looks for fastest pairs on the way. */
static enum status follow(struct replays *replays, struct simulation *replay, uint64_t factor,
                          struct error *error)
{
    const uint64_t all = replay_steps(replays);
    enum status status = STATUS_OK;
    for (uint64_t step = 0; step < all && !status; step += LOOK_EVERY) {
        const uint64_t steps = all - step < LOOK_EVERY ? all - step : LOOK_EVERY;
        status = advance(replay, steps * factor, error);
        if (!status && factor > 1)
            status = simulation_fetch(replay, error);
        if (!status && factor > 1)
            status = look(replays, replay, error);
    }
    return status ? status : simulation_measure(replay, error);
}

/* Replays an interval of the run on a copy of `from`, the simulation at its beginning, with direct
 * sums in double. The energy budget gets the energies of all systems at the end; NaN if the
 * replay broke off. */
static enum status replay_as(struct replays *replays, const struct simulation *from,
                             enum energy_budget_replay kind, struct error *error)
{
    const uint64_t factor = kind == REPLAY_HALF_STEP ? 2 : 1;
    const struct force_options exact = force_exact(&from->options.force);
    const struct simulation_changes changes = { .refinement = (double)factor,
                                                .force = &exact,
                                                .backend = replays->original->backend->class_ };
    struct simulation replay;
    struct error lost = { 0 };
    enum status status = simulation_copy(&replay, from, &changes, &lost);
    if (!status && kind == REPLAY_EXACT_FORCE)
        status = simulation_measure(&replay, &lost);
    for (size_t s = 0; s < from->bodies->systems && !status && kind == REPLAY_EXACT_FORCE; s++)
        energy_budget_replayed(replays->budget, s, REPLAY_START,
                               conserved_internal_energy(&replay.now[s]));
    if (!status)
        status = follow(replays, &replay, factor, &lost);
    for (size_t s = 0; s < from->bodies->systems && (!status || status == STATUS_NUMERICAL); s++)
        energy_budget_replayed(replays->budget, s, kind,
                               status ? NAN : conserved_internal_energy(&replay.now[s]));
    simulation_destroy(&replay);
    return status == STATUS_NUMERICAL ? STATUS_OK : error_pass(error, &lost);
}

static enum status replay_from(struct replays *replays, const struct simulation *from,
                               struct error *error)
{
    if (!copies_exact(replays->config) && replay_as(replays, from, REPLAY_EXACT_FORCE, error))
        return error->status;
    return replay_as(replays, from, REPLAY_HALF_STEP, error);
}

/* Tells whether the interval that begins at `step` or contains it is to be replayed now: the run
 * goes on from `step` to the step `last`, and is at least one interval long. An interval that
 * begins at the end of a run, and the first one of a run that ends within it, are replayed when the
 * run is continued. */
static bool is_reached(uint64_t step, uint64_t last, uint64_t every)
{
    return step < last && every <= last;
}

enum status replay_interval(struct replays *replays, uint64_t step, uint64_t last,
                            struct error *error)
{
    const uint64_t every = replay_steps(replays);
    if (step % every != 0)
        return STATUS_OK;
    if (is_reached(step, last, every))
        return replay_from(replays, replays->original, error);
    energy_budget_postpone(replays->budget);
    return STATUS_OK;
}

enum status replay_keep_start(struct replays *replays, struct error *error)
{
    return copies_replayed(replays->config)
               ? simulation_copy(&replays->start, replays->original,
                                 &(struct simulation_changes){ .later = true }, error)
               : STATUS_OK;
}

enum status replay_resume(struct replays *replays, uint64_t step, uint64_t last, bool events_done,
                          struct error *error)
{
    const struct diagnostic *const budget = replays->budget;
    const uint64_t every = replay_steps(replays);
    const bool begins = step % every == 0;
    const bool left_out = budget && energy_budget_postponed(budget);
    enum status status = STATUS_OK;
    if (left_out && is_reached(step, last, every) && (events_done || !begins))
        status = replay_from(replays, begins ? replays->original : &replays->start, error);
    simulation_destroy(&replays->start);
    return status;
}
