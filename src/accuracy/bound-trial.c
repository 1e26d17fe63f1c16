#include "accuracy/bound-trial.h"

#include <math.h>

#include "force/direct/reference.h"
#include "simulation/simulation.h"
#include "space/nearest.h"

/* Comparisons of the two orbits of a trial in a period, but no more than one in a step. */
enum { SAMPLES_PER_PERIOD = 24 };

/* Evaluations of the forces by gauss-radau in a period: in its own 12 steps and in those that end
 * at comparisons, in each step three passes over seven nodes. */
static const double truth_forces = (12.0 + SAMPLES_PER_PERIOD) * 3.0 * 7.0;

/* Evaluations of the forces in one step of gauss-radau. */
static const double forces_of_step = 21.0;
/* Evaluations of the force on a body by block steps in a period, times the power of the
 * integrator's key eta to which the steps are proportional. hermite4 takes 2 pi / eta^(1/2) steps
 * on a circular orbit, twice as many on an eccentric one, two evaluations in each, and half as much
 * again to be sure. (block-leapfrog takes 2 pi (r / eps)^(1/2) / eta steps of one evaluation.) */
static const double block_forces = 3.0 * 4.0 * M_PI;

/* If the mean step of a trial is longer than that of the run by more than this factor, the trial is
 * made again with steps as short as the run's. */
static const double longer = 1.1;
/*
 * A trial also follows a twin of the orbit, to see how errors grow by themselves: its body is
 * displaced by the part `displacement` of its distance from the centre. Up to a growth by the
 * factor `most_growth` the trial still measures the method. In five periods of a regular orbit a
 * displacement grows by some ten times; beyond a hundred the bodies that disturb the orbit decide
 * where it goes, and not the method.
 */
static const double displacement = 1e-10, most_growth = 1e2;
/* The error of a method in its first trial, over the limit, up to which no second trial, with a
 * displaced twin of the orbit, is made. */
static const double negligible = 1e-6;

/* --- the steps of a trial --------------------------------------------------------------------- */

static double key_of(const struct bound_method *method)
{
    return isnan(method->key) ? integrator_key(method->integrator)->default_value.real
                              : method->key;
}

static double refinement_of(const struct bound_method *method)
{
    return method->refinement > 0.0 ? method->refinement : 1.0;
}

/* Returns the grid step of a trial, at the ends of which the orbits are compared: the method's dt,
 * where fixed steps and block steps end; or a part of the period for gauss-radau, whose own steps
 * do not end there. */
static double grid_of(const struct bound_method *method, double period)
{
    const bool follows = method->integrator->adaptive && !method->integrator->block_steps;
    return follows ? period / SAMPLES_PER_PERIOD : method->dt;
}

/* Estimates into others[k] how many bodies outside of the trial take the step dt / 2^k, with the
 * trial's dt, which may be shorter than the run's: `part` of the run's bodies with this step. */
static void count_others(const struct bound_method *method, double part,
                         double others[ADAPTIVE_LEVELS])
{
    const int halvings = (int)lrint(log2(method->grid / method->dt));
    for (int k = 0; k < ADAPTIVE_LEVELS; k++)
        others[k] = 0.0;
    for (int k = 0; k < ADAPTIVE_LEVELS; k++)
        others[k > halvings ? k - halvings : 0] += part * method->levels[k];
}

/* --- by what the bodies are moved ------------------------------------------------------------- */

/* Returns the value of the key by which the integrator chooses its steps; NaN: the default. */
static double key_value(const struct integrator *integrator, const struct simulation *simulation)
{
    const size_t row = (size_t)(integrator_key(integrator) - integrator->variant.parameters);
    double values[INTEGRATOR_VALUES];
    if (!simulation->options.time)
        return simulation->options.values ? simulation->options.values[row] : NAN;
    integrator_values(integrator, simulation->options.time, values);
    return values[row];
}

/* Estimates the first step of a run, from the period of the fastest pair; 0: there is no pair. */
static enum status find_first_step(const struct moment *now, size_t system, double *step,
                                   struct error *error)
{
    /* The first step over period / 2 pi; about the same for hermite4 and gauss-radau. */
    static const double part = 0.15;
    struct nearest_pair pair;
    if (nearest_pair(now->physics, now->bodies, system, NEAREST_IN_TIME, &pair, error))
        return error->status;
    *step = pair.found ? part * pair.time_scale : 0.0;
    return STATUS_OK;
}

enum status bound_method_of(const struct moment *now, size_t system,
                            const struct integrator *integrator, double limit,
                            struct bound_method *method, struct error *error)
{
    const struct simulation *const simulation = now->simulation;
    *method = (struct bound_method){ .integrator = integrator,
                                     .dt = now->dt,
                                     .grid = now->dt,
                                     .limit = limit,
                                     .key = NAN,
                                     .mean_step = INFINITY,
                                     .fastest = INFINITY };
    if (!integrator->adaptive || !simulation)
        return STATUS_OK;
    const struct adaptive *const adaptive = simulation->backend->adaptive;
    const struct work_done own = simulation_work_done(simulation, system);
    const bool all = now->bodies->count <= BOUND_TRIAL_BODIES;
    method->fastest = own.steps > 0.0 ? own.current : 0.0;
    method->key = key_value(integrator, simulation);
    method->refinement = simulation->options.refinement;
    if (!all && adaptive->class_->count_levels) {
        method->crowded = true;
        adaptive->class_->count_levels(adaptive, system, method->levels);
    } else if (!all) {
        method->mean_step = own.steps > 0.0 ? own.time / own.steps : 0.0;
    }
    return all && !(own.steps > 0.0) ? find_first_step(now, system, &method->fastest, error)
                                     : STATUS_OK;
}

bool bound_method_known(const struct bound_method *method)
{
    double bodies = 0.0;
    for (int k = 0; k < ADAPTIVE_LEVELS; k++)
        bodies += method->levels[k];
    return method->fastest > 0.0 && method->mean_step > 0.0 && (!method->crowded || bodies > 0.0);
}

/* --- two that move from the same state -------------------------------------------------------- */

struct runner {
    struct simulation simulation;
    struct bound_orbit orbit; /* the orbit, with indices of the simulation's bodies */
};

/* Moves the body of the orbit away from the first body of its centre by `part` of its distance. */
static void displace(struct runner *runner, double part)
{
    const struct bodies *b = runner->simulation.bodies;
    const size_t i = runner->orbit.body, c = runner->orbit.center.bodies[0];
    b->x[i] += part * (b->x[i] - b->x[c]);
    b->y[i] += part * (b->y[i] - b->y[c]);
    b->z[i] += part * (b->z[i] - b->z[c]);
}

static enum status open_runner(const struct physics *physics, const struct bodies *bodies,
                               size_t system, const struct bound_orbit *orbit,
                               const struct bound_method *method, double dt, double part,
                               struct runner *runner, struct error *error)
{
    struct bodies *own;
    const bool chooses = method->integrator->adaptive != NULL;
    const double values[INTEGRATOR_VALUES] = { NAN, chooses ? key_of(method) : NAN };
    double others[ADAPTIVE_LEVELS];
    runner->simulation = (struct simulation){
        .physics = *physics,
        .integrator = method->integrator,
        .step = dt,
        .class_ = &backend_serial,
        .options.force = { .precision = PRECISION_DOUBLE,
                           .threads = 1,
                           .kernel = "auto",
                           .isa = "auto" },
        .options.values = values,
        .options.refinement = method->refinement,
    };
    if (method->crowded) {
        const double count = (double)bodies->count;
        count_others(method, fmax(0.0, count - BOUND_TRIAL_BODIES) / count, others);
        runner->simulation.options.others = others;
    }
    runner->simulation.physics.boundary = BOUNDARY_OPEN;
    if (bound_orbit_isolate(physics, bodies, system, orbit, BOUND_TRIAL_BODIES, &own,
                            &runner->orbit, error) ||
        simulation_take(&runner->simulation, own, error))
        return error->status;
    displace(runner, part);
    const enum status status = simulation_start(&runner->simulation, error);
    runner->simulation.options.values = runner->simulation.options.others = NULL;
    return status;
}

static struct bound_orbit look(const struct runner *runner)
{
    return bound_orbit_about(&runner->simulation.physics, runner->simulation.bodies, 0,
                             runner->orbit.body, &runner->orbit.center);
}

/* Returns the time that a trial counts as a period: that of the orbit or, with block steps, the
 * grid step if it is longer, since all bodies are current only at its end. */
static double window_of(const struct integrator *integrator, double dt, double period)
{
    return integrator->block_steps ? fmax(period, dt) : period;
}

/* The differences between two orbits at the samples so far: the largest error (as in struct
 * bound_trial), and for each period the sum of the energy changes and the number of samples. */
struct sums {
    double error, change[BOUND_TRIAL_PERIODS];
    size_t count[BOUND_TRIAL_PERIODS];
};

static void compare(const struct runner *method, const struct runner *truth, double periods,
                    struct sums *sums)
{
    const struct bound_orbit own = look(method), real = look(truth);
    const double energy = fabs(truth->orbit.energy);
    const double change = (own.energy - real.energy) / energy;
    const double radial =
        own.eccentricity * own.eccentricity - real.eccentricity * real.eccentricity;
    const double size =
        fmax(fabs(own.energy - real.energy) / fmax(energy, real.potential), fabs(radial));
    const double last = BOUND_TRIAL_PERIODS - 1;
    const size_t period = (size_t)fmin(fmax(ceil(periods) - 1.0, 0.0), last);
    sums->error = isfinite(size) ? fmax(sums->error, size) : INFINITY;
    sums->change[period] += change;
    sums->count[period]++;
}

/* Returns the change of the energy per period, over the orbit's energy, from the mean over the
 * first period to the mean over the last one; 0 if the trial ended before the last period. */
static double change_per_period(const struct sums *sums)
{
    enum { LAST = BOUND_TRIAL_PERIODS - 1 };
    if (sums->count[0] == 0 || sums->count[LAST] == 0)
        return 0.0;
    return (sums->change[LAST] / (double)sums->count[LAST] -
            sums->change[0] / (double)sums->count[0]) /
           LAST;
}

/* The copies of a trial: one by the method, one by gauss-radau (the truth), and NULL or a twin of
 * the truth, displaced a little. */
struct runners {
    struct runner *method, *truth, *twin;
    double known; /* difference of twin and truth beyond which the trial ends */
};

/* Tells whether the true orbit is still bound and the error of the method can still be measured.
 * The other bodies may have taken the orbit apart, or may make any small error a large one.
 * `growth` keeps the differences between twin and truth. */
static bool is_known(const struct runners *runners, double periods, struct sums *growth)
{
    if (!(look(runners->truth).energy < 0.0))
        return false;
    if (!runners->twin)
        return true;
    compare(runners->twin, runners->truth, periods, growth);
    return growth->error <= runners->known;
}

/* Advances the copies through the periods of a trial, and compares them. If that by the method
 * cannot be advanced while the true orbit is known, the method has lost the body, and its error is
 * infinite. If the truth or its twin cannot be advanced, the status says so, and the trial stays
 * without an error. */
static enum status follow(struct runners *runners, double limit, struct bound_trial *trial,
                          struct error *error)
{
    struct runner *const method = runners->method, *const truth = runners->truth;
    const double dt = truth->simulation.step;
    const double window = window_of(method->simulation.integrator, dt, truth->orbit.period);
    const double period = window / dt; /* the period in grid steps */
    const uint64_t stride = (uint64_t)fmax(1.0, floor(period / SAMPLES_PER_PERIOD));
    const uint64_t last = (uint64_t)ceil(BOUND_TRIAL_PERIODS * period);
    struct sums sums = { 0 }, growth = { 0 };
    struct error lost = { 0 };
    uint64_t step = 0;
    if (runners->twin)
        compare(runners->twin, truth, 0.0, &growth);
    runners->known = most_growth * fmax(growth.error, displacement);
    while (step < last) {
        step += stride;
        if (simulation_advance(&truth->simulation, stride, error) ||
            (runners->twin && simulation_advance(&runners->twin->simulation, stride, error)))
            return error->status;
        const enum status status = simulation_advance(&method->simulation, stride, &lost);
        if (status && status != STATUS_NUMERICAL)
            return error_pass(error, &lost);
        const bool known = is_known(runners, (double)step / period, &growth);
        if (status && (known || !runners->twin)) {
            sums.error = INFINITY;
            trial->beyond = fmin(trial->beyond, (double)step * dt);
            break;
        }
        if (!known)
            break;
        compare(method, truth, (double)step / period, &sums);
        if (sums.error > limit)
            trial->beyond = fmin(trial->beyond, (double)step * dt);
    }
    const struct work_done own = simulation_work_done(&method->simulation, 0);
    trial->error = sums.error;
    trial->mean_step = own.time / own.steps;
    trial->interactions +=
        own.interactions + simulation_work_done(&truth->simulation, 0).interactions;
    if (runners->twin)
        trial->interactions += simulation_work_done(&runners->twin->simulation, 0).interactions;
    trial->rate = change_per_period(&sums) / window;
    return STATUS_OK;
}

/* --- a trial ---------------------------------------------------------------------------------- */

static double pairs_in_trial(const struct bodies *bodies)
{
    return reference_pairs(1.0, fmin((double)bodies->count, BOUND_TRIAL_BODIES));
}

/* Returns how often the method evaluates the forces on all bodies of a trial in a period: as the
 * orbit's own steps need it, or those of the system's fastest body if these need more. */
static double forces_of(const struct bound_method *method, double period)
{
    if (!method->integrator->adaptive)
        return period / method->dt * (double)integrator_forces_per_step(method->integrator);
    const double orbit =
        method->integrator->block_steps
            ? block_forces / pow(key_of(method), 1.0 / method->integrator->key_degree)
            : truth_forces;
    return fmax(refinement_of(method) * orbit, forces_of_step * period / method->fastest);
}

/* Returns the method that serves as the truth: gauss-radau with its usual accuracy or, if `method`
 * is itself gauss-radau and nearly as accurate, with its accuracy and steps half as long. */
static struct bound_method truth_beside(const struct bound_method *method)
{
    struct bound_method truth = { .integrator = integrator_find("gauss-radau"), .key = NAN };
    if (method->integrator == truth.integrator &&
        key_of(method) < key_of(&truth) * exp2(truth.integrator->key_degree)) {
        truth.key = key_of(method);
        truth.refinement = 2.0 * refinement_of(method);
    }
    return truth;
}

/* Returns how often the truth evaluates the forces on all bodies of a trial in a period of the
 * orbit. If the method is gauss-radau too, the truth's steps are shorter than the method's by the
 * seventh root of the ratio of both accuracies. */
static double forces_of_truth(const struct bound_method *method, double period)
{
    const struct bound_method truth = truth_beside(method);
    if (!method->integrator->adaptive)
        return truth_forces;
    const double key = key_of(method) / key_of(&truth);
    const double shorter = method->integrator == truth.integrator ? pow(key, 1.0 / 7.0) : 1.0;
    return refinement_of(&truth) *
           fmax(truth_forces, forces_of_step * shorter * period / method->fastest);
}

double bound_trial_cost(const struct bodies *bodies, const struct bound_method *method,
                        const struct bound_orbit *orbit)
{
    const double window = window_of(method->integrator, method->dt, orbit->period);
    const double forces = forces_of(method, orbit->period) + forces_of_truth(method, orbit->period);
    return BOUND_TRIAL_PERIODS * window / orbit->period * forces * pairs_in_trial(bodies);
}

double bound_trial_longest(const struct bodies *bodies, const struct bound_method *method,
                           double interactions)
{
    const double forces = interactions / (BOUND_TRIAL_PERIODS * pairs_in_trial(bodies));
    if (method->integrator->adaptive)
        return INFINITY; /* then the fastest body decides how many steps are made */
    const double steps =
        (forces - truth_forces) / (double)integrator_forces_per_step(method->integrator);
    return steps * method->dt;
}

void bound_method_shorten_grid(struct bound_method *method, const struct bodies *bodies,
                               const struct bound_orbit *orbit, double interactions)
{
    while (method->integrator->block_steps && method->dt > orbit->period &&
           bound_trial_cost(bodies, method, orbit) > interactions)
        method->dt *= 0.5;
}

static enum status try_once(const struct physics *physics, const struct bodies *bodies,
                            size_t system, const struct bound_orbit *orbit,
                            const struct bound_method *method, bool twin, struct bound_trial *trial,
                            struct error *error)
{
    struct runner own = { 0 }, other = { 0 }, displaced = { 0 };
    struct error broken = { 0 };
    const struct bound_method truth = truth_beside(method);
    const double dt = grid_of(method, orbit->period);
    struct runners runners = { &own, &other, twin ? &displaced : NULL, INFINITY };
    if (!open_runner(physics, bodies, system, orbit, method, dt, 0, &own, &broken) &&
        !open_runner(physics, bodies, system, orbit, &truth, dt, 0, &other, &broken) &&
        !(twin && open_runner(physics, bodies, system, orbit, &truth, dt, displacement, &displaced,
                              &broken)))
        follow(&runners, method->limit, trial, &broken);
    simulation_destroy(&own.simulation);
    simulation_destroy(&other.simulation);
    simulation_destroy(&displaced.simulation);
    return broken.status == STATUS_NUMERICAL ? STATUS_OK : error_pass(error, &broken);
}

enum status bound_trial(const struct physics *physics, const struct bodies *bodies, size_t system,
                        const struct bound_orbit *orbit, const struct bound_method *method,
                        struct bound_trial *trial, struct error *error)
{
    *trial = (struct bound_trial){ .beyond = INFINITY };
    if (try_once(physics, bodies, system, orbit, method, false, trial, error) ||
        !method->integrator->adaptive)
        return error->status;
    if (trial->error <= negligible * method->limit)
        return STATUS_OK;
    struct bound_method own = *method;
    /* Bodies outside of the trial may have shortened the steps of the run. */
    if (trial->mean_step > longer * method->mean_step)
        own.refinement = refinement_of(method) * trial->mean_step / method->mean_step;
    *trial = (struct bound_trial){ .beyond = INFINITY, .interactions = trial->interactions };
    return try_once(physics, bodies, system, orbit, &own, true, trial, error);
}
