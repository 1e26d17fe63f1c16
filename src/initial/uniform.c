/*
 * Bodies that are drawn uniformly in a volume.
 *
 * uniform-cube: positions uniform in [-s, s]^3, velocities uniform in [-v, v]^3. It is the usual
 * start of GPU n-body tutorials; it collapses and virialises. With the default half side in open
 * space, s = 10 (N / 1024)^(1/3), the density is the same for all N.
 *
 * cold-sphere: a uniform sphere at rest, U = -3 G M^2 / (5 R); it collapses in the free-fall time
 * pi/2 sqrt(R^3 / (2 G M)). With the key virial_ratio it starts with isotropic Gaussian velocities.
 */
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "initial/initial.h"

enum masses { MASSES_UNIT, MASSES_EQUAL, MASSES_RANDOM };
static const char *const mass_choices[] = { "unit", "equal", "random", NULL };

struct keys {
    double half_side, velocity, mass, mass_range[2], radius; /* radius: cold-sphere only */
    enum masses masses;
};

static const struct parameter parameters[] = {
    INITIAL_COUNT(DEFAULT_INTEGER(1024), "Number of bodies."),
    INITIAL_POSITIVE(half_side, DEFAULT_UNSET, DIMENSION_LENGTH,
                     "Positions are uniform in [-half_side, half_side]^3; unset: half of a "
                     "periodic box, or 10 (count/1024)^(1/3) in open space."),
    { BIND(REAL, struct keys, velocity), BY_DEFAULT(REAL, 1.0), NOT_NEGATIVE,
      .dimension = DIMENSION_VELOCITY,
      .help = "Velocities are uniform in [-velocity, velocity]^3." },
    { BIND(CHOICE, struct keys, masses), BY_DEFAULT(STRING, "unit"), .choices = mass_choices,
      .help = "unit: 1 each; equal: shares of `mass`; random: uniform in `mass_range`." },
    INITIAL_POSITIVE(mass, DEFAULT_REAL(1.0), DIMENSION_MASS,
                     "Total mass, for masses = \"equal\"."),
    { BIND(REALS, struct keys, mass_range), BY_DEFAULT(REALS, 0.5, 1.5), NOT_NEGATIVE, .length = 2,
      .dimension = DIMENSION_MASS, .help = "Smallest and largest mass, for masses = \"random\"." },
};

static void check(const struct section *section, struct error *error)
{
    struct keys keys;
    section_read(section, &keys);
    if (section_given(section, "mass") && keys.masses != MASSES_EQUAL)
        section_error(section, "mass", error, "applies only to masses = \"equal\"");
    if (section_given(section, "mass_range") && keys.masses != MASSES_RANDOM)
        section_error(section, "mass_range", error, "applies only to masses = \"random\"");
    if (keys.mass_range[0] > keys.mass_range[1] || !(keys.mass_range[1] > 0))
        section_error(section, "mass_range", error,
                      "must be two masses, not both 0, the smaller one first");
}

static double half_side(const struct keys *keys, const struct physics *physics, size_t count)
{
    if (!isnan(keys->half_side))
        return keys->half_side;
    if (physics->boundary == BOUNDARY_PERIODIC)
        return 0.5 * physics->box_length;
    return 10.0 * cbrt((double)count / 1024.0);
}

/* Finds the smallest and the largest mass of a body, equal unless masses are random. */
static void mass_limits(const struct keys *keys, size_t count, double limits[2])
{
    const double equal = keys->mass / (double)count;
    const double table[][2] = { [MASSES_UNIT] = { 1.0, 1.0 },
                                [MASSES_EQUAL] = { equal, equal },
                                [MASSES_RANDOM] = { keys->mass_range[0], keys->mass_range[1] } };
    for (int k = 0; k < 2; k++)
        limits[k] = table[keys->masses][k];
}

/* Draws the bodies. Each mass is drawn after position and velocity, and also if all are equal, so
 * that positions and velocities do not depend on the key `masses`. */
static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies, size_t first,
                        struct error *error)
{
    gsl_rng *generator = random_create(seed, error);
    if (!generator)
        return error->status;
    struct keys keys;
    section_read(section, &keys);
    const double s = half_side(&keys, physics, bodies->count), v = keys.velocity;
    double limits[2];
    mass_limits(&keys, bodies->count, limits);
    for (size_t i = first; i < first + bodies->count; i++) {
        double position[3], velocity[3];
        for (int k = 0; k < 3; k++)
            position[k] = random_uniform(generator, -s, s);
        for (int k = 0; k < 3; k++)
            velocity[k] = random_uniform(generator, -v, v);
        initial_set(bodies, i, random_uniform(generator, limits[0], limits[1]), position, velocity);
    }
    random_destroy(generator);
    return STATUS_OK;
}

static const char *const scales[] = {
    "masses", "mass", "mass_range", "half_side", "velocity", NULL
};

/* Tells whether the section makes use of `key`: a key of masses only with the choice of `masses`
 * that it belongs to, and half_side not in a periodic box, whose size is the default. */
static bool uses_scale(const struct section *section, const struct physics *physics,
                       const char *key)
{
    const enum masses masses = (enum masses)section_choice(section, "masses");
    return strcmp(key, "mass") == 0         ? masses == MASSES_EQUAL
           : strcmp(key, "mass_range") == 0 ? masses == MASSES_RANDOM
           : strcmp(key, "half_side") == 0  ? physics->boundary != BOUNDARY_PERIODIC
                                            : true;
}

const struct initial_class initial_uniform_cube = {
    .variant = { "uniform-cube", "Bodies uniform in a cube, velocities too.", parameters,
                 COUNT_OF(parameters) },
    .check = check,
    .count = initial_count_key,
    .fill = fill,
    .scales = scales,
    .uses_scale = uses_scale,
};

/* --- a sphere at rest ------------------------------------------------------------------------- */

static const struct parameter sphere_parameters[] = {
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

static enum status fill_sphere(const struct section *section, const struct physics *physics,
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

static const char *const sphere_scales[] = { "mass", "radius", NULL };

const struct initial_class initial_cold_sphere = {
    .variant = { "cold-sphere", "A uniform sphere, at rest unless virial_ratio says otherwise.",
                 sphere_parameters, COUNT_OF(sphere_parameters) },
    .count = initial_count_key,
    .fill = fill_sphere,
    .scales = sphere_scales,
};
