/* The logarithmic slope of the density profile, as one row that can be expected of. */
#include <math.h>

#include "base/memory.h"
#include "diagnostics/profile.h"
#include "diagnostics/table.h"

enum { SLOPE, SLOPE_ERROR, REDUCED_CHI2, SHELLS, ISOTHERMAL_DISPERSION, COLUMNS };

static const struct column columns[COLUMNS] = {
    { "density_slope", DIMENSION_NONE,
      "s of density = A r^s, fitted by weighted least squares to ln density against ln r in the "
      "shells of the range `fit` with at least `least_bodies` bodies; -2 for an isothermal "
      "sphere" },
    { "density_slope_error", DIMENSION_NONE,
      "its standard error by counting noise, times sqrt(density_slope_chi2) where that exceeds "
      "1" },
    { "density_slope_chi2", DIMENSION_NONE,
      "chi^2 over its degrees of freedom: about 1 where a power law describes the shells" },
    { "density_slope_shells", DIMENSION_NONE, "shells that were fitted" },
    { "isothermal_dispersion", DIMENSION_VELOCITY,
      "velocity dispersion sigma that the fitted A r^-2 has as a singular isothermal sphere, "
      "A = sigma^2 / (2 pi G)" },
};

struct slope {
    struct diagnostic base;
    struct profile_plan plan;
    struct shell *shells;
};

static void destroy(struct diagnostic *diagnostic)
{
    if (diagnostic)
        memory_free(((struct slope *)diagnostic)->shells);
    diagnostic_free(diagnostic);
}

static enum status create(const struct section *section, const struct moment *start,
                          struct diagnostic **result, struct error *error)
{
    enum { MEMORY_LENGTH = 2 }; /* r_min, r_max */
    *result = NULL;
    struct diagnostic *diagnostic =
        diagnostic_allocate(&diagnostic_density_slope, sizeof(struct slope), MEMORY_LENGTH, error);
    if (!diagnostic)
        return error->status;
    struct slope *slope = (struct slope *)diagnostic;
    if (profile_read(section, start, &slope->plan, error))
        goto fail;
    slope->shells = memory_array(slope->plan.shells, sizeof *slope->shells, error);
    if (!slope->shells)
        goto fail;
    diagnostic->needs = NEED_STATE;
    diagnostic->memory[0] = slope->plan.r_min;
    diagnostic->memory[1] = slope->plan.r_max;
    *result = diagnostic;
    return STATUS_OK;
fail:
    destroy(diagnostic);
    return error->status;
}

static enum status measure(struct diagnostic *diagnostic, const struct moment *now,
                           const struct row_sink *sink, struct error *error)
{
    struct slope *slope = (struct slope *)diagnostic;
    slope->plan.r_min = diagnostic->memory[0];
    slope->plan.r_max = diagnostic->memory[1];
    enum status status = STATUS_OK;
    for (size_t s = 0; s < now->bodies->systems && !status; s++) {
        struct sphere sphere;
        struct profile_fit fit;
        if (sphere_create(now->bodies, s, slope->plan.center, now->threads, &sphere, error))
            return error->status;
        status = profile_measure(&slope->plan, now->bodies, s, &sphere, slope->shells, &fit, error);
        sphere_destroy(&sphere);
        const double G = now->physics->gravitational_constant;
        const double row[COLUMNS] = {
            fit.slope,
            fit.slope_error,
            fit.reduced_chi2,
            (double)fit.shells,
            sqrt(2.0 * M_PI * G * fit.isothermal_amplitude),
        };
        if (!status)
            status = sink->row(sink->context, s, row, error);
    }
    return status;
}

const struct diagnostic_class diagnostic_density_slope = {
    .variant = { "density-slope", "Logarithmic slope of the density profile, with its error.",
                 profile_parameters, PROFILE_PARAMETERS },
    .create = create,
    .measure = measure,
    .destroy = destroy,
    .columns = columns,
    .column_count = COLUMNS,
    .rows_per_event = 1,
};
