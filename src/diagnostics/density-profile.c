/* The diagnostic of the density profile: density against distance from the centre, with the
 * densities of a fitted power law, an isothermal sphere and a Plummer sphere beside it. */
#include <math.h>

#include "diagnostics/diagnostic-table.h"
#include "diagnostics/diagnostic.h"
#include "diagnostics/profile.h"

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
    { "bodies", DIMENSION_NONE, "bodies in the shell" },
    { "mass", DIMENSION_MASS, "their mass" },
    { "density", DIMENSION_DENSITY, "mass / (4 pi / 3 (r_outer^3 - r_inner^3))" },
    { "density_error", DIMENSION_DENSITY,
      "density / sqrt(n), n = (sum m)^2 / sum m^2; empty without mass" },
    { "power_law", DIMENSION_DENSITY,
      "A r^s, with which the masses in the shells of the range `fit` are most likely; s and its "
      "error are density-slope's" },
    { "isothermal", DIMENSION_DENSITY, "A r^-2 (singular isothermal sphere), fitted likewise" },
    { "plummer", DIMENSION_DENSITY,
      "3 M / (4 pi a^3) (1 + r^2 / a^2)^(-5/2), M the mass of the system and a = 0.76642 of its "
      "half-mass radius" },
};

static double plummer_density(double mass, double a, double r)
{
    const double q = 1.0 + r * r / (a * a);
    return 3.0 * mass / (4.0 * M_PI * a * a * a) / (q * q * sqrt(q));
}

static void fill_row(const struct profile *profile, const struct shell *shell, double row[COLUMNS])
{
    /* The half-mass radius of a Plummer sphere with scale radius a is a / sqrt(2^(2/3) - 1). */
    const double scale = profile->half_mass_radius * sqrt(pow(2.0, 2.0 / 3.0) - 1.0);
    const struct profile_fit *fit = &profile->fitted;
    row[R] = shell->r;
    row[R_INNER] = shell->inner;
    row[R_OUTER] = shell->outer;
    row[BODIES] = shell->bodies;
    row[MASS] = shell->mass;
    row[DENSITY] = shell->density;
    const double n = profile_equal_bodies(shell->mass, shell->squares);
    row[DENSITY_ERROR] = n > 0.0 ? shell->density / sqrt(n) : NAN;
    row[POWER_LAW] = fit->amplitude * pow(shell->r, fit->slope);
    row[ISOTHERMAL] = fit->isothermal_amplitude / (shell->r * shell->r);
    row[PLUMMER] = plummer_density(profile->mass, scale, shell->r);
}

static enum status measure_rows(struct diagnostic *diagnostic, const struct moment *now,
                                size_t system, const struct row_sink *sink, struct error *error)
{
    struct profile *profile = (struct profile *)diagnostic;
    enum status status = profile_measure(profile, now, system, error);
    for (size_t k = 0; k < profile->shells && !status; k++) {
        double row[COLUMNS];
        fill_row(profile, &profile->shell[k], row);
        status = sink->row(sink->context, system, row, error);
    }
    return status;
}

static const struct drawing drawings[] = {
    { .name = "density-profile",
      .title = "Density profile",
      .y_label = "ρ",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "density", .kind = CURVE_POINTS },
                  { "power_law", "fitted power law" },
                  { "isothermal", "isothermal, r⁻²", CURVE_DASHED },
                  { "plummer", "Plummer", CURVE_DASHED },
                  { "density", .kind = CURVE_DASHED, .first = true } },
      .caption = "Mass density in shells about the centre, with power laws that are fitted over "
                 "the radii that the key fit of the diagnostic gives." },
};

const struct diagnostic_class diagnostic_density_profile = {
    .variant = { "density-profile",
                 "Density in logarithmic shells about the centre, with a fitted power law, r^-2 "
                 "and Plummer.",
                 profile_parameters, PROFILE_PARAMETERS },
    .size = sizeof(struct profile),
    .needs = NEED_STATE,
    .open_space = true,
    .shared_reals = 2, /* r_min and r_max */
    .init = profile_init,
    .clear = profile_clear,
    .measure_rows = measure_rows,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .table = true,
    .rows_key = "shells",
    .bin_columns = BODIES,
    .body_bytes = SPHERE_BODY_BYTES,
};
