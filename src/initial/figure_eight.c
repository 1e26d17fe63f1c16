/*
 * The figure eight of three equal masses (Moore 1993; Chenciner & Montgomery 2000, Ann. Math. 152,
 * 881, with the numbers of C. Simo): planar, L = 0. For G = m = length = 1 the period is
 * 6.32591398 and E = -1.287141992; the published digits limit closure to about 1e-7.
 */
#include <math.h>

#include "base/memory.h"
#include "initial/table.h"

static const struct parameter parameters[] = {
    INITIAL_POSITIVE("mass", "1.0", DIMENSION_MASS, "Mass of each of the three bodies."),
    INITIAL_POSITIVE("length", "1.0", DIMENSION_LENGTH, "Unit of length of the published numbers."),
};

static const struct initial_body published[] = {
    { 1.0, { 0.97000436, -0.24308753, 0.0 }, { 0.466203685, 0.43236573, 0.0 } },
    { 1.0, { -0.97000436, 0.24308753, 0.0 }, { 0.466203685, 0.43236573, 0.0 } },
    { 1.0, { 0.0, 0.0, 0.0 }, { -0.93240737, -0.86473146, 0.0 } },
};

static enum status count(const struct section *section, size_t *count, struct error *error)
{
    (void)section, (void)error;
    *count = COUNT_OF(published);
    return STATUS_OK;
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies, size_t first,
                        struct error *error)
{
    (void)seed, (void)error;
    const double m = section_real(section, "mass"), length = section_real(section, "length");
    const double speed = sqrt(physics->gravitational_constant * m / length);
    initial_set_published(bodies, first, published, COUNT_OF(published), m, length, speed);
    return STATUS_OK;
}

static const char *const scales[] = { "mass", "length", NULL };

const struct initial_class initial_figure_eight = {
    .variant = { "figure-eight", "Three equal masses that follow each other on a figure eight.",
                 parameters, COUNT_OF(parameters) },
    .count = count,
    .fill = fill,
    .scales = scales,
};
