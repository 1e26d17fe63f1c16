/* Systems of many bodies under the integrator gauss-radau: each thread moves whole systems, or all
 * threads move one system together, then the next. See gauss-radau.h. */
#include "integrator/gauss-radau.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/barrier.h"
#include "base/memory.h"
#include "external/external.h"
#include "force/direct/reference.h"

/* --- all systems ------------------------------------------------------------------------------ */

/* Memory for one step of one system at a time; it belongs to a thread or to the team. */
struct workspace {
    double *terms; /* [RADAU_SCRATCH_ARRAYS][3][stride]: for struct radau_scratch */
    double *copy;  /* [RADAU_ARRAYS][3][stride]: a copy of the system's state, which takes the step
                      to the grid point */
};

/* The values that a thread of the team offers in share_largest() and share_least(); `apart` keeps
 * those of different threads on different cache lines. */
struct findings {
    double largest[2], least;
    size_t body;
    char apart[96];
};

struct radau_large {
    const struct adaptive_systems *systems;
    struct force *kernels; /* NULL: forces are computed by reference.h */
    int threads;
    double length;
    bool by_team; /* all threads together move one system after the other */
    size_t workspaces;
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

/* One thread's work on one system. Steps use the arrays of the bodies as scratch for positions and
 * forces; in the end these arrays get the state at the grid point. */
struct task {
    struct radau_large *all;
    size_t system;
};

/* Sets the range of this thread's bodies in a system: whole cache lines for each thread of a team,
 * all bodies for a thread alone. */
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
    if (all->systems->physics->external) { /* each thread for its own bodies */
        const size_t start = task->system * bodies->stride;
        size_t first, last;
        share_of(all, &first, &last);
        external_accelerate(all->systems->physics->external, bodies, start + first, start + last);
        external_add_coriolis(all->systems->physics->rotation, bodies, start + first, start + last);
    }
}

static void share_largest(void *context, double values[2])
{
    struct radau_large *const all = ((struct task *)context)->all;
    memcpy(all->findings[omp_get_thread_num()].largest, values, sizeof all->findings->largest);
    barrier_wait(&all->barrier);
    for (int k = 0; k < omp_get_num_threads(); k++)
        for (int i = 0; i < 2; i++) /* a NaN stays */
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
    double *const v[3] = { b->vx + first, b->vy + first, b->vz + first };
    for (size_t axis = 0; axis < 3 && all->systems->physics->rotation != 0.0; axis++)
        worker.scratch.v[axis] = v[axis];
    if (task->all->by_team) {
        worker.largest = share_largest;
        worker.least = share_least;
        worker.wait = wait_for_team;
    }
    return worker;
}

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

/* Copies positions and velocities of this thread's bodies from a state to the arrays of the
 * bodies. */
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

/* Puts the state at the grid point into the arrays of the bodies: copies the system's state, and
 * takes a step of the copy that ends at the grid point. */
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
    radau_know_force(worker, system);
    struct adaptive_clock clock = *system->clock;
    const struct radau_system copy = { system->count, system->stride, work->copy, &clock };
    copy_part(worker, &copy, system);
    const enum adaptive_outcome outcome = radau_advance(worker, &copy, problem, target, true);
    show_part(task, worker, &copy);
    if (outcome != ADAPTIVE_DONE)
        adaptive_clock_copy_failure(system->clock, &clock);
    return outcome;
}

/* Moves a system to its grid point, by the calling thread or by all of a team. */
static void move_system(struct radau_large *all, size_t s, double dt)
{
    struct task task = { all, s };
    const struct radau_worker worker = worker_of(&task);
    const struct radau_problem problem = radau_problem_at(all->systems, s, dt);
    struct radau_system system = radau_system_at(all->systems, s);
    struct adaptive_clock clock =
        *system.clock; /* each thread of a team has a copy; all change alike */
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
        barrier_wait(&all->barrier); /* all threads have copied the system's clock */
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
