/*
 * The Plummer sphere, sampled as Aarseth, Henon & Wielen (1974, A&A 37, 183) do: density
 * 3M/(4 pi a^3) (1 + r^2/a^2)^(-5/2), isotropic velocities of the distribution function
 * f(E) ~ (-E)^(7/2). The sample is truncated, and by default moved to the centre of mass and
 * rescaled to the energy of the model, E = -3 pi G M^2 / (64 a), which is -1/4 in Henon units (G =
 * M = 1, a = 3 pi/16).
 */
#include <float.h>
#include <math.h>

#include <gsl/gsl_math.h>

#include "base/memory.h"
#include "base/random.h"
#include "initial/cluster.h"
#include "initial/initial.h"

struct keys {
    struct cluster_keys cluster;
    double scale_radius, cutoff, cutoff_radius;
};

static const struct parameter parameters[] = {
    CLUSTER_PARAMETERS(true, "auto"),
    INITIAL_POSITIVE(scale_radius, DEFAULT_REAL(0.58904862254808621), DIMENSION_LENGTH,
                     "Scale radius a; the default is 3 pi/16, Henon units if G = M = 1."),
    { BIND(REAL, struct keys, cutoff), BY_DEFAULT(REAL, 0.999), POSITIVE_TO(1),
      .help = "Leave out bodies beyond the radius that holds this fraction of the model's mass." },
    INITIAL_POSITIVE(cutoff_radius, DEFAULT_UNSET, DIMENSION_LENGTH,
                     "Leave out bodies beyond this radius, instead of `cutoff`; before `rescale`."),
};

/* Returns the fraction of the model's mass within the cut-off, where bodies are drawn. */
static double enclosed_limit(const struct keys *keys)
{
    if (isnan(keys->cutoff_radius))
        return keys->cutoff;
    /* M(r)/M = (1 + a^2/r^2)^(-3/2) */
    const double ratio = keys->scale_radius / keys->cutoff_radius;
    return pow(1.0 + ratio * ratio, -1.5);
}

/* Refuses a cut-off within which the fraction of the mass is below DBL_MIN: draw() needs numbers
 * between 0 and this fraction. */
static void check_cutoff(const struct section *section, struct error *error)
{
    struct keys keys;
    section_read(section, &keys);
    const char *const key = isnan(keys.cutoff_radius) ? "cutoff" : "cutoff_radius";
    if (!(enclosed_limit(&keys) >= DBL_MIN))
        section_error(section, key, error,
                      "is so small that no part of the model is left: the mass within it is less "
                      "than %.1e of all",
                      DBL_MIN);
}

static void check(const struct section *section, struct error *error)
{
    cluster_check(section, error);
    if (section_has(section, "cutoff_radius") && section_given(section, "cutoff"))
        section_error(section, "cutoff_radius", error, "give this or cutoff, not both");
    check_cutoff(section, error);
}

/* Draws q = v / v_escape by rejection: its density is q^2 (1 - q^2)^(7/2), which is less than
 * 0.1. */
static double draw_speed(gsl_rng *generator)
{
    double q, g;
    do {
        q = random_uniform(generator, 0.0, 1.0);
        const double u = 1.0 - q * q;
        g = q * q * u * u * u * sqrt(u);
    } while (random_uniform(generator, 0.0, 0.1) > g);
    return q;
}

/* Draws a body of the model with G = M = a = 1; `model` points to the fraction of the mass within
 * the cut-off. */
static void draw(const void *model, gsl_rng *generator, double position[3], double velocity[3])
{
    const double *limit = model;
    double enclosed;
    do
        enclosed = random_uniform(generator, 0.0, *limit);
    while (!(enclosed > 0.0 && enclosed < 1.0));
    const double r = 1.0 / sqrt(pow(enclosed, -2.0 / 3.0) - 1.0);
    const double v_escape = M_SQRT2 / sqrt(sqrt(1.0 + r * r));
    random_on_sphere(generator, r, position);
    random_on_sphere(generator, draw_speed(generator) * v_escape, velocity);
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies,
                        struct initial_warnings *warnings, struct error *error)
{
    (void)warnings;
    struct keys keys;
    section_read(section, &keys);
    const double a = keys.scale_radius, limit = enclosed_limit(&keys);
    const struct cluster cluster = { .draw = draw,
                                     .model = &limit,
                                     .length = a,
                                     .mass = 1.0,
                                     .number = -3.0 * M_PI,
                                     .extent = 64.0 * a };
    return cluster_fill(section, physics, &keys.cluster, &cluster, seed, bodies, error);
}

static const char *const scales[] = { "mass", "scale_radius", NULL };

const struct initial_class initial_plummer = {
    .variant = { "plummer", "A Plummer sphere in equilibrium (Aarseth, Henon & Wielen 1974).",
                 parameters, COUNT_OF(parameters) },
    .check = check,
    .count = initial_count_key,
    .fill_all = fill,
    .scales = scales,
    .uses_scale = cluster_uses_scale,
};
