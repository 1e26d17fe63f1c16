/*
 * The Pythagorean problem (Burrau 1913; Szebehely & Peters 1967, AJ 72, 876): masses 3, 4, 5 at
 * rest at the corners of a triangle, each opposite to the side whose length has the same number.
 * With G = 1 and in units of the keys `mass` and `length`: E = -12.8166667, L = 0. After very close
 * encounters one body escapes.
 */

#include "base/memory.h"
#include "initial/initial-table.h"
#include "initial/initial.h"

struct keys {
    double mass, length;
};

static const struct parameter parameters[] = {
    INITIAL_POSITIVE(mass, DEFAULT_REAL(1.0), DIMENSION_MASS,
                     "Unit of mass: the bodies have 3, 4 and 5."),
    INITIAL_POSITIVE(length, DEFAULT_REAL(1.0), DIMENSION_LENGTH,
                     "Unit of length: the sides are 3, 4 and 5."),
};

static const struct initial_body published[] = {
    { 3.0, { 1.0, 3.0, 0.0 }, { 0.0, 0.0, 0.0 } },
    { 4.0, { -2.0, -1.0, 0.0 }, { 0.0, 0.0, 0.0 } },
    { 5.0, { 1.0, -1.0, 0.0 }, { 0.0, 0.0, 0.0 } },
};

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies, size_t first,
                        struct error *error)
{
    (void)physics, (void)seed, (void)error;
    struct keys keys;
    section_read(section, &keys);
    initial_set_published(bodies, first, published, COUNT_OF(published), keys.mass, keys.length,
                          1.0);
    return STATUS_OK;
}

static const char *const scales[] = { "mass", "length", NULL };

const struct initial_class initial_pythagorean = {
    .variant = { "pythagorean", "Masses 3, 4, 5 at rest at the corners of a 3-4-5 triangle.",
                 parameters, COUNT_OF(parameters) },
    .bodies = COUNT_OF(published),
    .fill = fill,
    .scales = scales,
};
