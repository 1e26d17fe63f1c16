#include "estimate/probe.h"

#include <math.h>

#include "force/direct/reference.h"
/* The number of steps by Yoshida's method of sixth order in the present period of the fastest pair:
 * at first, and the limit below which it is doubled while the energy is not kept. */
static const double first_steps = 60.0, last_steps = 500.0;
/* The largest energy error with which the energy counts as kept. */
static const double energy_kept = 1e-3;
/* The step, over the length of the run, below which bodies count as colliding. */
static const double least_step = 1e-14;
/* The work, in pair interactions, of a force evaluation besides its pairs; and of a step besides
 * its force evaluations, mostly the search for the fastest pair. */
static const double call_work = 30.0, look_work = 600.0;

struct probe {
    struct simulation simulation; /* a copy whose step is chosen anew before each step */
    double time, last;
    double steps_per_period;
};

static enum status open_probe(const struct experiment *x, size_t system, struct probe *probe,
                              struct error *error)
{
    const struct simulation *from = &x->simulation;
    struct force_options force = force_exact(&from->options.force);
    force.threads = 1;
    force.kernel = "auto"; /* a kernel of the CPU, not of a GPU */
    const struct simulation_changes changes = { .integrator = integrator_find("yoshida6"),
                                                .backend = &backend_openmp,
                                                .force = &force,
                                                .systems = 1,
                                                .which = &system };
    probe->time = 0.0;
    probe->last = from->step * (double)x->steps;
    if (simulation_copy(&probe->simulation, from, &changes, error))
        return error->status;
    return simulation_begin(&probe->simulation, error);
}

static enum status see(const struct probe *probe, struct probe_sample *sample, struct error *error)
{
    const struct bodies *b = probe->simulation.bodies;
    const struct physics *physics = &probe->simulation.physics;
    sample->time = probe->time;
    if (nearest_pair(physics, b, 0, NEAREST_IN_TIME, &sample->pair, error))
        return error->status;
    if (!sample->pair.found)
        return STATUS_OK;
    const double product = b->m[sample->pair.i] * b->m[sample->pair.j];
    sample->depth = physics->gravitational_constant * product /
                    hypot(sample->pair.distance, physics->softening) /
                    conserved_energy_scale(probe->simulation.first);
    return STATUS_OK;
}

static enum status move_by(struct probe *probe, double step, struct error *error)
{
    probe->simulation.step = fmin(step, probe->last - probe->time);
    probe->time += step;
    const enum status status = simulation_advance(&probe->simulation, 1, error);
    return status ? status : simulation_fetch(&probe->simulation, error);
}

static enum status judge_end(struct probe *probe, enum probe_end *end, struct error *error)
{
    if (simulation_measure(&probe->simulation, error))
        return error->status;
    const bool kept = fabs(simulation_energy_error(&probe->simulation, 0)) <= energy_kept;
    *end = kept ? PROBE_FINISHED : PROBE_LOST;
    return STATUS_OK;
}

static enum status follow(struct probe *probe, const struct probe_observer *observer, double *work,
                          enum probe_end *end, struct error *error)
{
    const double pairs = reference_pairs(1.0, (double)probe->simulation.bodies->count);
    const double each =
        look_work +
        (double)integrator_forces_per_step(probe->simulation.integrator) * (pairs + call_work);
    struct interruption *const interruption = probe->simulation.physics.interruption;
    while (probe->time < probe->last) {
        if (interruption_raised(interruption))
            return interruption_status(interruption, error);
        struct probe_sample sample = { 0 };
        if (see(probe, &sample, error))
            return error->status;
        if (!sample.pair.found)
            break;
        observer->sample(observer->context, &sample);
        const double step = 2.0 * M_PI * sample.pair.time_scale / probe->steps_per_period;
        if (step < least_step * probe->last) {
            *end = PROBE_COLLIDED;
            return STATUS_OK;
        }
        *work -= each;
        if (*work < 0.0) {
            *end = PROBE_TOO_LONG;
            return STATUS_OK;
        }
        if (move_by(probe, step, error))
            return error->status;
    }
    return judge_end(probe, end, error);
}

static enum status follow_with(const struct experiment *x, size_t system, double steps_per_period,
                               const struct probe_observer *observer, double *work,
                               enum probe_end *end, struct error *error)
{
    struct probe probe = { .steps_per_period = steps_per_period };
    struct error broken = { 0 };
    if (!open_probe(x, system, &probe, &broken))
        follow(&probe, observer, work, end, &broken);
    simulation_destroy(&probe.simulation);
    if (broken.status == STATUS_NUMERICAL) {
        *end = PROBE_LOST;
        return STATUS_OK;
    }
    return error_pass(error, &broken);
}

enum status probe_follow(const struct experiment *x, size_t system,
                         const struct probe_observer *observer, double *work, enum probe_end *end,
                         struct error *error)
{
    enum status status = STATUS_OK;
    *end = PROBE_LOST;
    for (double n = first_steps; n < last_steps && *end == PROBE_LOST && !status; n *= 2.0)
        status = follow_with(x, system, n, observer, work, end, error);
    return status;
}
