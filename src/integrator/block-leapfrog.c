/*
 * The leapfrog with block steps, for one system (Quinn, Katz, Stadel & Lake 1997, astro-ph/9710043;
 * Springel 2005, MNRAS 364, 1105, 3.1 and 4.1). Every body goes by kick, drift and kick over a step
 * of its own: the grid step (the config's time.step) over the least power of two that makes the
 * step no longer than
 *   dt = eta sqrt(eps / |a|),
 * with the softening length eps and the acceleration a at the beginning of the step. At each time
 * at which the step of some body ends, all bodies are drifted to this time, and the accelerations
 * of the bodies whose step ends are summed. Such a body may take a shorter step next at any time,
 * and a longer one if the time is a multiple of the longer step.
 */
#include "config.h"

#include <math.h>

#include "external/external.h"
#include "integrator/block-steps.h"
#include "model/vec3.h"

enum { STEP, ETA };

const struct parameter block_leapfrog_parameters[BLOCK_LEAPFROG_PARAMETERS] = {
    BLOCK_STEP_PARAMETER,
    { KEY(REAL, eta), BY_DEFAULT(REAL, 0.2), POSITIVE,
      .help = "Accuracy: a body's step is at most eta (softening / |a|)^(1/2), with its "
              "acceleration a." },
};

/* --- one thread's part ------------------------------------------------------------------------ */

static void kick(const struct block_system *s, size_t i, double h)
{
    for (int axis = 0; axis < 3; axis++)
        s->v[axis][i] += h * s->a[axis][i];
}

/* Returns the step for body i by the criterion at the head of this file, eta sqrt(eps / |a|);
 * INFINITY if no force acts on it. */
static double wanted_step(const struct block_worker *worker, size_t i)
{
    const double *const eta = worker->rule;
    double *const *const of = worker->system->a;
    const double a[3] = { of[0][i], of[1][i], of[2][i] };
    return *eta * sqrt(worker->physics->softening / vec3_length(a));
}

/* Begins the next step of the body at index k of the block, with half of its kick; at the end of a
 * grid step only chooses the step. Within the grid step a step must begin at a multiple of its
 * length. s->step is 0 if even the shortest step is too long. */
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

/* Predicts x + (now - time) v along one axis: drifts every body from its own time to that of the
 * block. Times are in units of `tick`. */
CLONE_FOR_VECTORS
static void drift_axis(double *restrict at_x, const double *restrict x, const double *restrict v,
                       const double *restrict time, double now, double tick, size_t first,
                       size_t last)
{
#pragma omp simd
    for (size_t i = first; i < last; i++)
        at_x[i] = x[i] + (now - time[i]) * tick * v[i];
}

/* Sets x and v to position and velocity of body i at the time of the block, in a frame that turns:
 * drifts it from its own time. *by keeps the coefficients of the previous call (all 0 before the
 * first), which serve again if the time is the same. */
static void drift_turning(const struct block_worker *worker, struct field_drift *by, size_t i,
                          double x[3], double v[3])
{
    const struct block_system *const s = worker->system;
    const double h = (worker->work->now - worker->work->time[i]) * worker->tick;
    if (h != by->h)
        *by = external_drift_of(worker->physics->rotation, h);
    for (int axis = 0; axis < 3; axis++) {
        x[axis] = s->x[axis][i];
        v[axis] = s->v[axis][i];
    }
    field_drift(by, x, v);
}

static void predict_turning(const struct block_worker *worker, size_t last)
{
    struct field_drift by = { 0 };
    for (size_t i = worker->first; i < last; i++) {
        double x[3], v[3];
        drift_turning(worker, &by, i, x, v);
        for (int axis = 0; axis < 3; axis++)
            worker->work->at_x[axis][i] = x[axis];
    }
}

/* Turns the velocity of body i as the Coriolis force does from the body's own time to that of the
 * block; does nothing if the frame is at rest. */
static void turn_velocity(const struct block_worker *worker, size_t i)
{
    struct field_drift by = { 0 };
    double x[3], v[3];
    if (worker->physics->rotation == 0.0)
        return;
    drift_turning(worker, &by, i, x, v);
    for (int axis = 0; axis < 3; axis++)
        worker->system->v[axis][i] = v[axis];
}

static void predict(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    struct block_workspace *const work = worker->work;
    const size_t last = worker->last < s->count ? worker->last : s->count;
    if (worker->physics->rotation != 0.0) {
        predict_turning(worker, last);
        return;
    }
    for (int axis = 0; axis < 3; axis++)
        drift_axis(work->at_x[axis], s->x[axis], s->v[axis], work->time, work->now, worker->tick,
                   worker->first, last);
}

/* Ends the steps of this thread's part of the block and begins the bodies' next steps. At the end
 * of a grid step it only chooses these, since the next grid step begins them. */
static void correct(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    struct block_workspace *const work = worker->work;
    size_t first, last;
    block_share(worker, worker->threads, &first, &last);
    for (size_t k = first; k < last; k++) {
        const size_t i = work->block[k];
        turn_velocity(worker, i);
        for (int axis = 0; axis < 3; axis++) {
            s->x[axis][i] = work->at_x[axis][i];
            s->a[axis][i] = work->sum_a[axis][k];
        }
        kick(s, i, 0.5 * s->step[i]);
        begin_step(worker, k);
    }
}

/* Drifts the bodies that are not due to the time of the block, and kicks all velocities, which are
 * those of the middle of a step, to that time. */
static void bring_along(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    const struct block_workspace *const work = worker->work;
    for (size_t i = 0; i < s->count && work->now < BLOCK_TICKS; i++) {
        if (work->time[i] != work->now)
            turn_velocity(worker, i);
        for (int axis = 0; axis < 3 && work->time[i] != work->now; axis++)
            s->x[axis][i] = work->at_x[axis][i];
        kick(s, i, (work->now - work->time[i]) * worker->tick - 0.5 * s->step[i]);
    }
}

/* --- grid steps ------------------------------------------------------------------------------- */

static void begin(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    for (size_t i = worker->first; i < worker->last && i < s->count; i++)
        for (int axis = 0; axis < 3; axis++)
            s->a[axis][i] = worker->work->sum_a[axis][i];
}

/* At the start of a grid step the block has all bodies, so body i is at index i of the block. */
static void open_grid_step(const struct block_worker *worker)
{
    for (size_t i = worker->first; i < worker->last && i < worker->system->count; i++)
        begin_step(worker, i);
}

static double step_ratio(const void *rule, const void *other)
{
    return *(const double *)rule / *(const double *)other;
}

static const struct block_method method = {
    .adaptive = { &block_leapfrog_class, "block-leapfrog", BLOCK_ARRAYS, block_systems_makes_sense,
                  block_systems_describe_stuck, false },
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
