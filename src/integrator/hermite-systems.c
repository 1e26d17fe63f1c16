/*
 * All systems of a run under Hermite's method. Each has its own block steps, which end together at
 * grid points. One large system is moved by all threads; of small ones, or of as many as there are
 * threads, each is moved by one.
 */

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "integrator/hermite.h"

enum {
    ARRAYS = 10,     /* acceleration, jerk, step, and what positions lack: numbers per body */
    TEAM_FROM = 1024 /* bodies: a block of fewer is done before a second thread is there */
};

enum { STEP, ETA };

const struct parameter hermite_parameters[HERMITE_PARAMETERS] = {
    { .key = "step",
      .type = PARAMETER_REAL,
      .default_value = DEFAULT_UNSET,
      .open = OPEN_MINIMUM,
      .dimension = DIMENSION_TIME,
      .help = "Grid on which the run observes, and the longest step of a body: each takes "
              "this over a power of two. `every` and checkpoints count it. Made shorter if "
              "it does not divide `end`; unset: a thousandth of `end`." },
    { .key = "eta",
      .type = PARAMETER_REAL,
      .default_value = DEFAULT_REAL(0.02),
      .open = OPEN_MINIMUM,
      .help = "Accuracy: steps go with the square root of it, by Aarseth's criterion." },
};

struct systems {
    struct adaptive_systems common;
    struct hermite_rule rule;
    double others[ADAPTIVE_LEVELS]; /* of the rule */
    size_t team;                    /* threads that move one system together */
    size_t workspaces;
    struct hermite_workspace *work;
};

/* --- create and destroy ----------------------------------------------------------------------- */

static size_t team_for(double systems, double count, int threads)
{
    return count >= TEAM_FROM && systems < threads ? (size_t)threads : 1;
}

static size_t workspaces_for(double systems, double count, int threads)
{
    if (team_for(systems, count, threads) > 1)
        return 1;
    return systems < threads ? (size_t)systems : (size_t)(threads > 1 ? threads : 1);
}

static struct hermite_system system_at(const struct systems *all, size_t s)
{
    const struct bodies *const b = all->common.bodies;
    const size_t first = s * b->stride;
    double *const own = adaptive_systems_arrays(&all->common, s);
    return (struct hermite_system){
        .count = b->count,
        .index = s,
        .x = { b->x + first, b->y + first, b->z + first },
        .v = { b->vx + first, b->vy + first, b->vz + first },
        .a = { own, own + b->stride, own + 2 * b->stride },
        .jerk = { own + 3 * b->stride, own + 4 * b->stride, own + 5 * b->stride },
        .step = own + 6 * b->stride,
        .low = { own + 7 * b->stride, own + 8 * b->stride, own + 9 * b->stride },
        .clock = &all->common.clocks[s],
    };
}

/* Returns k where a step is that of the grid over 2^k; -1: no body has such a step. */
static int level_of(double step, double grid)
{
    int exponent;
    const bool divides = step > 0 && step <= grid && frexp(step / grid, &exponent) == 0.5;
    return divides && exponent > 1 - ADAPTIVE_LEVELS ? 1 - exponent : -1;
}

/* Steps are the grid's over powers of two, or bodies would not come to the grid point; that of a
 * body which could not go on is 0. */
static bool makes_sense(const struct adaptive_systems *all, size_t s)
{
    const struct hermite_system system = system_at((const struct systems *)all, s);
    const struct adaptive_clock *const clock = system.clock;
    bool good = true;
    for (size_t i = 0; i < system.count && clock->known > 0; i++)
        good &= level_of(system.step[i], clock->dt) >= 0 ||
                (system.step[i] == 0 && clock->stuck != ADAPTIVE_DONE);
    return good;
}

static enum status describe_stuck(const struct adaptive_systems *all, size_t s, struct error *error)
{
    const struct bodies *const b = all->bodies;
    const struct adaptive_clock *const clock = &all->clocks[s];
    char why[64];
    if (clock->stuck == ADAPTIVE_NOT_FINITE)
        return error_set(error, STATUS_NUMERICAL,
                         "system %zu: the force on body %" PRId64 " is not finite at t = %g", s + 1,
                         b->id[s * b->stride + (size_t)clock->limiting], text_plain(clock->time));
    snprintf(why, sizeof why, "less than time.step / 2^%d", HERMITE_DEEPEST);
    return adaptive_systems_describe_pair(all, s, why, error);
}

static const struct adaptive_method method = { &hermite_class, "hermite4", ARRAYS, makes_sense,
                                               describe_stuck };

static void systems_destroy(struct adaptive *adaptive)
{
    struct systems *const all = (struct systems *)adaptive;
    if (!all)
        return;
    for (size_t k = 0; k < all->workspaces && all->work; k++)
        hermite_workspace_destroy(&all->work[k]);
    memory_free(all->work);
    adaptive_systems_clear(&all->common);
    free(all);
}

static enum status check_options(const struct adaptive_options *options,
                                 const struct physics *physics, struct error *error)
{
    if (physics->boundary == BOUNDARY_PERIODIC)
        return error_set(
            error, STATUS_CONFIG,
            "physics.boundary = \"periodic\": hermite4 needs forces without jumps, and "
            "the force of a nearest image has one at half the box, which leaves it of "
            "first order at most; choose another time.integrator");
    if (options->force->precision == PRECISION_SINGLE)
        return error_set(error, STATUS_CONFIG,
                         "compute.precision = \"single\": the steps of hermite4 follow differences "
                         "of forces, which positions in one part do not resolve; choose \"mixed\" "
                         "or \"double\"");
    return STATUS_OK;
}

static void make_workspaces(struct systems *all, const struct force_options *force,
                            struct error *error)
{
    struct force_options own = *force;
    own.threads = (int)all->team;
    all->work = memory_array(all->workspaces, sizeof *all->work, error);
    for (size_t k = 0; k < all->workspaces && !error->status; k++)
        hermite_workspace_create(&all->work[k], &own, all->common.physics,
                                 all->common.bodies->count, error);
}

static enum status systems_create(const struct adaptive_options *options,
                                  const struct physics *physics, struct bodies *bodies,
                                  struct adaptive **adaptive, struct error *error)
{
    *adaptive = NULL;
    if (check_options(options, physics, error))
        return error->status;
    struct systems *const all = calloc(1, sizeof *all);
    if (!all)
        return error_memory(error);
    const double eta =
        options->values ? options->values[ETA] : hermite_parameters[ETA].default_value.real;
    const double systems = (double)bodies->systems, count = (double)bodies->count;
    /* The rule for steps that are shorter by the refinement. */
    all->rule = (struct hermite_rule){
        .eta = eta / (options->refinement * options->refinement),
        .eta_start = 0.01 * fmin(1, sqrt(eta / 0.02)) / options->refinement,
        .rounding = options->force->precision == PRECISION_DOUBLE ? 1e-13 : 1e-5,
    };
    if (options->others) {
        memcpy(all->others, options->others, sizeof all->others);
        all->rule.others = all->others;
    }
    all->team = team_for(systems, count, options->force->threads);
    all->workspaces = workspaces_for(systems, count, options->force->threads);
    if (!adaptive_systems_init(&all->common, &method, physics, bodies, error))
        make_workspaces(all, options->force, error);
    if (error->status) {
        systems_destroy(&all->common.adaptive);
        return error->status;
    }
    *adaptive = &all->common.adaptive;
    return STATUS_OK;
}

static double systems_bytes(const struct force_options *force, double systems, double count)
{
    struct force_options own = *force;
    own.threads = (int)team_for(systems, count, force->threads);
    return adaptive_systems_bytes(&method, systems, count) +
           (double)workspaces_for(systems, count, force->threads) *
               hermite_workspace_bytes(&own, count);
}

/* --- the class -------------------------------------------------------------------------------- */

static void move_system(struct systems *all, size_t s, struct hermite_workspace *work, double dt,
                        uint64_t steps, size_t threads)
{
    const struct hermite_system system = system_at(all, s);
    hermite_advance(&system, &all->rule, all->common.physics, all->common.bodies, work, dt, steps,
                    threads);
}

static enum status systems_advance(struct adaptive *adaptive, double dt, uint64_t steps,
                                   struct error *error)
{
    struct systems *const all = (struct systems *)adaptive;
    const size_t count = all->common.bodies->systems;
    adaptive_systems_begin(&all->common);
    if (all->team > 1) {
#pragma omp parallel num_threads((int)all->team)
        for (size_t s = 0; s < count; s++) {
            move_system(all, s, &all->work[0], dt, steps, (size_t)omp_get_num_threads());
            barrier_wait(&all->work[0].barrier);
        }
    } else {
#pragma omp parallel for num_threads((int)all->workspaces) if (all->workspaces > 1)                \
    schedule(dynamic)
        for (size_t s = 0; s < count; s++)
            move_system(all, s, &all->work[omp_get_thread_num()], dt, steps, 1);
    }
    return adaptive_systems_end(&all->common, error);
}

static void systems_copy(struct adaptive *to, size_t to_system, const struct adaptive *from,
                         size_t from_system)
{
    const struct systems *const source = (const struct systems *)from;
    struct systems *const all = (struct systems *)to;
    adaptive_systems_copy(to, to_system, from, from_system);
    const struct hermite_system system = system_at(all, to_system);
    const double finer = sqrt(all->rule.eta / source->rule.eta);
    for (size_t i = 0; i < system.count; i++)
        system.step[i] *= finer;
}

static void systems_statistics(const struct adaptive *adaptive, size_t s,
                               struct work_done *statistics)
{
    const struct systems *const all = (const struct systems *)adaptive;
    const struct hermite_system system = system_at(all, s);
    double current = INFINITY;
    for (size_t i = 0; i < system.count && system.clock->known > 0; i++)
        current = fmin(current, system.step[i]);
    adaptive_systems_statistics(adaptive, s, statistics);
    statistics->current = current;
    statistics->rejections = NAN;
    statistics->bodies = 1;
    if (!statistics->stuck) /* all of them meet at grid points */
        statistics->time = system.clock->grid * system.clock->dt;
}

static void count_levels(const struct adaptive *adaptive, size_t s, double levels[ADAPTIVE_LEVELS])
{
    const struct hermite_system system = system_at((const struct systems *)adaptive, s);
    for (int k = 0; k < ADAPTIVE_LEVELS; k++)
        levels[k] = 0;
    for (size_t i = 0; i < system.count && system.clock->known > 0; i++) {
        const int level = level_of(system.step[i], system.clock->dt);
        if (level >= 0)
            levels[level] += 1;
    }
}

static const char *systems_kernel(const struct adaptive *adaptive)
{
    return ((const struct systems *)adaptive)->work[0].forces->kernel;
}

const struct adaptive_class hermite_class = {
    .create = systems_create,
    .advance = systems_advance,
    .save = adaptive_systems_save,
    .load = adaptive_systems_load,
    .copy_system = systems_copy,
    .statistics = systems_statistics,
    .count_levels = count_levels,
    .kernel = systems_kernel,
    .bytes = systems_bytes,
    .destroy = systems_destroy,
};
