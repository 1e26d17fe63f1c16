/*
 * All systems of a run under Hermite's method, as block-systems.h divides them.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "integrator/block-systems.h"
#include "integrator/hermite.h"

/* Acceleration, jerk, step, and what positions lack: numbers per body. */
enum { ARRAYS = 10, STEPS = 6 };

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
    struct block_systems blocks;
    struct hermite_rule rule;
    double others[ADAPTIVE_LEVELS]; /* of the rule */
    struct hermite_workspace *work;
};

/* --- create and destroy ----------------------------------------------------------------------- */

static struct hermite_system system_at(const struct systems *all, size_t s)
{
    const struct adaptive_systems *const common = &all->blocks.common;
    const struct bodies *const b = common->bodies;
    const size_t first = s * b->stride;
    double *const own = adaptive_systems_arrays(common, s);
    return (struct hermite_system){
        .count = b->count,
        .index = s,
        .x = { b->x + first, b->y + first, b->z + first },
        .v = { b->vx + first, b->vy + first, b->vz + first },
        .a = { own, own + b->stride, own + 2 * b->stride },
        .jerk = { own + 3 * b->stride, own + 4 * b->stride, own + 5 * b->stride },
        .step = own + STEPS * b->stride,
        .low = { own + 7 * b->stride, own + 8 * b->stride, own + 9 * b->stride },
        .clock = &common->clocks[s],
    };
}

static const struct adaptive_method method = { &hermite_class, "hermite4", ARRAYS,
                                               block_systems_makes_sense,
                                               block_systems_describe_stuck };

static void systems_destroy(struct adaptive *adaptive)
{
    struct systems *const all = (struct systems *)adaptive;
    if (!all)
        return;
    for (size_t k = 0; k < all->blocks.workspaces && all->work; k++)
        hermite_workspace_destroy(&all->work[k]);
    memory_free(all->work);
    adaptive_systems_clear(&all->blocks.common);
    free(all);
}

static void move_system(struct block_systems *blocks, size_t s, size_t work, double dt,
                        uint64_t steps, size_t threads)
{
    struct systems *const all = (struct systems *)blocks;
    const struct hermite_system system = system_at(all, s);
    hermite_advance(&system, &all->rule, blocks->common.physics, blocks->common.bodies,
                    &all->work[work], dt, steps, threads);
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
    own.threads = (int)all->blocks.team;
    all->work = memory_array(all->blocks.workspaces, sizeof *all->work, error);
    for (size_t k = 0; k < all->blocks.workspaces && !error->status; k++)
        hermite_workspace_create(&all->work[k], &own, all->blocks.common.physics,
                                 all->blocks.common.bodies->count, error);
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
    all->blocks.step = STEPS;
    all->blocks.move = move_system;
    if (!block_systems_init(&all->blocks, &method, options, physics, bodies, error))
        make_workspaces(all, options->force, error);
    if (error->status) {
        systems_destroy(&all->blocks.common.adaptive);
        return error->status;
    }
    *adaptive = &all->blocks.common.adaptive;
    return STATUS_OK;
}

static double systems_bytes(const struct force_options *force, double systems, double count)
{
    struct force_options own = *force;
    own.threads = (int)block_team(systems, count, force->threads);
    return adaptive_systems_bytes(&method, systems, count) +
           (double)block_workspaces(systems, count, force->threads) *
               hermite_workspace_bytes(&own, count);
}

/* --- the class -------------------------------------------------------------------------------- */

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

static const char *systems_kernel(const struct adaptive *adaptive)
{
    return ((const struct systems *)adaptive)->work[0].forces->kernel;
}

const struct adaptive_class hermite_class = {
    .create = systems_create,
    .advance = block_systems_advance,
    .save = adaptive_systems_save,
    .load = adaptive_systems_load,
    .copy_system = systems_copy,
    .statistics = block_systems_statistics,
    .count_levels = block_systems_count_levels,
    .kernel = systems_kernel,
    .bytes = systems_bytes,
    .destroy = systems_destroy,
};
