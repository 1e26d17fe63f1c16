#include "diagnostics/profile.h"

#include <gsl/gsl_roots.h>
#include <math.h>

#include "base/memory.h"

const struct parameter profile_parameters[PROFILE_PARAMETERS] = {
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

static enum status choose_range(struct profile *profile, const struct section *section,
                                const struct moment *start, struct error *error)
{
    double half = 0.0;
    if ((isnan(profile->r_min) || isnan(profile->r_max)) &&
        half_mass_radius(start, profile->center, &half, error))
        return error->status;
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

enum status profile_init(struct diagnostic *diagnostic, const struct section *section,
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

void profile_clear(struct diagnostic *diagnostic)
{
    memory_free(((struct profile *)diagnostic)->shell);
}

/* Returns the inner radius of shell k, which is the outer radius of the shell before. */
static double edge_of(const struct profile *profile, size_t k)
{
    const double step = log(profile->r_max / profile->r_min) / (double)profile->shells;
    return k == profile->shells ? profile->r_max : profile->r_min * exp(step * (double)k);
}

double profile_equal_bodies(double mass, double squares)
{
    return mass > 0.0 ? mass * mass / squares : 0.0;
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
    double bodies, mass;    /* profile_equal_bodies() of all these shells, and their mass */
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
    fitted.bodies = profile_equal_bodies(fitted.mass, squares);
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

enum status profile_measure(struct profile *profile, const struct moment *now, size_t system,
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
