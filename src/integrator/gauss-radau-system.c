/* Steps of the method of gauss-radau.h for one system of any number of bodies, with the force as a
 * callback. */
#include "config.h"

#include "integrator/gauss-radau.h"

#include <math.h>

#include "external/external.h"
#include "force/direct/reference.h"
#include "model/vec3.h"

/* --- the arithmetic, in one lane -------------------------------------------------------------- */

enum { LANES = 1 };
typedef double vdouble;
typedef int mask_double;

#define VECTOR_INLINE(type) static inline __attribute__((always_inline)) type
#define UNROLL
/* clang-format off */
VECTOR_INLINE(double) load_double(const double *p) { return *p; }
VECTOR_INLINE(double) splat_double(double a) { return a; }
VECTOR_INLINE(double) madd_double(double a, double b, double c) { return a * b + c; }
VECTOR_INLINE(double) nmadd_double(double a, double b, double c) { return c - a * b; }
VECTOR_INLINE(double) greater(double a, double b) { return a > b ? a : b; }
VECTOR_INLINE(double) select_double(int mask, double yes, double no) { return mask ? yes : no; }
VECTOR_INLINE(double) masked(double a, int mask) { return mask ? a : 0; }
VECTOR_INLINE(double) magnitude(double a) { return fabs(a); }
VECTOR_INLINE(double) root(double a) { return sqrt(a); }
/* clang-format on */

/* The bodies [first, last) of one thread, and the arrays of their system. */
struct kernel {
    size_t first, last, stride;
    double *state, *terms;
    double *const *x, *const *a, *const *v;
};

/* clang-format off */
VECTOR_INLINE(size_t) first_of(const struct kernel *k) { return k->first; }
VECTOR_INLINE(size_t) last_of(const struct kernel *k) { return k->last; }
/* clang-format on */

VECTOR_INLINE(size_t) axis_at(const struct kernel *k, size_t axis)
{
    return axis * k->stride;
}

VECTOR_INLINE(double *) state_of(const struct kernel *k, size_t array)
{
    return k->state + axis_at(k, 3 * array);
}

VECTOR_INLINE(double *) work_of(const struct kernel *k, size_t term)
{
    return k->terms + axis_at(k, 3 * term);
}

VECTOR_INLINE(void) update(const struct kernel *k, double *array, int mask, double value)
{
    (void)k, (void)mask; /* all bodies of a system take the same steps */
    *array = value;
}

VECTOR_INLINE(void) put_shift(const struct kernel *k, size_t axis, size_t i, double shift)
{
    k->x[axis][i] = state_of(k, RADAU_X)[axis_at(k, axis) + i] + shift;
}

VECTOR_INLINE(double) acceleration(const struct kernel *k, size_t axis, size_t i)
{
    return k->a[axis][i];
}

/* Stores the square of a body's time scale in the array of accelerations along x, which are no
 * longer needed. */
VECTOR_INLINE(void) put_scale(const struct kernel *k, size_t i, double scale)
{
    k->a[0][i] = scale;
}

#define STEP(type) CLONE_FOR_VECTORS static type
#define SIMD(words) _Pragma(#words)
#include "integrator/gauss-radau-step.inc"

/*
 * Predicts the velocities at node n, v + h a + dt sum speed g, as Rein & Spiegel (2015) do for
 * forces that depend on velocities: as the passes converge, velocities and forces agree.
 */
STEP(void) predict_velocities(const struct kernel *k, size_t n, double dt)
{
    const double h = radau.h[n] * dt;
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = k->first; i < k->last; i++) {
            const size_t at = axis_at(k, axis) + i;
            double sum = 0;
            for (size_t term = 0; term < RADAU_TERMS; term++)
                sum += radau.speed[n][term] * work_of(k, WORK_G + term)[at];
            const double low = state_of(k, RADAU_CSV)[at] + dt * sum;
            k->v[axis][i] = state_of(k, RADAU_V)[at] + (h * state_of(k, RADAU_A)[at] + low);
        }
}

/* --- steps of one system ---------------------------------------------------------------------- */

struct step {
    const struct radau_worker *worker;
    const struct radau_system *system;
    struct kernel kernel;
    double dt;
};

static struct step step_of(const struct radau_worker *worker, const struct radau_system *system)
{
    const struct radau_scratch *const scratch = &worker->scratch;
    return (struct step){
        .worker = worker,
        .system = system,
        .kernel = { worker->first, worker->last, system->stride, system->arrays, scratch->terms,
                    scratch->x, scratch->a, scratch->v },
        .dt = system->clock->step,
    };
}

void radau_know_force(const struct radau_worker *worker, const struct radau_system *system)
{
    const size_t stride = system->stride;
    if (system->clock->known > 0)
        return;
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = worker->first; i < worker->last; i++) {
            worker->scratch.x[axis][i] = radau_array_of(system, RADAU_X)[axis * stride + i];
            if (worker->scratch.v[axis])
                worker->scratch.v[axis][i] = radau_array_of(system, RADAU_V)[axis * stride + i];
        }
    worker->force(worker->context);
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = worker->first; i < worker->last; i++)
            radau_array_of(system, RADAU_A)[axis * stride + i] = worker->scratch.a[axis][i];
    system->clock->known = 1;
    system->clock->sums += (double)system->count;
}

/* The computing time of a step at one of its nodes, without the pairs, in units of one pair's
 * time. */
enum { STEP_WORK = 100 };

static void find_largest(const struct radau_worker *worker, double values[2])
{
    if (worker->largest)
        worker->largest(worker->context, values);
}

/* Repeats passes over the nodes until radau_converged(). Returns the largest acceleration; NaN if
 * one is not finite or the advance is interrupted. *done counts pairs since the last look for an
 * interruption. */
static double iterate(const struct step *step, struct interruption *interruption, double *done)
{
    const double work =
        (double)RADAU_NODES * (STEP_WORK + reference_pairs(1.0, (double)step->system->count));
    double before = INFINITY, values[2];
    struct found found;
    for (int pass = 1;; pass++) {
        for (size_t n = 0; n < RADAU_NODES; n++) {
            found = (struct found){ 0 };
            predict(&step->kernel, n, step->dt);
            if (step->kernel.v[0])
                predict_velocities(&step->kernel, n, step->dt);
            step->worker->force(step->worker->context);
            correct(&step->kernel, n, true, &found);
        }
        values[0] = change_of(&found);
        values[1] = found.size;
        step->system->clock->sums += (double)(RADAU_NODES * step->system->count);
        if (interruption_after(interruption, done, work) || interruption_noticed(interruption))
            values[0] = NAN; /* find_largest() hands it on, so that all threads stop */
        find_largest(step->worker, values);
        if (!isfinite(values[0] + values[1]))
            return NAN;
        if (radau_converged(pass, values[0], before, values[1]))
            return values[1];
        before = values[0];
    }
}

/* Puts into k->a[1], no longer needed as accelerations, for each body -1 or, if its acceleration is
 * only the rounding error of fields that cancel and so gives no time scale, the square of the time
 * scale of the fields, in units of the step. */
static void note_cancelled(const struct step *step, const struct external *external)
{
    static const double still[3] = { 0 };
    const struct kernel *const k = &step->kernel;
    for (size_t i = k->first; i < k->last; i++) {
        const double x[3] = { k->x[0][i], k->x[1][i], k->x[2][i] };
        const double a[3] = { k->a[0][i], k->a[1][i], k->a[2][i] };
        k->a[1][i] = -1;
        if (!external || vec3_length(a) > RADAU_FIELDS_CANCELLED * external_pulls(external, x))
            continue;
        const double time = external_time(external, x, still) / step->dt;
        k->a[1][i] = time * time;
    }
}

/* Returns the least square of a time scale of this thread's bodies, in units of the step squared,
 * and puts the body that has it into *body. Returns INFINITY, and leaves *body as it was, if no
 * body has a time scale. */
static double find_least(const struct step *step, const struct external *external, double size,
                         size_t *body)
{
    const struct kernel *const k = &step->kernel;
    double least = INFINITY;
    note_cancelled(step, external);
    find_time_scales(k, size);
    for (size_t i = k->first; i < k->last; i++) {
        const double scale = k->a[1][i] < 0 ? k->a[0][i] : k->a[1][i];
        if (scale < least) {
            least = scale;
            *body = i;
        }
    }
    return least;
}

/* If the step is the smallest so far, notes it and the pair of bodies that made it short. */
static void remember_smallest(const struct step *step, const struct radau_problem *problem)
{
    struct adaptive_clock *const clock = step->system->clock;
    if (step->dt >= clock->smallest)
        return;
    const size_t stride = step->system->stride;
    double *const x = radau_array_of(step->system, RADAU_X);
    const struct reference_motion motion = {
        .m = problem->m,
        .x = { x, x + stride, x + 2 * stride },
        .count = step->system->count,
    };
    radau_remember_smallest(clock, problem->physics, &motion, step->dt);
}

/* Tries one step, moves this thread's bodies to its end if it is short enough, and chooses the next
 * step. */
static enum adaptive_outcome try_step(const struct step *step, const struct radau_problem *problem,
                                      double *done)
{
    const struct radau_worker *const worker = step->worker;
    struct adaptive_clock *const clock = step->system->clock;
    radau_know_force(worker, step->system);
    const bool later = clock->last > 0;
    predict_terms(&step->kernel, later ? step->dt / clock->last : 0, true);
    const double size = iterate(step, problem->physics->interruption, done);
    if (!isfinite(size))
        return ADAPTIVE_NOT_FINITE;
    size_t limiting = (size_t)clock->limiting;
    double scale = find_least(step, problem->physics->external, size, &limiting);
    if (worker->least)
        worker->least(worker->context, &scale, &limiting);
    clock->step = radau_next(step->dt, scale, worker->length);
    if (radau_rejects(step->dt, clock->step)) {
        clock->limiting = (double)limiting;
        clock->rejections += 1;
        return ADAPTIVE_DONE;
    }
    remember_smallest(step, problem);
    clock->limiting = (double)limiting;
    if (worker->wait)
        worker->wait(worker->context);
    finish(&step->kernel, step->dt, true, later);
    radau_tick(clock, step->dt);
    return ADAPTIVE_DONE;
}

enum adaptive_outcome radau_advance(const struct radau_worker *worker,
                                    const struct radau_system *system,
                                    const struct radau_problem *problem, double target, bool land)
{
    struct adaptive_clock *const clock = system->clock;
    enum adaptive_outcome outcome = ADAPTIVE_DONE;
    double done = 0;
    while (outcome == ADAPTIVE_DONE) {
        struct step step = step_of(worker, system);
        const double left = radau_left(clock, target);
        if (left < step.dt) {
            if (!land || left <= 0)
                break;
            step.dt = left;
        } else if (step.dt < radau_floor(clock, problem->grid)) {
            return ADAPTIVE_TOO_SMALL;
        }
        const double steps = clock->steps;
        outcome = try_step(&step, problem, &done);
        if (step.dt == left && clock->steps > steps)
            break;
    }
    return outcome;
}
