/*
 * Isotropic spheres with a central cusp, in equilibrium: Dehnen's models (1993, MNRAS 265, 250;
 * Tremaine et al. 1994, AJ 107, 634), among them Hernquist's (1990, ApJ 356, 359) and Jaffe's
 * (1983, MNRAS 202, 995), and that of Navarro, Frenk & White (1997, ApJ 490, 493). With the scale
 * radius as the unit of length
 *
 *     rho ~ r^-gamma (1 + r)^(gamma - outer) sech(r / r_t),   outer = 4, or 3 for nfw
 *
 * Without the key cutoff_radius (r_t) the last factor is 1. Speeds are those of equilibrium in the
 * run's softened attraction; cusp.c finds them.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "initial/cluster.h"
#include "initial/cusp.h"
#include "initial/initial.h"

struct keys {
    struct cluster_keys cluster;
    double inner_slope, scale_radius, cutoff_radius;
};

/* By default a sphere is neither rescaled nor, since it may have no edge, moved to its centre of
 * mass. */
/* clang-format off */
#define SPHERICAL_PARAMETERS                                                                       \
    CLUSTER_PARAMETERS(false, "none"),                                                             \
    { BIND(REAL, struct keys, scale_radius), BY_DEFAULT(REAL, 1.0), POSITIVE,                      \
      .dimension = DIMENSION_LENGTH, .help = "Scale radius a." },                                  \
    { BIND(REAL, struct keys, cutoff_radius), OPTIONAL, POSITIVE, .dimension = DIMENSION_LENGTH,   \
      .help = "Radius r_t of the factor sech(r/r_t) that cuts the density off; `mass` is the "     \
              "mass after the cut. nfw needs it; the others have no edge without it." }
/* clang-format on */

static const struct parameter parameters[] = { SPHERICAL_PARAMETERS };
static const struct parameter dehnen_parameters[] = {
    SPHERICAL_PARAMETERS,
    { BIND(REAL, struct keys, inner_slope), BETWEEN(0, 2.5), .open = OPEN_MAXIMUM,
      .help = "gamma of the density r^-gamma at the centre; from 2.5 on the energy is infinite." },
};

/* --- the starts ------------------------------------------------------------------------------- */

/* The slopes of each model near the centre (gamma; NaN: the key inner_slope) and far outside. */
static const struct {
    const char *name;
    double inner, outer;
} models[] = {
    { "dehnen", NAN, 4.0 },
    { "hernquist", 1.0, 4.0 },
    { "jaffe", 2.0, 4.0 },
    { "nfw", 1.0, 3.0 },
};

static struct cusp_shape shape_of(const struct section *section, const struct keys *keys)
{
    size_t k = 0;
    while (strcmp(models[k].name, section_variant(section)->name) != 0)
        k++;
    const bool cut = !isnan(keys->cutoff_radius);
    return (struct cusp_shape){
        .inner = isnan(models[k].inner) ? keys->inner_slope : models[k].inner,
        .outer = models[k].outer,
        .cutoff = cut ? keys->cutoff_radius / keys->scale_radius : INFINITY,
    };
}

static enum status check_cutoff(const struct section *section, struct error *error)
{
    struct keys keys;
    section_read(section, &keys);
    if (!isnan(keys.cutoff_radius))
        initial_check_times(section, "cutoff_radius", shape_of(section, &keys).cutoff,
                            "scale_radius", CUSP_LEAST_CUTOFF, CUSP_GREATEST_CUTOFF, error);
    return error->status;
}

static void check(const struct section *section, struct error *error)
{
    cluster_check(section, error);
    struct keys keys;
    section_read(section, &keys);
    const struct cusp_shape shape = shape_of(section, &keys);
    if (isnan(keys.cutoff_radius)) {
        if (!(shape.outer > 3))
            section_error(section, "cutoff_radius", error,
                          "must be given, since the mass of the endless sphere is infinite; ten "
                          "times scale_radius is near the edge of a halo of dark matter");
        else if (section_flag(section, "center"))
            section_error(section, "center", error,
                          "without cutoff_radius a few bodies far away decide where the centre of "
                          "mass is, and moving it to the origin would move the core away from "
                          "there; give cutoff_radius, or center = false");
    } else if (section_written(section, "scale_radius")) {
        check_cutoff(section, error);
    }
}

/* Counts the bodies, and checks the cut-off also if scale_radius has its default. check() cannot:
 * it runs before initial_check_units() has made sure that the default, meant for N-body units, is
 * used in these only. */
static enum status count(const struct section *section, size_t *count, struct error *error)
{
    const enum status status = check_cutoff(section, error);
    return status ? status : initial_count_key(section, count, error);
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies,
                        struct initial_warnings *warnings, struct error *error)
{
    (void)warnings;
    struct keys keys;
    section_read(section, &keys);
    struct cusp *sphere;
    const struct cusp_surroundings around = { .softening = physics->softening / keys.scale_radius };
    if (cusp_check_softening(section, "scale_radius", keys.scale_radius, physics->softening, error))
        return error->status;
    if (!cusp_create(shape_of(section, &keys), &around, &sphere, error)) {
        const double mass = cusp_mass(sphere);
        const struct cluster cluster = {
            .draw = cusp_draw,
            .model = sphere,
            .length = keys.scale_radius,
            .mass = mass,
            .number = cusp_energy(sphere) / (mass * mass),
            .extent = keys.scale_radius,
        };
        cluster_fill(section, physics, &keys.cluster, &cluster, seed, bodies, error);
    }
    cusp_destroy(sphere);
    return error->status;
}

static const char *const scales[] = { "mass", "scale_radius", NULL };

/* clang-format off */
#define SPHERICAL_CLASS(name_, help_, parameters_)                                                 \
    const struct initial_class initial_##name_ = {                                                 \
        .variant = { #name_, help_, parameters_, COUNT_OF(parameters_) },                          \
        .check = check,                                                                            \
        .count = count,                                                                            \
        .fill_all = fill,                                                                          \
        .scales = scales,                                                                          \
        .uses_scale = cluster_uses_scale,                                                          \
    }
/* clang-format on */

SPHERICAL_CLASS(dehnen, "Dehnen's sphere in equilibrium, with a cusp of any slope (Dehnen 1993).",
                dehnen_parameters);
SPHERICAL_CLASS(hernquist, "Hernquist's sphere in equilibrium: a bulge or halo (Hernquist 1990).",
                parameters);
SPHERICAL_CLASS(jaffe, "Jaffe's sphere in equilibrium: a steep cusp (Jaffe 1983).", parameters);
SPHERICAL_CLASS(nfw, "A halo of dark matter in equilibrium (Navarro, Frenk & White 1997).",
                parameters);
