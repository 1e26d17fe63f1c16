#include "config.h"

#include "integrator/block-leapfrog.h"

#include <math.h>
#include <omp.h>

#include "base/memory.h"
#include "external/external.h"
#include "force/direct/reference.h"
#include "model/vec3.h"

/* --- memory ----------------------------------------------------------------------------------- */

enum { WORKSPACE_ARRAYS = 8 };

static void workspace_arrays(struct leapfrog_workspace *work, double **arrays[WORKSPACE_ARRAYS])
{
    for (int axis = 0; axis < 3; axis++) {
        arrays[axis] = &work->at_x[axis];
        arrays[3 + axis] = &work->sum_a[axis];
    }
    arrays[6] = &work->time;
    arrays[7] = &work->next;
}

enum status leapfrog_workspace_create(struct leapfrog_workspace *work,
                                      const struct force_options *options,
                                      const struct physics *physics, size_t count,
                                      struct error *error)
{
    double **arrays[WORKSPACE_ARRAYS];
    *work = (struct leapfrog_workspace){ 0 };
    if (jerk_create(options, physics, count, false, &work->forces, error))
        return error->status;
    const size_t length = (size_t)bodies_length_of(1, (double)count);
    workspace_arrays(work, arrays);
    for (int k = 0; k < WORKSPACE_ARRAYS; k++)
        *arrays[k] = memory_array(length, sizeof(double), error);
    work->block = memory_array(length, sizeof *work->block, error);
    return error->status;
}

void leapfrog_workspace_destroy(struct leapfrog_workspace *work)
{
    double **arrays[WORKSPACE_ARRAYS];
    workspace_arrays(work, arrays);
    for (int k = 0; k < WORKSPACE_ARRAYS; k++)
        memory_free(*arrays[k]);
    memory_free(work->block);
    jerk_destroy(work->forces);
}

double leapfrog_workspace_bytes(const struct force_options *options, double count)
{
    return jerk_bytes(options, count) +
           bodies_length_of(1, count) * (WORKSPACE_ARRAYS * sizeof(double) + sizeof(uint32_t));
}

/* --- one thread's part ------------------------------------------------------------------------ */

/* One thread of those that work on the system. */
struct worker {
    const struct leapfrog_system *system;
    const struct physics *physics;
    const struct bodies *bodies;
    struct leapfrog_workspace *work;
    struct adaptive_clock *clock; /* of the first thread alone */
    double eta;
    double dt, tick; /* dt over 2^BLOCK_DEEPEST */
    size_t thread, threads;
    size_t first, last; /* its bodies, with the padding */
};

static void wait_for_others(const struct worker *worker)
{
    if (worker->threads > 1)
        barrier_wait(&worker->work->barrier);
}

/* Sums the accelerations of the block with all bodies at x, which are this thread's to pack; the
 * fields are added to a part of them. */
static void sum_block(const struct worker *worker, double *const x[3])
{
    const struct leapfrog_system *const s = worker->system;
    struct leapfrog_workspace *const work = worker->work;
    const struct external *const external = worker->physics->external;
    const double *const at_x[3] = { x[0], x[1], x[2] }, *const v[3] = { s->v[0], s->v[1], s->v[2] };
    jerk_pack(work->forces, at_x, v, worker->first, worker->last);
    jerk_sum(work->forces, work->block, work->block_size, work->sum_a, NULL);
    if (!external)
        return;
    const size_t last = share_start(work->block_size, worker->threads, worker->thread + 1);
    for (size_t k = share_start(work->block_size, worker->threads, worker->thread); k < last; k++) {
        const size_t i = work->block[k];
        double field[3];
        external_acceleration(external, (const double[3]){ x[0][i], x[1][i], x[2][i] }, field);
        for (int axis = 0; axis < 3; axis++)
            work->sum_a[axis][k] += field[axis];
    }
}

/* v += h a */
static void kick(const struct leapfrog_system *s, size_t i, double h)
{
    for (int axis = 0; axis < 3; axis++)
        s->v[axis][i] += h * s->a[axis][i];
}

/* Returns the step that body i asks for; INFINITY where it feels no force. */
static double wanted_step(const struct worker *worker, size_t i)
{
    double *const *const of = worker->system->a;
    const double a[3] = { of[0][i], of[1][i], of[2][i] };
    return worker->eta * sqrt(worker->physics->softening / vec3_length(a));
}

/* Body i begins a step of its own now, with half of its kick, unless this is the grid point; or
 * one of 0, where none is short enough. Every step has to begin at a multiple of itself. */
static void begin_step(const struct worker *worker, size_t i, double now)
{
    const struct leapfrog_system *const s = worker->system;
    double step = block_round_step(worker->dt, wanted_step(worker, i));
    while (step > 0 && fmod(now, step / worker->tick) != 0)
        step *= 0.5;
    s->step[i] = step;
    worker->work->time[i] = now;
    worker->work->next[i] = now + step / worker->tick;
    if (now < BLOCK_TICKS)
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

static void drift(const struct worker *worker)
{
    const struct leapfrog_system *const s = worker->system;
    struct leapfrog_workspace *const work = worker->work;
    const size_t last = worker->last < s->count ? worker->last : s->count;
    for (int axis = 0; axis < 3; axis++)
        drift_axis(work->at_x[axis], s->x[axis], s->v[axis], work->time, work->now, worker->tick,
                   worker->first, last);
}

/* The end of the steps of this thread's part of the block, and the beginning of their next ones.
 * At the grid point these are but chosen, since the next grid step begins them. */
static void end_steps(const struct worker *worker)
{
    const struct leapfrog_system *const s = worker->system;
    struct leapfrog_workspace *const work = worker->work;
    const size_t first = share_start(work->block_size, worker->threads, worker->thread);
    const size_t last = share_start(work->block_size, worker->threads, worker->thread + 1);
    for (size_t k = first; k < last; k++) {
        const size_t i = work->block[k];
        for (int axis = 0; axis < 3; axis++) {
            s->x[axis][i] = work->at_x[axis][i];
            s->a[axis][i] = work->sum_a[axis][k];
        }
        kick(s, i, 0.5 * s->step[i]);
        begin_step(worker, i, work->now);
    }
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* By the first thread; returns the shortest step that the block ends, and whose it is. */
static double find_block(const struct worker *worker, size_t *who)
{
    struct leapfrog_workspace *const work = worker->work;
    double shortest = INFINITY;
    work->block_size = block_find(work->next, worker->system->count, work->block, &work->now);
    for (size_t k = 0; k < work->block_size; k++)
        if (worker->system->step[work->block[k]] < shortest) {
            *who = work->block[k];
            shortest = worker->system->step[*who];
        }
    return shortest;
}

/* Leaves a system that cannot go on as it is now: bodies that are not due are drifted, and all have
 * the velocity of this time in place of that in the middle of a step. */
static void bring_along(const struct worker *worker)
{
    const struct leapfrog_system *const s = worker->system;
    const struct leapfrog_workspace *const work = worker->work;
    for (size_t i = 0; i < s->count && work->now < BLOCK_TICKS; i++) {
        for (int axis = 0; axis < 3 && work->time[i] != work->now; axis++)
            s->x[axis][i] = work->at_x[axis][i];
        kick(s, i, (work->now - work->time[i]) * worker->tick - 0.5 * s->step[i]);
    }
}

/* Looks for a body of the block that cannot go on; by the first thread. */
static void look_for_stuck(const struct worker *worker)
{
    struct adaptive_clock *const clock = worker->clock;
    const struct leapfrog_workspace *const work = worker->work;
    for (size_t k = 0; k < work->block_size; k++) {
        const size_t i = work->block[k];
        if (worker->system->step[i] > 0)
            continue;
        const double wanted = wanted_step(worker, i);
        clock->stuck = isnan(wanted) || wanted == 0 ? ADAPTIVE_NOT_FINITE : ADAPTIVE_TOO_SMALL;
        clock->limiting = (double)i;
        clock->step = wanted;
        clock->time = clock->grid * worker->dt + work->now * worker->tick;
        bring_along(worker);
        return;
    }
}

/* Counts the work of a block, by the first thread. */
static void book_block(const struct worker *worker, double shortest, size_t who)
{
    struct adaptive_clock *const clock = worker->clock;
    const struct leapfrog_workspace *const work = worker->work;
    clock->steps += (double)work->block_size;
    clock->sums += (double)work->block_size;
    if (shortest < clock->smallest) {
        const struct reference_motion motion = {
            .m = worker->bodies->m + worker->system->index * worker->bodies->stride,
            .x = { work->at_x[0], work->at_x[1], work->at_x[2] },
            .count = worker->system->count,
        };
        clock->smallest = shortest;
        clock->pair[0] = (double)who;
        clock->pair[1] = (double)reference_strongest(worker->physics, &motion, who);
    }
    look_for_stuck(worker);
}

/* The work of a block besides its pairs, in units of one pair's time. */
enum { BLOCK_WORK = 1000 };

/* By the first thread, which decides for all. */
static void look_for_interruption(const struct worker *worker, double *done, double work)
{
    struct interruption *const interruption = worker->physics->interruption;
    if (interruption_after(interruption, done, work) || interruption_noticed(interruption))
        worker->clock->stuck = ADAPTIVE_INTERRUPTED;
}

/* All blocks up to the grid point. The first thread finds the next block before the others see that
 * one is over, so that all of them read the same time. */
static void do_blocks(const struct worker *worker)
{
    struct leapfrog_workspace *const work = worker->work;
    const double count = (double)worker->system->count;
    size_t who = 0;
    double shortest = INFINITY, done = 0;
    if (worker->thread == 0) {
        shortest = find_block(worker, &who);
        look_for_interruption(worker, &done, INTERRUPTION_WORK);
    }
    wait_for_others(worker);
    while (work->now <= BLOCK_TICKS && worker->clock->stuck == ADAPTIVE_DONE) {
        drift(worker);
        sum_block(worker, work->at_x);
        end_steps(worker);
        wait_for_others(worker);
        if (worker->thread == 0) {
            book_block(worker, shortest, who);
            look_for_interruption(worker, &done, BLOCK_WORK + (double)work->block_size * count);
            shortest = find_block(worker, &who);
        }
        wait_for_others(worker);
    }
}

/* --- grid steps ------------------------------------------------------------------------------- */

/* Finds the forces at the start. */
static void begin(const struct worker *worker)
{
    const struct leapfrog_system *const s = worker->system;
    struct leapfrog_workspace *const work = worker->work;
    sum_block(worker, s->x);
    wait_for_others(worker);
    for (size_t i = worker->first; i < worker->last && i < s->count; i++)
        for (int axis = 0; axis < 3; axis++)
            s->a[axis][i] = work->sum_a[axis][i];
    wait_for_others(worker);
    if (worker->thread == 0) {
        worker->clock->known = 1;
        worker->clock->sums += (double)s->count;
    }
}

static void grid_step(const struct worker *worker)
{
    const struct leapfrog_system *const s = worker->system;
    struct leapfrog_workspace *const work = worker->work;
    if (worker->thread == 0) {
        jerk_open(work->forces, worker->bodies, s->index);
        work->now = 0;
        work->block_size = s->count;
        for (size_t i = 0; i < s->count; i++)
            work->block[i] = (uint32_t)i;
    }
    wait_for_others(worker);
    if (worker->clock->known == 0)
        begin(worker);
    wait_for_others(worker);
    for (size_t i = worker->first; i < worker->last && i < s->count; i++)
        begin_step(worker, i, 0);
    wait_for_others(worker);
    if (worker->thread == 0)
        look_for_stuck(worker);
    wait_for_others(worker);
    do_blocks(worker);
    if (worker->thread == 0)
        worker->clock->grid += 1;
}

void leapfrog_advance(const struct leapfrog_system *system, double eta,
                      const struct physics *physics, const struct bodies *bodies,
                      struct leapfrog_workspace *work, double dt, uint64_t steps, size_t threads)
{
    const size_t thread = threads > 1 ? (size_t)omp_get_thread_num() : 0;
    const size_t lines = bodies->stride / BODIES_PADDING;
    const struct worker worker = {
        .system = system,
        .physics = physics,
        .bodies = bodies,
        .work = work,
        .clock = system->clock,
        .eta = eta,
        .dt = dt,
        .tick = dt / BLOCK_TICKS,
        .thread = thread,
        .threads = threads,
        .first = share_start(lines, threads, thread) * BODIES_PADDING,
        .last = share_start(lines, threads, thread + 1) * BODIES_PADDING,
    };
    if (thread == 0)
        adaptive_clock_fit(system->clock, dt);
    wait_for_others(&worker);
    for (uint64_t k = 0; k < steps && system->clock->stuck == ADAPTIVE_DONE; k++) {
        grid_step(&worker);
        wait_for_others(&worker);
    }
}
