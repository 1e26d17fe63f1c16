#include "accuracy/bound-trial.h"
#include "force/direct/reference.h"

#include <math.h>

#include "simulation/simulation.h"

enum {
    MOST_BODIES = 16,       /* in a trial: those of the orbit, and who disturbs it most */
    SAMPLES_PER_PERIOD = 24 /* or each step, where there are fewer */
};

/* The forces in a period by gauss-radau: its steps, those to be looked at among them, and their
 * passes. */
static const double truth_forces = (12.0 + SAMPLES_PER_PERIOD) * 3.0 * 7.0;

/* One of the two that move from the same state. */
struct runner {
    struct simulation simulation;
    struct bound_orbit orbit; /* in its bodies */
};

static enum status open_runner(const struct physics *physics, const struct bodies *bodies,
                               size_t system, const struct bound_orbit *orbit,
                               const struct integrator *integrator, double dt,
                               struct runner *runner, struct error *error)
{
    struct bodies *own;
    runner->simulation = (struct simulation){
        .physics = *physics,
        .integrator = integrator,
        .step = dt,
        .class_ = &backend_serial,
        .options.force = { .precision = PRECISION_DOUBLE,
                           .threads = 1,
                           .kernel = "auto",
                           .isa = "auto" },
    };
    if (bound_orbit_isolate(bodies, system, orbit, MOST_BODIES, &own, &runner->orbit, error) ||
        simulation_take(&runner->simulation, own, error))
        return error->status;
    return simulation_start(&runner->simulation, error);
}

static struct bound_orbit look(const struct physics *physics, const struct runner *runner)
{
    return bound_orbit_about(physics, runner->simulation.bodies, 0, runner->orbit.body,
                             &runner->orbit.center);
}

/* The differences of a sample, added to what there is. */
struct sums {
    double error, first, last; /* the sums of the first and of the last period */
    size_t first_count, last_count;
};

static void compare(const struct physics *physics, const struct runner *method,
                    const struct runner *truth, double periods, struct sums *sums)
{
    const struct bound_orbit own = look(physics, method), real = look(physics, truth);
    const double energy = fabs(truth->orbit.energy);
    const double change = (own.energy - real.energy) / energy;
    const double radial =
        own.eccentricity * own.eccentricity - real.eccentricity * real.eccentricity;
    const double size =
        fmax(fabs(own.energy - real.energy) / fmax(energy, real.potential), fabs(radial));
    sums->error = isfinite(size) ? fmax(sums->error, size) : INFINITY;
    if (periods <= 1.0) {
        sums->first += change;
        sums->first_count++;
    } else if (periods > BOUND_TRIAL_PERIODS - 1) {
        sums->last += change;
        sums->last_count++;
    }
}

/* The method may lose the body; where the truth cannot be followed, nothing is known. */
static enum status follow(const struct physics *physics, struct runner *method,
                          struct runner *truth, double dt, double limit, struct bound_trial *trial,
                          struct error *error)
{
    const double period = truth->orbit.period / dt; /* in steps */
    const uint64_t stride = (uint64_t)fmax(1.0, floor(period / SAMPLES_PER_PERIOD));
    const uint64_t last = (uint64_t)ceil(BOUND_TRIAL_PERIODS * period);
    struct sums sums = { 0 };
    struct error lost = { 0 };
    uint64_t step = 0;
    while (step < last) {
        step += stride;
        if (simulation_advance(&truth->simulation, stride, error))
            return error->status;
        const enum status status = simulation_advance(&method->simulation, stride, &lost);
        if (status && status != STATUS_NUMERICAL)
            return error_pass(error, &lost);
        if (status) {
            sums.error = INFINITY;
            trial->beyond = fmin(trial->beyond, (double)step * dt);
            break;
        }
        if (!(look(physics, truth).energy < 0.0))
            break; /* the others have taken it apart: there is no orbit that could be off */
        compare(physics, method, truth, (double)step / period, &sums);
        if (sums.error > limit)
            trial->beyond = fmin(trial->beyond, (double)step * dt);
    }
    trial->error = sums.error;
    trial->interactions = simulation_work_done(&method->simulation, 0).interactions +
                          simulation_work_done(&truth->simulation, 0).interactions;
    if (sums.first_count > 0 && sums.last_count > 0)
        trial->rate =
            (sums.last / (double)sums.last_count - sums.first / (double)sums.first_count) /
            ((BOUND_TRIAL_PERIODS - 1) * truth->orbit.period);
    return STATUS_OK;
}

static double pairs_in_trial(const struct bodies *bodies)
{
    return reference_pairs(1.0, fmin((double)bodies->count, MOST_BODIES));
}

double bound_trial_cost(const struct bodies *bodies, const struct bound_method *method,
                        const struct bound_orbit *orbit)
{
    const double own =
        orbit->period / method->dt * (double)integrator_forces_per_step(method->integrator);
    return BOUND_TRIAL_PERIODS * (own + truth_forces) * pairs_in_trial(bodies);
}

double bound_trial_longest(const struct bodies *bodies, const struct bound_method *method,
                           double interactions)
{
    const double forces = interactions / (BOUND_TRIAL_PERIODS * pairs_in_trial(bodies));
    const double steps =
        (forces - truth_forces) / (double)integrator_forces_per_step(method->integrator);
    return steps * method->dt;
}

enum status bound_trial(const struct physics *physics, const struct bodies *bodies, size_t system,
                        const struct bound_orbit *orbit, const struct bound_method *method,
                        struct bound_trial *trial, struct error *error)
{
    struct runner own = { 0 }, truth = { 0 };
    struct error broken = { 0 };
    *trial = (struct bound_trial){ .beyond = INFINITY };
    enum status status =
        open_runner(physics, bodies, system, orbit, method->integrator, method->dt, &own, &broken);
    if (!status)
        status = open_runner(physics, bodies, system, orbit, integrator_find("gauss-radau"),
                             method->dt, &truth, &broken);
    if (!status)
        status = follow(physics, &own, &truth, method->dt, method->limit, trial, &broken);
    simulation_destroy(&own.simulation);
    simulation_destroy(&truth.simulation);
    return status == STATUS_NUMERICAL ? STATUS_OK : error_pass(error, &broken);
}
