#include "config.h"

#include "integrator/block-leapfrog.h"

#include <math.h>

#include "integrator/block-systems.h"
#include "model/vec3.h"

enum { STEP, ETA };

const struct parameter block_leapfrog_parameters[BLOCK_LEAPFROG_PARAMETERS] = {
    BLOCK_STEP_PARAMETER,
    { .key = "eta",
      .type = PARAMETER_REAL,
      .default_value = DEFAULT_REAL(0.2),
      .open = OPEN_MINIMUM,
      .help = "Accuracy: a body's step is at most eta (softening / |a|)^(1/2), with its "
              "acceleration a." },
};

/* --- one thread's part ------------------------------------------------------------------------ */

/* v += h a */
static void kick(const struct block_system *s, size_t i, double h)
{
    for (int axis = 0; axis < 3; axis++)
        s->v[axis][i] += h * s->a[axis][i];
}

/* Returns the step that body i asks for, by eta; INFINITY where it feels no force. */
static double wanted_step(const struct block_worker *worker, size_t i)
{
    const double *const eta = worker->rule;
    double *const *const of = worker->system->a;
    const double a[3] = { of[0][i], of[1][i], of[2][i] };
    return *eta * sqrt(worker->physics->softening / vec3_length(a));
}

/* Body number k of the block begins a step of its own now, with half of its kick, unless this is
 * the grid point; or one of 0, where none is short enough. Every step has to begin at a multiple of
 * itself. */
static void begin_step(const struct block_worker *worker, size_t k)
{
    const struct block_system *const s = worker->system;
    struct block_workspace *const work = worker->work;
    const size_t i = work->block[k];
    work->wanted[k] = wanted_step(worker, i);
    double step = block_round_step(worker->dt, work->wanted[k]);
    while (step > 0 && fmod(work->now, step / worker->tick) != 0)
        step *= 0.5;
    s->step[i] = step;
    work->time[i] = work->now;
    work->next[i] = work->now + step / worker->tick;
    if (work->now < BLOCK_TICKS)
        kick(s, i, 0.5 * step);
}

/* x + (now - time) v; every body comes to the time of the block by one drift from its own. */
CLONE_FOR_VECTORS
static void drift_axis(double *restrict at_x, const double *restrict x, const double *restrict v,
                       const double *restrict time, double now, double tick, size_t first,
                       size_t last)
{
#pragma omp simd
    for (size_t i = first; i < last; i++)
        at_x[i] = x[i] + (now - time[i]) * tick * v[i];
}

static void predict(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    struct block_workspace *const work = worker->work;
    const size_t last = worker->last < s->count ? worker->last : s->count;
    for (int axis = 0; axis < 3; axis++)
        drift_axis(work->at_x[axis], s->x[axis], s->v[axis], work->time, work->now, worker->tick,
                   worker->first, last);
}

/* The end of the steps of this thread's part of the block, and the beginning of their next ones.
 * At the grid point these are but chosen, since the next grid step begins them. */
static void correct(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    struct block_workspace *const work = worker->work;
    size_t first, last;
    block_share(worker, worker->threads, &first, &last);
    for (size_t k = first; k < last; k++) {
        const size_t i = work->block[k];
        for (int axis = 0; axis < 3; axis++) {
            s->x[axis][i] = work->at_x[axis][i];
            s->a[axis][i] = work->sum_a[axis][k];
        }
        kick(s, i, 0.5 * s->step[i]);
        begin_step(worker, k);
    }
}

/* Leaves a system that cannot go on as it is now: bodies that are not due are drifted, and all have
 * the velocity of this time in place of that in the middle of a step. */
static void bring_along(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    const struct block_workspace *const work = worker->work;
    for (size_t i = 0; i < s->count && work->now < BLOCK_TICKS; i++) {
        for (int axis = 0; axis < 3 && work->time[i] != work->now; axis++)
            s->x[axis][i] = work->at_x[axis][i];
        kick(s, i, (work->now - work->time[i]) * worker->tick - 0.5 * s->step[i]);
    }
}

/* --- grid steps ------------------------------------------------------------------------------- */

/* Takes in the forces at the start. */
static void begin(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    for (size_t i = worker->first; i < worker->last && i < s->count; i++)
        for (int axis = 0; axis < 3; axis++)
            s->a[axis][i] = worker->work->sum_a[axis][i];
}

/* All bodies begin a step; number i of the block is body i. */
static void open_grid_step(const struct block_worker *worker)
{
    for (size_t i = worker->first; i < worker->last && i < worker->system->count; i++)
        begin_step(worker, i);
}

/* Steps follow eta. */
static double step_ratio(const void *rule, const void *other)
{
    return *(const double *)rule / *(const double *)other;
}

static const struct block_method method = {
    .adaptive = { &block_leapfrog_class, "block-leapfrog", BLOCK_ARRAYS, block_systems_makes_sense,
                  block_systems_describe_stuck },
    .step_ratio = step_ratio,
    .begin = begin,
    .open_grid_step = open_grid_step,
    .predict = predict,
    .correct = correct,
    .bring_along = bring_along,
};

/* --- all systems ------------------------------------------------------------------------------ */

static enum status create(const struct adaptive_options *options, const struct physics *physics,
                          struct bodies *bodies, struct adaptive **adaptive, struct error *error)
{
    *adaptive = NULL;
    if (!(physics->softening > 0))
        return error_set(error, STATUS_CONFIG,
                         "physics.softening = 0: block-leapfrog takes steps of eta (softening / "
                         "|a|)^(1/2), which are 0 then; set a softening, or choose \"hermite4\"");
    const double eta =
        options->values ? options->values[ETA] : block_leapfrog_parameters[ETA].default_value.real;
    const double rule = eta / options->refinement;
    return block_systems_create(&method, &rule, sizeof rule, options, physics, bodies, adaptive,
                                error);
}

static double bytes(const struct force_options *force, double systems, double count)
{
    return block_systems_bytes(&method, force, systems, count);
}

const struct adaptive_class block_leapfrog_class = {
    .takes_any_method = true,
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
