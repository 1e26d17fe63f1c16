#include "estimate/trial-run.h"

#include <math.h>

/* The error over its limit at which a trial run ends: with so large an error the energy is lost. */
static const double hopeless = 10.0;
/* The work of one call of the backend, in pair interactions: a tenth of a second or two. */
static const double call_work = 2e8;

/* The part of the bound that the energy error of a trial may reach at the checks of its accuracy
 * watch; the rows of the run lie between these checks and may see larger errors. */
static const double unseen_part = 0.5;

/* --- work ------------------------------------------------------------------------------------- */

/* The work of each force evaluation besides its pairs, in pair interactions; and the factor by
 * which a pair is slower than in the fast kernels, by backend (NULL: all others). MPI processes
 * wait for each other, and a GPU for its host. */
static const struct pace {
    const struct backend_class *class_;
    double overhead, slower;
} paces[] = {
    { &backend_openmp, 60.0, 1.0 },
    { &backend_serial, 60.0, 10.0 },
    { NULL, 1e4, 1.0 },
};

double trial_run_work(const struct experiment *x, double step)
{
    const struct pace *pace = paces;
    while (pace->class_ && pace->class_ != x->simulation.class_ &&
           !(x->simulation.class_ == backend_at(0) && pace->class_ == &backend_openmp))
        pace++;
    const double work =
        force_work(&x->simulation.options.force, (double)x->simulation.bodies->systems,
                   (double)x->simulation.bodies->count);
    const double forces = (double)integrator_forces_per_step(x->simulation.integrator);
    return experiment_step_count(x, step) * forces * (pace->overhead + work * pace->slower);
}

/* --- the run ---------------------------------------------------------------------------------- */

struct attempt {
    const struct experiment *experiment;
    struct simulation simulation;
    struct watch *watch;
    struct moment now;
    double bound;
};

static enum status open_attempt(const struct experiment *x, double step, struct attempt *attempt,
                                struct error *error)
{
    struct simulation *const simulation = &attempt->simulation;
    if (simulation_copy(simulation, &x->simulation, &(struct simulation_changes){ .step = step },
                        error) ||
        simulation_begin(simulation, error))
        return error->status;
    return watch_follow(config_section(x->config, "watch"), simulation,
                        experiment_step_count(x, step), &attempt->now, &attempt->watch, error);
}

static void close_attempt(struct attempt *attempt)
{
    watch_destroy(attempt->watch);
    simulation_destroy(&attempt->simulation);
}

static double error_in_limits(const struct attempt *attempt)
{
    return fmax(watch_error_in_limits(attempt->watch),
                watch_energy_error(attempt->watch) / attempt->bound);
}

/* Returns the largest energy error over its limit as the verdict judges it: errors during close
 * passages count less. */
static double judged_in_limits(const struct attempt *attempt)
{
    return fmax(watch_judged_in_limits(attempt->watch),
                watch_energy_error(attempt->watch) / attempt->bound);
}

/* Advances to step `next` by short calls of the backend, between which an interruption is
 * noticed. */
static enum status advance(struct attempt *attempt, uint64_t next, struct error *error)
{
    const struct experiment *const x = attempt->experiment;
    struct interruption *const interruption = x->simulation.physics.interruption;
    const double most = call_work / (trial_run_work(x, attempt->now.dt) /
                                     experiment_step_count(x, attempt->now.dt));
    enum status status = STATUS_OK;
    while (!status && attempt->now.step < next) {
        const uint64_t left = next - attempt->now.step;
        const uint64_t steps = (double)left < most ? left : (uint64_t)fmax(1.0, most);
        if (interruption_raised(interruption))
            return interruption_status(interruption, error);
        status = simulation_advance(&attempt->simulation, steps, error);
        attempt->now.step += steps;
    }
    attempt->now.time = (double)next * attempt->now.dt;
    return status;
}

/* Advances from each check of the accuracy watch to the next, until the last step or until the
 * error is `hopeless` times its limit. */
static enum status play(struct attempt *attempt, uint64_t steps, struct error *error)
{
    enum status status =
        watch_look(attempt->watch, &attempt->simulation, &attempt->now, false, error);
    while (!status && attempt->now.step < steps && judged_in_limits(attempt) < hopeless) {
        const uint64_t due = watch_next(attempt->watch, attempt->now.step);
        const uint64_t next = due < steps ? due : steps;
        status = advance(attempt, next, error);
        if (!status)
            status = watch_look(attempt->watch, &attempt->simulation, &attempt->now, next == steps,
                                error);
    }
    return status;
}

enum status trial_run_make(const struct experiment *x, double step, double bound,
                           struct trial_run *trial, struct error *error)
{
    struct attempt attempt = { .experiment = x, .bound = bound };
    struct error broken = { 0 };
    *trial = (struct trial_run){ .step = step };
    enum status status = open_attempt(x, step, &attempt, &broken);
    if (!status)
        status = play(&attempt, (uint64_t)experiment_step_count(x, step), &broken);
    if (attempt.watch && (!status || status == STATUS_NUMERICAL)) {
        trial->within = !status && watch_within_limits(attempt.watch, NULL) &&
                        watch_energy_error(attempt.watch) <= unseen_part * bound;
        trial->error_in_limits = error_in_limits(&attempt);
        watch_text(attempt.watch, NULL, trial->text);
    }
    close_attempt(&attempt);
    return status == STATUS_NUMERICAL ? STATUS_OK : error_pass(error, &broken);
}
