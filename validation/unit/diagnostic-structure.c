/* The diagnostics about a centre: Lagrangian radii, velocity dispersion, density profile. */
#include "unit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <string.h>

#include "diagnostics/diagnostic.h"
#include "observe.h"
#include "sample.h"

static const double A = 0.5890486225480862; /* Plummer's scale in Henon units, 3 pi / 16 */

/* Makes the diagnostic of `text` and measures once. */
static void measure(struct bench *bench, const char *text)
{
    bench_measure(bench, text, false);
}

static double value(const struct bench *bench, size_t row, const char *column)
{
    return rows_value(&bench->rows, row, column);
}

/* Speeds of Plummer's model: q = v / v_escape has the density q^2 (1 - q^2)^(7/2) (Aarseth, Henon
 * & Wielen 1974), here by rejection. */
static void plummer_speeds(struct bodies *b, size_t system, gsl_rng *random)
{
    for (size_t i = system * b->stride; i < system * b->stride + b->count; i++) {
        double q, g;
        do {
            q = gsl_rng_uniform(random);
            g = 0.1 * gsl_rng_uniform(random);
        } while (g > q * q * pow(1 - q * q, 3.5));
        const double r2 = b->x[i] * b->x[i] + b->y[i] * b->y[i] + b->z[i] * b->z[i];
        const double v = q * sqrt(2 / sqrt(r2 + A * A));
        gsl_ran_dir_3d(random, &b->vx[i], &b->vy[i], &b->vz[i]);
        b->vx[i] *= v, b->vy[i] *= v, b->vz[i] *= v;
    }
}

enum { COUNT = 20000 };

static int make_plummer(void **state)
{
    gsl_set_error_handler_off(); /* as the program does */
    struct bench *bench = calloc(1, sizeof *bench);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    bench->scene = scene_create(2, COUNT, 1.0, 0.0);
    for (size_t s = 0; s < 2; s++) {
        sample_plummer(bench->scene.bodies, s, A, random);
        plummer_speeds(bench->scene.bodies, s, random);
    }
    gsl_rng_free(random);
    *state = bench;
    return 0;
}

static int free_plummer(void **state)
{
    struct bench *bench = *state;
    scene_destroy(&bench->scene);
    free(bench);
    return 0;
}

/* physics.md: r(f) = a / sqrt(f^(-2/3) - 1), sampling error sqrt(f (1 - f) / N) / (dM/dr). */
static void test_lagrangian_radii_of_plummer(void **state)
{
    struct bench *bench = *state;
    measure(bench, "type = \"lagrangian-radii\"; center = \"origin\"; "
                   "fractions = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99];");
    static const struct {
        const char *column;
        double fraction, radius;
    } table[] = { { "radius_1", 0.01, 0.12996 },  { "radius_10", 0.1, 0.30868 },
                  { "radius_25", 0.25, 0.47781 }, { "radius_50", 0.5, 0.76857 },
                  { "radius_75", 0.75, 1.2811 },  { "radius_90", 0.9, 2.18367 },
                  { "radius_99", 0.99, 7.1842 } };
    assert_int_equal(bench->rows.count, 2);
    for (size_t k = 0; k < COUNT_OF(table); k++) {
        const double f = table[k].fraction, r = table[k].radius;
        const double dM = 3 * r * r / (A * A * A) * pow(1 + r * r / (A * A), -2.5);
        const double error = sqrt(f * (1 - f) / COUNT) / dM;
        for (size_t s = 0; s < 2; s++)
            assert_close(value(bench, s, table[k].column), r, 4 * error);
    }
    bench_clear(bench);
}

/* About the density centre the radii are as good: it is 0.006 from the true one at the most, which
 * changes radii in second order. */
static void test_lagrangian_radii_about_the_density_center(void **state)
{
    struct bench *bench = *state;
    measure(bench, "type = \"lagrangian-radii\";");
    const double error = sqrt(0.25 / COUNT) /
                         (3 * 0.76857 * 0.76857 / (A * A * A) * pow(1 + pow(0.76857 / A, 2), -2.5));
    assert_close(value(bench, 0, "radius_50"), 0.76857, 5 * error);
    assert_close(value(bench, 0, "core_radius"), sqrt(0.3) * A, 0.02); /* see neighbours.c */
    assert_close(value(bench, 0, "density_center_x"), 0, 0.02);
    bench_clear(bench);
}

/* physics.md: the central one-dimensional dispersion is 0.53192, sigma^2(r) = 1/(6 sqrt(r^2 +
 * a^2)). Within r the mass-weighted mean of sigma^2 is, with u = r / a and M = u^3 (1 +
 * u^2)^(-3/2), 1/(6 a) int 3 u^2 (1 + u^2)^(-3) du / M = 1/(6 a) 3/8 (atan u - u (1 - u^2)/(1 +
 * u^2)^2) / M. */
/* The density at a body: the mass of its five nearest neighbours over the volume out to the sixth
 * (Casertano & Hut 1985). */
static void test_the_density_center_by_hand(void **state)
{
    (void)state;
    enum { N = 9 };
    struct bench bench = { .scene = scene_create(1, N, 1.0, 0.0) };
    const struct bodies *const b = bench.scene.bodies;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < N; i++)
        sample_set(bench.scene.bodies, i, 0.1 + gsl_rng_uniform(random), gsl_rng_uniform(random),
                   random);
    double sum = 0, squares = 0, center = 0, density[N], spread = 0;
    for (size_t i = 0; i < N; i++) {
        double mass = 0, sixth = 0;
        for (size_t j = 0; j < N; j++) {
            const double r2 =
                pow(b->x[j] - b->x[i], 2) + pow(b->y[j] - b->y[i], 2) + pow(b->z[j] - b->z[i], 2);
            size_t nearer = 0;
            for (size_t k = 0; k < N; k++)
                nearer += k != i && pow(b->x[k] - b->x[i], 2) + pow(b->y[k] - b->y[i], 2) +
                                            pow(b->z[k] - b->z[i], 2) <
                                        r2;
            mass += j != i && nearer < 5 ? b->m[j] : 0;
            sixth = j != i && nearer == 5 ? r2 : sixth;
        }
        density[i] = mass / (4 * M_PI / 3 * pow(sixth, 1.5));
        sum += density[i];
        center += density[i] * b->x[i];
    }
    measure(&bench, "type = \"lagrangian-radii\";");
    assert_close(value(&bench, 0, "density_center_x"), center / sum, 1e-14);
    for (size_t i = 0; i < N; i++) {
        const double d[] = { b->x[i] - value(&bench, 0, "density_center_x"),
                             b->y[i] - value(&bench, 0, "density_center_y"),
                             b->z[i] - value(&bench, 0, "density_center_z") };
        squares += density[i] * density[i];
        spread += density[i] * density[i] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    assert_close(value(&bench, 0, "core_radius"), sqrt(spread / squares), 1e-14);
    gsl_rng_free(random);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

static void test_velocity_dispersion_of_plummer(void **state)
{
    struct bench *bench = *state;
    measure(bench, "type = \"velocity-dispersion\"; center = \"origin\"; central_fraction = 0.05;");
    const double f = 0.05, u = 1 / sqrt(pow(f, -2.0 / 3) - 1);
    const double part = 3.0 / 8 * (atan(u) - u * (1 - u * u) / pow(1 + u * u, 2)) / f;
    const double expected = 0.53192 * sqrt(part);
    /* 0.92 of the central value; the relative error of a dispersion from 3 n numbers of nearly
     * normal law is 1 / sqrt(6 n), n = 1000. */
    for (size_t s = 0; s < 2; s++) {
        assert_close(value(bench, s, "central_dispersion"), expected, 4 * expected / sqrt(6000));
        assert_close(value(bench, s, "central_radius"), u * A, 0.01);
        /* K = 1/4: sigma^2 = 2 K / 3; v^2 has a relative scatter of about 1. */
        assert_close(value(bench, s, "dispersion"), sqrt(1.0 / 6), 4 * 0.41 / 2 / sqrt(COUNT));
        assert_close(value(bench, s, "anisotropy"), 0, 4 * 2 / sqrt(COUNT));
        assert_close(value(bench, s, "mean_radial_velocity"), 0, 4 * 0.41 / sqrt(COUNT));
    }
    assert_close(pow(value(bench, 0, "dispersion_radial"), 2) +
                     2 * pow(value(bench, 0, "dispersion_tangential"), 2),
                 3 * pow(value(bench, 0, "dispersion"), 2), 1e-4);
    bench_clear(bench);
}

/* Closed forms: velocities set by hand, with a drift that must not count. */
static void test_velocity_dispersion_by_hand(void **state)
{
    (void)state;
    struct bench bench = { .scene = scene_create(1, 4, 1.0, 0.0) };
    /* Two bodies on each of two axes, moving outwards by 2, and about the centre by 1 or -1. */
    const double x[4][3] = { { 3, 0, 0 }, { -3, 0, 0 }, { 0, 5, 0 }, { 0, -5, 0 } };
    const double v[4][3] = { { 2, 1, 0 }, { -2, -1, 0 }, { 1, 2, 0 }, { -1, -2, 0 } };
    for (size_t i = 0; i < 4; i++) {
        const double drifting[3] = { v[i][0] + 7, v[i][1], v[i][2] - 3 };
        scene_body(&bench.scene, 0, i, 1.5, x[i], drifting);
    }
    measure(&bench, "type = \"velocity-dispersion\"; center = \"mass\"; central_fraction = 0.5;");
    assert_close(value(&bench, 0, "dispersion"), sqrt(5.0 / 3), 1e-14);
    assert_close(value(&bench, 0, "dispersion_x"), sqrt(2.5), 1e-14);
    assert_close(value(&bench, 0, "dispersion_z"), 0, 1e-14);
    assert_close(value(&bench, 0, "mean_radial_velocity"), 2, 1e-14);
    assert_close(value(&bench, 0, "dispersion_radial"), 0, 1e-14);
    assert_close(value(&bench, 0, "dispersion_tangential"), sqrt(0.5), 1e-14);
    assert_true(isnan(value(&bench, 0, "anisotropy")) || value(&bench, 0, "anisotropy") < -1e20);
    assert_close(value(&bench, 0, "central_radius"), 3, 1e-14); /* the inner two */
    assert_close(value(&bench, 0, "central_dispersion"), sqrt(2 * 5.0 / 3), 1e-14);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

/* Plummer's scale of a system's bodies, of one mass, from the radius of half of them. */
static double scale_of_half(const struct bodies *b, size_t system)
{
    double r[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        const size_t k = system * b->stride + i;
        r[i] = sqrt(b->x[k] * b->x[k] + b->y[k] * b->y[k] + b->z[k] * b->z[k]);
    }
    gsl_sort(r, 1, COUNT);
    return r[COUNT / 2 - 1] * sqrt(pow(2.0, 2.0 / 3.0) - 1.0);
}

/* Shells of Plummer's sphere against its density; weak shells are left out. */
static void test_density_profile_of_plummer(void **state)
{
    struct bench *bench = *state;
    measure(bench, "type = \"density-profile\"; center = \"origin\"; shells = 12; r_min = 0.1; "
                   "r_max = 3.0;");
    assert_int_equal(bench->rows.count, 24);
    for (size_t k = 0; k < 12; k++) {
        const double r1 = value(bench, k, "r_inner"), r2 = value(bench, k, "r_outer");
        const double mass = pow(1 + A * A / (r2 * r2), -1.5) - pow(1 + A * A / (r1 * r1), -1.5);
        const double volume = 4 * M_PI / 3 * (r2 * r2 * r2 - r1 * r1 * r1);
        const double density = value(bench, k, "density"), bodies = value(bench, k, "bodies");
        assert_close(density, mass / volume, 4 * value(bench, k, "density_error"));
        assert_close(density * volume, value(bench, k, "mass"), 1e-14);
        assert_close(value(bench, k, "density_error"), density / sqrt(bodies), 1e-14 * density);
        assert_close(value(bench, k, "mass") * COUNT, bodies, 1e-8);
        /* The model beside it has the half-mass radius of the bodies. */
        const double a = scale_of_half(bench->scene.bodies, 0);
        const double at = 1 + pow(value(bench, k, "r") / a, 2);
        const double plummer = 3 / (4 * M_PI * a * a * a) * pow(at, -2.5);
        assert_close(value(bench, k, "plummer") / plummer, 1, 1e-10);
    }
    bench_clear(bench);
}

/* An isothermal sphere cut off at R: M(r) proportional to r. Slope -2 within its own error, also
 * over many samples; the amplitude says the dispersion. If `unequal`, a third of its bodies has
 * nine times the mass of the others, and there are test bodies that are uniform in r^2. */
static void check_isothermal(bool unequal)
{
    enum { SYSTEMS = 40, BODIES = 4000 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct bench bench = { .scene = scene_create(SYSTEMS, BODIES, 1.75, 0.0) };
    const double R = 2.3;
    static const char keys[] = "type = \"density-slope\"; center = \"origin\"; shells = 20; "
                               "r_min = 0.02; r_max = 3.0; fit = [0.1, 2.2]; least_bodies = 20;";
    static const double masses[] = { 9.0 * 4 / 11, 1.0 * 4 / 11, 1.0 * 4 / 11, 0.0 };
    for (size_t s = 0; s < SYSTEMS; s++)
        for (size_t i = 0; i < BODIES; i++) {
            const double m = unequal ? masses[i % 4] : 1.0, r = gsl_rng_uniform(random);
            sample_set(bench.scene.bodies, s * bench.scene.bodies->stride + i, m / BODIES,
                       R * (m > 0 ? r : sqrt(r)), random);
        }
    measure(&bench, keys);
    double squares = 0, chi2 = 0;
    for (size_t s = 0; s < SYSTEMS; s++) {
        const double error = value(&bench, s, "density_slope_error");
        const double off = value(&bench, s, "density_slope") + 2;
        assert_close(off, 0, 4.5 * error);
        assert_true(error > 0 && error < 0.1);
        assert_close(value(&bench, s, "density_slope_shells"), 11, 0);
        squares += off * off / (error * error);
        chi2 += value(&bench, s, "density_slope_chi2");
        /* M(r) = 2 sigma^2 r / G */
        assert_close(value(&bench, s, "isothermal_dispersion"), sqrt(1.75 / (2 * R)),
                     unequal ? 0.035 : 0.02);
    }
    /* Errors of the right size: 40 squares of unit variance, and chi^2 of 9 degrees of freedom. */
    assert_close(squares / SYSTEMS, 1, 0.7);
    assert_close(chi2 / SYSTEMS, 1, 0.3);
    bench_clear(&bench);
    /* 79 bodies with mass are one fewer than four times `least_bodies`, however many test bodies
     * there are. */
    for (size_t i = 79; i < BODIES; i++)
        bench.scene.bodies->m[i] = 0;
    measure(&bench, keys);
    assert_true(isnan(value(&bench, 0, "density_slope")));
    bench_clear(&bench);
    gsl_rng_free(random);
    scene_destroy(&bench.scene);
}

static void test_slope_of_an_isothermal_sphere(void **state)
{
    (void)state;
    check_isothermal(false);
    check_isothermal(true);
}

/* ln of the integral of r^(2 + s) over a shell from 2^k to 2^(k + 1), but for what all have. */
static double log_integral(double s, double k)
{
    const double p = s + 3;
    return log((exp2(p * (k + 1)) - exp2(p * k)) / p);
}

/* The error of a slope by the formula of its column: from the variance of d ln(integral) / ds over
 * the shells, and from chi^2, which is far above 1 in these shells. */
static void test_error_of_a_slope_by_hand(void **state)
{
    (void)state;
    enum { SHELLS = 4, BODIES = 132 };
    static const double bodies[SHELLS] = { 40, 60, 20, 12 };
    struct bench bench = { .scene = scene_create(1, BODIES, 1.0, 0.0) };
    struct bodies *const b = bench.scene.bodies;
    for (size_t i = 0, k = 0, in_shell = 0; i < BODIES; i++, in_shell++) {
        if (in_shell == (size_t)bodies[k])
            k++, in_shell = 0;
        b->m[i] = 1;
        b->x[i] = 1.5 * exp2((double)k);
    }
    measure(&bench, "type = \"density-slope\"; center = \"origin\"; shells = 4; r_min = 1.0; "
                    "r_max = 16.0; least_bodies = 1;");
    const double s = value(&bench, 0, "density_slope"), h = 1e-5;
    double sum = 0, mean = 0, variance = 0, chi2 = 0, found = 0;
    double share[SHELLS], slope[SHELLS];
    for (int k = 0; k < SHELLS; k++)
        sum += exp(log_integral(s, k));
    for (int k = 0; k < SHELLS; k++) {
        share[k] = exp(log_integral(s, k)) / sum;
        slope[k] = (log_integral(s + h, k) - log_integral(s - h, k)) / (2 * h);
        mean += share[k] * slope[k];
        found += bodies[k] / BODIES * slope[k];
        const double expected = BODIES * share[k];
        chi2 += (bodies[k] - expected) * (bodies[k] - expected) / expected / (SHELLS - 2);
    }
    for (int k = 0; k < SHELLS; k++)
        variance += share[k] * (slope[k] - mean) * (slope[k] - mean);
    assert_close(found, mean, 1e-9); /* the likelihood is greatest there */
    assert_true(chi2 > 2);
    assert_close(value(&bench, 0, "density_slope_chi2") / chi2, 1, 1e-9);
    assert_close(value(&bench, 0, "density_slope_error") / sqrt(chi2 / (BODIES * variance)), 1,
                 1e-6);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

/* Mean of a column over systems, and its standard error; squared where `power` is 2. */
static double mean_of(const struct bench *bench, size_t systems, const char *column, double power,
                      double *error)
{
    double sum = 0, squares = 0;
    for (size_t s = 0; s < systems; s++) {
        const double x = pow(value(bench, s, column), power);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / (double)systems;
    *error = sqrt((squares / (double)systems - mean * mean) / (double)(systems - 1));
    return mean;
}

/* Few bodies, many samples: means are right to four of their standard errors, and these are small
 * enough to tell the bias that least squares have (-2.13 for the shells by default, -2.10 for ten
 * of them; an amplitude 1 % low in sigma at 2000 bodies). */
static void test_few_bodies_have_no_bias(void **state)
{
    (void)state;
    enum { SYSTEMS = 600, LEAST = 200 };
    static const struct sampling {
        size_t bodies;
        const char *keys;
    } samplings[] = {
        { LEAST, "" },
        { LEAST, "shells = 10; r_min = 0.05; r_max = 1.0;" },
        { LEAST, "shells = 10; r_min = 0.05; r_max = 1.0; least_bodies = 1;" },
        { 1000, "shells = 10; r_min = 0.05; r_max = 1.0;" },
    };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t k = 0; k < COUNT_OF(samplings); k++) {
        const size_t count = samplings[k].bodies, systems = SYSTEMS * LEAST / count;
        struct bench bench = { .scene = scene_create(systems, count, 1.0, 0.0) };
        for (size_t s = 0; s < systems; s++)
            for (size_t i = 0; i < count; i++)
                sample_set(bench.scene.bodies, s * bench.scene.bodies->stride + i,
                           1.0 / (double)count, gsl_rng_uniform(random), random);
        char text[200];
        double error;
        snprintf(text, sizeof text, "type = \"density-slope\"; center = \"origin\"; %s",
                 samplings[k].keys);
        measure(&bench, text);
        const double slope = mean_of(&bench, systems, "density_slope", 1, &error);
        printf("# %zu x %zu bodies, %s: slope %.4f +- %.4f\n", systems, count, samplings[k].keys,
               slope, error);
        assert_close(slope, -2, 4 * error);
        assert_true(error < 0.01);
        /* M(r) = 2 sigma^2 r / G, M = R = 1 */
        const double sigma2 = mean_of(&bench, systems, "isothermal_dispersion", 2, &error);
        assert_close(sigma2, 0.5, 4 * error + 1e-9);
        assert_true(error < 0.002);
        bench_clear(&bench);
        scene_destroy(&bench.scene);
    }
    gsl_rng_free(random);
}

/* A slope of 50 bodies is there in two of three systems, and its error is honest: the same fit in
 * numpy, of 1500 isothermal spheres, has a mean of -1.98 +- 0.01 and deviations of 0.92 of their
 * errors, with 27 to 31 in 100 left empty. Of 25 bodies nothing is said. */
static void test_slopes_of_very_few_bodies(void **state)
{
    (void)state;
    enum { SYSTEMS = 1500 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t bodies = 25; bodies <= 50; bodies += 25) {
        struct bench bench = { .scene = scene_create(SYSTEMS, bodies, 1.0, 0.0) };
        for (size_t s = 0; s < SYSTEMS; s++)
            for (size_t i = 0; i < bodies; i++)
                sample_set(bench.scene.bodies, s * bench.scene.bodies->stride + i,
                           1.0 / (double)bodies, gsl_rng_uniform(random), random);
        measure(&bench, "type = \"density-slope\"; center = \"origin\";");
        double found = 0, sum = 0, squares = 0;
        for (size_t s = 0; s < SYSTEMS; s++) {
            const double slope = value(&bench, s, "density_slope");
            if (isnan(slope))
                continue;
            found++;
            sum += slope;
            squares += pow((slope + 2) / value(&bench, s, "density_slope_error"), 2);
        }
        printf("# %zu bodies: %.0f fits\n", bodies, found);
        if (bodies == 25) {
            assert_close(found, 0, 0);
        } else {
            printf("# mean %.3f, deviations %.3f\n", sum / found, sqrt(squares / found));
            assert_close(found / SYSTEMS, 0.72, 0.06);
            assert_close(sum / found, -1.98, 0.04);
            assert_close(sqrt(squares / found), 0.92, 0.1);
        }
        bench_clear(&bench);
        scene_destroy(&bench.scene);
    }
    gsl_rng_free(random);
}

/* Five of 100 bodies are central: their dispersion about their own mean has the right square. */
static void test_central_dispersion_of_few_bodies(void **state)
{
    (void)state;
    enum { SYSTEMS = 2000, BODIES = 100 };
    for (int unequal = 0; unequal < 2; unequal++) {
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        struct bench bench = { .scene = scene_create(SYSTEMS, BODIES, 1.0, 0.0) };
        struct bodies *const b = bench.scene.bodies;
        for (size_t i = 0; i < bodies_length(b); i++) {
            if (i % b->stride >= BODIES)
                continue;
            const double m = unequal ? 0.5 + gsl_rng_uniform(random) : 1;
            sample_set(b, i, m, gsl_rng_uniform(random), random);
            b->vx[i] = 3 + gsl_ran_gaussian(random, 0.516);
            b->vy[i] = gsl_ran_gaussian(random, 0.516);
            b->vz[i] = gsl_ran_gaussian(random, 0.516);
        }
        measure(&bench, "type = \"velocity-dispersion\"; center = \"origin\";");
        double error;
        const double sigma2 = mean_of(&bench, SYSTEMS, "central_dispersion", 2, &error);
        printf("# central dispersion: root of the mean square %.4f +- %.4f of 0.516\n",
               sqrt(sigma2), 0.5 * error / sqrt(sigma2));
        assert_close(sigma2, 0.516 * 0.516, 4 * error);
        assert_true(error < 0.005);
        bench_clear(&bench);
        gsl_rng_free(random);
        scene_destroy(&bench.scene);
    }
}

static void test_ranges_from_the_start_are_remembered(void **state)
{
    struct bench *bench = *state;
    const char *const texts[] = { "type = \"density-profile\"; center = \"origin\";",
                                  "type = \"density-slope\"; center = \"origin\";" };
    for (size_t k = 0; k < COUNT_OF(texts); k++) {
        measure(bench, texts[k]);
        if (k == 0)
            assert_close(value(bench, 29, "r_outer"), 7.6857, 0.1); /* ten half-mass radii */
        /* Were the range not in the memory, a diagnostic made now would have another one. */
        for (size_t i = 0; i < COUNT; i++)
            bench->scene.bodies->x[i] *= 1.25;
        assert_continues(bench->diagnostic, config_item(bench->config, "diagnostics", 0),
                         scene_moment(&bench->scene, 1, 0.01, false));
        for (size_t i = 0; i < COUNT; i++)
            bench->scene.bodies->x[i] /= 1.25;
        bench_clear(bench);
    }
}

static void assert_refused(const struct scene *scene, const struct diagnostic_class *class_,
                           const char *text, const char *message)
{
    struct config *config = config_of(text);
    struct error error = { 0 };
    struct diagnostic *d;
    assert_int_equal(diagnostic_create_as(class_, config_item(config, "diagnostics", 0),
                                          &scene->moment, &d, &error),
                     STATUS_CONFIG);
    assert_null(d);
    if (!strstr(error.text, message))
        fail_msg("'%s' does not say '%s'", error.text, message);
    config_free(config);
}

static void test_refusals(void **state)
{
    (void)state;
    struct scene scene = scene_create(1, 10, 1.0, 0.0);
    scene_moment(&scene, 0, 0.01, false);
    assert_refused(&scene, &diagnostic_lagrangian_radii,
                   "type = \"lagrangian-radii\"; fractions = [0.1, 0.5, 0.1];",
                   "0.1 is there twice");
    assert_refused(&scene, &diagnostic_lagrangian_radii, /* both make a column radius_50 */
                   "type = \"lagrangian-radii\"; fractions = [0.5, 0.50000000001];",
                   "0.5 is there twice");
    assert_refused(&scene, &diagnostic_lagrangian_radii,
                   "type = \"lagrangian-radii\"; fractions = [];", "must be 1 to 64 numbers");
    assert_refused(&scene, &diagnostic_density_profile,
                   "type = \"density-profile\"; r_min = 2.0; r_max = 1.0;",
                   "must be greater than r_min");
    assert_refused(&scene, &diagnostic_density_slope, "type = \"density-slope\"; fit = [2.0, 1.0];",
                   "must be an inner and an outer radius");
    scene.physics.boundary = BOUNDARY_PERIODIC;
    scene.physics.box_length = 1.0;
    assert_refused(&scene, &diagnostic_velocity_dispersion, "type = \"velocity-dispersion\";",
                   "needs physics.boundary = \"open\"");
    scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lagrangian_radii_of_plummer),
        cmocka_unit_test(test_lagrangian_radii_about_the_density_center),
        cmocka_unit_test(test_the_density_center_by_hand),
        cmocka_unit_test(test_error_of_a_slope_by_hand),
        cmocka_unit_test(test_velocity_dispersion_of_plummer),
        cmocka_unit_test(test_velocity_dispersion_by_hand),
        cmocka_unit_test(test_density_profile_of_plummer),
        cmocka_unit_test(test_slope_of_an_isothermal_sphere),
        cmocka_unit_test(test_few_bodies_have_no_bias),
        cmocka_unit_test(test_slopes_of_very_few_bodies),
        cmocka_unit_test(test_central_dispersion_of_few_bodies),
        cmocka_unit_test(test_ranges_from_the_start_are_remembered),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("diagnostic-structure", tests, make_plummer, free_plummer);
}
