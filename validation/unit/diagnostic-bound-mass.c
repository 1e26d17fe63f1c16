/* The bound mass against energies by hand, and King's tidal radius against closed forms. */
#include "unit.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

#include "diagnostics/diagnostic.h"
#include "external/external.h"
#include "observe.h"
#include "sample.h"

static const double G = 1.7;

static double value(const struct bench *bench, const char *column)
{
    return rows_value(&bench->rows, 0, column);
}

/* A star of species A with a body without mass, beside a heavier star of species B with another
 * one: each speed just above and just below that of escape from the star alone, or all of A. */
static void test_two_stars(void **state)
{
    (void)state;
    const double eps = 0.3;
    for (int k = 0; k < 4; k++) {
        const bool first = k & 1, second = k & 2; /* escape */
        struct bench bench = { .scene = scene_create(1, 4, G, eps) };
        bodies_add_species(bench.scene.bodies, "A", 1);
        bodies_add_species(bench.scene.bodies, "A-light", 2);
        bodies_add_species(bench.scene.bodies, "AB", 4);
        const double v1 = sqrt(2 * G * 1.3 / hypot(0.7, eps)) * (first ? 1.0001 : 0.9999);
        const double v2 = sqrt(2 * G * 1.3 / hypot(1.9, eps)) * (second ? 1.0001 : 0.9999);
        scene_body(&bench.scene, 0, 0, 1.3, (double[]){ 5, 2, 1 }, (double[]){ 9, -3, 1 });
        scene_body(&bench.scene, 0, 1, 0.0, (double[]){ 5, 2.7, 1 }, (double[]){ 9 + v1, -3, 1 });
        scene_body(&bench.scene, 0, 2, 2.9, (double[]){ 8, 2, 1 }, (double[]){ -7, 4, 1 });
        scene_body(&bench.scene, 0, 3, 0.0, (double[]){ 5, 2, 2.9 }, (double[]){ 9, -3 + v2, 1 });
        bench_measure(&bench, "type = \"bound-mass\"; species = \"A\";", true);
        assert_close(value(&bench, "self_bound"), first ? 1 : 2, 0);
        assert_close(value(&bench, "self_bound_mass"), 1.3, 0);
        assert_close(value(&bench, "captured"), second ? 0 : 1, 0);
        assert_close(value(&bench, "captured_mass"), 0, 0);
        assert_close(value(&bench, "bound_center_x"), 5, 1e-15);
        assert_close(value(&bench, "bound_center_y"), 2, 1e-15);
        assert_close(value(&bench, "bound_center_z"), 1, 1e-15);
        assert_close(value(&bench, "half_mass_radius"), 0, 1e-15);
        assert_true(isnan(value(&bench, "tidal_radius")));
        bench_clear(&bench);
        scene_destroy(&bench.scene);
    }
}

/* Two bodies are bound by the energy of their orbit, 1/2 v^2 < G (m1 + m2) / s. */
static void test_an_orbit(void **state)
{
    (void)state;
    for (int leaves = 0; leaves < 2; leaves++) {
        struct bench bench = { .scene = scene_create(1, 2, G, 0.0) };
        const double v = sqrt(2 * G * 2.0 / 3.1) * (leaves ? 1.0001 : 0.9999);
        scene_body(&bench.scene, 0, 0, 1.3, (double[]){ 0, 0, 7 }, (double[]){ 4, 0, 0 });
        scene_body(&bench.scene, 0, 1, 0.7, (double[]){ 0, 3.1, 7 }, (double[]){ 4, 0, v });
        bench_measure(&bench, "type = \"bound-mass\";", true);
        assert_close(value(&bench, "self_bound"), leaves ? 0 : 2, 0);
        assert_close(value(&bench, "self_bound_mass"), leaves ? 0 : 2, 0);
        assert_true(leaves ? isnan(value(&bench, "bound_center_y"))
                           : fabs(value(&bench, "bound_center_y") - 0.7 * 3.1 / 2) < 1e-15);
        bench_clear(&bench);
        scene_destroy(&bench.scene);
    }
}

/* A Plummer sphere at rest in its frame, which a longer tail leaves, and a test body within. */
enum { CLUSTER = 300, TAIL = 700, PROBE = CLUSTER + TAIL };

static struct scene tail_scene(double r, double speed)
{
    const double a = 0.6, eps = 0.05, X[3] = { 3, -8, 2 }, V[3] = { -6, 1, 13 };
    struct scene scene = scene_create(1, PROBE + 1, G, eps);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct bodies *const b = scene.bodies;
    for (size_t i = 0; i < CLUSTER; i++)
        sample_set(b, i, 1.0 / CLUSTER,
                   sample_plummer_radius(a, 0.999 * gsl_rng_uniform_pos(random)), random);
    for (size_t i = CLUSTER; i < PROBE; i++) { /* a tail that begins in the cluster */
        sample_set(b, i, 1.0 / CLUSTER, 0.5, random);
        b->x[i] += 80 * pow(gsl_rng_uniform(random), 2);
        b->vx[i] = 20 + 40 * gsl_rng_uniform(random);
    }
    scene_body(&scene, 0, PROBE, 0.0, (double[]){ 0, r, 0 }, (double[]){ 0, speed, 0 });
    for (size_t i = 0; i <= PROBE; i++) {
        b->x[i] += X[0], b->y[i] += X[1], b->z[i] += X[2];
        b->vx[i] += V[0], b->vy[i] += V[1], b->vz[i] += V[2];
    }
    gsl_rng_free(random);
    return scene;
}

/* The potential of the cluster alone decides, in the frame of the cluster alone. */
static void test_a_cluster_with_a_tail(void **state)
{
    (void)state;
    const double r = 1.1;
    double phi = 0, center[3] = { 0 };
    struct scene scene = tail_scene(r, 0);
    const struct bodies *const b = scene.bodies;
    for (size_t i = 0; i < CLUSTER; i++) {
        const double d[3] = { b->x[i] - b->x[PROBE], b->y[i] - b->y[PROBE], b->z[i] - b->z[PROBE] };
        phi -= G / CLUSTER / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.05 * 0.05);
        center[1] += b->y[i] / CLUSTER;
    }
    scene_destroy(&scene);
    for (int leaves = 0; leaves < 2; leaves++) {
        struct bench bench = { .scene =
                                   tail_scene(r, sqrt(-2 * phi) * (leaves ? 1.0001 : 0.9999)) };
        bench_measure(&bench, "type = \"bound-mass\";", true);
        assert_close(value(&bench, "self_bound"), CLUSTER + !leaves, 0);
        assert_close(value(&bench, "self_bound_mass"), 1, 1e-12);
        assert_close(value(&bench, "captured"), 0, 0);
        /* Half of the mass is within 1.3 a; of 300 bodies within 1.2 to 1.4 a, and the centre has
         * the scatter of the core, some a / sqrt(300). */
        assert_close(value(&bench, "half_mass_radius") / 0.6, 1.3, 0.1);
        assert_close(value(&bench, "bound_center_y"), center[1], 0.1);
        bench_clear(&bench);
        scene_destroy(&bench.scene);
    }
}

/* The same bodies in a frame that turns: v - Omega x r. */
static void turn_scene(struct scene *scene, double rotation)
{
    struct bodies *const b = scene->bodies;
    scene->physics.rotation = rotation;
    for (size_t i = 0; i < b->count; i++) {
        b->vx[i] += rotation * b->y[i];
        b->vy[i] -= rotation * b->x[i];
    }
}

/* The same bodies are bound in any frame, though the velocities in it are others. */
static void test_a_frame_that_turns(void **state)
{
    (void)state;
    for (int turns = 0; turns < 2; turns++) {
        struct bench bench = { .scene = tail_scene(1.1, 0) };
        turn_scene(&bench.scene, turns ? 7.0 : 0.0);
        bench_measure(&bench, "type = \"bound-mass\";", true);
        assert_close(value(&bench, "self_bound"), CLUSTER + 1, 0);
        assert_close(value(&bench, "self_bound_mass"), 1, 1e-12);
        assert_true(isnan(value(&bench, "tidal_radius")));
        bench_clear(&bench);
        scene_destroy(&bench.scene);
    }
}

/* Two Plummer spheres that pass through each other: each is bound by itself. A body of the first
 * that moves with the second is captured by that. */
static void test_two_clusters(void **state)
{
    (void)state;
    enum { EACH = 200 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct bench benches[] = { { .scene = scene_create(1, 2 * EACH, G, 0.05) },
                               { .scene = scene_create(1, 2 * EACH, G, 0.05) } };
    for (size_t i = 0; i < 2 * EACH; i++) {
        struct bodies *const b = benches[0].scene.bodies;
        const bool second = i >= EACH || i == 7;
        sample_set(b, i, 1.0 / EACH, sample_plummer_radius(0.6, 0.9 * gsl_rng_uniform_pos(random)),
                   random);
        b->x[i] += second ? 0.3 : 0;
        b->vx[i] = second ? 20 : -20, b->vy[i] = b->vz[i] = 0;
        scene_body(&benches[1].scene, 0, i, b->m[i], (double[]){ b->x[i], b->y[i], b->z[i] },
                   (double[]){ b->vx[i], b->vy[i], b->vz[i] });
    }
    static const char *const keys[] = { "type = \"bound-mass\"; species = \"A\";",
                                        "type = \"bound-mass\"; species = \"B\";" };
    for (int k = 0; k < 2; k++) {
        bodies_add_species(benches[k].scene.bodies, "A", EACH);
        bodies_add_species(benches[k].scene.bodies, "B", 2 * EACH);
        bench_measure(&benches[k], keys[k], true);
        assert_close(value(&benches[k], "self_bound"), EACH - (k == 0), 0);
        assert_close(value(&benches[k], "self_bound_mass"), 1 - (k == 0) / (double)EACH, 1e-12);
        assert_close(value(&benches[k], "captured"), k, 0);
        assert_close(value(&benches[k], "captured_mass"), k / (double)EACH, 1e-12);
        bench_clear(&benches[k]);
        scene_destroy(&benches[k].scene);
    }
    gsl_rng_free(random);
}

/* Bodies of another species at the centre are no part of the core whose motion comes first. */
static void test_a_core_among_others(void **state)
{
    (void)state;
    enum { OWN = 30, OTHERS = 100 };
    struct bench bench = { .scene = scene_create(1, OWN + OTHERS, G, 0.1) };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < OWN + OTHERS; i++) {
        sample_set(bench.scene.bodies, i, i < OWN ? 1.0 / OWN : 0.0,
                   i < OWN ? 0.5 + 0.05 * (double)i : 0.1, random);
        bench.scene.bodies->vx[i] = i < OWN ? -3 : 50;
    }
    bodies_add_species(bench.scene.bodies, "own", OWN);
    bodies_add_species(bench.scene.bodies, "others", OWN + OTHERS);
    bench_measure(&bench, "type = \"bound-mass\"; species = \"own\";", true);
    assert_close(value(&bench, "self_bound"), OWN, 0);
    assert_close(value(&bench, "captured"), 0, 0);
    gsl_rng_free(random);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

/* One field of this kind, whose other keys are set by the caller. */
static struct field field_of(enum field_kind kind)
{
    return (
        struct field){ .kind = kind, .gravitational_constant = G, .center = { 2.0, -1.0, 0.5 } };
}

/* Two bodies on an orbit in a field, whose potential is part of phi but binds nothing; in a frame
 * that turns about the z axis, in which the velocity of the field's centre counts. */
static double radius_turning(const struct field *field, const double d[3], const double v[3],
                             double rotation)
{
    struct field fields[] = {
        *field, { .kind = FIELD_CENTRIFUGAL, .frequencies = { 0.0, 0.0, rotation } }
    };
    struct external external = { .count = rotation != 0 ? 2 : 1, .fields = fields };
    memcpy(external.center, field->center, sizeof external.center);
    struct bench bench = { .scene = scene_create(1, 2, G, 0.0) };
    for (int i = 0; i < 2; i++) { /* a circle about each other, of 0.01 */
        const double side = i ? 0.005 : -0.005, turn = sqrt(G * 0.002 / 0.01) * (i ? 0.5 : -0.5);
        scene_body(&bench.scene, 0, (size_t)i, 0.001,
                   (double[]){ field->center[0] + d[0] + side, field->center[1] + d[1],
                               field->center[2] + d[2] },
                   (double[]){ v[0], v[1] + turn, v[2] });
    }
    for (int i = 0; i < 2; i++) { /* the centre turns with the frame */
        bench.scene.bodies->vx[i] -= rotation * field->center[1];
        bench.scene.bodies->vy[i] += rotation * field->center[0];
    }
    turn_scene(&bench.scene, rotation);
    bench.scene.physics.external = &external;
    scene_potentials(&bench.scene, 0);
    external_add_potentials(&external, bench.scene.bodies, 0, 2, bench.scene.phi, NULL);
    bench_measure(&bench, "type = \"bound-mass\";", false);
    const double radius = value(&bench, "tidal_radius");
    assert_close(value(&bench, "self_bound"), 2, 0);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
    return radius;
}

/* In a frame at rest and in one that turns it is the same. */
static double radius_in(const struct field *field, const double d[3], const double v[3])
{
    const double radius = radius_turning(field, d, v, 0);
    const double turning = radius_turning(field, d, v, 0.6);
    if (isnan(radius))
        assert_true(isnan(turning));
    else
        assert_close(turning / radius, 1, 1e-9);
    return radius;
}

static void test_the_tidal_radius(void **state)
{
    (void)state;
    /* A point mass: Omega^2 + 2 G M / R^3; on a circle it is Hill's radius R (m / 3 M)^(1/3). */
    struct field point = field_of(FIELD_POINT_MASS);
    point.mass = 7.3;
    const double R = 5, circle = sqrt(G * 7.3 / R);
    assert_close(radius_in(&point, (double[]){ 3, 0, 4 }, (double[]){ 0, circle, 0 }),
                 R * cbrt(0.002 / (3 * 7.3)), 1e-9);
    /* Radial motion does not count: 2 G M / R^3 is left. */
    assert_close(radius_in(&point, (double[]){ 3, 0, 4 }, (double[]){ 0.6, 0, 0.8 }),
                 R * cbrt(0.002 / (2 * 7.3)), 1e-9);
    /* Omega^2 - v0^2 (c^2 - R^2) / (c^2 + R^2)^2. */
    struct field halo = field_of(FIELD_LOGARITHMIC);
    halo.speed = 1.9, halo.core_radius = 2.0, halo.flattening = 1.0;
    const double tide = 0.7 * 0.7 / 25.0 - 1.9 * 1.9 * (4.0 - 25.0) / (29.0 * 29.0);
    assert_close(radius_in(&halo, (double[]){ 0, -3, 4 }, (double[]){ 0.7, 1.2, -1.6 }),
                 cbrt(G * 0.002 / tide), 1e-9);
    /* w^2 R from the centre pushes towards it: at rest there is no tidal radius. */
    struct field trap = field_of(FIELD_HARMONIC);
    trap.frequencies[0] = trap.frequencies[1] = trap.frequencies[2] = 0.9;
    assert_true(isnan(radius_in(&trap, (double[]){ 0, -3, 4 }, (double[]){ 0, 0.3, 0.4 })));
}

static void test_what_cannot_be(void **state)
{
    (void)state;
    struct scene scene = scene_create(1, 9, 1.0, 0.1);
    const struct moment *start = scene_moment(&scene, 0, 0.01, false);
    struct config *config = config_of("type = \"bound-mass\"; species = \"B\";");
    const struct section *section = config_item(config, "diagnostics", 0);
    struct diagnostic *diagnostic;
    struct error error = { 0 };
    assert_int_equal(diagnostic_create(section, start, &diagnostic, &error), STATUS_CONFIG);
    assert_non_null(strstr(error.text, "diagnostics.0.species"));
    assert_non_null(strstr(error.text, "is no species of the bodies, which have none"));
    bodies_add_species(scene.bodies, "A-disc", 4);
    bodies_add_species(scene.bodies, "Bulge", 9);
    error_clear(&error);
    assert_int_equal(diagnostic_create(section, start, &diagnostic, &error), STATUS_CONFIG);
    assert_non_null(strstr(error.text, "is no species of the bodies, which are: A-disc, Bulge"));
    config_free(config);
    scene_destroy(&scene);
}

/* Bodies without mass bind nothing. */
static void test_no_mass(void **state)
{
    (void)state;
    struct bench bench = { .scene = scene_create(1, 9, G, 0.1) };
    for (size_t i = 0; i < 9; i++)
        scene_body(&bench.scene, 0, i, 0.0, (double[]){ (double)i, 0, 0 }, (double[]){ 0, 0, 1 });
    bench_measure(&bench, "type = \"bound-mass\";", true);
    assert_close(value(&bench, "self_bound"), 0, 0);
    assert_true(isnan(value(&bench, "bound_center_x")));
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_stars),
        cmocka_unit_test(test_an_orbit),
        cmocka_unit_test(test_a_cluster_with_a_tail),
        cmocka_unit_test(test_a_frame_that_turns),
        cmocka_unit_test(test_two_clusters),
        cmocka_unit_test(test_a_core_among_others),
        cmocka_unit_test(test_the_tidal_radius),
        cmocka_unit_test(test_what_cannot_be),
        cmocka_unit_test(test_no_mass),
    };
    return cmocka_run_group_tests_name("diagnostic-bound-mass", tests, NULL, NULL);
}
