/* Density against distance from the centre, beside an isothermal sphere and Plummer's. */
#include <math.h>

#include "base/memory.h"
#include "diagnostics/profile.h"
#include "diagnostics/table.h"

enum {
    R,
    R_INNER,
    R_OUTER,
    BODIES,
    MASS,
    DENSITY,
    DENSITY_ERROR,
    POWER_LAW,
    ISOTHERMAL,
    PLUMMER,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "r", DIMENSION_LENGTH, "geometric mean of the shell's radii" },
    { "r_inner", DIMENSION_LENGTH, "inner radius of the shell, about the centre" },
    { "r_outer", DIMENSION_LENGTH, "outer radius of the shell; a body at it counts outside" },
    { "bodies", DIMENSION_NONE, "n, bodies in the shell" },
    { "mass", DIMENSION_MASS, "their mass" },
    { "density", DIMENSION_DENSITY, "mass / (4 pi / 3 (r_outer^3 - r_inner^3))" },
    { "density_error", DIMENSION_DENSITY, "density / sqrt(n), empty when n = 0" },
    { "power_law", DIMENSION_DENSITY,
      "A r^s, fitted by weighted least squares to ln density against ln r in the shells of the "
      "range `fit` with at least `least_bodies` bodies; s and its error are density-slope's" },
    { "isothermal", DIMENSION_DENSITY, "A r^-2 (singular isothermal sphere), fitted likewise" },
    { "plummer", DIMENSION_DENSITY,
      "3 M / (4 pi a^3) (1 + r^2 / a^2)^(-5/2), M the mass of the system and a = 0.76642 of its "
      "half-mass radius" },
};

struct density {
    struct diagnostic base;
    struct profile_plan plan;
    struct shell *shells;
};

static void destroy(struct diagnostic *diagnostic)
{
    if (diagnostic)
        memory_free(((struct density *)diagnostic)->shells);
    diagnostic_free(diagnostic);
}

static enum status create(const struct section *section, const struct moment *start,
                          struct diagnostic **result, struct error *error)
{
    enum { MEMORY_LENGTH = 2 }; /* r_min, r_max */
    *result = NULL;
    struct diagnostic *diagnostic = diagnostic_allocate(
        &diagnostic_density_profile, sizeof(struct density), MEMORY_LENGTH, error);
    if (!diagnostic)
        return error->status;
    struct density *density = (struct density *)diagnostic;
    if (profile_read(section, start, &density->plan, error))
        goto fail;
    density->shells = memory_array(density->plan.shells, sizeof *density->shells, error);
    if (!density->shells)
        goto fail;
    diagnostic->needs = NEED_STATE;
    diagnostic->row_count = density->plan.shells;
    diagnostic->memory[0] = density->plan.r_min;
    diagnostic->memory[1] = density->plan.r_max;
    *result = diagnostic;
    return STATUS_OK;
fail:
    destroy(diagnostic);
    return error->status;
}

static double plummer_density(double mass, double a, double r)
{
    const double q = 1.0 + r * r / (a * a);
    return 3.0 * mass / (4.0 * M_PI * a * a * a) / (q * q * sqrt(q));
}

static void fill_row(const struct shell *shell, const struct profile_fit *fit,
                     const struct sphere *sphere, double row[COLUMNS])
{
    /* r(1/2) = a / sqrt(2^(2/3) - 1) */
    const double scale = sphere_radius(sphere, 0.5) * sqrt(pow(2.0, 2.0 / 3.0) - 1.0);
    row[R] = shell->r;
    row[R_INNER] = shell->inner;
    row[R_OUTER] = shell->outer;
    row[BODIES] = shell->bodies;
    row[MASS] = shell->mass;
    row[DENSITY] = shell->density;
    row[DENSITY_ERROR] = shell->bodies > 0.0 ? shell->density / sqrt(shell->bodies) : NAN;
    row[POWER_LAW] = fit->amplitude * pow(shell->r, fit->slope);
    row[ISOTHERMAL] = fit->isothermal_amplitude / (shell->r * shell->r);
    row[PLUMMER] = plummer_density(sphere->mass, scale, shell->r);
}

static enum status measure_system(struct density *density, const struct moment *now, size_t system,
                                  const struct row_sink *sink, struct error *error)
{
    struct sphere sphere;
    struct profile_fit fit;
    if (sphere_create(now->bodies, system, density->plan.center, now->threads, &sphere, error))
        return error->status;
    enum status status =
        profile_measure(&density->plan, now->bodies, system, &sphere, density->shells, &fit, error);
    for (size_t k = 0; k < density->plan.shells && !status; k++) {
        double row[COLUMNS];
        fill_row(&density->shells[k], &fit, &sphere, row);
        status = sink->row(sink->context, system, row, error);
    }
    sphere_destroy(&sphere);
    return status;
}

static enum status measure(struct diagnostic *diagnostic, const struct moment *now,
                           const struct row_sink *sink, struct error *error)
{
    struct density *density = (struct density *)diagnostic;
    density->plan.r_min = diagnostic->memory[0];
    density->plan.r_max = diagnostic->memory[1];
    enum status status = STATUS_OK;
    for (size_t s = 0; s < now->bodies->systems && !status; s++)
        status = measure_system(density, now, s, sink, error);
    return status;
}

const struct diagnostic_class diagnostic_density_profile = {
    .variant = { "density-profile",
                 "Density in logarithmic shells about the centre, with a fitted power law, r^-2 "
                 "and "
                 "Plummer.",
                 profile_parameters, PROFILE_PARAMETERS },
    .create = create,
    .measure = measure,
    .destroy = destroy,
    .columns = columns,
    .column_count = COLUMNS,
    .rows_per_event = 0,
};
