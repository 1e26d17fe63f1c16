/* Trust until t: distances, growth and horizons of shadows that are moved by hand. */
#include "unit.h"

#include <math.h>

#include "accuracy/growth.h"
#include "accuracy/trust.h"
#include "observe.h"

/* --- growth ----------------------------------------------------------------------------------- */

/* Levels of a growth whose logarithm at a time is log_growth(time). */
static struct growth grown(double (*log_growth)(double), double end)
{
    struct growth growth = { 0 };
    for (int k = 0; k <= 4000; k++)
        growth_add(&growth, end * k / 4000, log_growth(end * k / 4000));
    return growth;
}

static double exponential(double time)
{
    return time / 2.385;
}

/* The same with a phase along the orbit, and in the end a system that has dissolved. */
static double dissolving(double time)
{
    const double bound = 40.0;
    return (time < bound ? time : bound) / 2.385 + 0.4 * sin(1.7 * time) +
           (time > bound ? log(time / bound) : 0.0);
}

static double linear(double time)
{
    return log1p(300.0 * time);
}

static double square(double time)
{
    return 2.0 * log1p(300.0 * time);
}

static void test_laws_of_growth_are_told_apart(void **state)
{
    (void)state;
    struct growth growth = grown(exponential, 60.0);
    struct growth_fit fit = growth_fit(&growth, 1.0);
    assert_int_equal(growth.count, 25); /* e^(60 / 2.385) */
    assert_int_equal(fit.form, GROWTH_EXPONENTIAL);
    assert_close(fit.time, 2.385, 1e-9);
    assert_true(fit.error < 1e-9);
    growth = grown(dissolving, 1000.0);
    fit = growth_fit(&growth, 1.0);
    assert_int_equal(fit.form, GROWTH_EXPONENTIAL);
    assert_close(fit.time, 2.385, 2.0 * fit.error);
    assert_true(fit.error > 0.0 && fit.error < 0.5);
    /* A burst of growth is one encounter. */
    assert_int_equal(growth_fit(&growth, 100.0).form, GROWTH_UNKNOWN);
    growth = grown(linear, 1000.0);
    assert_int_equal(growth_fit(&growth, 1.0).form, GROWTH_POWER);
    assert_true(isnan(growth_fit(&growth, 1.0).time));
    growth = grown(square, 1000.0);
    assert_int_equal(growth_fit(&growth, 1.0).form, GROWTH_POWER);
    growth = grown(exponential, 20.0);
    assert_int_equal(growth_fit(&growth, 1.0).form, GROWTH_UNKNOWN);
}

static void test_growth_without_end_fits_in(void **state)
{
    (void)state;
    struct growth growth = { 0 };
    growth_add(&growth, 1.0, 0.5);
    growth_add(&growth, 2.0, INFINITY);
    assert_int_equal(growth.count, GROWTH_LEVELS);
    assert_close(growth.passed[0], 2.0, 0.0);
    growth_add(&growth, 3.0, INFINITY);
    assert_close(growth.passed[GROWTH_LEVELS - 1], 2.0, 0.0);
}

/* --- horizons --------------------------------------------------------------------------------- */

enum { DIVERGENCE, ROUNDING, TRUNCATION, TIME, TIME_ERROR, ACCURATE, REPRODUCIBLE };

struct trial {
    struct scene scene;
    struct config *config;
    struct diagnostic *trust;
    struct bodies *shadows[TRUST_SHADOWS];
    double row[16];
};

static enum status keep(void *context, size_t system, const double *values, struct error *error)
{
    (void)error;
    if (system == 0)
        memcpy(((struct trial *)context)->row, values, 7 * sizeof *values);
    return STATUS_OK;
}

/* Two systems of four bodies on the corners of a square with sides of 2: its size is sqrt(2). */
static struct trial trial_start(const char *text, double box)
{
    static const int64_t both[] = { 0, 1 };
    static struct group groups[] = { { .name = "" }, { .name = "trust" } };
    static const struct schema schema = { groups, COUNT_OF(groups) };
    groups[1].parameters = trust_parameters;
    groups[1].parameter_count = trust_parameter_count;
    char whole[256];
    snprintf(whole, sizeof whole, "trust = { shadow = true; %s };", text);
    struct trial trial = { .scene = scene_create(2, 4, 1.0, 0.0),
                           .config = config_from(&schema, whole) };
    if (box > 0.0) {
        trial.scene.physics.boundary = BOUNDARY_PERIODIC;
        trial.scene.physics.box_length = box;
    }
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < 4; i++)
            scene_body(&trial.scene, s, i, 0.25,
                       (const double[]){ i & 1 ? 1 : -1, i & 2 ? 1 : -1, 0 },
                       (const double[]){ 0, 0.5, 0 });
    struct error error = { 0 };
    const struct trust_force force = { 1.0, 1e-16 };
    const struct moment *start = scene_moment(&trial.scene, 0, 0.125, true);
    assert_int_equal(trust_create(config_section(trial.config, "trust"), start,
                                  integrator_find("velocity-verlet"), &force, &trial.trust, &error),
                     STATUS_OK);
    for (int k = 0; k < TRUST_SHADOWS; k++) {
        assert_int_equal(bodies_create(2, 4, &trial.shadows[k], &error), STATUS_OK);
        for (size_t s = 0; s < 2; s++)
            bodies_copy_system(trial.shadows[k], s, trial.scene.bodies, s);
        trust_show(trial.trust, (enum trust_shadow)k, trial.shadows[k], both);
    }
    return trial;
}

static void trial_end(struct trial *trial)
{
    for (int k = 0; k < TRUST_SHADOWS; k++)
        bodies_destroy(trial->shadows[k]);
    diagnostic_destroy(trial->trust);
    scene_destroy(&trial->scene);
    config_free(trial->config);
}

/* Every body of a shadow that far from the run's, along x. */
static void part(struct trial *trial, enum trust_shadow shadow, double distance)
{
    const struct bodies *b = trial->scene.bodies;
    for (size_t i = 0; i < bodies_length(b); i++)
        trial->shadows[shadow]->x[i] = b->x[i] + distance;
}

static void look(struct trial *trial, uint64_t step)
{
    struct error error = { 0 };
    const struct row_sink sink = { keep, trial };
    const struct moment *now = scene_moment(&trial->scene, step, 0.125, true);
    assert_int_equal(diagnostic_measure(trial->trust, now, &sink, &error), STATUS_OK);
}

static void test_distances_are_over_the_size(void **state)
{
    (void)state;
    struct trial trial = trial_start("", 0.0);
    assert_close(trust_displacement(trial.trust, 1), 1e-12 * sqrt(2.0), 1e-24);
    part(&trial, TRUST_TWIN, 1e-12);
    look(&trial, 0);
    assert_close(trial.row[DIVERGENCE], 1e-12 / sqrt(2.0), 1e-15); /* 1 + 1e-12 is rounded */
    assert_close(trial.row[TRUNCATION], 0.0, 0.0);
    part(&trial, TRUST_FINE, 3e-3);
    look(&trial, 10);
    /* Order 2: the error is 4/3 of the difference to half the step. */
    assert_close(trial.row[TRUNCATION], 4e-3 / sqrt(2.0), 1e-12);
    trial_end(&trial);
}

static void test_the_nearest_image_counts(void **state)
{
    (void)state;
    struct trial trial = trial_start("", 4.0);
    part(&trial, TRUST_FINE, 4.0 + 3e-3);
    look(&trial, 10);
    assert_close(trial.row[TRUNCATION], 4e-3 / 2.0, 1e-12); /* half the box is its size */
    trial_end(&trial);
}

static void test_horizons_lie_between_looks(void **state)
{
    (void)state;
    struct trial trial = trial_start("", 0.0);
    part(&trial, TRUST_TWIN, 1e-12);
    look(&trial, 0);
    part(&trial, TRUST_FINE, 1e-4 * 0.75 * sqrt(2.0));
    look(&trial, 80); /* t = 10: 1e-4 */
    assert_true(isinf(trial.row[ACCURATE]));
    assert_false(trust_is_done(trial.trust, TRUST_FINE, 0));
    part(&trial, TRUST_FINE, 0.75 * sqrt(2.0));
    look(&trial, 160); /* t = 20: 1, so that it has grown through 1e-2 at t = 15 */
    assert_close(trial.row[ACCURATE], 15.0, 1e-6);
    assert_true(trust_is_done(trial.trust, TRUST_FINE, 0));
    part(&trial, TRUST_FINE, 1e-9);
    look(&trial, 240); /* the first time counts */
    assert_close(trial.row[ACCURATE], 15.0, 1e-6);
    trial_end(&trial);
}

/* The twin is brought back from 1 % to the rounding errors, and from there on it is them. */
static void test_the_twin_becomes_the_rounding_errors(void **state)
{
    (void)state;
    struct trial trial = trial_start("every = 10;", 0.0);
    part(&trial, TRUST_TWIN, 1e-12);
    look(&trial, 0);
    part(&trial, TRUST_TWIN, 1e-3);
    look(&trial, 10);
    assert_close(trust_take_nearing(trial.trust, 0), 1.0, 0.0);
    part(&trial, TRUST_TWIN, 0.02 * sqrt(2.0));
    look(&trial, 15); /* off the cadence: a run that ends here may go further */
    assert_close(trust_take_nearing(trial.trust, 0), 1.0, 0.0);
    look(&trial, 20);
    const double rounding = trial.row[ROUNDING], nearing = trust_take_nearing(trial.trust, 0);
    assert_true(rounding > 1e-9 && rounding < 1e-4); /* 1e-16 or so of each step, grown by 1e10 */
    assert_close(nearing, rounding / 0.02, 1e-9 * nearing);
    assert_close(trust_take_nearing(trial.trust, 0), 1.0, 0.0);
    part(&trial, TRUST_TWIN, 10.0 * rounding * sqrt(2.0));
    look(&trial, 30);
    /* It grows as the twin does; the new steps add what a regular orbit would have: sqrt(30 / 20).
     */
    assert_true(trial.row[ROUNDING] >= 9.99 * rounding && trial.row[ROUNDING] < 12.5 * rounding);
    assert_true(isnan(trial.row[DIVERGENCE]) && isinf(trial.row[REPRODUCIBLE]));
    part(&trial, TRUST_TWIN, 0.5);
    look(&trial, 40);
    assert_true(trial.row[REPRODUCIBLE] > 3.75 && trial.row[REPRODUCIBLE] < 5.0);
    assert_true(trust_is_done(trial.trust, TRUST_TWIN, 0));
    trial_end(&trial);
}

/* Errors of rounding end the accuracy as well, where those of the step are none. */
static void test_rounding_ends_the_accuracy_too(void **state)
{
    (void)state;
    struct trial trial = trial_start("every = 10;", 0.0);
    part(&trial, TRUST_TWIN, 1e-12);
    look(&trial, 0);
    for (uint64_t k = 1; k < 200 && isinf(trial.row[REPRODUCIBLE]); k++) {
        part(&trial, TRUST_TWIN, 1e-3 * (double)k);
        look(&trial, 10 * k);
    }
    assert_true(isfinite(trial.row[REPRODUCIBLE]) && trial.row[TRUNCATION] < 1e-9);
    assert_true(isfinite(trial.row[ACCURATE]));
    trial_end(&trial);
}

/* A twin that grows by e in each unit of time, and a fine shadow that follows it: until when
 * roundings carry the orbits, and how far off they will be then. */
static void test_the_outlook(void **state)
{
    (void)state;
    struct trial trial = trial_start("every = 8;", 0.0);
    const double small = 1e-9, rate = 1.0;
    part(&trial, TRUST_TWIN, 1e-12);
    look(&trial, 0);
    for (uint64_t t = 1; t <= 13; t++) {
        part(&trial, TRUST_TWIN, 1e-12 * exp(rate * (double)t));
        part(&trial, TRUST_FINE, small * 0.75 * sqrt(2.0) * exp(rate * (double)t));
        look(&trial, 8 * t);
    }
    const double rounding = trial.row[ROUNDING];
    /* The law of the growth is known: the time that is left to the tolerance, in e-folding times.
     */
    const double carried = 13.0 + log(0.01 / rounding);
    struct trust_outlook outlook = trust_outlook(trial.trust, 15.0);
    assert_close(outlook.carried, carried, 1e-6 * carried);
    assert_close(outlook.bound, 15.0, 0.0);
    assert_true(carried > 20.0 && isinf(outlook.accurate) && !outlook.missed && !outlook.whole);
    assert_close(outlook.error, small * exp(15.0), 1e-3 * outlook.error);
    /* Before now, it is what was seen. */
    outlook = trust_outlook(trial.trust, 10.0);
    assert_true(outlook.whole && !outlook.missed);
    assert_close(outlook.error, small * exp(10.0), 1e-3 * outlook.error);
    /* More than double precision can carry. */
    outlook = trust_outlook(trial.trust, 1000.0);
    assert_close(outlook.bound, 0.9 * carried, 1e-6 * carried);
    /* The accuracy ends: at 14.5, before what was asked for, and after it. */
    part(&trial, TRUST_TWIN, 1e-12 * exp(17.0));
    part(&trial, TRUST_FINE, 0.1 * 0.75 * sqrt(2.0));
    look(&trial, 8 * 17);
    outlook = trust_outlook(trial.trust, 17.0);
    const double until = outlook.accurate;
    assert_true(until > 13.0 && until < 17.0 && outlook.missed && outlook.whole);
    assert_close(outlook.error, 0.01 * exp(17.0 - until), 1e-3 * outlook.error);
    assert_false(trust_outlook(trial.trust, until - 0.1).missed);
    /* Asked for much: missed as soon as nine tenths of what has been seen are beyond it. */
    assert_true(until > 0.9 * 17.0 || trust_outlook(trial.trust, 1000.0).missed);
    trial_end(&trial);
}

static void test_a_lost_shadow_is_infinitely_far_away(void **state)
{
    (void)state;
    struct trial trial = trial_start("", 0.0);
    char text[TRUST_TEXT_SIZE];
    part(&trial, TRUST_TWIN, 1e-12);
    look(&trial, 0);
    trust_lose(trial.trust, 0, TRUST_FINE);
    trust_lose(trial.trust, 0, TRUST_TWIN);
    look(&trial, 10);
    assert_close(trial.row[ACCURATE], 1.25, 0.0);
    assert_close(trial.row[REPRODUCIBLE], 1.25, 0.0);
    assert_true(trust_is_done(trial.trust, TRUST_TWIN, 0));
    assert_false(trust_is_done(trial.trust, TRUST_TWIN, 1)); /* the other system is there */
    look(&trial, 20);
    assert_close(trial.row[ACCURATE], 1.25, 0.0);
    assert_false(isnan(trial.row[ROUNDING]));
    /* The earlier one of two is the median: the later one may be infinite, as here. */
    assert_non_null(strstr(trust_text(trial.trust, 2.5, text),
                           "the median accurate until t = 1.25 (the first of 2 systems: 1.25)"));
    json_t *json = trust_json(trial.trust, 2.5);
    assert_close(json_real_value(json_object_get(json, "accurate_until")), 1.25, 0.0);
    json_decref(json);
    trial_end(&trial);
}

/* The shadows of systems that have told all are let go; the others move together. */
static void test_systems_are_let_go_one_by_one(void **state)
{
    (void)state;
    static const int64_t second[] = { TRUST_NOT_CARRIED, 0 };
    struct trial trial = trial_start("", 0.0);
    struct error error = { 0 };
    part(&trial, TRUST_TWIN, 1e-12);
    look(&trial, 0);
    struct bodies *fewer;
    assert_int_equal(bodies_create(1, 4, &fewer, &error), STATUS_OK);
    bodies_copy_system(fewer, 0, trial.scene.bodies, 1);
    for (size_t i = 0; i < 4; i++)
        fewer->x[i] += 0.3;
    trust_show(trial.trust, TRUST_FINE, fewer, second);
    look(&trial, 10);
    assert_true(isnan(trial.row[TRUNCATION]) && isinf(trial.row[ACCURATE]));
    assert_false(trust_is_done(trial.trust, TRUST_FINE, 0));
    assert_true(trust_is_done(trial.trust, TRUST_FINE, 1));
    const struct trust_outlook outlook = trust_outlook(trial.trust, 1.25); /* of the worst system */
    assert_true(outlook.system == 1 && outlook.accurate == 1.25);
    /* Two twins for ten steps, and one with half the step: 2 x 10 + 1 x 20 over 2 x 10. */
    json_t *json = trust_json(trial.trust, 1.25);
    assert_close(json_real_value(json_object_get(json, "cost")), 2.0, 1e-15);
    json_decref(json);
    bodies_destroy(fewer);
    trial_end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws_of_growth_are_told_apart),
        cmocka_unit_test(test_growth_without_end_fits_in),
        cmocka_unit_test(test_distances_are_over_the_size),
        cmocka_unit_test(test_the_nearest_image_counts),
        cmocka_unit_test(test_horizons_lie_between_looks),
        cmocka_unit_test(test_rounding_ends_the_accuracy_too),
        cmocka_unit_test(test_the_twin_becomes_the_rounding_errors),
        cmocka_unit_test(test_the_outlook),
        cmocka_unit_test(test_a_lost_shadow_is_infinitely_far_away),
        cmocka_unit_test(test_systems_are_let_go_one_by_one),
    };
    return cmocka_run_group_tests_name("trust", tests, NULL, NULL);
}
