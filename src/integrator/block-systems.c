#include "config.h"

#include "integrator/block-systems.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "base/text.h"

enum { TEAM_FROM = 1024 /* bodies: a block of fewer is done before a second thread is there */ };

/* --- steps ------------------------------------------------------------------------------------ */

double block_round_step(double dt, double wanted)
{
    int exponent; /* wanted / dt is at least 2^(exponent - 1), and less than twice that */
    if (!(wanted >= dt * ldexp(1, -BLOCK_DEEPEST)))
        return 0;
    if (wanted >= dt)
        return dt;
    frexp(wanted / dt, &exponent);
    return ldexp(dt, exponent - 1);
}

CLONE_FOR_VECTORS
static double earliest(const double *next, size_t count)
{
    double least = next[0];
#pragma omp simd reduction(min : least)
    for (size_t i = 0; i < count; i++)
        least = next[i] < least ? next[i] : least;
    return least;
}

size_t block_find(const double *next, size_t count, uint32_t *block, double *now)
{
    size_t size = 0;
    *now = earliest(next, count);
    for (size_t i = 0; i < count; i++) {
        block[size] = (uint32_t)i;
        size += next[i] == *now;
    }
    return size;
}

/* Returns k where a step is that of the grid over 2^k; -1: no body has such a step. */
static int level_of(double step, double grid)
{
    int exponent;
    const bool divides = step > 0 && step <= grid && frexp(step / grid, &exponent) == 0.5;
    return divides && exponent > 1 - ADAPTIVE_LEVELS ? 1 - exponent : -1;
}

static const double *steps_of(const struct adaptive_systems *all, size_t s)
{
    const struct block_systems *const blocks = (const struct block_systems *)all;
    return adaptive_systems_arrays(all, s) + blocks->step * all->bodies->stride;
}

/* --- all systems ------------------------------------------------------------------------------ */

size_t block_team(double systems, double count, int threads)
{
    return count >= TEAM_FROM && systems < threads ? (size_t)threads : 1;
}

size_t block_workspaces(double systems, double count, int threads)
{
    if (block_team(systems, count, threads) > 1)
        return 1;
    return systems < threads ? (size_t)systems : (size_t)(threads > 1 ? threads : 1);
}

enum status block_systems_init(struct block_systems *all, const struct adaptive_method *method,
                               const struct adaptive_options *options,
                               const struct physics *physics, struct bodies *bodies,
                               struct error *error)
{
    const double systems = (double)bodies->systems, count = (double)bodies->count;
    all->team = block_team(systems, count, options->force->threads);
    all->workspaces = block_workspaces(systems, count, options->force->threads);
    return adaptive_systems_init(&all->common, method, physics, bodies, error);
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
            all->move(all, s, 0, dt, steps, (size_t)omp_get_num_threads());
            barrier_wait(&all->barrier);
        }
    } else {
#pragma omp parallel for num_threads((int)all->workspaces) if (all->workspaces > 1)                \
    schedule(dynamic)
        for (size_t s = 0; s < count; s++)
            all->move(all, s, (size_t)omp_get_thread_num(), dt, steps, 1);
    }
    return adaptive_systems_end(&all->common, error);
}

/* --- functions of the method and the class ---------------------------------------------------- */

/* Steps are the grid's over powers of two, or bodies would not come to the grid point; that of a
 * body which could not go on is 0. */
bool block_systems_makes_sense(const struct adaptive_systems *all, size_t s)
{
    const double *const step = steps_of(all, s);
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
    char why[64];
    if (clock->stuck == ADAPTIVE_NOT_FINITE)
        return error_set(error, STATUS_NUMERICAL,
                         "system %zu: the force on body %" PRId64 " is not finite at t = %g", s + 1,
                         b->id[s * b->stride + (size_t)clock->limiting], text_plain(clock->time));
    snprintf(why, sizeof why, "less than time.step / 2^%d", BLOCK_DEEPEST);
    return adaptive_systems_describe_pair(all, s, why, error);
}

void block_systems_statistics(const struct adaptive *adaptive, size_t s,
                              struct work_done *statistics)
{
    const struct adaptive_systems *const all = (const struct adaptive_systems *)adaptive;
    const struct adaptive_clock *const clock = &all->clocks[s];
    const double *const step = steps_of(all, s);
    double current = INFINITY;
    for (size_t i = 0; i < all->bodies->count && clock->known > 0; i++)
        current = fmin(current, step[i]);
    adaptive_systems_statistics(adaptive, s, statistics);
    statistics->current = current;
    statistics->rejections = NAN;
    statistics->bodies = 1;
    if (!statistics->stuck) /* all of them meet at grid points */
        statistics->time = clock->grid * clock->dt;
}

void block_systems_count_levels(const struct adaptive *adaptive, size_t s,
                                double levels[ADAPTIVE_LEVELS])
{
    const struct adaptive_systems *const all = (const struct adaptive_systems *)adaptive;
    const struct adaptive_clock *const clock = &all->clocks[s];
    const double *const step = steps_of(all, s);
    for (int k = 0; k < ADAPTIVE_LEVELS; k++)
        levels[k] = 0;
    for (size_t i = 0; i < all->bodies->count && clock->known > 0; i++) {
        const int level = level_of(step[i], clock->dt);
        if (level >= 0)
            levels[level] += 1;
    }
}
