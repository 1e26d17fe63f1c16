#include "config.h"

#include "integrator/block-steps.h"

#include <math.h>
#include <omp.h>

#include "base/memory.h"
#include "external/external.h"

double block_round_step(double dt, double wanted)
{
    int exponent; /* 2^(exponent - 1) <= wanted / dt < 2^exponent */
    if (!(wanted >= dt * ldexp(1, -BLOCK_DEEPEST)))
        return 0;
    if (wanted >= dt)
        return dt;
    frexp(wanted / dt, &exponent);
    return ldexp(dt, exponent - 1);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* The number of arrays of doubles in a workspace, without jerks and with them. */
enum { ARRAYS = 9, ALL_ARRAYS = 15 };

static int workspace_arrays(struct block_workspace *work, bool jerks, double **arrays[ALL_ARRAYS])
{
    for (int axis = 0; axis < 3; axis++) {
        arrays[axis] = &work->at_x[axis];
        arrays[3 + axis] = &work->sum_a[axis];
        arrays[ARRAYS + axis] = &work->at_v[axis];
        arrays[ARRAYS + 3 + axis] = &work->sum_jerk[axis];
    }
    arrays[6] = &work->time;
    arrays[7] = &work->next;
    arrays[8] = &work->wanted;
    return jerks ? ALL_ARRAYS : ARRAYS;
}

enum status block_workspace_create(struct block_workspace *work,
                                   const struct force_options *options,
                                   const struct physics *physics, size_t count, bool jerks,
                                   struct error *error)
{
    double **arrays[ALL_ARRAYS];
    *work = (struct block_workspace){ 0 };
    if (jerk_create(options, physics, count, jerks, &work->forces, error))
        return error->status;
    const size_t length = (size_t)bodies_length_of(1, (double)count);
    const int wanted = workspace_arrays(work, jerks, arrays);
    for (int k = 0; k < wanted; k++)
        *arrays[k] = memory_array(length, sizeof(double), error);
    work->block = memory_array(length, sizeof *work->block, error);
    return error->status;
}

void block_workspace_destroy(struct block_workspace *work)
{
    double **arrays[ALL_ARRAYS];
    workspace_arrays(work, true, arrays);
    for (int k = 0; k < ALL_ARRAYS; k++)
        memory_free(*arrays[k]);
    memory_free(work->block);
    jerk_destroy(work->forces);
}

double block_workspace_bytes(const struct force_options *options, double count, bool jerks)
{
    const double arrays = jerks ? ALL_ARRAYS : ARRAYS;
    return jerk_bytes(options, count) +
           bodies_length_of(1, count) * (arrays * sizeof(double) + sizeof(uint32_t));
}

/* --- one thread's part ------------------------------------------------------------------------ */

static void wait_for_others(const struct block_worker *worker)
{
    if (worker->threads > 1)
        barrier_wait(&worker->work->barrier);
}

void block_share(const struct block_worker *worker, size_t threads, size_t *first, size_t *last)
{
    *first = share_start(worker->work->block_size, threads, worker->thread);
    *last = share_start(worker->work->block_size, threads, worker->thread + 1);
}

struct reference_motion block_motion(const struct block_worker *worker, double *const x[3],
                                     double *const v[3])
{
    return (struct reference_motion){
        .m = worker->bodies->m + worker->system->index * worker->bodies->stride,
        .x = { x[0], x[1], x[2] },
        .v = { v[0], v[1], v[2] },
        .count = worker->system->count,
    };
}

/* Adds the forces of external fields to the block's forces after the sums over bodies are complete;
 * each thread does a part of the block. */
static void add_fields(const struct block_worker *worker, const struct reference_motion *motion)
{
    const struct external *const external = worker->physics->external;
    struct block_workspace *const work = worker->work;
    size_t first, last;
    if (!external)
        return;
    block_share(worker, worker->threads, &first, &last);
    for (size_t k = first; k < last; k++) {
        const size_t i = work->block[k];
        const double x[3] = { motion->x[0][i], motion->x[1][i], motion->x[2][i] };
        const double v[3] = { motion->v[0][i], motion->v[1][i], motion->v[2][i] };
        struct field_motion field = { 0 };
        if (worker->method->jerks)
            field = external_motion(external, x, v);
        else
            external_acceleration(external, x, field.a);
        for (int axis = 0; axis < 3; axis++) {
            work->sum_a[axis][k] += field.a[axis];
            if (worker->method->jerks)
                work->sum_jerk[axis][k] += field.jerk[axis];
        }
    }
    wait_for_others(worker);
}

/* Begins with the forces on the block if the method that sums them predicts all bodies itself; else
 * returns false. */
static bool begin_sums(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    const struct block_workspace *const work = worker->work;
    const struct jerk_motion motion = {
        .x = { s->x[0], s->x[1], s->x[2] },
        .v = { s->v[0], s->v[1], s->v[2] },
        .a = { s->a[0], s->a[1], s->a[2] },
        .jerk = { s->jerk[0], s->jerk[1], s->jerk[2] },
        .time = work->time,
        .now = work->now,
        .tick = worker->tick,
    };
    /* In a frame that turns, drifts are not along straight lines. */
    const bool turns = !worker->method->jerks && worker->physics->rotation != 0.0;
    return !turns && jerk_predict(work->forces, &motion, work->block, work->block_size);
}

/* Sums the forces of all bodies, at x and v, on the block. Unless the sums have begun, each thread
 * first packs its own bodies (copies them into the form in which the kernels read them). */
static void sum_block(const struct block_worker *worker, double *const x[3], double *const v[3],
                      bool begun)
{
    struct block_workspace *const work = worker->work;
    const struct reference_motion motion = block_motion(worker, x, v);
    if (!begun)
        jerk_pack(work->forces, motion.x, motion.v, worker->first, worker->last);
    jerk_sum(work->forces, work->block, work->block_size, work->sum_a, work->sum_jerk);
    add_fields(worker, &motion);
}

/* --- blocks ----------------------------------------------------------------------------------- */

CLONE_FOR_VECTORS
static double earliest(const double *next, size_t count)
{
    double least = next[0];
#pragma omp simd reduction(min : least)
    for (size_t i = 0; i < count; i++)
        least = next[i] < least ? next[i] : least;
    return least;
}

/* Finds the next block: the bodies whose steps end next. The first thread calls it. Returns the
 * shortest of the steps that end there, and puts the body with this step into *who. */
static double find_block(const struct block_worker *worker, size_t *who)
{
    struct block_workspace *const work = worker->work;
    const size_t count = worker->system->count;
    double shortest = INFINITY;
    work->now = earliest(work->next, count);
    work->block_size = 0;
    for (size_t i = 0; i < count; i++) {
        work->block[work->block_size] = (uint32_t)i;
        work->block_size += work->next[i] == work->now;
    }
    for (size_t k = 0; k < work->block_size; k++)
        if (worker->system->step[work->block[k]] < shortest) {
            *who = work->block[k];
            shortest = worker->system->step[*who];
        }
    return shortest;
}

/* Looks for a body of the block that has got no next step (0). If there is one, notes in the clock
 * why the system cannot go on. Only the first thread calls it. */
static void look_for_stuck(const struct block_worker *worker)
{
    struct adaptive_clock *const clock = worker->system->clock;
    const struct block_workspace *const work = worker->work;
    for (size_t k = 0; k < work->block_size; k++) {
        const size_t i = work->block[k];
        if (worker->system->step[i] > 0)
            continue;
        clock->stuck = isnan(work->wanted[k]) || work->wanted[k] == 0 ? ADAPTIVE_NOT_FINITE
                                                                      : ADAPTIVE_TOO_SMALL;
        clock->limiting = (double)i;
        clock->step = work->wanted[k];
        clock->time = clock->grid * worker->dt + work->now * worker->tick;
        worker->method->bring_along(worker);
        return;
    }
}

/* Counts the work of a block in the clock. Only the first thread calls it. */
static void book_block(const struct block_worker *worker, double shortest, size_t who)
{
    struct adaptive_clock *const clock = worker->system->clock;
    const struct block_workspace *const work = worker->work;
    const double due = (double)work->block_size, count = (double)worker->system->count;
    clock->steps += due;
    clock->sums += (due + (double)work->refined / count) * work->forces->work;
    if (shortest < clock->smallest) {
        const struct reference_motion motion = block_motion(worker, work->at_x, work->at_v);
        clock->smallest = shortest;
        clock->pair[0] = (double)who;
        clock->pair[1] = (double)reference_strongest(worker->physics, &motion, who);
    }
    look_for_stuck(worker);
}

/* The computing time of a block without its pairs, in units of one pair's time. */
enum { BLOCK_WORK = 1000 };

/* Looks, once in a while, whether the run is to be interrupted: `work` is added to *done, the work
 * (in pairs) since the last look. Only the first thread calls it, so that all threads stop
 * together. */
static void look_for_interruption(const struct block_worker *worker, double *done, double work)
{
    struct interruption *const interruption = worker->physics->interruption;
    if (interruption_after(interruption, done, work) || interruption_noticed(interruption))
        worker->system->clock->stuck = ADAPTIVE_INTERRUPTED;
}

/* Moves the system, block by block, to the end of the grid step. The first thread finds each block
 * while the others wait. */
static void do_blocks(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    struct block_workspace *const work = worker->work;
    double *const *const v = worker->method->jerks ? work->at_v : s->v;
    size_t who = 0;
    double shortest = INFINITY, done = 0;
    if (worker->thread == 0) {
        shortest = find_block(worker, &who);
        look_for_interruption(worker, &done, INTERRUPTION_WORK);
    }
    wait_for_others(worker);
    while (work->now <= BLOCK_TICKS && s->clock->stuck == ADAPTIVE_DONE) {
        const bool begun = begin_sums(worker);
        worker->method->predict(worker);
        sum_block(worker, work->at_x, v, begun);
        worker->method->correct(worker);
        wait_for_others(worker);
        if (worker->thread == 0) {
            book_block(worker, shortest, who);
            look_for_interruption(worker, &done,
                                  BLOCK_WORK + (double)work->block_size * (double)s->count);
            shortest = find_block(worker, &who);
        }
        wait_for_others(worker);
    }
}

/* --- grid steps ------------------------------------------------------------------------------- */

static void begin(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    sum_block(worker, s->x, s->v, false);
    worker->method->begin(worker);
    wait_for_others(worker);
    if (worker->thread == 0) {
        s->clock->known = 1;
        s->clock->sums += (double)s->count * worker->work->forces->work;
    }
}

static void grid_step(const struct block_worker *worker)
{
    const struct block_system *const s = worker->system;
    struct block_workspace *const work = worker->work;
    if (worker->thread == 0) {
        jerk_open(work->forces, worker->bodies, s->index);
        work->forces->tolerance = s->clock->tolerance;
        work->now = 0;
        work->block_size = s->count;
        for (size_t i = 0; i < s->count; i++)
            work->block[i] = (uint32_t)i;
    }
    wait_for_others(worker);
    if (s->clock->known == 0)
        begin(worker);
    wait_for_others(worker);
    worker->method->open_grid_step(worker);
    wait_for_others(worker);
    if (worker->thread == 0)
        look_for_stuck(worker);
    wait_for_others(worker);
    do_blocks(worker);
    if (worker->thread == 0) {
        s->clock->tolerance = work->forces->tolerance;
        s->clock->grid += 1;
    }
}

enum adaptive_outcome block_advance(const struct block_method *method, const void *rule,
                                    const struct block_system *system,
                                    const struct physics *physics, const struct bodies *bodies,
                                    struct block_workspace *work, double dt, uint64_t steps,
                                    size_t threads)
{
    struct adaptive_clock *const clock = system->clock;
    const size_t thread = threads > 1 ? (size_t)omp_get_thread_num() : 0;
    const size_t lines = bodies->stride / BODIES_PADDING;
    const struct block_worker worker = {
        .method = method,
        .rule = rule,
        .system = system,
        .physics = physics,
        .bodies = bodies,
        .work = work,
        .dt = dt,
        .tick = dt / BLOCK_TICKS,
        .thread = thread,
        .threads = threads,
        .first = share_start(lines, threads, thread) * BODIES_PADDING,
        .last = share_start(lines, threads, thread + 1) * BODIES_PADDING,
    };
    if (thread == 0) {
        if (method->fit_steps && clock->dt != dt && clock->known > 0)
            method->fit_steps(&worker);
        adaptive_clock_fit(clock, dt);
    }
    wait_for_others(&worker);
    for (uint64_t k = 0; k < steps && clock->stuck == ADAPTIVE_DONE; k++) {
        grid_step(&worker);
        wait_for_others(&worker);
    }
    return (enum adaptive_outcome)clock->stuck;
}
