/*
 * The figure eight of three equal masses (Moore 1993; Chenciner & Montgomery 2000, Ann. Math. 152,
 * 881, with the numbers of C. Simo): planar, L = 0. For G = m = length = 1 the period is 6.32591398
 * and E = -1.287141992; because of the number of published digits the orbit closes only to about
 * 1e-7.
 */
#include <math.h>

#include "base/memory.h"
#include "initial/initial-table.h"
#include "initial/initial.h"

struct keys {
    double mass, length;
};

static const struct parameter parameters[] = {
    INITIAL_POSITIVE(mass, DEFAULT_REAL(1.0), DIMENSION_MASS, "Mass of each of the three bodies."),
    INITIAL_POSITIVE(length, DEFAULT_REAL(1.0), DIMENSION_LENGTH,
                     "Unit of length of the published numbers."),
};

static const struct initial_body published[] = {
    { 1.0, { 0.97000436, -0.24308753, 0.0 }, { 0.466203685, 0.43236573, 0.0 } },
    { 1.0, { -0.97000436, 0.24308753, 0.0 }, { 0.466203685, 0.43236573, 0.0 } },
    { 1.0, { 0.0, 0.0, 0.0 }, { -0.93240737, -0.86473146, 0.0 } },
};

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies, size_t first,
                        struct error *error)
{
    (void)seed, (void)error;
    struct keys keys;
    section_read(section, &keys);
    const double speed = sqrt(physics->gravitational_constant * keys.mass / keys.length);
    initial_set_published(bodies, first, published, COUNT_OF(published), keys.mass, keys.length,
                          speed);
    return STATUS_OK;
}

static const char *const scales[] = { "mass", "length", NULL };

const struct initial_class initial_figure_eight = {
    .variant = { "figure-eight", "Three equal masses that follow each other on a figure eight.",
                 parameters, COUNT_OF(parameters) },
    .bodies = COUNT_OF(published),
    .fill = fill,
    .scales = scales,
};
