/*
 * A galaxy in near equilibrium: a disc, a bulge and a halo about one centre. The bulge is the
 * sphere of Hernquist (1990, ApJ 356, 359), the halo also that sphere or the one of Navarro, Frenk
 * & White (1997, ApJ 490, 493); both are cut off by sech(r/r_t). Their speeds follow from
 * Eddington's formula in the softened potential of all three, in which the disc counts as the
 * sphere that has the same mass within r (Hernquist 1993, ApJS 86, 389, takes Jeans's equation in
 * the same potential). The disc's velocities are those of the epicyclic approximation in the field
 * of all three.
 */
#include <math.h>

#include <gsl/gsl_math.h>

#include "base/memory.h"
#include "initial/cusp.h"
#include "initial/disc.h"
#include "initial/initial.h"

enum { BULGE, HALO, SPHERES };
enum profile { HERNQUIST, NFW };

struct keys {
    double disc_mass, disc_scale_length, disc_scale_height, disc_cutoff_radius, toomre_q;
    double bulge_mass, bulge_scale_radius, bulge_cutoff_radius;
    enum profile halo_profile;
    double halo_mass, halo_scale_radius, halo_cutoff_radius;
};

static const char *const profiles[] = { "hernquist", "nfw", NULL };
static const char *const profiles_help[] = { "r^-1 (a + r)^-3", "r^-1 (a + r)^-2" };

/* The default cut-off radius of the bulge, in scale radii: at one scale radius it reduces the
 * density by 1 - sech(0.1) = 0.5 %. */
#define BULGE_CUTOFF 10.0

/* clang-format off */
#define PART_COUNT(key_, default_, help_)                                                          \
    { .key = key_, .type = PARAMETER_INTEGER, .default_value = default_, .minimum = 0,             \
      .maximum = INITIAL_COUNT_MAX, .help = (help_) }
/* clang-format on */

static const struct parameter parameters[] = {
    INITIAL_CENTER(true),
    { KEY(INTEGER, disc_count), BETWEEN(1, INITIAL_COUNT_MAX),
      .help = "Number of bodies of the disc, of equal masses." },
    INITIAL_POSITIVE(disc_mass, DEFAULT_REAL(1.0), DIMENSION_MASS, "Mass of the disc."),
    INITIAL_POSITIVE(disc_scale_length, DEFAULT_REAL(1.0), DIMENSION_LENGTH,
                     "Rd of the surface density exp(-R/Rd)."),
    INITIAL_POSITIVE(disc_scale_height, DEFAULT_REAL(0.1), DIMENSION_LENGTH,
                     "z0 of the density sech^2(z/z0), at most half of disc_scale_length."),
    INITIAL_POSITIVE(disc_cutoff_radius, DEFAULT_UNSET, DIMENSION_LENGTH,
                     "Radius at which the disc ends, 4 to 30 scale lengths; unset: 8."),
    { BIND(REAL, struct keys, toomre_q), BY_DEFAULT(REAL, 1.5), POSITIVE,
      .help = "Toomre's Q = sigma_R kappa / (3.36 G Sigma) of the disc at all radii; below 1 the "
              "disc falls into rings." },
    PART_COUNT("bulge_count", DEFAULT_INTEGER(0),
               "Number of bodies of the bulge, a sphere of Hernquist; 0: there is none."),
    INITIAL_POSITIVE(bulge_mass, DEFAULT_UNSET, DIMENSION_MASS,
                     "Mass of the bulge; must be given if there is one."),
    INITIAL_POSITIVE(bulge_scale_radius, DEFAULT_UNSET, DIMENSION_LENGTH,
                     "Scale radius a of the bulge; must be given if there is one."),
    INITIAL_POSITIVE(bulge_cutoff_radius, DEFAULT_UNSET, DIMENSION_LENGTH,
                     "Radius r_t of the factor sech(r/r_t) of the bulge's density; unset: ten "
                     "scale radii."),
    PART_COUNT("halo_count", DEFAULT_INTEGER(0), "Number of bodies of the halo; 0: there is none."),
    { BIND(CHOICE, struct keys, halo_profile), BY_DEFAULT(STRING, "hernquist"), .choices = profiles,
      .choice_help = profiles_help, .help = "Density of the halo, before the factor sech(r/r_t)." },
    INITIAL_POSITIVE(halo_mass, DEFAULT_UNSET, DIMENSION_MASS,
                     "Mass of the halo, after the cut; must be given if there is one."),
    INITIAL_POSITIVE(halo_scale_radius, DEFAULT_UNSET, DIMENSION_LENGTH,
                     "Scale radius a of the halo; must be given if there is one."),
    INITIAL_POSITIVE(halo_cutoff_radius, DEFAULT_UNSET, DIMENSION_LENGTH,
                     "Radius r_t of the factor sech(r/r_t) of the halo's density; must be given "
                     "if there is one."),
};

static const struct sphere_names {
    const char *name, *count, *mass, *scale, *cutoff;
} spheres[SPHERES] = {
    { "bulge", "bulge_count", "bulge_mass", "bulge_scale_radius", "bulge_cutoff_radius" },
    { "halo", "halo_count", "halo_mass", "halo_scale_radius", "halo_cutoff_radius" },
};

/* --- its keys --------------------------------------------------------------------------------- */

struct sphere {
    size_t count; /* number of bodies; 0: there is no such sphere */
    double mass, scale;
    struct cusp_shape shape;
};

/* The parts of a galaxy as the config gives them, in the units of the run. */
struct galaxy {
    size_t disc_count;
    struct disc_shape disc;
    struct sphere spheres[SPHERES];
};

static struct galaxy galaxy_of(const struct section *section)
{
    struct keys k;
    section_read(section, &k);
    const double bulge_cutoff =
        isnan(k.bulge_cutoff_radius) ? BULGE_CUTOFF : k.bulge_cutoff_radius / k.bulge_scale_radius;
    const double halo_outer = k.halo_profile == NFW ? 3.0 : 4.0;
    return (struct galaxy){
        .disc_count = (size_t)section_integer(section, "disc_count"),
        .disc = { .mass = k.disc_mass,
                  .length = k.disc_scale_length,
                  .height = k.disc_scale_height,
                  .cutoff = disc_cutoff(k.disc_cutoff_radius, k.disc_scale_length),
                  .toomre_q = k.toomre_q },
        .spheres = { { .count = (size_t)section_integer(section, "bulge_count"),
                       .mass = k.bulge_mass,
                       .scale = k.bulge_scale_radius,
                       .shape = { .inner = 1.0, .outer = 4.0, .cutoff = bulge_cutoff } },
                     { .count = (size_t)section_integer(section, "halo_count"),
                       .mass = k.halo_mass,
                       .scale = k.halo_scale_radius,
                       .shape = { .inner = 1.0,
                                  .outer = halo_outer,
                                  .cutoff = k.halo_cutoff_radius / k.halo_scale_radius } } },
    };
}

static void check_sphere(const struct section *section, const struct sphere *sphere,
                         const struct sphere_names *names, struct error *error)
{
    if (isnan(sphere->mass))
        section_error(section, names->mass, error, "must be given, since %s is greater than 0",
                      names->count);
    if (isnan(sphere->scale))
        section_error(section, names->scale, error, "must be given, since %s is greater than 0",
                      names->count);
    else if (isnan(sphere->shape.cutoff))
        section_error(section, names->cutoff, error,
                      "must be given, since a %s without a cut-off has no edge; ten times %s is "
                      "usual",
                      names->name, names->scale);
    else
        initial_check_times(section, names->cutoff, sphere->shape.cutoff, names->scale,
                            CUSP_LEAST_CUTOFF, CUSP_GREATEST_CUTOFF, error);
}

static void check(const struct section *section, struct error *error)
{
    const struct galaxy galaxy = galaxy_of(section);
    for (size_t k = 0; k < SPHERES; k++) {
        const struct sphere_names *const names = &spheres[k];
        const char *const keys[] = { names->mass, names->scale, names->cutoff };
        if (galaxy.spheres[k].count > 0)
            check_sphere(section, &galaxy.spheres[k], names, error);
        for (size_t i = 0; i < COUNT_OF(keys) && galaxy.spheres[k].count == 0; i++)
            if (section_given(section, keys[i]))
                section_error(section, keys[i], error, "applies only if %s is greater than 0",
                              names->count);
    }
    if (galaxy.spheres[HALO].count == 0 && section_given(section, "halo_profile"))
        section_error(section, "halo_profile", error,
                      "applies only if halo_count is greater than 0");
}

/* Counts the bodies, and checks the lengths. check() cannot: it runs before initial_check_units()
 * has made sure that a default, meant for N-body units, is used in these only. */
static enum status count(const struct section *section, size_t *count, struct error *error)
{
    const struct galaxy galaxy = galaxy_of(section);
    const struct disc_names names = { "disc_scale_length", "disc_scale_height",
                                      "disc_cutoff_radius" };
    *count = galaxy.disc_count;
    for (size_t k = 0; k < SPHERES; k++)
        *count += galaxy.spheres[k].count;
    return disc_check(section, &galaxy.disc, &names, error);
}

/* --- its models ------------------------------------------------------------------------------- */

struct models {
    const struct galaxy *galaxy;
    double G, softening;
    struct cusp *alone[SPHERES]; /* each sphere in its own field; NULL: there is none */
    struct cusp *among[SPHERES]; /* each sphere in the field of all parts */
    struct disc *disc;
};

/* Returns the acceleration inwards by the spheres at r, in the units of the run. */
static double attraction(const void *model, double r)
{
    const struct models *const models = model;
    double sum = 0;
    for (size_t k = 0; k < SPHERES; k++) {
        const struct sphere *const sphere = &models->galaxy->spheres[k];
        if (models->alone[k])
            sum += sphere->mass * cusp_attraction(models->alone[k], r / sphere->scale) /
                   (gsl_pow_2(sphere->scale) * cusp_mass(models->alone[k]));
    }
    return models->G * sum;
}

static enum status make_among(struct models *models, size_t k, struct error *error)
{
    const struct galaxy *const galaxy = models->galaxy;
    const struct sphere *const sphere = &galaxy->spheres[k];
    const size_t other = SPHERES - 1 - k;
    const struct sphere *const beside = &galaxy->spheres[other];
    /* The run's unit of mass, in units of the model of the sphere. */
    const double unit = cusp_mass(models->alone[k]) / sphere->mass;
    struct cusp_part parts[SPHERES] = { { .shape = { .disc_height = galaxy->disc.height /
                                                                    galaxy->disc.length },
                                          .scale = galaxy->disc.length / sphere->scale,
                                          .mass = disc_endless_mass(&galaxy->disc) * unit } };
    struct cusp_surroundings around = { .count = 1,
                                        .parts = parts,
                                        .softening = models->softening / sphere->scale };
    if (models->alone[other])
        parts[around.count++] =
            (struct cusp_part){ .shape = beside->shape,
                                .scale = beside->scale / sphere->scale,
                                .mass = beside->mass * unit / cusp_mass(models->alone[other]) };
    return cusp_create(sphere->shape, &around, &models->among[k], error);
}

static enum status make(const struct section *section, const struct physics *physics,
                        struct models *models, struct error *error)
{
    const struct disc_spheres around = { attraction, models };
    for (size_t k = 0; k < SPHERES; k++) {
        const struct sphere *const sphere = &models->galaxy->spheres[k];
        const struct cusp_surroundings none = { .softening = models->softening / sphere->scale };
        if (sphere->count > 0 && (cusp_check_softening(section, spheres[k].scale, sphere->scale,
                                                       models->softening, error) ||
                                  cusp_create(sphere->shape, &none, &models->alone[k], error)))
            return error->status;
    }
    for (size_t k = 0; k < SPHERES; k++)
        if (models->alone[k] && make_among(models, k, error))
            return error->status;
    return disc_create(section, &models->galaxy->disc, physics, &around, &models->disc, error);
}

static void destroy(struct models *models)
{
    for (size_t k = 0; k < SPHERES; k++) {
        cusp_destroy(models->alone[k]);
        cusp_destroy(models->among[k]);
    }
    disc_destroy(models->disc);
}

/* --- its bodies ------------------------------------------------------------------------------- */

/* Draws body i of a system, in which the disc comes first, then the bulge, then the halo. */
static void draw(const void *model, gsl_rng *generator, size_t i, struct initial_body *body)
{
    const struct models *const models = model;
    const struct galaxy *const galaxy = models->galaxy;
    if (i < galaxy->disc_count) {
        disc_draw(models->disc, generator, body->position, body->velocity);
        body->m = galaxy->disc.mass / (double)galaxy->disc_count;
        return;
    }
    const size_t k = i < galaxy->disc_count + galaxy->spheres[BULGE].count ? BULGE : HALO;
    const struct sphere *const sphere = &galaxy->spheres[k];
    const struct cusp *const cusp = models->among[k];
    const double speed = sqrt(models->G * sphere->mass / (cusp_mass(cusp) * sphere->scale));
    cusp_draw(cusp, generator, body->position, body->velocity);
    for (int axis = 0; axis < 3; axis++) {
        body->position[axis] *= sphere->scale;
        body->velocity[axis] *= speed;
    }
    body->m = sphere->mass / (double)sphere->count;
}

static void name_species(const struct galaxy *galaxy, struct bodies *bodies)
{
    size_t end = galaxy->disc_count;
    bodies_add_species(bodies, "disc", end);
    for (size_t k = 0; k < SPHERES; k++)
        if (galaxy->spheres[k].count > 0)
            bodies_add_species(bodies, spheres[k].name, end += galaxy->spheres[k].count);
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies,
                        struct initial_warnings *warnings, struct error *error)
{
    (void)warnings;
    if (physics->external)
        return section_error(section, NULL, error,
                             "a galaxy is in equilibrium only in its own field, without external "
                             "fields; a disc can be in them");
    const struct galaxy galaxy = galaxy_of(section);
    struct models models = { .galaxy = &galaxy,
                             .G = physics->gravitational_constant,
                             .softening = physics->softening };
    if (!make(section, physics, &models, error))
        initial_draw_systems(draw, &models, physics->interruption, seed, bodies, error);
    destroy(&models);
    name_species(&galaxy, bodies);
    return error->status;
}

static const char *const scales[] = { "disc_mass", "disc_scale_length", "disc_scale_height", NULL };

const struct initial_class initial_galaxy = {
    .variant = { "galaxy", "A galaxy in equilibrium: a disc, with a bulge and a halo of bodies.",
                 parameters, COUNT_OF(parameters) },
    .check = check,
    .count = count,
    .fill_all = fill,
    .scales = scales,
};
