/*
 * All systems of a run under Hermite's method, as block-systems.h divides them.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrator/hermite.h"

enum { STEP, ETA };

const struct parameter hermite_parameters[HERMITE_PARAMETERS] = {
    BLOCK_STEP_PARAMETER,
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
};

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
    if (block_systems_init(&all->blocks, &hermite_method, &all->rule, options, physics, bodies,
                           error)) {
        block_systems_destroy(&all->blocks.common.adaptive);
        return error->status;
    }
    *adaptive = &all->blocks.common.adaptive;
    return STATUS_OK;
}

static double systems_bytes(const struct force_options *force, double systems, double count)
{
    return block_systems_bytes(&hermite_method, force, systems, count);
}

static void systems_copy(struct adaptive *to, size_t to_system, const struct adaptive *from,
                         size_t from_system)
{
    const double eta = ((const struct systems *)to)->rule.eta;
    block_systems_copy(to, to_system, from, from_system,
                       sqrt(eta / ((const struct systems *)from)->rule.eta));
}

const struct adaptive_class hermite_class = {
    .create = systems_create,
    .advance = block_systems_advance,
    .save = adaptive_systems_save,
    .load = adaptive_systems_load,
    .copy_system = systems_copy,
    .statistics = block_systems_statistics,
    .count_levels = block_systems_count_levels,
    .kernel = block_systems_kernel,
    .bytes = systems_bytes,
    .destroy = block_systems_destroy,
};
