/*
 * A uniform sphere at rest: U = -3 G M^2 / (5 R); it collapses in the free-fall time
 * pi/2 sqrt(R^3 / (2 G M)). With the key virial_ratio it starts with isotropic Gaussian velocities.
 */

#include <gsl/gsl_randist.h>

#include "base/memory.h"
#include "base/random.h"
#include "initial/initial-table.h"
#include "initial/initial.h"

struct keys {
    double mass, radius;
};

static const struct parameter parameters[] = {
    INITIAL_COUNT(DEFAULT_NONE, "Number of bodies, of equal masses."),
    INITIAL_CENTER(true),
    INITIAL_POSITIVE(mass, DEFAULT_REAL(1.0), DIMENSION_MASS, "Total mass."),
    INITIAL_POSITIVE(radius, DEFAULT_REAL(1.0), DIMENSION_LENGTH, "Radius of the sphere."),
};

/* Draws velocities of dispersion 1, which initial.c then rescales to the virial ratio. They are
 * drawn after all positions, so that the key virial_ratio does not change the positions. */
static void draw_velocities(gsl_rng *generator, struct bodies *bodies, size_t first)
{
    for (size_t i = first; i < first + bodies->count; i++) {
        bodies->vx[i] = gsl_ran_gaussian_ziggurat(generator, 1.0);
        bodies->vy[i] = gsl_ran_gaussian_ziggurat(generator, 1.0);
        bodies->vz[i] = gsl_ran_gaussian_ziggurat(generator, 1.0);
    }
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies, size_t first,
                        struct error *error)
{
    (void)physics;
    static const double rest[3] = { 0.0, 0.0, 0.0 };
    gsl_rng *generator = random_create(seed, error);
    if (!generator)
        return error->status;
    struct keys keys;
    section_read(section, &keys);
    for (size_t i = first; i < first + bodies->count; i++) {
        double position[3];
        random_in_ball(generator, keys.radius, position);
        initial_set(bodies, i, keys.mass / (double)bodies->count, position, rest);
    }
    if (section_has(section, "virial_ratio"))
        draw_velocities(generator, bodies, first);
    random_destroy(generator);
    return STATUS_OK;
}

static const char *const scales[] = { "mass", "radius", NULL };

const struct initial_class initial_cold_sphere = {
    .variant = { "cold-sphere", "A uniform sphere, at rest unless virial_ratio says otherwise.",
                 parameters, COUNT_OF(parameters) },
    .count = initial_count_key,
    .fill = fill,
    .scales = scales,
};
