/*
 * All systems of a run under the leapfrog with block steps, as block-systems.h divides them.
 */

#include <stdlib.h>

#include "base/memory.h"
#include "integrator/block-leapfrog.h"

/* Acceleration and step: numbers per body. */
enum { ARRAYS = 4, STEPS = 3 };

enum { STEP, ETA };

const struct parameter block_leapfrog_parameters[BLOCK_LEAPFROG_PARAMETERS] = {
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
      .default_value = DEFAULT_REAL(0.2),
      .open = OPEN_MINIMUM,
      .help = "Accuracy: a body's step is at most eta (softening / |a|)^(1/2), with its "
              "acceleration a." },
};

struct systems {
    struct block_systems blocks;
    double eta;
    struct leapfrog_workspace *work;
};

/* --- create and destroy ----------------------------------------------------------------------- */

static struct leapfrog_system system_at(const struct systems *all, size_t s)
{
    const struct adaptive_systems *const common = &all->blocks.common;
    const struct bodies *const b = common->bodies;
    const size_t first = s * b->stride;
    double *const own = adaptive_systems_arrays(common, s);
    return (struct leapfrog_system){
        .count = b->count,
        .index = s,
        .x = { b->x + first, b->y + first, b->z + first },
        .v = { b->vx + first, b->vy + first, b->vz + first },
        .a = { own, own + b->stride, own + 2 * b->stride },
        .step = own + STEPS * b->stride,
        .clock = &common->clocks[s],
    };
}

static const struct adaptive_method method = { &block_leapfrog_class, "block-leapfrog", ARRAYS,
                                               block_systems_makes_sense,
                                               block_systems_describe_stuck };

static void systems_destroy(struct adaptive *adaptive)
{
    struct systems *const all = (struct systems *)adaptive;
    if (!all)
        return;
    for (size_t k = 0; k < all->blocks.workspaces && all->work; k++)
        leapfrog_workspace_destroy(&all->work[k]);
    memory_free(all->work);
    adaptive_systems_clear(&all->blocks.common);
    free(all);
}

static void move_system(struct block_systems *blocks, size_t s, size_t work, double dt,
                        uint64_t steps, size_t threads)
{
    struct systems *const all = (struct systems *)blocks;
    const struct leapfrog_system system = system_at(all, s);
    leapfrog_advance(&system, all->eta, blocks->common.physics, blocks->common.bodies,
                     &all->work[work], dt, steps, threads);
}

static void make_workspaces(struct systems *all, const struct force_options *force,
                            struct error *error)
{
    struct force_options own = *force;
    own.threads = (int)all->blocks.team;
    all->work = memory_array(all->blocks.workspaces, sizeof *all->work, error);
    for (size_t k = 0; k < all->blocks.workspaces && !error->status; k++)
        leapfrog_workspace_create(&all->work[k], &own, all->blocks.common.physics,
                                  all->blocks.common.bodies->count, error);
}

static enum status systems_create(const struct adaptive_options *options,
                                  const struct physics *physics, struct bodies *bodies,
                                  struct adaptive **adaptive, struct error *error)
{
    *adaptive = NULL;
    if (!(physics->softening > 0))
        return error_set(error, STATUS_CONFIG,
                         "physics.softening = 0: block-leapfrog takes steps of eta (softening / "
                         "|a|)^(1/2), which are 0 then; set a softening, or choose \"hermite4\"");
    struct systems *const all = calloc(1, sizeof *all);
    if (!all)
        return error_memory(error);
    const double eta =
        options->values ? options->values[ETA] : block_leapfrog_parameters[ETA].default_value.real;
    all->eta = eta / options->refinement;
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
               leapfrog_workspace_bytes(&own, count);
}

/* --- the class -------------------------------------------------------------------------------- */

static void systems_copy(struct adaptive *to, size_t to_system, const struct adaptive *from,
                         size_t from_system)
{
    const struct systems *const source = (const struct systems *)from;
    struct systems *const all = (struct systems *)to;
    adaptive_systems_copy(to, to_system, from, from_system);
    const struct leapfrog_system system = system_at(all, to_system);
    const double finer = all->eta / source->eta;
    for (size_t i = 0; i < system.count; i++)
        system.step[i] *= finer;
}

static const char *systems_kernel(const struct adaptive *adaptive)
{
    return ((const struct systems *)adaptive)->work[0].forces->kernel;
}

const struct adaptive_class block_leapfrog_class = {
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
