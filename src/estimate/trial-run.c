#include "estimate/trial-run.h"

#include <math.h>

#include "diagnostics/diagnostic.h"
#include "estimate/need.h"
#include "observation/criteria.h"

/* The error over its limit at which a trial run ends, since the energy is lost. */
static const double hopeless = 10.0;
/* The work of one call of the backend, in pair interactions: a tenth of a second or two. */
static const double call_work = 2e8;

/* The part of the bound that the energy error of a trial may reach. The rest is a reserve, since
 * machines of other kinds round differently. */
static const double bound_part = 0.5;

/* --- rows ------------------------------------------------------------------------------------- */

/* Returns how often the diagnostic with this index measures the energy of the run, in steps; 0: it
 * does not. Statistics over the systems of an ensemble need the energies of all of them. */
static uint64_t energy_every(const struct experiment *x, size_t index)
{
    const struct section *const section = config_item(x->config, "diagnostics", index);
    const bool measures =
        x->simulation.bodies->systems > 1 || (need_diagnostic(section)->needs & NEED_CONSERVED);
    return measures ? (uint64_t)section_integer(section, "every") : 0;
}

/* Returns the next step after `step` at which a diagnostic measures the energy; or UINT64_MAX. */
static uint64_t next_row(const struct experiment *x, uint64_t step)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < config_count(x->config, "diagnostics"); i++) {
        const uint64_t every = energy_every(x, i);
        if (every > 0 && (step / every + 1) * every < next)
            next = (step / every + 1) * every;
    }
    return next;
}

static double row_count(const struct experiment *x, double steps)
{
    double count = 0.0;
    for (size_t i = 0; i < config_count(x->config, "diagnostics"); i++)
        if (energy_every(x, i) > 0)
            count += steps / (double)energy_every(x, i);
    return count;
}

/* --- work ------------------------------------------------------------------------------------- */

/* The work of a force evaluation besides that of its pairs, in pair interactions; and the factor by
 * which a pair takes longer than in the fast kernels, by backend (NULL: all others). The large
 * overhead of the others: MPI processes wait for each other, and a GPU for its host. */
static const struct pace {
    const struct backend_class *class_;
    double overhead, slower;
} paces[] = {
    { &backend_openmp, 60.0, 1.0 },
    { &backend_serial, 60.0, 10.0 },
    { NULL, 1e4, 1.0 },
};

/* The work of a row besides its pairs, over that of a force evaluation. */
static const double row_overheads = 10.0;

static const struct pace *pace_of(const struct experiment *x)
{
    const struct pace *pace = paces;
    while (pace->class_ && pace->class_ != x->simulation.class_ &&
           !(x->simulation.class_ == backend_at(0) && pace->class_ == &backend_openmp))
        pace++;
    return pace;
}

double trial_run_pairs(const struct experiment *x)
{
    return pace_of(x)->slower * force_work(&x->simulation.options.force,
                                           (double)x->simulation.bodies->systems,
                                           (double)x->simulation.bodies->count);
}

double trial_run_work(const struct experiment *x, double step, double bound)
{
    const struct pace *const pace = pace_of(x);
    const double forces = (double)integrator_forces_per_step(x->simulation.integrator);
    const double steps = experiment_step_count(x, step), pairs = trial_run_pairs(x);
    const double rows = isfinite(bound) ? row_count(x, steps) : 0.0;
    return steps * forces * (pace->overhead + pairs) +
           rows * (row_overheads * pace->overhead + pairs);
}

/* --- the run ---------------------------------------------------------------------------------- */

struct attempt {
    const struct experiment *experiment;
    struct simulation simulation;
    struct watch *watch;
    struct moment now;
    double bound;
    struct diagnostic
        *energies;  /* the diagnostic `conservation`; NULL: no bound, or not in the config */
    double largest; /* largest energy error of all rows so far */
};

/* Takes a row of the diagnostic `conservation`; undefined energy errors are left out. */
static enum status take_row(void *context, size_t system, const double *values, struct error *error)
{
    (void)system, (void)error;
    struct attempt *const attempt = context;
    const struct diagnostic *const energies = attempt->energies;
    for (size_t c = 0; c < energies->column_count; c++)
        if (quantity_of_energy(energies->columns[c].name))
            attempt->largest = fmax(attempt->largest, fabs(values[c]));
    return STATUS_OK;
}

/* Creates the diagnostic `conservation`, whose rows have the energy errors, if the error has a
 * bound and the config has this diagnostic. */
static enum status open_rows(struct attempt *attempt, struct error *error)
{
    const struct config *const config = attempt->experiment->config;
    for (size_t i = 0; i < config_count(config, "diagnostics") && isfinite(attempt->bound); i++) {
        const struct section *const section = config_item(config, "diagnostics", i);
        if (need_diagnostic(section) == &diagnostic_conservation)
            return diagnostic_create(section, &attempt->now, &attempt->energies, error);
    }
    return STATUS_OK;
}

static enum status open_attempt(const struct experiment *x, double step, struct attempt *attempt,
                                struct error *error)
{
    struct simulation *const simulation = &attempt->simulation;
    if (simulation_copy(simulation, &x->simulation, &(struct simulation_changes){ .step = step },
                        error) ||
        simulation_begin(simulation, error))
        return error->status;
    if (watch_follow(config_section(x->config, "watch"), simulation, experiment_step_count(x, step),
                     &attempt->now, &attempt->watch, error))
        return error->status;
    return open_rows(attempt, error);
}

static void close_attempt(struct attempt *attempt)
{
    diagnostic_destroy(attempt->energies);
    watch_destroy(attempt->watch);
    simulation_destroy(&attempt->simulation);
}

static double energy_error(const struct attempt *attempt)
{
    return fmax(watch_energy_error(attempt->watch), attempt->largest);
}

static double error_in_limits(const struct attempt *attempt)
{
    return fmax(watch_error_in_limits(attempt->watch), energy_error(attempt) / attempt->bound);
}

/* Returns the largest energy error over its limit: over that of the watch, as the verdict judges it
 * (errors during close passages count less), or over the bound. */
static double judged_in_limits(const struct attempt *attempt)
{
    return fmax(watch_judged_in_limits(attempt->watch), energy_error(attempt) / attempt->bound);
}

/* Advances to step `next` by short backend calls, between which an interruption is noticed. */
static enum status advance(struct attempt *attempt, uint64_t next, struct error *error)
{
    const struct experiment *const x = attempt->experiment;
    struct interruption *const interruption = x->simulation.physics.interruption;
    const double most = call_work / (trial_run_work(x, attempt->now.dt, INFINITY) /
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

/* Measures the energies of the row at the present step; `measured`: the watch has just done so. */
static enum status see_row(struct attempt *attempt, bool measured, struct error *error)
{
    const struct row_sink sink = { take_row, attempt };
    if (!measured && (simulation_fetch(&attempt->simulation, error) ||
                      simulation_measure(&attempt->simulation, error)))
        return error->status;
    return diagnostic_measure(attempt->energies, &attempt->now, &sink, error);
}

/* Advances from each check of the accuracy watch, and each row, to the next, until the last step or
 * until the error is `hopeless` times its limit. */
static enum status play(struct attempt *attempt, uint64_t steps, struct error *error)
{
    enum status status =
        watch_look(attempt->watch, &attempt->simulation, &attempt->now, false, error);
    while (!status && attempt->now.step < steps && judged_in_limits(attempt) < hopeless) {
        const uint64_t due = watch_next(attempt->watch, attempt->now.step);
        const uint64_t check = due < steps ? due : steps;
        const uint64_t row =
            attempt->energies ? next_row(attempt->experiment, attempt->now.step) : UINT64_MAX;
        const uint64_t next = check < row ? check : row;
        status = advance(attempt, next, error);
        if (!status && next == check)
            status = watch_look(attempt->watch, &attempt->simulation, &attempt->now, next == steps,
                                error);
        if (!status && attempt->energies && (next == row || next == steps))
            status = see_row(attempt, next == check, error);
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
                        energy_error(&attempt) <= bound_part * bound;
        trial->error_in_limits = error_in_limits(&attempt);
        watch_text(attempt.watch, NULL, trial->text);
    }
    close_attempt(&attempt);
    return status == STATUS_NUMERICAL ? STATUS_OK : error_pass(error, &broken);
}
