#include "run/rehearsal.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Beyond so many times the limit nothing is mended any more. */
static const double hopeless = 10.0;
/* Of a call of the backend, in pair interactions: a tenth of a second. */
static const double call_work = 2e8;

/* Rows see excursions between the checks of the watch: of a bound on rows so much is left to them.
 */
static const double unseen_part = 0.5;

/* --- work ------------------------------------------------------------------------------------- */

/* Of each force besides its pairs, in the time of so many of them; and how much slower a pair is
 * than in the fast kernels. Processes wait for each other, and a GPU for its host. */
static const struct pace {
    const struct backend_class *class_;
    double overhead, slower;
} paces[] = {
    { &backend_openmp, 60.0, 1.0 },
    { &backend_serial, 60.0, 10.0 },
    { NULL, 1e4, 1.0 },
};

double rehearsal_work(const struct experiment *x, double step)
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

/* --- rehearsing ------------------------------------------------------------------------------- */

struct attempt {
    const struct experiment *experiment;
    struct bodies *bodies;
    struct backend *backend;
    struct conserved *conserved, *first;
    struct watch *watch;
    struct moment now;
    double bound;
};

static enum status open_attempt(const struct experiment *x, double step, struct attempt *attempt,
                                struct error *error)
{
    struct backend_description description;
    *attempt = (struct attempt){ .experiment = x };
    if (bodies_create(x->simulation.bodies->systems, x->simulation.bodies->count, &attempt->bodies,
                      error))
        return error->status;
    for (size_t s = 0; s < x->simulation.bodies->systems; s++)
        bodies_copy_system(attempt->bodies, s, x->simulation.bodies, s);
    attempt->conserved =
        memory_array(x->simulation.bodies->systems, sizeof *attempt->conserved, error);
    attempt->first = attempt->conserved ? memory_array(x->simulation.bodies->systems,
                                                       sizeof *attempt->first, error)
                                        : NULL;
    if (!attempt->conserved || !attempt->first ||
        x->simulation.class_->create(&x->simulation.options, &x->simulation.physics,
                                     attempt->bodies, &attempt->backend, error) ||
        attempt->backend->class_->conserved(attempt->backend, attempt->conserved, error))
        return error->status;
    attempt->backend->class_->describe(attempt->backend, &description);
    attempt->now = (struct moment){ .dt = step,
                                    .threads = description.threads,
                                    .physics = &x->simulation.physics,
                                    .bodies = attempt->bodies,
                                    .conserved = attempt->conserved,
                                    .first = attempt->first };
    memcpy(attempt->first, attempt->conserved,
           x->simulation.bodies->systems * sizeof *attempt->first);
    const struct watch_method method = { description.force, x->simulation.integrator,
                                         experiment_step_count(x, step) };
    return watch_create(config_section(x->config, "watch"), &attempt->now, &method, &attempt->watch,
                        error);
}

static void close_attempt(struct attempt *attempt)
{
    watch_destroy(attempt->watch);
    if (attempt->backend)
        attempt->backend->class_->destroy(attempt->backend);
    memory_free(attempt->conserved);
    memory_free(attempt->first);
    bodies_destroy(attempt->bodies);
}

static enum status check(struct attempt *attempt, bool last, struct error *error)
{
    const struct backend_class *class_ = attempt->backend->class_;
    if (class_->fetch(attempt->backend, error) ||
        class_->conserved(attempt->backend, attempt->conserved, error))
        return error->status;
    return watch_check(attempt->watch, &attempt->now, NEED_STATE | NEED_CONSERVED, last, NULL, NULL,
                       error);
}

static double error_in_limits(const struct attempt *attempt)
{
    return fmax(watch_error_in_limits(attempt->watch),
                watch_energy_error(attempt->watch) / attempt->bound);
}

/* The same as it counts for the verdict: close passages count less for the watch. */
static double judged_in_limits(const struct attempt *attempt)
{
    return fmax(watch_judged_in_limits(attempt->watch),
                watch_energy_error(attempt->watch) / attempt->bound);
}

/* By calls that are short, between which it may be interrupted. */
static enum status advance(struct attempt *attempt, uint64_t next, struct error *error)
{
    const struct experiment *const x = attempt->experiment;
    struct interruption *const interruption = x->simulation.physics.interruption;
    const double most = call_work / (rehearsal_work(x, attempt->now.dt) /
                                     experiment_step_count(x, attempt->now.dt));
    enum status status = STATUS_OK;
    while (!status && attempt->now.step < next) {
        const uint64_t left = next - attempt->now.step;
        const uint64_t steps = (double)left < most ? left : (uint64_t)fmax(1.0, most);
        if (interruption_raised(interruption))
            return interruption_status(interruption, error);
        status = attempt->backend->class_->advance(attempt->backend, x->simulation.integrator,
                                                   attempt->now.dt, steps, error);
        attempt->now.step += steps;
    }
    attempt->now.time = (double)next * attempt->now.dt;
    return status;
}

/* From one check of the watch to the next. */
static enum status play(struct attempt *attempt, uint64_t steps, struct error *error)
{
    enum status status = check(attempt, false, error);
    while (!status && attempt->now.step < steps && judged_in_limits(attempt) < hopeless) {
        if (interruption_raised(attempt->experiment->simulation.physics.interruption))
            return interruption_status(attempt->experiment->simulation.physics.interruption, error);
        const uint64_t due = watch_next(attempt->watch, attempt->now.step);
        const uint64_t next = due < steps ? due : steps;
        status = advance(attempt, next, error);
        if (!status)
            status = check(attempt, next == steps, error);
    }
    return status;
}

enum status rehearse(const struct experiment *x, double step, double bound,
                     struct rehearsal *rehearsal, struct error *error)
{
    struct attempt attempt;
    struct error broken = { 0 };
    *rehearsal = (struct rehearsal){ .step = step };
    enum status status = open_attempt(x, step, &attempt, &broken);
    attempt.bound = bound;
    if (!status)
        status = play(&attempt, (uint64_t)experiment_step_count(x, step), &broken);
    if (attempt.watch && (!status || status == STATUS_NUMERICAL)) {
        rehearsal->within = !status && watch_within_limits(attempt.watch, NULL) &&
                            watch_energy_error(attempt.watch) <= unseen_part * bound;
        rehearsal->error_in_limits = error_in_limits(&attempt);
        watch_text(attempt.watch, NULL, rehearsal->text);
    }
    close_attempt(&attempt);
    return status == STATUS_NUMERICAL ? STATUS_OK : error_pass(error, &broken);
}
