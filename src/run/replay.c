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
        energy_budget_create(section_of(config), &start, run->experiment.integrator,
                             copies_exact(config), diagnostic, error);
    run->observers.energy_budget = *diagnostic;
    return status;
}

/* Shows the bodies of a replay to the budget. */
static enum status look(struct run *run, const struct bodies *bodies, struct error *error)
{
    const struct moment now = { .dt = run->experiment.step,
                                .physics = &run->experiment.physics,
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
        const uint64_t steps = all - step < LOOK_EVERY ? all - step : LOOK_EVERY;
        status = backend->class_->advance(backend, experiment->integrator,
                                          experiment->step / (double)factor, steps * factor, error);
        if (!status && factor > 1)
            status = backend->class_->fetch(backend, error);
        if (!status && factor > 1)
            status = look(run, bodies, error);
    }
    return status;
}

/* From the state of the run, with forces in double. */
static enum status replay(struct run *run, struct bodies *bodies, uint64_t factor,
                          struct conserved *sums, struct error *error)
{
    const struct experiment *experiment = &run->experiment;
    const struct backend_class *class_ = run->backend->class_;
    struct backend_options options = experiment->backend_options;
    struct backend *backend = NULL;
    options.force.precision = PRECISION_DOUBLE;
    options.refinement = (double)factor;
    for (size_t s = 0; s < bodies->systems; s++)
        bodies_copy_system(bodies, s, experiment->bodies, s);
    enum status status = class_->create(&options, &experiment->physics, bodies, &backend, error);
    for (size_t s = 0; s < bodies->systems && !status; s++)
        backend_copy_state(backend, s, run->backend, s);
    if (!status)
        status = follow(run, backend, bodies, factor, error);
    if (!status)
        status = class_->conserved(backend, sums, error);
    if (backend)
        class_->destroy(backend);
    return status;
}

/* Energies of all systems at its end; NaN where it could not be followed. */
static enum status replay_as(struct run *run, struct bodies *bodies, struct conserved *sums,
                             enum energy_budget_replay kind, struct error *error)
{
    struct error lost = { 0 };
    const uint64_t factor = kind == REPLAY_HALF_STEP ? 2 : 1;
    const enum status status = replay(run, bodies, factor, sums, &lost);
    if (status && status != STATUS_NUMERICAL)
        return error_pass(error, &lost);
    for (size_t s = 0; s < bodies->systems; s++)
        energy_budget_replayed(run->observers.energy_budget, s, kind,
                               status ? NAN : conserved_internal_energy(&sums[s]));
    return STATUS_OK;
}

enum status replay_interval(struct run *run, struct error *error)
{
    const struct bodies *from = run->experiment.bodies;
    const uint64_t every = (uint64_t)section_integer(section_of(run->experiment.config), "every");
    if (run->schedule.step % every != 0)
        return STATUS_OK;
    struct bodies *bodies = NULL;
    struct conserved *sums = calloc(from->systems, sizeof *sums);
    if (!sums)
        return error_memory(error);
    enum status status = bodies_create(from->systems, from->count, &bodies, error);
    if (!status && !copies_exact(run->experiment.config))
        status = replay_as(run, bodies, sums, REPLAY_EXACT_FORCE, error);
    if (!status)
        status = replay_as(run, bodies, sums, REPLAY_HALF_STEP, error);
    bodies_destroy(bodies);
    free(sums);
    return status;
}
