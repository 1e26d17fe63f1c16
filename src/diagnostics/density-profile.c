/* The diagnostics of the density: density-profile, density against distance from the centre, with
 * the densities of a fitted power law, an isothermal sphere and a Plummer sphere beside it; and
 * density-slope, the logarithmic slope in one row, so that an acceptance criterion can name it.
 * Both count the bodies in shells about the centre, equally wide in ln r. */
#include <gsl/gsl_roots.h>
#include <math.h>

#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "space/sphere.h"

/* A shell between two radii about the centre. */
struct shell {
    double inner, outer;
    double r;            /* geometric mean of `inner` and `outer` */
    double bodies, mass; /* number of bodies in it, and their mass */
    double density;      /* mass over volume */
    double massive;      /* number of its bodies with mass */
    double squares;      /* sum of m^2 over its bodies */
};

/* The power law density = amplitude r^slope that is most likely for the masses in the shells. */
struct profile_fit {
    size_t shells;               /* number of shells that were fitted */
    double amplitude, slope;     /* NaN for fewer than two shells with mass, or |slope| > 30 */
    double slope_error;          /* standard error of the slope; NaN if the slope is */
    double reduced_chi2;         /* chi^2 over its degrees of freedom; NaN without any */
    double isothermal_amplitude; /* amplitude of a power law r^-2, fitted to the same shells */
};

/* The struct of both diagnostics. */
struct profile {
    struct diagnostic base;
    /* The values of the keys: the shells, and the range of the fit. */
    enum sphere_center center; /* how the centre is found */
    size_t shells;
    double r_min, r_max; /* inner radius of the first shell, outer radius of the last */
    double fit[2];       /* range of radii of the fitted shells; NaN: all */
    size_t least_bodies; /* least number of bodies with mass in the last shell that is fitted */
    struct shell *shell; /* [shells]; with those that follow, results for the last system */
    struct profile_fit fitted;
    double mass, half_mass_radius;
};

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(1000),
    { BIND(INTEGER, struct profile, shells), BY_DEFAULT(INTEGER, 30), BETWEEN(1, 100000),
      .help = "Shells between r_min and r_max, evenly spaced in ln r." },
    { BIND(REAL, struct profile, r_min), OPTIONAL, POSITIVE, .dimension = DIMENSION_LENGTH,
      .help = "Inner radius of the first shell; unset: 1/100 of the half-mass radius at step 0." },
    { BIND(REAL, struct profile, r_max), OPTIONAL, POSITIVE, .dimension = DIMENSION_LENGTH,
      .help = "Outer radius of the last shell; unset: 10 half-mass radii at step 0." },
    { BIND(REALS, struct profile, fit), OPTIONAL, .length = 2, NOT_NEGATIVE,
      .dimension = DIMENSION_LENGTH,
      .help = "Range of radii whose shells are fitted; unset: all." },
    { BIND(INTEGER, struct profile, least_bodies), BY_DEFAULT(INTEGER, 10), AT_LEAST(1),
      .help = "The fit ends before the outermost shell with at least this number of bodies with "
              "mass, or with that shell if it is the last one of the range; shells inside are "
              "always fitted. Nothing is fitted if all shells of the range together have "
              "fewer than four times this number." },
    SPHERE_CENTER_PARAMETER(struct profile),
};

/* Sets the range of radii, if it is not given, from a hundredth of the half-mass radius of the
 * first system at the start to ten times that radius. */
static enum status choose_range(struct profile *profile, const struct section *section,
                                const struct moment *start, struct error *error)
{
    struct sphere sphere;
    double half = 0.0;
    if (isnan(profile->r_min) || isnan(profile->r_max)) {
        if (sphere_create(start->bodies, 0, profile->center, start->threads, &sphere, error))
            return error->status;
        half = sphere_radius(&sphere, 0.5);
        sphere_destroy(&sphere);
    }
    if (half == 0.0) /* a single body, or all bodies at one point */
        half = 1.0;
    if (isnan(profile->r_min))
        profile->r_min = 0.01 * half;
    if (isnan(profile->r_max))
        profile->r_max = 10.0 * half;
    /* On a restart `start` has later bodies; the range of the first start is restored with the
     * state. */
    if (start->step == 0 && profile->r_min >= profile->r_max)
        return section_error(section, "r_max", error, "must be greater than r_min, %g",
                             profile->r_min);
    if (profile->fit[0] >= profile->fit[1])
        return section_error(section, "fit", error, "must be an inner and an outer radius");
    return STATUS_OK;
}

static enum status init(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error)
{
    struct profile *profile = (struct profile *)diagnostic;
    if (choose_range(profile, section, start, error))
        return error->status;
    profile->shell = memory_array(profile->shells, sizeof *profile->shell, error);
    diagnostic->row_count = diagnostic->class_->table ? profile->shells : 1;
    diagnostic->state[0] = profile->r_min;
    diagnostic->state[1] = profile->r_max;
    return error->status;
}

static void clear(struct diagnostic *diagnostic)
{
    memory_free(((struct profile *)diagnostic)->shell);
}

/* Returns the inner radius of shell k, which is the outer radius of the shell before. */
static double edge_of(const struct profile *profile, size_t k)
{
    const double step = log(profile->r_max / profile->r_min) / (double)profile->shells;
    return k == profile->shells ? profile->r_max : profile->r_min * exp(step * (double)k);
}

static void fill_shells(struct profile *profile, const struct bodies *bodies, size_t system,
                        const struct sphere *sphere)
{
    const double *const m = bodies->m + system * bodies->stride;
    size_t i = sphere_count_within(sphere, profile->r_min);
    for (size_t k = 0; k < profile->shells; k++) {
        const double inner = edge_of(profile, k), outer = edge_of(profile, k + 1);
        const double volume = 4.0 / 3.0 * M_PI * (outer * outer * outer - inner * inner * inner);
        struct shell *const shell = &profile->shell[k];
        *shell = (struct shell){ .inner = inner, .outer = outer, .r = sqrt(inner * outer) };
        for (; i < sphere->count && sphere->r[i] < outer; i++) {
            const double mass = m[sphere->body[i]];
            shell->bodies += 1.0;
            shell->massive += mass > 0.0;
            shell->mass += mass;
            shell->squares += mass * mass;
        }
        shell->density = shell->mass / volume;
    }
}

static bool is_in_range(const struct profile *profile, const struct shell *shell)
{
    const double slack = 1e-9; /* rounding may not exclude a shell that ends the range */
    return !(shell->inner < profile->fit[0] * (1.0 - slack)) &&
           !(shell->outer > profile->fit[1] * (1.0 + slack));
}

/* --- the line that is most likely ------------------------------------------------------------- */

/*
 * The power law A r^s is fitted by maximum likelihood: the mass in a shell, in units of sum m^2 /
 * sum m over all shells, has a Poisson distribution, whose expectation is the integral of A r^s
 * over the shell. For bodies of equal mass this is their number; for others it has the right mean
 * and variance (Bohm & Zech 2014, NIM A 748, 1). Weighted least squares of the logarithm of the
 * density would be biased: a shell weighs less if it has fewer bodies by chance, empty shells are
 * left out, and the density in the middle of a shell is not its mean. With 200 bodies of an
 * isothermal sphere the slope then comes out at -2.13 +- 0.01 instead of -2. The most likely slope
 * has no such bias (Cash 1979, ApJ 228, 939).
 */

/* The shells to which the power law is fitted; they are neighbours. */
struct fitted {
    const struct shell *shells;
    size_t count, occupied; /* number of all these shells, and of those with mass */
    double bodies, mass;    /* diagnostic_equal_bodies() of all these shells, and their mass */
};

/*
 * Tells whether the shells from `begin` to before `end` together have enough bodies for a fit: four
 * times `least_bodies`. With fewer, a single shell has `least_bodies` only by chance; that shell
 * would end the fit and give it a slope of chance. (With 25 bodies of an isothermal sphere in ten
 * shells, the few fits that come about have a mean slope of -1.64 instead of -2.)
 */
static bool has_enough(const struct profile *profile, size_t begin, size_t end)
{
    const double times = 4.0;
    double bodies = 0.0;
    for (size_t k = begin; k < end; k++)
        bodies += profile->shell[k].massive;
    return bodies >= times * (double)profile->least_bodies;
}

/* Chooses the shells in the range of the fit, up to the last one that holds at least
 * `least_bodies`; none unless has_enough(). If the range goes on beyond that shell, the shell is
 * left out too, since the system may end inside it. */
static struct fitted choose_shells(const struct profile *profile)
{
    size_t begin = 0, end = profile->shells;
    while (begin < end && !is_in_range(profile, &profile->shell[begin]))
        begin++;
    while (end > begin && !is_in_range(profile, &profile->shell[end - 1]))
        end--;
    size_t last = has_enough(profile, begin, end) ? end : begin;
    while (last > begin && !(profile->shell[last - 1].massive >= (double)profile->least_bodies))
        last--;
    if (last < end && last > begin)
        last--;
    struct fitted fitted = { .shells = profile->shell + begin, .count = last - begin };
    double squares = 0.0;
    for (size_t k = begin; k < last; k++) {
        fitted.occupied += profile->shell[k].mass > 0.0;
        fitted.mass += profile->shell[k].mass;
        squares += profile->shell[k].squares;
    }
    fitted.bodies = diagnostic_equal_bodies(fitted.mass, squares);
    return fitted;
}

/* Returns ln of the integral of 4 pi r^2 r^s over a shell; *slope becomes the derivative of that by
 * s. With p = s + 3 and w = ln(outer / inner) the integral is 4 pi r^p 2 sinh(p w / 2) / p, r the
 * geometric mean of the radii. */
static double log_volume(const struct shell *shell, double s, double *slope)
{
    const double p = s + 3.0, w = log(shell->outer / shell->inner), half = 0.5 * p * w;
    const bool small = fabs(half) < 1e-4; /* series: sinh(h) / h = 1 + h^2 / 6 + ... */
    *slope = log(shell->r) + (small ? half * w / 6.0 : 0.5 * w / tanh(half) - 1.0 / p);
    const double h = fabs(half);
    const double log_sinh = small ? half * half / 6.0 : h + log(-expm1(-2.0 * h) / (2.0 * h));
    return log(4.0 * M_PI * w) + p * log(shell->r) + log_sinh;
}

/* The expectation over all fitted shells: ln of the sum of their integrals (see log_volume()), and
 * the mean and the variance of the derivatives that log_volume() gives, weighted by the
 * integrals. */
struct expectation {
    double log_sum, mean, variance;
};

static struct expectation expect(const struct fitted *fitted, double s)
{
    double slope, greatest = -INFINITY, sum = 0.0, first = 0.0, second = 0.0;
    for (size_t k = 0; k < fitted->count; k++)
        greatest = fmax(greatest, log_volume(&fitted->shells[k], s, &slope));
    for (size_t k = 0; k < fitted->count; k++)
        sum += exp(log_volume(&fitted->shells[k], s, &slope) - greatest);
    for (size_t k = 0; k < fitted->count; k++)
        first += exp(log_volume(&fitted->shells[k], s, &slope) - greatest) / sum * slope;
    for (size_t k = 0; k < fitted->count; k++) {
        const double part = exp(log_volume(&fitted->shells[k], s, &slope) - greatest) / sum;
        second += part * (slope - first) * (slope - first);
    }
    return (struct expectation){ greatest + log(sum), first, second };
}

/* Returns the derivative by s of ln of the likelihood, over the mass. It decreases with s and is 0
 * at the most likely s. */
static double score(double s, void *context)
{
    const struct fitted *const fitted = context;
    double sum = 0.0, slope;
    for (size_t k = 0; k < fitted->count; k++) {
        log_volume(&fitted->shells[k], s, &slope);
        sum += fitted->shells[k].mass / fitted->mass * slope;
    }
    return sum - expect(fitted, s).mean;
}

static double most_likely_slope(struct fitted *fitted)
{
    enum { STEPS = 100 };
    const double steepest = 30.0; /* the density changes by the factor 1.8 over 2 % of the radius */
    gsl_function function = { score, fitted };
    double low = -steepest, high = steepest;
    if (!(score(low, fitted) > 0.0) || !(score(high, fitted) < 0.0))
        return NAN;
    gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    if (!solver)
        return NAN;
    gsl_root_fsolver_set(solver, &function, low, high);
    for (int step = 0; step < STEPS && high - low > 1e-12; step++) {
        gsl_root_fsolver_iterate(solver);
        low = gsl_root_fsolver_x_lower(solver);
        high = gsl_root_fsolver_x_upper(solver);
    }
    const double root = gsl_root_fsolver_root(solver);
    gsl_root_fsolver_free(solver);
    return root;
}

/* Returns Pearson's chi^2 over its degrees of freedom, NaN without any. Neighbouring shells are
 * merged until five bodies are expected in each, since chi^2 means nothing with fewer; the last
 * shells are left out if they do not come to five. */
static double reduced_chi2(const struct fitted *fitted, double s, double log_sum)
{
    const double least = 5.0;
    double chi2 = 0.0, expected = 0.0, found = 0.0, slope;
    size_t groups = 0;
    for (size_t k = 0; k < fitted->count; k++) {
        expected += fitted->bodies * exp(log_volume(&fitted->shells[k], s, &slope) - log_sum);
        found += fitted->bodies * fitted->shells[k].mass / fitted->mass;
        if (expected < least)
            continue;
        chi2 += (found - expected) * (found - expected) / expected;
        expected = found = 0.0;
        groups++;
    }
    return groups > 2 ? chi2 / (double)(groups - 2) : NAN;
}

/* Fits the power law to the shells. If it does not describe them, chi^2 is larger than expected;
 * the error of the slope is then enlarged by the square root of it. */
static void fit_shells(struct profile *profile)
{
    struct fitted fitted = choose_shells(profile);
    struct profile_fit *const fit = &profile->fitted;
    *fit = (struct profile_fit){ fitted.count, NAN, NAN, NAN, NAN, NAN };
    if (fitted.occupied < 2)
        return;
    fit->isothermal_amplitude = fitted.mass / exp(expect(&fitted, -2.0).log_sum);
    fit->slope = most_likely_slope(&fitted);
    if (isnan(fit->slope))
        return;
    const struct expectation expectation = expect(&fitted, fit->slope);
    fit->amplitude = fitted.mass / exp(expectation.log_sum);
    fit->reduced_chi2 = reduced_chi2(&fitted, fit->slope, expectation.log_sum);
    fit->slope_error = 1.0 / sqrt(fitted.bodies * expectation.variance);
    if (fit->reduced_chi2 > 1.0)
        fit->slope_error *= sqrt(fit->reduced_chi2);
}

/* Counts the bodies of a system in its shells, and fits the power law. */
static enum status measure_shells(struct profile *profile, const struct moment *now, size_t system,
                                  struct error *error)
{
    struct sphere sphere;
    profile->r_min = profile->base.state[0];
    profile->r_max = profile->base.state[1];
    if (sphere_create(now->bodies, system, profile->center, now->threads, &sphere, error))
        return error->status;
    profile->mass = sphere.mass;
    profile->half_mass_radius = sphere_radius(&sphere, 0.5);
    fill_shells(profile, now->bodies, system, &sphere);
    sphere_destroy(&sphere);
    fit_shells(profile);
    return STATUS_OK;
}

/* The members of the classes of both diagnostics; r_min and r_max are shared. */
#define SHELLS_OF_BODIES                                                                           \
    .size = sizeof(struct profile), .needs = NEED_STATE, .open_space = true, .shared_reals = 2,    \
    .init = init, .clear = clear, .body_bytes = SPHERE_BODY_BYTES

/* --- the profile ------------------------------------------------------------------------------ */

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
    const double n = diagnostic_equal_bodies(shell->mass, shell->squares);
    row[DENSITY_ERROR] = n > 0.0 ? shell->density / sqrt(n) : NAN;
    row[POWER_LAW] = fit->amplitude * pow(shell->r, fit->slope);
    row[ISOTHERMAL] = fit->isothermal_amplitude / (shell->r * shell->r);
    row[PLUMMER] = plummer_density(profile->mass, scale, shell->r);
}

static enum status measure_rows(struct diagnostic *diagnostic, const struct moment *now,
                                size_t system, const struct row_sink *sink, struct error *error)
{
    struct profile *profile = (struct profile *)diagnostic;
    enum status status = measure_shells(profile, now, system, error);
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
                 parameters, COUNT_OF(parameters) },
    SHELLS_OF_BODIES,
    .measure_rows = measure_rows,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .table = true,
    .rows_key = "shells",
    .bin_columns = BODIES,
};

/* --- its slope -------------------------------------------------------------------------------- */

enum { SLOPE, SLOPE_ERROR, REDUCED_CHI2, FITTED_SHELLS, ISOTHERMAL_DISPERSION, SLOPE_COLUMNS };

static const struct column slope_columns[SLOPE_COLUMNS] = {
    { "density_slope", DIMENSION_NONE,
      "s of density = A r^s, with which the masses in the shells of the range `fit` are most "
      "likely; -2 for an isothermal sphere; empty if its shells have fewer than four times "
      "`least_bodies` bodies with mass" },
    { "density_slope_error", DIMENSION_NONE,
      "its standard error by the noise of n = (sum m)^2 / sum m^2 bodies, times "
      "sqrt(density_slope_chi2) if that exceeds 1" },
    { "density_slope_chi2", DIMENSION_NONE,
      "chi^2 over its degrees of freedom, neighbouring shells merged until each expects five "
      "bodies at least: about 1 if a power law describes them" },
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
    if (measure_shells(profile, now, system, error))
        return error->status;
    const double G = now->physics->gravitational_constant;
    row[SLOPE] = fit->slope;
    row[SLOPE_ERROR] = fit->slope_error;
    row[REDUCED_CHI2] = fit->reduced_chi2;
    row[FITTED_SHELLS] = (double)fit->shells;
    row[ISOTHERMAL_DISPERSION] = sqrt(2.0 * M_PI * G * fit->isothermal_amplitude);
    return STATUS_OK;
}

static const struct drawing slope_drawings[] = {
    { .name = "density-slope",
      .title = "Slope of the density",
      .y_label = "slope",
      .curves = { { "density_slope", "d ln ρ / d ln r" } },
      .caption = "Fitted over the radii that the key fit of the diagnostic gives; −2 is an "
                 "isothermal sphere." },
};

const struct diagnostic_class diagnostic_density_slope = {
    .variant = { "density-slope", "Logarithmic slope of the density profile, with its error.",
                 parameters, COUNT_OF(parameters) },
    SHELLS_OF_BODIES,
    .measure_system = measure_system,
    DIAGNOSTIC_COLUMNS(slope_columns),
    DIAGNOSTIC_DRAWINGS(slope_drawings),
};
