/* The diagnostic of the logarithmic slope of the density profile, in one row, so that an acceptance
 * criterion can name it. */
#include <math.h>

#include "diagnostics/diagnostic-table.h"
#include "diagnostics/diagnostic.h"
#include "diagnostics/profile.h"

enum { SLOPE, SLOPE_ERROR, REDUCED_CHI2, SHELLS, ISOTHERMAL_DISPERSION, COLUMNS };

static const struct column columns[COLUMNS] = {
    { "density_slope", DIMENSION_NONE,
      "s of density = A r^s, with which the masses in the shells of the range `fit` are most "
      "likely; -2 for an isothermal sphere; empty if its shells have fewer than four times "
      "`least_bodies` bodies with mass" },
    { "density_slope_error", DIMENSION_NONE,
      "its standard error by the noise of n = (sum m)^2 / sum m^2 bodies, times "
      "sqrt(density_slope_chi2) if that exceeds 1" },
    { "density_slope_chi2", DIMENSION_NONE,
      "chi^2 over its degrees of freedom, neighbouring shells merged until each expects five "
      "bodies "
      "at least: about 1 if a power law describes them" },
    { "density_slope_shells", DIMENSION_NONE, "shells that were fitted" },
    { "isothermal_dispersion", DIMENSION_VELOCITY,
      "velocity dispersion sigma that the fitted A r^-2 has as a singular isothermal sphere, "
      "A = sigma^2 / (2 pi G)" },
};

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    struct profile *profile = (struct profile *)diagnostic;
    const struct profile_fit *fit = &profile->fitted;
    if (profile_measure(profile, now, system, error))
        return error->status;
    const double G = now->physics->gravitational_constant;
    row[SLOPE] = fit->slope;
    row[SLOPE_ERROR] = fit->slope_error;
    row[REDUCED_CHI2] = fit->reduced_chi2;
    row[SHELLS] = (double)fit->shells;
    row[ISOTHERMAL_DISPERSION] = sqrt(2.0 * M_PI * G * fit->isothermal_amplitude);
    return STATUS_OK;
}

static const struct drawing drawings[] = {
    { .name = "density-slope",
      .title = "Slope of the density",
      .y_label = "slope",
      .curves = { { "density_slope", "d ln ρ / d ln r" } },
      .caption = "Fitted over the radii that the key fit of the diagnostic gives; −2 is an "
                 "isothermal sphere." },
};

const struct diagnostic_class diagnostic_density_slope = {
    .variant = { "density-slope", "Logarithmic slope of the density profile, with its error.",
                 profile_parameters, PROFILE_PARAMETERS },
    .size = sizeof(struct profile),
    .needs = NEED_STATE,
    .open_space = true,
    .shared_reals = 2, /* r_min and r_max */
    .init = profile_init,
    .clear = profile_clear,
    .measure_system = measure_system,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .body_bytes = SPHERE_BODY_BYTES,
};
