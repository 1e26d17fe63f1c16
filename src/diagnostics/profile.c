#include "diagnostics/profile.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_histogram.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/memory.h"

const struct parameter profile_parameters[PROFILE_PARAMETERS] = {
    DIAGNOSTIC_EVERY("1000"),
    { .key = "shells",
      .type = PARAMETER_INTEGER,
      .standard = "30",
      .minimum = 1,
      .maximum = 100000,
      .help = "Shells between r_min and r_max, evenly spaced in ln r." },
    { .key = "r_min",
      .type = PARAMETER_REAL,
      .standard = "",
      .maximum = INFINITY,
      .open = OPEN_MINIMUM,
      .dimension = DIMENSION_LENGTH,
      .help = "Inner radius of the first shell; unset: 1/100 of the half-mass radius at step 0." },
    { .key = "r_max",
      .type = PARAMETER_REAL,
      .standard = "",
      .maximum = INFINITY,
      .open = OPEN_MINIMUM,
      .dimension = DIMENSION_LENGTH,
      .help = "Outer radius of the last shell; unset: 10 half-mass radii at step 0." },
    { .key = "fit",
      .type = PARAMETER_REALS,
      .standard = "",
      .length = 2,
      .minimum = 0,
      .maximum = INFINITY,
      .dimension = DIMENSION_LENGTH,
      .help = "Range of radii whose shells are fitted; unset: all." },
    { .key = "least_bodies",
      .type = PARAMETER_INTEGER,
      .standard = "10",
      .minimum = 1,
      .maximum = INFINITY,
      .help = "Bodies that a shell must have to be fitted." },
    SPHERE_CENTER_PARAMETER,
};

/* Half of the mass of the first system lies within it. */
static enum status half_mass_radius(const struct moment *start, enum sphere_center center,
                                    double *radius, struct error *error)
{
    struct sphere sphere;
    if (sphere_create(start->bodies, 0, center, start->threads, &sphere, error))
        return error->status;
    *radius = sphere_radius(&sphere, 0.5);
    sphere_destroy(&sphere);
    return STATUS_OK;
}

static enum status read_plan(const struct section *section, const struct moment *start,
                             struct profile_plan *plan, struct error *error)
{
    if (sphere_check(section, start->physics, error))
        return error->status;
    plan->center = (enum sphere_center)section_choice(section, "center");
    plan->shells = (size_t)section_integer(section, "shells");
    plan->least_bodies = (size_t)section_integer(section, "least_bodies");
    double half = 0.0;
    if ((!section_has(section, "r_min") || !section_has(section, "r_max")) &&
        half_mass_radius(start, plan->center, &half, error))
        return error->status;
    if (half == 0.0) /* a single body, or all at one place */
        half = 1.0;
    plan->r_min = section_has(section, "r_min") ? section_real(section, "r_min") : 0.01 * half;
    plan->r_max = section_has(section, "r_max") ? section_real(section, "r_max") : 10.0 * half;
    if (plan->r_min >= plan->r_max)
        return section_error(section, "r_max", error, "must be greater than r_min, %g",
                             plan->r_min);
    plan->fit_min = 0.0;
    plan->fit_max = INFINITY;
    if (section_has(section, "fit")) {
        size_t count;
        const double *range = section_reals(section, "fit", &count);
        plan->fit_min = range[0];
        plan->fit_max = range[1];
    }
    if (plan->fit_min >= plan->fit_max)
        return section_error(section, "fit", error, "must be an inner and an outer radius");
    return STATUS_OK;
}

enum status profile_create(const struct diagnostic_class *class_, const struct section *section,
                           const struct moment *start, struct diagnostic **result,
                           struct error *error)
{
    enum { MEMORY_LENGTH = 2 }; /* r_min, r_max */
    *result = NULL;
    struct diagnostic *diagnostic =
        diagnostic_allocate(class_, sizeof(struct profile), MEMORY_LENGTH, error);
    if (!diagnostic)
        return error->status;
    struct profile *profile = (struct profile *)diagnostic;
    if (read_plan(section, start, &profile->plan, error))
        goto fail;
    profile->shells = memory_array(profile->plan.shells, sizeof *profile->shells, error);
    if (!profile->shells)
        goto fail;
    diagnostic->needs = NEED_STATE;
    diagnostic->row_count = class_->rows_per_event ? 1 : profile->plan.shells;
    diagnostic->memory[0] = profile->plan.r_min;
    diagnostic->memory[1] = profile->plan.r_max;
    *result = diagnostic;
    return STATUS_OK;
fail:
    profile_destroy(diagnostic);
    return error->status;
}

void profile_destroy(struct diagnostic *diagnostic)
{
    if (diagnostic)
        memory_free(((struct profile *)diagnostic)->shells);
    diagnostic_free(diagnostic);
}

/* Two histograms over the shells: bodies, and their mass. */
static enum status fill_shells(const struct profile_plan *plan, const struct bodies *bodies,
                               size_t system, const struct sphere *sphere, struct shell *shells,
                               struct error *error)
{
    double *edges = memory_array(plan->shells + 1, sizeof *edges, error);
    gsl_histogram *counts = gsl_histogram_alloc(plan->shells);
    gsl_histogram *masses = gsl_histogram_alloc(plan->shells);
    if (!edges || !counts || !masses) {
        error_set(error, STATUS_MEMORY, "out of memory for %zu shells", plan->shells);
        goto done;
    }
    const double step = log(plan->r_max / plan->r_min) / (double)plan->shells;
    for (size_t k = 0; k <= plan->shells; k++)
        edges[k] = plan->r_min * exp(step * (double)k);
    edges[plan->shells] = plan->r_max;
    gsl_histogram_set_ranges(counts, edges, plan->shells + 1);
    gsl_histogram_set_ranges(masses, edges, plan->shells + 1);
    for (size_t k = 0; k < sphere->count; k++) { /* out of range: not counted */
        gsl_histogram_increment(counts, sphere->r[k]);
        gsl_histogram_accumulate(masses, sphere->r[k],
                                 bodies->m[system * bodies->stride + sphere->body[k]]);
    }
    for (size_t k = 0; k < plan->shells; k++) {
        const double inner = edges[k], outer = edges[k + 1];
        const double volume = 4.0 / 3.0 * M_PI * (outer * outer * outer - inner * inner * inner);
        const double mass = gsl_histogram_get(masses, k);
        shells[k] =
            (struct shell){ inner, outer,        sqrt(inner * outer), gsl_histogram_get(counts, k),
                            mass,  mass / volume };
    }
done:
    memory_free(edges);
    gsl_histogram_free(counts);
    gsl_histogram_free(masses);
    return error->status;
}

static bool is_fitted(const struct profile_plan *plan, const struct shell *shell)
{
    const double slack = 1e-9; /* a shell that ends where the range ends belongs to it */
    return shell->inner >= plan->fit_min * (1.0 - slack) &&
           shell->outer <= plan->fit_max * (1.0 + slack) &&
           shell->bodies >= (double)plan->least_bodies && shell->mass > 0.0;
}

/*
 * The variance of ln density is 1 / bodies. Where the line does not describe the shells, chi^2
 * exceeds its expectation, and the error of the slope grows with it.
 */
static void fit_line(const double *x, const double *y, const double *weight, size_t count,
                     struct profile_fit *fit)
{
    *fit = (struct profile_fit){ count, NAN, NAN, NAN, NAN, NAN };
    if (count < 2)
        return;
    double intercept, slope, cov00, cov01, cov11, chi2;
    gsl_fit_wlinear(x, 1, weight, 1, y, 1, count, &intercept, &slope, &cov00, &cov01, &cov11,
                    &chi2);
    fit->amplitude = exp(intercept);
    fit->slope = slope;
    fit->slope_error = sqrt(cov11);
    if (count > 2) {
        fit->reduced_chi2 = chi2 / (double)(count - 2);
        fit->slope_error *= sqrt(fmax(fit->reduced_chi2, 1.0));
    }
    fit->isothermal_amplitude = exp(gsl_stats_wmean(weight, 1, y, 1, count) +
                                    2.0 * gsl_stats_wmean(weight, 1, x, 1, count));
}

/* The line through the shells that are to be fitted. */
static enum status fit_shells(struct profile *profile, struct error *error)
{
    const struct profile_plan *plan = &profile->plan;
    double *arrays = memory_array(plan->shells, 3 * sizeof *arrays, error);
    if (!arrays)
        return error->status;
    double *const x = arrays, *const y = x + plan->shells, *const weight = y + plan->shells;
    size_t count = 0;
    for (size_t k = 0; k < plan->shells; k++) {
        const struct shell *shell = &profile->shells[k];
        if (!is_fitted(plan, shell))
            continue;
        x[count] = log(shell->r);
        y[count] = log(shell->density);
        weight[count++] = shell->bodies;
    }
    fit_line(x, y, weight, count, &profile->fit);
    memory_free(arrays);
    return STATUS_OK;
}

enum status profile_measure(struct profile *profile, const struct moment *now, size_t system,
                            struct error *error)
{
    struct profile_plan *plan = &profile->plan;
    struct sphere sphere;
    plan->r_min = profile->base.memory[0];
    plan->r_max = profile->base.memory[1];
    if (sphere_create(now->bodies, system, plan->center, now->threads, &sphere, error))
        return error->status;
    profile->mass = sphere.mass;
    profile->half_mass_radius = sphere_radius(&sphere, 0.5);
    enum status status = fill_shells(plan, now->bodies, system, &sphere, profile->shells, error);
    sphere_destroy(&sphere);
    return status ? status : fit_shells(profile, error);
}
