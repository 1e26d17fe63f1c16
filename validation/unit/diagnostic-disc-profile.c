/* The profile of a disc against rings whose motion is given. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "diagnostics/diagnostic.h"
#include "model/vec3.h"
#include "observe.h"

/* A disc that is tilted, moved and boosted: the axes e1, e2 and n with e1 the projection of x. */
static const double center[3] = { 3.1, -20.7, 8.3 }, boost[3] = { -4.0, 11.0, 0.7 };
static const double tilt = 0.6; /* about x, so that e1 is x */

/* Puts a body where it has these cylindrical coordinates and velocities. */
static void put(struct scene *scene, size_t i, double m, double R, double phi, double z, double vR,
                double vphi, double vz)
{
    const double c = cos(phi), s = sin(phi);
    const double d[3] = { R * c, R * s, z }, u[3] = { vR * c - vphi * s, vR * s + vphi * c, vz };
    const double x[3] = { d[0], d[1] * cos(tilt) - d[2] * sin(tilt),
                          d[1] * sin(tilt) + d[2] * cos(tilt) };
    const double v[3] = { u[0], u[1] * cos(tilt) - u[2] * sin(tilt),
                          u[1] * sin(tilt) + u[2] * cos(tilt) };
    scene_body(scene, 0, i, m, (double[]){ center[0] + x[0], center[1] + x[1], center[2] + x[2] },
               (double[]){ boost[0] + v[0], boost[1] + v[1], boost[2] + v[2] });
}

enum { ROUND = 16, BAR = 2, OTHERS = 8 };

/* A ring of 16 bodies at R = 1.5, whose deviations have alternate signs; two bodies at R = 2.5 on a
 * line among a ring of 8 that turns otherwise. A halo far away is another species. */
static void put_disc(struct scene *scene)
{
    size_t i = 0;
    for (int k = 0; k < ROUND; k++) {
        const double sign = k % 2 ? 1 : -1, other = k % 4 < 2 ? 1 : -1;
        put(scene, i++, 0.25, 1.5, 2 * M_PI * k / ROUND, 0.07 * sign, 0.11 * sign,
            1.9 + 0.23 * other, 0.05 * sign);
    }
    for (int k = 0; k < BAR; k++)
        put(scene, i++, 0.75, 2.5, 0.4 + M_PI * k, 0, 0, 1.2, 0);
    for (int k = 0; k < OTHERS; k++)
        put(scene, i++, 0.5, 2.6, 2 * M_PI * k / OTHERS, 0, 0, 1.2, 0);
    bodies_add_species(scene->bodies, "disc", i);
    for (int k = 0; k < 9; k++)
        put(scene, i++, 5.0, 2.1 + k, 1.0 * k * k, 9.0, 2.0 * k, -7.0, 3.0);
    bodies_add_species(scene->bodies, "halo", i);
}

static void test_rings(void **state)
{
    (void)state;
    struct bench bench = { .scene = scene_create(1, ROUND + BAR + OTHERS + 9, 1.0, 0.1) };
    put_disc(&bench.scene);
    bench_measure(&bench, "type = \"disc-profile\"; species = \"disc\"; rings = 4; r_max = 4.0;",
                  false);
    const struct rows *rows = &bench.rows;
    assert_int_equal(rows->count, 4);
    const struct {
        const char *column;
        double first, second; /* of the rings from 1 to 2 and from 2 to 3 */
    } expected[] = {
        { "r", 1.5, 2.5 },
        { "r_inner", 1, 2 },
        { "r_outer", 2, 3 },
        { "bodies", ROUND, BAR + OTHERS },
        { "mass", 4, 5.5 },
        { "surface_density", 4 / (3 * M_PI), 5.5 / (5 * M_PI) },
        { "surface_density_error", 1 / (3 * M_PI),
          sqrt(2 * 0.75 * 0.75 + 8 * 0.5 * 0.5) / (5 * M_PI) },
        { "rotation_speed", 1.9, 1.2 },
        { "dispersion_radial", 0.11, 0 },
        { "dispersion_azimuthal", 0.23, 0 },
        { "dispersion_vertical", 0.05, 0 },
        { "thickness", 0.07, 0 },
        { "m2_amplitude", 0, 1.5 / 5.5 },
    };
    for (size_t k = 0; k < COUNT_OF(expected); k++) {
        assert_close(rows_value(rows, 1, expected[k].column), expected[k].first, 1e-13);
        assert_close(rows_value(rows, 2, expected[k].column), expected[k].second, 1e-13);
    }
    assert_close(rows_value(rows, 2, "m2_phase"), 0.4, 1e-13);
    /* Rings without bodies have sums alone. */
    for (size_t row = 0; row < 4; row += 3) {
        assert_close(rows_value(rows, row, "mass"), 0, 0);
        assert_close(rows_value(rows, row, "surface_density"), 0, 0);
        const char *const unknown[] = { "surface_density_error", "rotation_speed", "thickness",
                                        "dispersion_radial",     "m2_amplitude",   "m2_phase" };
        for (size_t k = 0; k < COUNT_OF(unknown); k++)
            assert_true(isnan(rows_value(rows, row, unknown[k])));
    }
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

/* Rings reach to three half-mass radii of the species at the start, and stay there. */
static void test_the_range(void **state)
{
    (void)state;
    struct bench bench = { .scene = scene_create(1, ROUND + BAR + OTHERS + 9, 1.0, 0.1) };
    put_disc(&bench.scene);
    bench_measure(&bench, "type = \"disc-profile\"; species = \"disc\";", false);
    /* 4 of 9.5 at sqrt(1.5^2 + 0.07^2), 1.5 at 2.5; that the outer bodies are nearer to those above
     * the plane shifts the density centre by 0.005 along the axis, which adds 5e-6 to 2.5. */
    assert_int_equal(bench.rows.count, 20);
    assert_close(rows_value(&bench.rows, 19, "r_outer"), 7.5, 1e-4);
    double mass = 0;
    for (size_t row = 0; row < 20; row++)
        mass += rows_value(&bench.rows, row, "mass");
    assert_close(mass, 9.5, 1e-13);
    struct bodies *const b = bench.scene.bodies;
    for (size_t i = 0; i < b->count; i++)
        b->x[i] *= 2;
    const struct section *section = config_item(bench.config, "diagnostics", 0);
    assert_continues(bench.diagnostic, section, scene_moment(&bench.scene, 5, 0.01, false));
    struct rows later = { 0 };
    rows_measure(&later, bench.diagnostic, &bench.scene.moment);
    assert_close(rows_value(&later, 19, "r_outer"), 7.5, 1e-4);
    rows_free(&later);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

/* The direction of a bar is from the y axis where the disc turns about x; bodies at rest are seen
 * from z. */
static void test_axes(void **state)
{
    (void)state;
    struct bench bench = { .scene = scene_create(1, 8, 1.0, 0.1) };
    for (int k = 0; k < 8; k++) {
        const double R = k % 4 ? 1.0 : 2.0, phi = 0.3 + M_PI_4 * k;
        scene_body(&bench.scene, 0, (size_t)k, 1.0, (double[]){ 0, R * cos(phi), R * sin(phi) },
                   (double[]){ 0, -sin(phi), cos(phi) });
    }
    bench_measure(&bench, "type = \"disc-profile\"; rings = 1; r_max = 9.0;", false);
    assert_close(rows_value(&bench.rows, 0, "rotation_speed"), 1, 1e-13);
    bench_clear(&bench);
    bench_measure(&bench, "type = \"disc-profile\"; rings = 2; r_max = 3.0;", false);
    assert_close(rows_value(&bench.rows, 1, "m2_amplitude"), 1, 1e-13);
    assert_close(rows_value(&bench.rows, 1, "m2_phase"), 0.3, 1e-13);
    bench_clear(&bench);
    for (int k = 0; k < 8; k++)
        scene_body(&bench.scene, 0, (size_t)k, 1.0,
                   (double[]){ cos(M_PI_4 * k), sin(M_PI_4 * k), k % 2 ? 0.5 : -0.5 },
                   (double[]){ 0, 0, 0 });
    bench_measure(&bench, "type = \"disc-profile\"; rings = 1; r_max = 9.0;", false);
    assert_close(rows_value(&bench.rows, 0, "thickness"), 0.5, 1e-13);
    bench_clear(&bench);
    /* A ring that moves along x: seen from the origin its v_R is cos(phi), seen from itself 0. */
    for (size_t k = 0; k < 8; k++) {
        bench.scene.bodies->vx[k] = 1;
        bench.scene.bodies->z[k] = 0;
    }
    static const char *const centers[] = { "origin", "mass" };
    for (size_t k = 0; k < COUNT_OF(centers); k++) {
        char keys[100];
        snprintf(keys, sizeof keys,
                 "type = \"disc-profile\"; center = \"%s\"; rings = 1; r_max = 9.0;", centers[k]);
        bench_measure(&bench, keys, false);
        assert_close(rows_value(&bench.rows, 0, "dispersion_radial"), k ? 0 : M_SQRT1_2, 1e-13);
        bench_clear(&bench);
    }
    scene_destroy(&bench.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings),
        cmocka_unit_test(test_the_range),
        cmocka_unit_test(test_axes),
    };
    return cmocka_run_group_tests_name("diagnostic-disc-profile", tests, NULL, NULL);
}
