#include "run/estimate.h"

#include <math.h>

#include "base/clock.h"

enum { TIMED_BODIES = 8192, ROW_PREFIX_BYTES = 32, NUMBER_BYTES = 24 };

/* Long enough to be timed, short enough to wait for. */
static const double timed_seconds = 0.02;

/* Events of a trigger in the whole run: step 0, the multiples, and the last step. */
static double events(struct trigger trigger, uint64_t steps)
{
    return floor((double)steps / (double)trigger.every) + 1.0 + (steps % trigger.every != 0);
}

static double rows_bytes(const struct run *run, size_t index)
{
    const struct diagnostic *diagnostic = run->diagnostics[index].diagnostic;
    const double rows = events(run->triggers[index], run->experiment.steps) *
                        (double)run->experiment.bodies->systems * (double)diagnostic->row_count;
    return rows * (ROW_PREFIX_BYTES + NUMBER_BYTES * (double)diagnostic->column_count);
}

static double frames(const struct run *run, size_t index)
{
    return events(run->triggers[run->diagnostic_count + index], run->experiment.steps);
}

static double frames_bytes(const struct run *run, size_t index)
{
    const struct bodies *bodies = run->experiment.bodies;
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    return frames(run, index) * run->outputs[index]->class_->event_bytes(
                                    section, (double)bodies->systems * (double)bodies->count);
}

double estimate_disk_bytes(const struct run *run)
{
    double bytes = 0.0;
    for (size_t i = 0; i < run->diagnostic_count; i++)
        bytes += rows_bytes(run, i);
    for (size_t i = 0; i < run->output_count; i++)
        bytes += frames_bytes(run, i);
    return bytes;
}

/* Times steps of the first bodies of one system, alone, on the run's own backend. */
static enum status time_forces(const struct run *run, double *rate, struct error *error)
{
    const struct bodies *from = run->experiment.bodies;
    const size_t count = from->count < TIMED_BODIES ? from->count : TIMED_BODIES;
    struct bodies *bodies;
    struct backend *backend = NULL;
    if (bodies_create(1, count, &bodies, error))
        return error->status;
    bodies_copy_system(bodies, 0, from, 0);
    const struct backend_class *class_ = run->backend->class_;
    enum status status = class_->create(&run->experiment.backend_options, &run->experiment.physics,
                                        bodies, &backend, error);
    /* Twice as many steps each time, until there is something to measure; the first one warms up.
     */
    double seconds = 0.0;
    uint64_t steps = 1;
    for (; !status; steps *= 2) {
        const double before = clock_seconds();
        status = class_->advance(backend, run->experiment.integrator, run->experiment.step, steps,
                                 error);
        seconds = clock_seconds() - before;
        if (steps > 1 && seconds >= timed_seconds)
            break;
    }
    const double forces = (double)integrator_forces_per_step(run->experiment.integrator);
    *rate = (double)count * (double)count * forces * (double)steps / seconds;
    if (backend)
        class_->destroy(backend);
    bodies_destroy(bodies);
    return status;
}

enum status estimate_run(const struct run *run, bool timed, struct estimate *estimate,
                         struct error *error)
{
    const struct bodies *bodies = run->experiment.bodies;
    *estimate = (struct estimate){ 0 };
    estimate->memory = need_of_bodies(run->experiment.config, bodies->systems, bodies->count);
    estimate->disk_bytes = estimate_disk_bytes(run);
    for (size_t i = 0; i < run->output_count; i++)
        estimate->frames += frames(run, i);
    estimate->interactions = experiment_interactions(&run->experiment, run->experiment.steps);
    if (!timed)
        return STATUS_OK;
    if (time_forces(run, &estimate->rate, error))
        return error->status;
    estimate->seconds = estimate->interactions / estimate->rate;
    return STATUS_OK;
}
