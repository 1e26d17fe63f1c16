#include "config.h"

#include "integrator/hermite.h"

#include <math.h>
#include <string.h>

#include "force/jerk.h"

enum { STEP, ETA };

const struct parameter hermite_parameters[HERMITE_PARAMETERS] = {
    BLOCK_STEP_PARAMETER,
    { KEY(REAL, eta), BY_DEFAULT(REAL, 0.02), POSITIVE,
      .help = "Accuracy: steps go with the square root of it, by Aarseth's criterion." },
};

/* --- one thread's part ------------------------------------------------------------------------ */

static const struct hermite_rule *rule_of(const struct block_worker *worker)
{
    return worker->rule;
}

/* Returns the block (the bodies that are due) with the forces on it, and with `motion` as the
 * predicted positions and velocities of all bodies. */
static struct hermite_block block_of(const struct block_worker *worker,
                                     struct reference_motion motion)
{
    const struct block_workspace *const work = worker->work;
    return (struct hermite_block){
        .physics = worker->physics,
        .predicted = motion,
        .body = work->block,
        .count = work->block_size,
        .a = { work->sum_a[0], work->sum_a[1], work->sum_a[2] },
        .jerk = { work->sum_jerk[0], work->sum_jerk[1], work->sum_jerk[2] },
    };
}

/* Predicts positions and velocities along one axis, from every body's own time to that of the
 * block. */
CLONE_FOR_VECTORS
static void predict_axis(double *restrict at_x, double *restrict at_v, const double *restrict x,
                         const double *restrict v, const double *restrict a,
                         const double *restrict jerk, const double *restrict time, double now,
                         double tick, size_t first, size_t last)
{
#pragma omp simd
    for (size_t i = first; i < last; i++) {
        const double h = (now - time[i]) * tick;
        at_x[i] = predicted_position(x[i], v[i], a[i], jerk[i], h);
        at_v[i] = predicted_velocity(v[i], a[i], jerk[i], h);
    }
}

static void predict(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    struct block_workspace *const work = worker->work;
    const size_t last = worker->last < s->count ? worker->last : s->count;
    for (int axis = 0; axis < 3; axis++)
        predict_axis(work->at_x[axis], work->at_v[axis], s->x[axis], s->v[axis], s->a[axis],
                     s->jerk[axis], work->time, work->now, worker->tick, worker->first, last);
}

/* Returns the first step of a body in a grid step: the longest allowed step that is not longer than
 * `wanted` or, if there is none, the shortest allowed one. */
static double first_step(const struct block_worker *worker, double wanted)
{
    const double step = block_round_step(worker->dt, wanted);
    return step > 0 ? step : ldexp(worker->dt, -BLOCK_DEEPEST);
}

/* Returns the next step of a body, near `wanted`: the step may become shorter at any time, and may
 * be doubled if the time is a multiple of the doubled step; 0 if the shortest is too long. */
static double next_step(const struct block_worker *worker, double step, double wanted)
{
    const double doubled = 2 * step / worker->tick;
    if (wanted >= 2 * step && 2 * step <= worker->dt && fmod(worker->work->now, doubled) == 0)
        return 2 * step;
    return wanted >= step ? step : block_round_step(worker->dt, wanted);
}

/* Tells whether the block is small enough for a second evaluation of its forces. If the bodies are
 * a sample of a larger system (`others` in struct adaptive_options), its other bodies that would be
 * due now count as well. */
static bool is_small(const struct block_worker *worker)
{
    const double *const others = rule_of(worker)->others;
    double due = (double)worker->work->block_size;
    for (int k = 0; k <= BLOCK_DEEPEST; k++)
        if (others[k] > 0 && fmod(worker->work->now, ldexp(BLOCK_TICKS, -k)) == 0)
            due += others[k];
    return due <= HERMITE_SMALL_BLOCK;
}

/* Corrects the bodies of this thread's part of the block, and chooses their next steps; a small
 * block is corrected by the first thread alone. */
static void correct(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    struct block_workspace *const work = worker->work;
    const struct hermite_block block =
        block_of(worker, block_motion(worker, work->at_x, work->at_v));
    const bool small = is_small(worker);
    const size_t threads = small ? 1 : worker->threads;
    size_t first, last;
    if (worker->thread >= threads)
        return;
    if (worker->thread == 0)
        work->refined = small ? hermite_refine(s, &block) : 0;
    block_share(worker, threads, &first, &last);
    for (size_t k = first; k < last; k++) {
        const size_t i = block.body[k];
        const double wanted = hermite_correct(s, rule_of(worker), &block, k);
        work->wanted[k] = wanted;
        s->step[i] = next_step(worker, s->step[i], wanted);
        work->time[i] = work->now;
        work->next[i] = work->now + s->step[i] / worker->tick;
    }
}

static void bring_along(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    const struct block_workspace *const work = worker->work;
    for (size_t i = 0; i < s->count; i++)
        for (int axis = 0; axis < 3 && work->time[i] != work->now; axis++) {
            s->x[axis][i] = work->at_x[axis][i];
            s->v[axis][i] = work->at_v[axis][i];
        }
}

/* --- grid steps ------------------------------------------------------------------------------- */

static void begin(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    const struct hermite_block block = block_of(worker, block_motion(worker, s->x, s->v));
    for (size_t i = worker->first; i < worker->last && i < s->count; i++)
        s->step[i] = first_step(worker, hermite_start(s, rule_of(worker), &block, i, worker->dt));
}

static void fit_steps(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    for (size_t i = 0; i < s->count; i++)
        s->step[i] = first_step(worker, s->step[i]);
}

static void open_grid_step(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    for (size_t i = worker->first; i < worker->last && i < s->count; i++) {
        worker->work->time[i] = 0;
        worker->work->next[i] = s->step[i] / worker->tick;
    }
}

static double step_ratio(const void *rule, const void *other)
{
    return sqrt(((const struct hermite_rule *)rule)->eta /
                ((const struct hermite_rule *)other)->eta);
}

const struct block_method hermite_method = {
    .adaptive = { &hermite_class, "hermite4", BLOCK_ARRAYS_WITH_JERKS, block_systems_makes_sense,
                  block_systems_describe_stuck, false },
    .jerks = true,
    .step_ratio = step_ratio,
    .begin = begin,
    .fit_steps = fit_steps,
    .open_grid_step = open_grid_step,
    .predict = predict,
    .correct = correct,
    .bring_along = bring_along,
};

/* --- all systems ------------------------------------------------------------------------------ */

static enum status check_options(const struct adaptive_options *options,
                                 const struct physics *physics, struct error *error)
{
    if (physics->boundary == BOUNDARY_PERIODIC)
        return error_set(
            error, STATUS_CONFIG,
            "physics.boundary = \"periodic\": hermite4 needs forces without jumps, and "
            "the force of a nearest image has one at half the box, which leaves it of "
            "first order at most; choose another time.integrator");
    if (options->force->precision == PRECISION_SINGLE)
        return error_set(error, STATUS_CONFIG,
                         "compute.precision = \"single\": the steps of hermite4 follow differences "
                         "of forces, which positions in one part do not resolve; choose \"mixed\" "
                         "or \"double\"");
    return STATUS_OK;
}

static enum status create(const struct adaptive_options *options, const struct physics *physics,
                          struct bodies *bodies, struct adaptive **adaptive, struct error *error)
{
    *adaptive = NULL;
    if (check_options(options, physics, error))
        return error->status;
    const double eta =
        options->values ? options->values[ETA] : hermite_parameters[ETA].default_value.real;
    /* The rule makes steps shorter by the factor `refinement`: steps are proportional to the square
     * root of eta. */
    struct hermite_rule rule = {
        .eta = eta / (options->refinement * options->refinement),
        .eta_start = 0.01 * fmin(1, sqrt(eta / 0.02)) / options->refinement,
        .rounding = options->force->precision == PRECISION_DOUBLE ? 1e-13 : 1e-5,
    };
    if (options->others)
        memcpy(rule.others, options->others, sizeof rule.others);
    return block_systems_create(&hermite_method, &rule, sizeof rule, options, physics, bodies,
                                adaptive, error);
}

static double bytes(const struct force_options *force, double systems, double count)
{
    return block_systems_bytes(&hermite_method, force, systems, count);
}

const struct adaptive_class hermite_class = {
    .create = create,
    .advance = block_systems_advance,
    .save = adaptive_systems_save,
    .load = adaptive_systems_load,
    .copy_system = block_systems_copy,
    .statistics = block_systems_statistics,
    .count_levels = block_systems_count_levels,
    .kernel = block_systems_kernel,
    .bytes = bytes,
    .destroy = block_systems_destroy,
};
