#include "unit.h"

#include <gsl/gsl_rng.h>
#include <string.h>

#include "diagnostics/diagnostic.h"
#include "observe.h"
#include "sample.h"

/* Mean over systems of a column in bin k, and the standard error of that mean. */
static void mean_of(const struct rows *rows, size_t systems, size_t bins, size_t k,
                    const char *column, double *mean, double *error)
{
    double sum = 0, squares = 0;
    for (size_t s = 0; s < systems; s++) {
        const double value = rows_value(rows, s * bins + k, column);
        sum += value;
        squares += value * value;
    }
    const double n = (double)systems;
    *mean = sum / n;
    *error = sqrt((squares / n - *mean * *mean) / (n - 1));
}

/* Probability that two points of a uniform ball of radius R are less than s apart: the integral of
 * 3 s^2 / R^3 - 9 s^3 / (4 R^4) + 3 s^5 / (16 R^6). */
static double ball_probability(double s, double R)
{
    const double q = s / R;
    return q * q * q - 9.0 / 16.0 * pow(q, 4) + pow(q, 6) / 32.0;
}

/* 300 independent balls: their scatter is the noise, also that of pairs that share a body. */
static void test_uniform_ball(void **state)
{
    (void)state;
    enum { SYSTEMS = 300, COUNT = 150, BINS = 25 };
    const double R = 1.3;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct scene scene = scene_create(SYSTEMS, COUNT, 1.0, 0.0);
    for (size_t s = 0; s < SYSTEMS; s++)
        sample_ball(scene.bodies, s, R, random);
    struct config *config = config_of("type = \"radial-distribution\"; bins = 25; r_max = 2.6;");
    const struct moment *now = scene_moment(&scene, 0, 0.01, false);
    struct diagnostic *d = diagnostic_make(&diagnostic_radial_distribution,
                                           config_item(config, "diagnostics", 0), now);
    assert_int_equal(d->row_count, BINS);
    struct rows rows = { 0 };
    rows_measure(&rows, d, now);
    assert_int_equal(rows.count, SYSTEMS * BINS);
    double chi2 = 0, integral = 0, total = 0;
    for (size_t k = 0; k < BINS; k++) {
        const double inner = rows_value(&rows, k, "r_inner"),
                     outer = rows_value(&rows, k, "r_outer");
        const double expected =
            (ball_probability(outer, R) - ball_probability(inner, R)) / (outer - inner);
        double mean, error;
        mean_of(&rows, SYSTEMS, BINS, k, "pair_density", &mean, &error);
        if (k + 1 < BINS) { /* the last bin has too few pairs for a normal law */
            assert_close(mean, expected, 5 * error);
            chi2 += (mean - expected) * (mean - expected) / (error * error);
        }
        integral += mean * (outer - inner);
        total += rows_value(&rows, k, "pairs");
        /* g from the raw numbers of the same row, V = 4^3 as |x| <= 1.3 < 2 */
        const double n = rows_value(&rows, k, "pairs");
        assert_close(rows_value(&rows, k, "cell_volume"), 64, 0);
        const double shell = 4 * M_PI / 3 * (pow(outer, 3) - pow(inner, 3));
        assert_close(rows_value(&rows, k, "g"), 2 * n * 64 / (COUNT * COUNT * shell), 1e-12);
    }
    /* chi^2 of 24 correlated bins: 24 +- 7 if they were independent. */
    assert_true(chi2 > 5 && chi2 < 60);
    assert_close(integral, 1, 1e-12);
    assert_close(total, COUNT * (COUNT - 1) / 2, 0);
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    gsl_rng_free(random);
    scene_destroy(&scene);
}

/* Pairs of an ideal gas are independent of each other: g = 1 (1 - 1/N in this convention) with
 * Poisson's error. */
static void test_ideal_gas_in_a_box(void **state)
{
    (void)state;
    enum { COUNT = 3000, BINS = 30 };
    const double L = 1.7;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct scene scene = scene_create(1, COUNT, 1.0, 0.0);
    scene.physics.boundary = BOUNDARY_PERIODIC;
    scene.physics.box_length = L;
    struct bodies *b = scene.bodies;
    double *const axes[] = { b->x, b->y, b->z };
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < COUNT; i++) /* not wrapped: up to three boxes away */
            axes[k][i] = L * (gsl_rng_uniform(random) + (double)(i % 7) - 3.0);
    struct config *config = config_of("type = \"radial-distribution\"; bins = 30;");
    const struct moment *now = scene_moment(&scene, 0, 0.01, false);
    struct diagnostic *d = diagnostic_make(&diagnostic_radial_distribution,
                                           config_item(config, "diagnostics", 0), now);
    struct rows rows = { 0 };
    rows_measure(&rows, d, now);
    double chi2 = 0;
    for (size_t k = 0; k < BINS; k++) { /* 87 pairs are expected in the first bin */
        const double error = rows_value(&rows, k, "g_error");
        const double off = rows_value(&rows, k, "g") - (1 - 1.0 / COUNT);
        assert_close(off, 0, 5 * error);
        chi2 += off * off / (error * error);
        assert_close(rows_value(&rows, k, "cell_volume"), L * L * L, 1e-14);
    }
    assert_true(chi2 > 9 && chi2 < 60); /* 30 +- 8 */
    assert_close(rows_value(&rows, BINS - 1, "r_outer"), L / 2, 1e-15);
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    gsl_rng_free(random);
    scene_destroy(&scene);
}

static void test_running_means(void **state)
{
    (void)state;
    struct scene scene = scene_create(1, 3, 1.0, 0.0);
    struct config *config =
        config_of("type = \"radial-distribution\"; bins = 4; r_max = 4.0; cell_volume = 10.0; "
                  "average_after = 0.5;");
    const struct section *section = config_item(config, "diagnostics", 0);
    struct diagnostic *d = diagnostic_make(&diagnostic_radial_distribution, section,
                                           scene_moment(&scene, 0, 1.0, false));
    /* Three bodies on a line at 0, x, 2x: two pairs at x, one at 2x. */
    const double x[] = { 0.75, 1.25, 0.75, 1.75 };
    struct rows rows = { 0 };
    for (size_t k = 0; k < COUNT_OF(x); k++) {
        scene.bodies->x[1] = x[k];
        scene.bodies->x[2] = 2 * x[k];
        rows_measure(&rows, d, scene_moment(&scene, k, 1.0, false));
    }
    /* Bin 1 (1 to 2) of the four events: one, two, one and two pairs. The first does not count. */
    const double volume = 4 * M_PI / 3 * 7, unit = 2 * 10 / (9 * volume); /* g of one pair */
    const double pairs[] = { 1, 2, 1, 2 };
    for (size_t k = 0; k < 4; k++) {
        assert_close(rows_value(&rows, 4 * k + 1, "pairs"), pairs[k], 0);
        assert_close(rows_value(&rows, 4 * k + 1, "g"), unit * pairs[k], 1e-15);
        assert_close(rows_value(&rows, 4 * k + 1, "frames"), (double)k, 0);
    }
    assert_true(isnan(rows_value(&rows, 1, "g_mean")));
    assert_close(rows_value(&rows, 5, "g_mean"), 2 * unit, 1e-15);
    assert_close(rows_value(&rows, 5, "g_mean_error"), 2 * unit / sqrt(2), 1e-15);
    assert_close(rows_value(&rows, 13, "g_mean"), 5 * unit / 3, 1e-15);
    assert_close(rows_value(&rows, 13, "pairs_mean"), 5.0 / 3, 1e-15);
    /* of 2, 1, 2: deviations 1/3, 2/3, 1/3; sum of squares 2/3 over 3 x 2 */
    assert_close(rows_value(&rows, 13, "g_mean_error"), unit / 3, 1e-15);
    assert_true(isnan(rows_value(&rows, 12, "g_error"))); /* no pair nearer than 1 */
    rows_free(&rows);
    assert_continues(d, section, &scene.moment);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

/* A body that leaves changes no volume: what the rows have in common stays comparable, and goes on
 * after a restart, which finds the bodies far apart. */
static void test_the_volume_stays_when_a_body_leaves(void **state)
{
    (void)state;
    enum { BINS = 4, EVENTS = 3 };
    struct scene scene = scene_create(2, 3, 1.0, 0.0);
    struct config *config = config_of("type = \"radial-distribution\"; bins = 4; r_max = 4.0;");
    const struct section *section = config_item(config, "diagnostics", 0);
    struct bodies *b = scene.bodies;
    const size_t other = b->stride;
    /* The second system reaches to 1.7: V is that of [-2, 2]^3 for both. */
    b->x[1] = 0.75, b->x[2] = -0.75, b->x[other + 1] = 1.7, b->x[other + 2] = -1.2;
    struct diagnostic *d = diagnostic_make(&diagnostic_radial_distribution, section,
                                           scene_moment(&scene, 0, 1.0, false));
    const double leaving[EVENTS] = { 0.75, 1.1, 70.0 }, pairs[EVENTS] = { 1, 2, 0 };
    struct rows rows = { 0 };
    for (size_t k = 0; k < EVENTS; k++) {
        b->x[1] = leaving[k];
        rows_measure(&rows, d, scene_moment(&scene, k, 1.0, false));
    }
    for (size_t i = 0; i < rows.count; i++)
        assert_close(rows_value(&rows, i, "cell_volume"), 64, 0);
    /* Bin 1 (1 to 2) of the first system: one pair, two, none. */
    const double unit = 2 * 64 / (9 * 4 * M_PI / 3 * 7), density = 1.0 / 3; /* of one pair */
    for (size_t k = 0; k < EVENTS; k++) {
        const size_t row = 2 * BINS * k + 1;
        assert_close(rows_value(&rows, row, "g"), unit * pairs[k], 1e-14);
        assert_close(rows_value(&rows, row, "pair_density"), density * pairs[k], 1e-15);
    }
    const size_t last = 2 * BINS * (EVENTS - 1) + 1;
    assert_close(rows_value(&rows, last, "g_mean"), unit, 1e-14);
    assert_close(rows_value(&rows, last, "pair_density_mean"), density, 1e-15);
    /* of 1, 2, 0: sum of squares 2 over 3 x 2 */
    assert_close(rows_value(&rows, last, "g_mean_error"), unit / sqrt(3), 1e-14);
    assert_close(rows_value(&rows, last, "pair_density_mean_error"), density / sqrt(3), 1e-15);
    rows_free(&rows);
    assert_continues(d, section, &scene.moment);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

static void test_one_body_has_no_g(void **state)
{
    (void)state;
    struct scene scene = scene_create(1, 1, 1.0, 0.0);
    struct config *config = config_of("type = \"radial-distribution\"; bins = 2; r_max = 1.0;");
    const struct moment *now = scene_moment(&scene, 0, 1.0, false);
    struct diagnostic *d = diagnostic_make(&diagnostic_radial_distribution,
                                           config_item(config, "diagnostics", 0), now);
    struct rows rows = { 0 };
    rows_measure(&rows, d, now);
    assert_close(rows_value(&rows, 1, "pairs"), 0, 0);
    assert_true(isnan(rows_value(&rows, 1, "g")) && isnan(rows_value(&rows, 1, "pair_density")));
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

static void test_reach_beyond_the_box_is_refused(void **state)
{
    (void)state;
    struct scene scene = scene_create(1, 5, 1.0, 0.0);
    scene.physics.boundary = BOUNDARY_PERIODIC;
    scene.physics.box_length = 2.0;
    struct config *config = config_of("type = \"radial-distribution\"; r_max = 1.01;");
    struct error error = { 0 };
    struct diagnostic *d;
    assert_int_equal(diagnostic_create_as(&diagnostic_radial_distribution,
                                          config_item(config, "diagnostics", 0),
                                          scene_moment(&scene, 0, 1.0, false), &d, &error),
                     STATUS_CONFIG);
    assert_non_null(strstr(error.text, "r_max = 1.01: must be at most half"));
    config_free(config);
    scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform_ball),
        cmocka_unit_test(test_ideal_gas_in_a_box),
        cmocka_unit_test(test_running_means),
        cmocka_unit_test(test_the_volume_stays_when_a_body_leaves),
        cmocka_unit_test(test_one_body_has_no_g),
        cmocka_unit_test(test_reach_beyond_the_box_is_refused),
    };
    return cmocka_run_group_tests_name("diagnostic-radial-distribution", tests, NULL, NULL);
}
