/* One system of many bodies, and all systems, which threads take whole, or together. See
 * gauss-radau.h. */
#include "config.h"

#include "integrator/gauss-radau.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/barrier.h"
#include "base/memory.h"
#include "external/external.h"
#include "force/direct/reference.h"

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

/* One thread's bodies of a system, and where their numbers stand. */
struct kernel {
    size_t first, last, stride;
    double *state, *terms;
    double *const *x, *const *a;
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
    (void)k, (void)mask; /* all bodies of a system go together */
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

/* In the place of an acceleration that has been taken in. */
VECTOR_INLINE(void) put_scale(const struct kernel *k, size_t i, double scale)
{
    k->a[0][i] = scale;
}

#define STEP(type) CLONE_FOR_VECTORS static type
#define SIMD(words) _Pragma(#words)
#include "integrator/gauss-radau-step.inc"

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
                    scratch->x, scratch->a },
        .dt = system->clock->step,
    };
}

/* Evaluates the force at the start of the next step, unless it is known. */
static void know_force(const struct radau_worker *worker, const struct radau_system *system)
{
    const size_t stride = system->stride;
    if (system->clock->known > 0)
        return;
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = worker->first; i < worker->last; i++)
            worker->scratch.x[axis][i] = radau_array_of(system, RADAU_X)[axis * stride + i];
    worker->force(worker->context);
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = worker->first; i < worker->last; i++)
            radau_array_of(system, RADAU_A)[axis * stride + i] = worker->scratch.a[axis][i];
    system->clock->known = 1;
    system->clock->sums += (double)system->count;
}

/* The work of a node besides the pairs, in units of one pair's time. */
enum { STEP_WORK = 100 };

static void find_largest(const struct radau_worker *worker, double values[2])
{
    if (worker->largest)
        worker->largest(worker->context, values);
}

/*
 * Until b_6 no longer changes or no longer comes nearer. The result: how large accelerations are;
 * NaN where one is not finite, or where the advance is interrupted.
 */
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
            step->worker->force(step->worker->context);
            correct(&step->kernel, n, true, &found);
        }
        values[0] = change_of(&found);
        values[1] = found.size;
        step->system->clock->sums += (double)(RADAU_NODES * step->system->count);
        if (interruption_after(interruption, done, work) || interruption_noticed(interruption))
            values[0] = NAN; /* which the others hear of */
        find_largest(step->worker, values);
        if (!isfinite(values[0] + values[1]))
            return NAN;
        if (radau_converged(pass, values[0], before, values[1]))
            return values[1];
        before = values[0];
    }
}

/* Finds the least time scale of the thread's bodies; INFINITY where none has one. */
static double find_least(const struct step *step, double size, size_t *body)
{
    const struct kernel *const k = &step->kernel;
    double least = INFINITY;
    find_time_scales(k, size);
    for (size_t i = k->first; i < k->last; i++)
        if (k->a[0][i] < least) {
            least = k->a[0][i];
            *body = i;
        }
    return least;
}

/* Which pair is behind the smallest step so far? */
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

/* Tries one step, and takes it if it is short enough. */
static enum adaptive_outcome try_step(const struct step *step, const struct radau_problem *problem,
                                      double *done)
{
    const struct radau_worker *const worker = step->worker;
    struct adaptive_clock *const clock = step->system->clock;
    know_force(worker, step->system);
    const bool later = clock->last > 0;
    predict_terms(&step->kernel, later ? step->dt / clock->last : 0, true);
    const double size = iterate(step, problem->physics->interruption, done);
    if (!isfinite(size))
        return ADAPTIVE_NOT_FINITE;
    size_t limiting = (size_t)clock->limiting;
    double scale = find_least(step, size, &limiting);
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
    double done = 0; /* since an interruption was looked for */
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

/* --- all systems ------------------------------------------------------------------------------ */

/* Memory for one step, of one system at a time: of a thread, or of the team. */
struct workspace {
    double *terms; /* [RADAU_SCRATCH_ARRAYS][3][stride] */
    double *copy;  /* [RADAU_ARRAYS][3][stride]: the copy that takes a step to the grid point */
};

/* The findings of a thread of the team, on cache lines of their own. */
struct findings {
    double largest[2], least;
    size_t body;
    char apart[96];
};

struct radau_large {
    const struct adaptive_systems *systems;
    struct force *kernels; /* NULL: the reference */
    int threads;
    double length;
    bool by_team;      /* all threads take one system after the other */
    size_t workspaces; /* the team's, or one for each thread */
    struct workspace *work;
    struct findings *findings; /* [threads] */
    struct barrier barrier;
};

/* --- create and destroy ----------------------------------------------------------------------- */

void radau_large_destroy(struct radau_large *all)
{
    if (!all)
        return;
    for (size_t k = 0; k < all->workspaces && all->work; k++) {
        memory_free(all->work[k].terms);
        memory_free(all->work[k].copy);
    }
    memory_free(all->work);
    memory_free(all->findings);
    free(all);
}

struct radau_large *radau_large_create(const struct adaptive_systems *systems,
                                       struct force *kernels, int threads, double length,
                                       struct error *error)
{
    const struct bodies *const b = systems->bodies;
    struct radau_large *const all = calloc(1, sizeof *all);
    if (!all) {
        error_memory(error);
        return NULL;
    }
    all->systems = systems;
    all->kernels = kernels;
    all->threads = threads;
    all->length = length;
    all->by_team = b->systems < (size_t)threads;
    all->workspaces = all->by_team ? 1 : (size_t)threads;
    all->work = memory_array(all->workspaces, sizeof *all->work, error);
    all->findings = memory_array((size_t)threads, sizeof *all->findings, error);
    for (size_t k = 0; k < all->workspaces && !error->status; k++) {
        struct workspace *const work = &all->work[k];
        work->terms =
            memory_array(memory_bytes(3 * RADAU_SCRATCH_ARRAYS, b->stride), sizeof(double), error);
        work->copy = memory_array(memory_bytes(3 * RADAU_ARRAYS, b->stride), sizeof(double), error);
    }
    if (!error->status)
        return all;
    radau_large_destroy(all);
    return NULL;
}

/* --- one system ------------------------------------------------------------------------------- */

/* One thread at one system. The arrays of the bodies serve the force until the grid point's state
 * goes there. */
struct task {
    struct radau_large *all;
    size_t system;
};

/* Whole cache lines to each thread of a team. */
static void share_of(const struct radau_large *all, size_t *first, size_t *last)
{
    const struct bodies *const b = all->systems->bodies;
    const size_t thread = all->by_team ? (size_t)omp_get_thread_num() : 0;
    const size_t threads = all->by_team ? (size_t)omp_get_num_threads() : 1;
    const size_t lines = b->stride / BODIES_PADDING;
    *first = lines * thread / threads * BODIES_PADDING;
    *last = lines * (thread + 1) / threads * BODIES_PADDING;
    *last = *last < b->count ? *last : b->count;
}

static void sum_forces(void *context)
{
    const struct task *const task = context;
    const struct radau_large *const all = task->all;
    const struct force_item item = { task->system, task->system + 1, all->by_team, NULL };
    const struct bodies *const bodies = all->systems->bodies;
    if (all->kernels)
        all->kernels->method->accelerations(all->kernels, bodies, &item);
    else
        reference_accelerations_of(all->systems->physics, bodies, task->system, 0, bodies->count);
    if (all->systems->physics->external) { /* of the bodies that this thread goes on with */
        const size_t start = task->system * bodies->stride;
        size_t first, last;
        share_of(all, &first, &last);
        external_accelerate(all->systems->physics->external, bodies, start + first, start + last);
    }
}

static void share_largest(void *context, double values[2])
{
    struct radau_large *const all = ((struct task *)context)->all;
    memcpy(all->findings[omp_get_thread_num()].largest, values, sizeof all->findings->largest);
    barrier_wait(&all->barrier);
    for (int k = 0; k < omp_get_num_threads(); k++)
        for (int i = 0; i < 2; i++) /* NaN stays */
            if (!(all->findings[k].largest[i] <= values[i]) && !isnan(values[i]))
                values[i] = all->findings[k].largest[i];
}

static void share_least(void *context, double *value, size_t *body)
{
    struct radau_large *const all = ((struct task *)context)->all;
    all->findings[omp_get_thread_num()].least = *value;
    all->findings[omp_get_thread_num()].body = *body;
    barrier_wait(&all->barrier);
    for (int k = omp_get_num_threads(); k-- > 0;)
        if (all->findings[k].least <= *value) {
            *value = all->findings[k].least;
            *body = all->findings[k].body;
        }
}

static void wait_for_team(void *context)
{
    barrier_wait(&((struct task *)context)->all->barrier);
}

static struct radau_worker worker_of(struct task *task)
{
    struct radau_large *const all = task->all;
    const struct bodies *const b = all->systems->bodies;
    const size_t thread = (size_t)omp_get_thread_num();
    const size_t first = task->system * b->stride;
    const struct workspace *const work = &all->work[task->all->by_team ? 0 : thread];
    struct radau_worker worker = {
        .scratch = { .terms = work->terms,
                     .x = { b->x + first, b->y + first, b->z + first },
                     .a = { b->ax + first, b->ay + first, b->az + first } },
        .length = all->length,
        .context = task,
        .force = sum_forces,
    };
    share_of(all, &worker.first, &worker.last);
    if (task->all->by_team) {
        worker.largest = share_largest;
        worker.least = share_least;
        worker.wait = wait_for_team;
    }
    return worker;
}

/* The thread's part of every array. */
static void copy_part(const struct radau_worker *worker, const struct radau_system *to,
                      const struct radau_system *from)
{
    if (worker->first >= worker->last)
        return;
    const size_t bytes = (worker->last - worker->first) * sizeof(double);
    for (size_t k = 0; k < 3 * RADAU_ARRAYS; k++)
        memcpy(to->arrays + k * to->stride + worker->first,
               from->arrays + k * from->stride + worker->first, bytes);
}

/* To the arrays that everyone sees. */
static void show_part(const struct task *task, const struct radau_worker *worker,
                      const struct radau_system *from)
{
    const struct bodies *const b = task->all->systems->bodies;
    const size_t first = task->system * b->stride;
    double *const v[3] = { b->vx + first, b->vy + first, b->vz + first };
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = worker->first; i < worker->last; i++) {
            const size_t at = axis * from->stride + i;
            worker->scratch.x[axis][i] = radau_array_of(from, RADAU_X)[at];
            v[axis][i] = radau_array_of(from, RADAU_V)[at];
        }
}

/* Takes a step of a copy to the grid point. */
static enum adaptive_outcome observe(const struct task *task, const struct radau_worker *worker,
                                     const struct radau_system *system,
                                     const struct radau_problem *problem, double target)
{
    const struct workspace *const work =
        &task->all->work[task->all->by_team ? 0 : omp_get_thread_num()];
    if (radau_left(system->clock, target) == 0) {
        show_part(task, worker, system);
        return ADAPTIVE_DONE;
    }
    know_force(worker, system);
    struct adaptive_clock clock = *system->clock;
    const struct radau_system copy = { system->count, system->stride, work->copy, &clock };
    copy_part(worker, &copy, system);
    const enum adaptive_outcome outcome = radau_advance(worker, &copy, problem, target, true);
    show_part(task, worker, &copy);
    if (outcome != ADAPTIVE_DONE)
        adaptive_clock_copy_failure(system->clock, &clock);
    return outcome;
}

/* By the calling thread, or by all of a team. */
static void move_system(struct radau_large *all, size_t s, double dt)
{
    struct task task = { all, s };
    const struct radau_worker worker = worker_of(&task);
    const struct radau_problem problem = radau_problem_at(all->systems, s, dt);
    struct radau_system system = radau_system_at(all->systems, s);
    struct adaptive_clock clock =
        *system.clock; /* every thread has one, and all of them are alike */
    system.clock = &clock;
    const double target = clock.grid * dt;
    enum adaptive_outcome outcome = (enum adaptive_outcome)clock.stuck;
    if (outcome == ADAPTIVE_DONE)
        outcome = radau_advance(&worker, &system, &problem, target, false);
    if (outcome == ADAPTIVE_DONE)
        outcome = observe(&task, &worker, &system, &problem, target);
    else
        show_part(&task, &worker, &system);
    clock.stuck = outcome;
    if (all->by_team)
        barrier_wait(&all->barrier); /* nobody reads the old clock any more */
    if (!all->by_team || omp_get_thread_num() == 0)
        all->systems->clocks[s] = clock;
}

void radau_large_advance(struct radau_large *all, double dt)
{
    const size_t count = all->systems->bodies->systems;
    if (all->by_team) {
#pragma omp parallel num_threads(all->threads)
        for (size_t s = 0; s < count; s++)
            move_system(all, s, dt);
    } else {
#pragma omp parallel for num_threads(all->threads) if (all->threads > 1) schedule(dynamic)
        for (size_t s = 0; s < count; s++)
            if (!interruption_raised(all->systems->physics->interruption))
                move_system(all, s, dt);
    }
}
