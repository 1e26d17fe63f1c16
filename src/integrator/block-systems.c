#include "integrator/block-steps.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* The least number of bodies of a system that a team of threads moves together: in smaller systems
 * the threads would wait longer for each other than they compute. */
enum { TEAM_FROM = 1024 };

struct block_systems {
    struct adaptive_systems common;
    const struct block_method *method;
    void *rule;  /* the method's parameters for the choice of steps */
    size_t team; /* threads that move one system together */
    size_t workspaces;
    struct block_workspace *work; /* [workspaces] */
    struct barrier barrier;
};

/* --- steps ------------------------------------------------------------------------------------ */

/* Returns k if `step` is `grid` over 2^k with 0 <= k < ADAPTIVE_LEVELS, otherwise -1. */
static int level_of(double step, double grid)
{
    int exponent;
    const bool divides = step > 0 && step <= grid && frexp(step / grid, &exponent) == 0.5;
    return divides && exponent > 1 - ADAPTIVE_LEVELS ? 1 - exponent : -1;
}

/* Returns system s with pointers to its arrays, which are in this order: accelerations, jerks,
 * steps, rounding errors of positions; without jerks only accelerations and steps. */
static struct block_system system_at(const struct adaptive_systems *all, size_t s)
{
    const struct block_systems *const blocks = (const struct block_systems *)all;
    const struct bodies *const b = all->bodies;
    const size_t first = s * b->stride, arrays = blocks->method->jerks ? 6 : 3;
    double *const own = adaptive_systems_arrays(all, s), *const step = own + arrays * b->stride;
    struct block_system system = {
        .count = b->count,
        .index = s,
        .x = { b->x + first, b->y + first, b->z + first },
        .v = { b->vx + first, b->vy + first, b->vz + first },
        .a = { own, own + b->stride, own + 2 * b->stride },
        .step = step,
        .clock = &all->clocks[s],
    };
    for (size_t axis = 0; axis < 3 && blocks->method->jerks; axis++) {
        system.jerk[axis] = own + (3 + axis) * b->stride;
        system.low[axis] = step + (1 + axis) * b->stride;
    }
    return system;
}

/* --- all systems ------------------------------------------------------------------------------ */

/* Returns the number of threads that move one of `systems` systems of `count` bodies together. */
static size_t team_of(double systems, double count, int threads)
{
    return count >= TEAM_FROM && systems < threads ? (size_t)threads : 1;
}

static size_t workspaces_of(double systems, double count, int threads)
{
    if (team_of(systems, count, threads) > 1)
        return 1;
    return systems < threads ? (size_t)systems : (size_t)(threads > 1 ? threads : 1);
}

enum status block_systems_create(const struct block_method *method, const void *rule, size_t size,
                                 const struct adaptive_options *options,
                                 const struct physics *physics, struct bodies *bodies,
                                 struct adaptive **adaptive, struct error *error)
{
    const double systems = (double)bodies->systems, count = (double)bodies->count;
    struct force_options force = *options->force;
    struct block_systems *const all = calloc(1, sizeof *all);
    *adaptive = NULL;
    if (!all)
        return error_memory(error);
    all->method = method;
    all->team = team_of(systems, count, force.threads);
    all->workspaces = workspaces_of(systems, count, force.threads);
    force.threads = (int)all->team;
    adaptive_systems_init(&all->common, &method->adaptive, physics, bodies, error);
    all->rule = memory_array(1, size, error);
    all->work = memory_array(all->workspaces, sizeof *all->work, error);
    for (size_t k = 0; k < all->workspaces && !error->status; k++)
        block_workspace_create(&all->work[k], &force, physics, bodies->count, method->jerks, error);
    if (error->status) {
        block_systems_destroy(&all->common.adaptive);
        return error->status;
    }
    memcpy(all->rule, rule, size);
    *adaptive = &all->common.adaptive;
    return STATUS_OK;
}

void block_systems_destroy(struct adaptive *adaptive)
{
    struct block_systems *const all = (struct block_systems *)adaptive;
    if (!all)
        return;
    for (size_t k = 0; k < all->workspaces && all->work; k++)
        block_workspace_destroy(&all->work[k]);
    memory_free(all->work);
    memory_free(all->rule);
    adaptive_systems_clear(&all->common);
    free(all);
}

double block_systems_bytes(const struct block_method *method, const struct force_options *force,
                           double systems, double count)
{
    struct force_options own = *force;
    own.threads = (int)team_of(systems, count, force->threads);
    return adaptive_systems_bytes(&method->adaptive, systems, count) +
           (double)workspaces_of(systems, count, force->threads) *
               block_workspace_bytes(&own, count, method->jerks);
}

static void move(struct block_systems *all, size_t s, size_t work, double dt, uint64_t steps,
                 size_t threads)
{
    const struct block_system system = system_at(&all->common, s);
    block_advance(all->method, all->rule, &system, all->common.physics, all->common.bodies,
                  &all->work[work], dt, steps, threads);
}

enum status block_systems_advance(struct adaptive *adaptive, double dt, uint64_t steps,
                                  struct error *error)
{
    struct block_systems *const all = (struct block_systems *)adaptive;
    const size_t count = all->common.bodies->systems;
    adaptive_systems_begin(&all->common);
    if (all->team > 1) {
#pragma omp parallel num_threads((int)all->team)
        for (size_t s = 0; s < count; s++) {
            move(all, s, 0, dt, steps, (size_t)omp_get_num_threads());
            barrier_wait(&all->barrier);
        }
    } else {
#pragma omp parallel for num_threads((int)all->workspaces) if (all->workspaces > 1)                \
    schedule(dynamic)
        for (size_t s = 0; s < count; s++)
            move(all, s, (size_t)omp_get_thread_num(), dt, steps, 1);
    }
    const enum status status = adaptive_systems_end(&all->common, error);
    for (size_t k = 0; k < all->workspaces; k++)
        if (all->work[k].forces->failure.status) { /* the sums failed, which is why forces are not
                                                      finite: this error is told */
            *error = all->work[k].forces->failure;
            return error->status;
        }
    return status;
}

/* --- functions of the method and the class ---------------------------------------------------- */

/* Checks that each body's step is the grid step divided by a power of two; otherwise the body would
 * miss the grid point. Only in a system that cannot go on may a step be 0. */
bool block_systems_makes_sense(const struct adaptive_systems *all, size_t s)
{
    const double *const step = system_at(all, s).step;
    const struct adaptive_clock *const clock = &all->clocks[s];
    bool good = true;
    for (size_t i = 0; i < all->bodies->count && clock->known > 0; i++)
        good &=
            level_of(step[i], clock->dt) >= 0 || (step[i] == 0 && clock->stuck != ADAPTIVE_DONE);
    return good;
}

enum status block_systems_describe_stuck(const struct adaptive_systems *all, size_t s,
                                         struct error *error)
{
    const struct bodies *const b = all->bodies;
    const struct adaptive_clock *const clock = &all->clocks[s];
    char why[64], name[BODIES_NAME_SIZE];
    if (clock->stuck == ADAPTIVE_NOT_FINITE)
        return error_set(error, STATUS_NUMERICAL,
                         "system %zu: the force on %s is not finite at t = %g", s + 1,
                         bodies_name(b, b->id[s * b->stride + (size_t)clock->limiting], name),
                         text_plain(clock->time));
    snprintf(why, sizeof why, "less than time.step / 2^%d", BLOCK_DEEPEST);
    return adaptive_systems_describe_pair(all, s, why, error);
}

void block_systems_statistics(const struct adaptive *adaptive, size_t s,
                              struct work_done *statistics)
{
    const struct adaptive_systems *const all = (const struct adaptive_systems *)adaptive;
    const struct adaptive_clock *const clock = &all->clocks[s];
    const double *const step = system_at(all, s).step;
    double current = INFINITY;
    for (size_t i = 0; i < all->bodies->count && clock->known > 0; i++)
        current = fmin(current, step[i]);
    adaptive_systems_statistics(adaptive, s, statistics);
    statistics->current = current;
    statistics->bodies = 1;
    if (!statistics->stuck) /* all bodies meet at grid points */
        statistics->time = clock->grid * clock->dt;
}

void block_systems_count_levels(const struct adaptive *adaptive, size_t s,
                                double levels[ADAPTIVE_LEVELS])
{
    const struct adaptive_systems *const all = (const struct adaptive_systems *)adaptive;
    const struct adaptive_clock *const clock = &all->clocks[s];
    const double *const step = system_at(all, s).step;
    for (int k = 0; k < ADAPTIVE_LEVELS; k++)
        levels[k] = 0;
    for (size_t i = 0; i < all->bodies->count && clock->known > 0; i++) {
        const int level = level_of(step[i], clock->dt);
        if (level >= 0)
            levels[level] += 1;
    }
}

void block_systems_copy(struct adaptive *to, size_t to_system, const struct adaptive *from,
                        size_t from_system)
{
    const struct block_systems *const all = (const struct block_systems *)to;
    const double factor =
        all->method->step_ratio(all->rule, ((const struct block_systems *)from)->rule);
    const struct block_system system = system_at(&all->common, to_system);
    adaptive_systems_copy(to, to_system, from, from_system);
    for (size_t i = 0; i < system.count; i++)
        system.step[i] *= factor;
}

const char *block_systems_kernel(const struct adaptive *adaptive)
{
    return ((const struct block_systems *)adaptive)->work[0].forces->kernel;
}
