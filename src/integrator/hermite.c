#include "config.h"

#include "integrator/hermite.h"

#include <math.h>
#include <omp.h>

#include "base/barrier.h"
#include "base/memory.h"
#include "external/external.h"
#include "force/direct/reference.h"

/* Times within a grid step are whole multiples of the shortest step, and so exact. */
static const double ticks = BLOCK_TICKS;

/* --- memory ----------------------------------------------------------------------------------- */

enum { WORKSPACE_ARRAYS = 15 };

static void workspace_arrays(struct hermite_workspace *work, double **arrays[WORKSPACE_ARRAYS])
{
    for (int axis = 0; axis < 3; axis++) {
        arrays[axis] = &work->at_x[axis];
        arrays[3 + axis] = &work->at_v[axis];
        arrays[6 + axis] = &work->sum_a[axis];
        arrays[9 + axis] = &work->sum_jerk[axis];
    }
    arrays[12] = &work->time;
    arrays[13] = &work->next;
    arrays[14] = &work->wanted;
}

enum status hermite_workspace_create(struct hermite_workspace *work,
                                     const struct force_options *options,
                                     const struct physics *physics, size_t count,
                                     struct error *error)
{
    double **arrays[WORKSPACE_ARRAYS];
    *work = (struct hermite_workspace){ 0 };
    if (jerk_create(options, physics, count, true, &work->forces, error))
        return error->status;
    const size_t length = (size_t)bodies_length_of(1, (double)count);
    workspace_arrays(work, arrays);
    for (int k = 0; k < WORKSPACE_ARRAYS; k++)
        *arrays[k] = memory_array(length, sizeof(double), error);
    work->block = memory_array(length, sizeof *work->block, error);
    return error->status;
}

void hermite_workspace_destroy(struct hermite_workspace *work)
{
    double **arrays[WORKSPACE_ARRAYS];
    workspace_arrays(work, arrays);
    for (int k = 0; k < WORKSPACE_ARRAYS; k++)
        memory_free(*arrays[k]);
    memory_free(work->block);
    jerk_destroy(work->forces);
}

double hermite_workspace_bytes(const struct force_options *options, double count)
{
    return jerk_bytes(options, count) +
           bodies_length_of(1, count) * (WORKSPACE_ARRAYS * sizeof(double) + sizeof(uint32_t));
}

/* --- one thread's part ------------------------------------------------------------------------ */

/* One thread of those that work on the system. */
struct worker {
    const struct hermite_system *system;
    const struct hermite_rule *rule;
    const struct physics *physics;
    const struct bodies *bodies;
    struct hermite_workspace *work;
    struct adaptive_clock *clock; /* of the first thread alone */
    double dt, tick;              /* dt over 2^BLOCK_DEEPEST */
    size_t thread, threads;
    size_t first, last; /* its bodies */
};

static void wait_for_others(const struct worker *worker)
{
    if (worker->threads > 1)
        barrier_wait(&worker->work->barrier);
}

/* All bodies of the system, with these positions and velocities. */
static struct reference_motion motion_of(const struct worker *worker, double *const x[3],
                                         double *const v[3])
{
    return (struct reference_motion){
        .m = worker->bodies->m + worker->system->index * worker->bodies->stride,
        .x = { x[0], x[1], x[2] },
        .v = { v[0], v[1], v[2] },
        .count = worker->system->count,
    };
}

/* The bodies that are due, among all of them. */
static struct hermite_block block_of(const struct worker *worker, struct reference_motion motion)
{
    const struct hermite_workspace *const work = worker->work;
    return (struct hermite_block){
        .physics = worker->physics,
        .predicted = motion,
        .body = work->block,
        .count = work->block_size,
        .a = { work->sum_a[0], work->sum_a[1], work->sum_a[2] },
        .jerk = { work->sum_jerk[0], work->sum_jerk[1], work->sum_jerk[2] },
    };
}

/* Adds the fields to the sums of the block, which are complete; each thread has a part of them. */
static void add_fields(const struct worker *worker, const struct reference_motion *motion)
{
    const struct external *const external = worker->physics->external;
    struct hermite_workspace *const work = worker->work;
    if (!external)
        return;
    const size_t last = share_start(work->block_size, worker->threads, worker->thread + 1);
    for (size_t k = share_start(work->block_size, worker->threads, worker->thread); k < last; k++) {
        const size_t i = work->block[k];
        const struct field_motion field = external_motion(
            external, (const double[3]){ motion->x[0][i], motion->x[1][i], motion->x[2][i] },
            (const double[3]){ motion->v[0][i], motion->v[1][i], motion->v[2][i] });
        for (int axis = 0; axis < 3; axis++) {
            work->sum_a[axis][k] += field.a[axis];
            work->sum_jerk[axis][k] += field.jerk[axis];
        }
    }
    wait_for_others(worker);
}

/* x + h v + h^2/2 a + h^3/6 jerk, v + h a + h^2/2 jerk, from every body's own time. */
CLONE_FOR_VECTORS
static void predict_axis(double *restrict at_x, double *restrict at_v, const double *restrict x,
                         const double *restrict v, const double *restrict a,
                         const double *restrict jerk, const double *restrict time, double now,
                         double tick, size_t first, size_t last)
{
#pragma omp simd
    for (size_t i = first; i < last; i++) {
        const double h = (now - time[i]) * tick;
        at_x[i] = x[i] + h * (v[i] + h * (0.5 * a[i] + h * (1.0 / 6) * jerk[i]));
        at_v[i] = v[i] + h * (a[i] + h * 0.5 * jerk[i]);
    }
}

static void predict(const struct worker *worker)
{
    const struct hermite_system *const s = worker->system;
    struct hermite_workspace *const work = worker->work;
    const size_t last = worker->last < s->count ? worker->last : s->count;
    for (int axis = 0; axis < 3; axis++)
        predict_axis(work->at_x[axis], work->at_v[axis], s->x[axis], s->v[axis], s->a[axis],
                     s->jerk[axis], work->time, work->now, worker->tick, worker->first, last);
    const struct reference_motion motion = motion_of(worker, work->at_x, work->at_v);
    jerk_pack(work->forces, motion.x, motion.v, worker->first, worker->last);
}

/* That of a body at the start of a grid step: the shortest one where none does. */
static double first_step(const struct worker *worker, double wanted)
{
    const double step = block_round_step(worker->dt, wanted);
    return step > 0 ? step : ldexp(worker->dt, -BLOCK_DEEPEST);
}

/* A body may halve its step at any time, and double it where the doubled one divides the time. */
static double next_step(const struct worker *worker, double step, double wanted)
{
    const double doubled = 2 * step / worker->tick;
    if (wanted >= 2 * step && 2 * step <= worker->dt && fmod(worker->work->now, doubled) == 0)
        return 2 * step;
    return wanted >= step ? step : block_round_step(worker->dt, wanted);
}

/* Tells whether the bodies are few enough to be corrected twice, with those of a larger system that
 * would be due now. */
static bool is_small(const struct worker *worker)
{
    const double *const others = worker->rule->others;
    double due = (double)worker->work->block_size;
    for (int k = 0; others && k <= BLOCK_DEEPEST; k++)
        if (others[k] > 0 && fmod(worker->work->now, ldexp(ticks, -k)) == 0)
            due += others[k];
    return due <= HERMITE_SMALL_BLOCK;
}

/* This thread's part of the block; of a small one it is all the first thread's. */
static void correct(const struct worker *worker)
{
    const struct hermite_system *const s = worker->system;
    struct hermite_workspace *const work = worker->work;
    const struct hermite_block block = block_of(worker, motion_of(worker, work->at_x, work->at_v));
    const bool small = is_small(worker);
    const size_t threads = small ? 1 : worker->threads;
    if (worker->thread >= threads)
        return;
    if (small)
        work->refined = hermite_refine(s, &block);
    const size_t first = share_start(block.count, threads, worker->thread);
    const size_t last = share_start(block.count, threads, worker->thread + 1);
    for (size_t k = first; k < last; k++) {
        const size_t i = block.body[k];
        const double wanted = hermite_correct(s, worker->rule, &block, k);
        work->wanted[k] = wanted;
        s->step[i] = next_step(worker, s->step[i], wanted);
        work->time[i] = work->now;
        work->next[i] = work->now + s->step[i] / worker->tick;
    }
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* By the first thread; returns the shortest step that the block ends, and whose it is. */
static double find_block(const struct worker *worker, size_t *who)
{
    struct hermite_workspace *const work = worker->work;
    double shortest = INFINITY;
    work->block_size = block_find(work->next, worker->system->count, work->block, &work->now);
    for (size_t k = 0; k < work->block_size; k++)
        if (worker->system->step[work->block[k]] < shortest) {
            *who = work->block[k];
            shortest = worker->system->step[*who];
        }
    return shortest;
}

/* A system that cannot go on is left as it is now: bodies that are not due are predicted. */
static void bring_along(const struct worker *worker)
{
    const struct hermite_system *const s = worker->system;
    const struct hermite_workspace *const work = worker->work;
    for (size_t i = 0; i < s->count; i++)
        for (int axis = 0; axis < 3 && work->time[i] != work->now; axis++) {
            s->x[axis][i] = work->at_x[axis][i];
            s->v[axis][i] = work->at_v[axis][i];
        }
}

/* Counts the work of a block, by the first thread. */
static void book_block(const struct worker *worker, double shortest, size_t who)
{
    struct adaptive_clock *const clock = worker->clock;
    const struct hermite_workspace *const work = worker->work;
    const double due = (double)work->block_size, count = (double)worker->system->count;
    clock->steps += due;
    clock->sums += due + (is_small(worker) ? (double)work->refined / count : 0);
    if (shortest < clock->smallest) {
        const struct reference_motion motion = motion_of(worker, work->at_x, work->at_v);
        clock->smallest = shortest;
        clock->pair[0] = (double)who;
        clock->pair[1] = (double)reference_strongest(worker->physics, &motion, who);
    }
    for (size_t k = 0; k < work->block_size; k++) {
        const size_t i = work->block[k];
        if (worker->system->step[i] > 0)
            continue;
        clock->stuck = isnan(work->wanted[k]) || work->wanted[k] == 0 ? ADAPTIVE_NOT_FINITE
                                                                      : ADAPTIVE_TOO_SMALL;
        clock->limiting = (double)i;
        clock->step = work->wanted[k];
        clock->time = clock->grid * worker->dt + work->now * worker->tick;
        bring_along(worker);
        return;
    }
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
    struct hermite_workspace *const work = worker->work;
    const double count = (double)worker->system->count;
    size_t who = 0;
    double shortest = INFINITY, done = 0;
    if (worker->thread == 0) {
        shortest = find_block(worker, &who);
        look_for_interruption(worker, &done, INTERRUPTION_WORK);
    }
    wait_for_others(worker);
    while (work->now <= ticks && worker->clock->stuck == ADAPTIVE_DONE) {
        predict(worker);
        jerk_sum(work->forces, work->block, work->block_size, work->sum_a, work->sum_jerk);
        const struct reference_motion predicted = motion_of(worker, work->at_x, work->at_v);
        add_fields(worker, &predicted);
        correct(worker);
        wait_for_others(worker);
        if (worker->thread == 0) {
            book_block(worker, shortest, who);
            look_for_interruption(worker, &done, BLOCK_WORK + (double)work->block_size * count);
            shortest = find_block(worker, &who);
        }
        wait_for_others(worker);
    }
}

/* --- the first steps -------------------------------------------------------------------------- */

/* Forces at the start, and the first steps. */
static void begin(const struct worker *worker)
{
    const struct hermite_system *const s = worker->system;
    struct hermite_workspace *const work = worker->work;
    const struct reference_motion motion = motion_of(worker, s->x, s->v);
    if (worker->thread == 0) {
        work->block_size = s->count;
        for (size_t i = 0; i < s->count; i++)
            work->block[i] = (uint32_t)i;
    }
    jerk_pack(work->forces, motion.x, motion.v, worker->first, worker->last);
    jerk_sum(work->forces, work->block, s->count, work->sum_a, work->sum_jerk);
    add_fields(worker, &motion);
    const struct hermite_block block = block_of(worker, motion);
    for (size_t i = worker->first; i < worker->last && i < s->count; i++)
        s->step[i] = first_step(worker, hermite_start(s, worker->rule, &block, i, worker->dt));
    wait_for_others(worker);
    if (worker->thread == 0) {
        worker->clock->known = 1;
        worker->clock->sums += (double)s->count;
    }
}

/* Steps of another grid become powers of two of this one. */
static void fit_steps(const struct worker *worker)
{
    const struct hermite_system *const s = worker->system;
    for (size_t i = 0; i < s->count; i++)
        s->step[i] = first_step(worker, s->step[i]);
}

/* --- grid steps ------------------------------------------------------------------------------- */

static void grid_step(const struct worker *worker)
{
    const struct hermite_system *const s = worker->system;
    struct hermite_workspace *const work = worker->work;
    if (worker->thread == 0)
        jerk_open(work->forces, worker->bodies, s->index);
    wait_for_others(worker);
    if (worker->clock->known == 0)
        begin(worker);
    wait_for_others(worker);
    if (worker->thread == 0)
        for (size_t i = 0; i < s->count; i++) {
            work->time[i] = 0;
            work->next[i] = s->step[i] / worker->tick;
        }
    do_blocks(worker);
    if (worker->thread == 0)
        worker->clock->grid += 1;
}

enum adaptive_outcome hermite_advance(const struct hermite_system *system,
                                      const struct hermite_rule *rule,
                                      const struct physics *physics, const struct bodies *bodies,
                                      struct hermite_workspace *work, double dt, uint64_t steps,
                                      size_t threads)
{
    const size_t thread = threads > 1 ? (size_t)omp_get_thread_num() : 0;
    const size_t lines = bodies->stride / BODIES_PADDING;
    const struct worker worker = {
        .system = system,
        .rule = rule,
        .physics = physics,
        .bodies = bodies,
        .work = work,
        .clock = system->clock,
        .dt = dt,
        .tick = dt / ticks,
        .thread = thread,
        .threads = threads,
        .first = share_start(lines, threads, thread) * BODIES_PADDING,
        .last = share_start(lines, threads, thread + 1) * BODIES_PADDING,
    };
    if (thread == 0 && system->clock->dt != dt) {
        if (system->clock->known > 0)
            fit_steps(&worker);
        adaptive_clock_fit(system->clock, dt);
    }
    wait_for_others(&worker);
    for (uint64_t k = 0; k < steps && system->clock->stuck == ADAPTIVE_DONE; k++) {
        grid_step(&worker);
        wait_for_others(&worker);
    }
    return (enum adaptive_outcome)system->clock->stuck;
}
