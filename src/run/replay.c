#include "run/replay.h"

#include <math.h>
#include <stdlib.h>

#include "diagnostics/energy-budget.h"
#include "run/copies.h"

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
static enum status look(struct run *run, const struct bodies *bodies, struct error *error)
{
    const struct moment now = { .dt = run->simulation->step,
                                .physics = &run->simulation->physics,
                                .bodies = bodies };
    enum status status = STATUS_OK;
    for (size_t s = 0; s < bodies->systems && !status; s++)
        status = energy_budget_sample(run->observers.energy_budget, &now, s, error);
    return status;
}

/* An encounter in which a pair turns by some tenths of a radian in a step lasts for longer. */
enum { LOOK_EVERY = 5 };

/* Through the interval in steps of dt / factor. */
static enum status follow(struct run *run, struct backend *backend, const struct bodies *bodies,
                          uint64_t factor, struct error *error)
{
    const struct experiment *experiment = &run->experiment;
    const uint64_t all = (uint64_t)section_integer(section_of(experiment->config), "every");
    enum status status = STATUS_OK;
    for (uint64_t step = 0; step < all && !status; step += LOOK_EVERY) {
        if (interruption_raised(&run->interruption))
            return interruption_status(&run->interruption, error);
        const uint64_t steps = all - step < LOOK_EVERY ? all - step : LOOK_EVERY;
        status = backend->class_->advance(backend, experiment->simulation.integrator,
                                          experiment->simulation.step / (double)factor,
                                          steps * factor, error);
        if (!status && factor > 1)
            status = backend->class_->fetch(backend, error);
        if (!status && factor > 1)
            status = look(run, bodies, error);
    }
    return status;
}

/* Where an interval begins: bodies, and the state of an integrator that chooses its own steps;
 * without a backend the bodies are those of step 0, where such an integrator begins too. */
struct replay_origin {
    const struct bodies *bodies;
    const struct backend *backend;
};

/* From there, with forces in double. */
static enum status replay(struct run *run, const struct replay_origin *from, struct bodies *bodies,
                          uint64_t factor, struct conserved *sums, struct error *error)
{
    const struct experiment *experiment = &run->experiment;
    const struct backend_class *class_ = run->simulation->backend->class_;
    struct backend_options options = experiment->simulation.options;
    struct backend *backend = NULL;
    options.force = force_exact(&options.force);
    options.refinement = (double)factor;
    for (size_t s = 0; s < bodies->systems; s++)
        bodies_copy_system(bodies, s, from->bodies, s);
    enum status status =
        class_->create(&options, &experiment->simulation.physics, bodies, &backend, error);
    for (size_t s = 0; s < bodies->systems && !status && from->backend; s++)
        backend_copy_state(backend, s, from->backend, s);
    if (!status)
        status = follow(run, backend, bodies, factor, error);
    if (!status)
        status = class_->conserved(backend, sums, error);
    if (backend)
        class_->destroy(backend);
    return status;
}

/* Energies of all systems at its end; NaN where it could not be followed. */
static enum status replay_as(struct run *run, const struct replay_origin *from,
                             struct bodies *bodies, struct conserved *sums,
                             enum energy_budget_replay kind, struct error *error)
{
    struct error lost = { 0 };
    const uint64_t factor = kind == REPLAY_HALF_STEP ? 2 : 1;
    const enum status status = replay(run, from, bodies, factor, sums, &lost);
    if (status && status != STATUS_NUMERICAL)
        return error_pass(error, &lost);
    for (size_t s = 0; s < bodies->systems; s++)
        energy_budget_replayed(run->observers.energy_budget, s, kind,
                               status ? NAN : conserved_internal_energy(&sums[s]));
    return STATUS_OK;
}

static enum status replay_from(struct run *run, const struct replay_origin *from,
                               struct error *error)
{
    const size_t systems = from->bodies->systems;
    struct bodies *bodies = NULL;
    struct conserved *sums = calloc(systems, sizeof *sums);
    if (!sums)
        return error_memory(error);
    enum status status = bodies_create(systems, from->bodies->count, &bodies, error);
    if (!status && !copies_exact(run->experiment.config))
        status = replay_as(run, from, bodies, sums, REPLAY_EXACT_FORCE, error);
    if (!status)
        status = replay_as(run, from, bodies, sums, REPLAY_HALF_STEP, error);
    bodies_destroy(bodies);
    free(sums);
    return status;
}

/* Does the run come through the interval that begins now, or at least through another one? One that
 * begins at its end, and the only one of a run that is shorter, are replayed when it goes further.
 */
static bool is_reached(const struct run *run, uint64_t every)
{
    const struct schedule *schedule = &run->schedule;
    return schedule->step < schedule->last && every <= schedule->last;
}

static uint64_t length_of(const struct run *run)
{
    return (uint64_t)section_integer(section_of(run->experiment.config), "every");
}

enum status replay_interval(struct run *run, struct error *error)
{
    const struct replay_origin here = { run->simulation->bodies, run->simulation->backend };
    const uint64_t every = length_of(run);
    if (run->schedule.step % every != 0)
        return STATUS_OK;
    if (is_reached(run, every))
        return replay_from(run, &here, error);
    energy_budget_postpone(run->observers.energy_budget);
    return STATUS_OK;
}

enum status replay_keep_start(struct run *run, struct error *error)
{
    const struct bodies *const from = run->simulation->bodies;
    if (!copies_replayed(run->experiment.config) ||
        bodies_create(from->systems, from->count, &run->start, error))
        return error->status;
    for (size_t s = 0; s < from->systems; s++)
        bodies_copy_system(run->start, s, from, s);
    return STATUS_OK;
}

enum status replay_resume(struct run *run, struct error *error)
{
    const struct diagnostic *const budget = run->observers.energy_budget;
    const uint64_t every = length_of(run);
    const bool begins = run->schedule.step % every == 0;
    const bool left_out = budget && energy_budget_postponed(budget);
    const struct replay_origin here = { run->simulation->bodies, run->simulation->backend };
    const struct replay_origin start = { run->start, NULL };
    enum status status = STATUS_OK;
    if (left_out && is_reached(run, every) && (run->schedule.events_done || !begins))
        status = replay_from(run, begins ? &here : &start, error);
    bodies_destroy(run->start);
    run->start = NULL;
    return status;
}
