/* Diagnostics that remember: close encounters and virial means. */
#include "unit.h"

#include <string.h>

#include "diagnostics/diagnostic.h"
#include "observe.h"

static void test_closest_pair_is_remembered(void **state)
{
    (void)state;
    struct scene scene = scene_create(2, 4, 1.75, 0.3);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < 4; i++) {
            scene_body(&scene, s, i, i == 3 ? 10.0 : 0.5, (const double[]){ 3.0 * (double)i, 0, 0 },
                       (const double[]){ 0, 0, 0 });
            scene.bodies->id[s * scene.bodies->stride + i] = 70 + (int64_t)i;
        }
    struct diagnostic *d =
        diagnostic_make(&diagnostic_close_encounters, NULL, scene_moment(&scene, 0, 0.25, false));
    /* Body 71 of the first system at these places: 1 from 70, 0.5 from 72, 2 from 70. */
    const double x[] = { 1.0, 5.5, 2.0 };
    struct rows rows = { 0 };
    for (size_t k = 0; k < COUNT_OF(x); k++) {
        scene.bodies->x[1] = x[k];
        rows_measure(&rows, d, scene_moment(&scene, k + 1, 0.25, false));
    }
    const double nearest[] = { 1.0, 0.5, 2.0 }, one[] = { 70, 71, 70 }, two[] = { 71, 72, 71 };
    const double closest[] = { 1.0, 0.5, 0.5 }, when[] = { 0.25, 0.5, 0.5 };
    for (size_t k = 0; k < 3; k++) {
        assert_close(rows_value(&rows, 2 * k, "nearest_distance"), nearest[k], 1e-15);
        assert_close(rows_value(&rows, 2 * k, "nearest_id_1"), one[k], 0);
        assert_close(rows_value(&rows, 2 * k, "nearest_id_2"), two[k], 0);
        assert_close(rows_value(&rows, 2 * k, "closest_distance"), closest[k], 1e-15);
        assert_close(rows_value(&rows, 2 * k, "closest_time"), when[k], 0);
        assert_close(rows_value(&rows, 2 * k + 1, "closest_distance"), 3.0, 1e-15);
    }
    assert_close(rows_value(&rows, 4, "closest_id_1"), 71, 0);
    /* In time the heavy body decides, from 3 away: tau^2 = 9.09^1.5 / (1.75 x 10.5) = 1.49; the
     * lighter pair has 4.09^1.5 / 1.75 = 4.7. */
    const double tau = sqrt(pow(9.09, 1.5) / (1.75 * 10.5));
    assert_close(rows_value(&rows, 4, "fastest_time_scale"), tau, 1e-14);
    assert_close(rows_value(&rows, 4, "fastest_id_1"), 72, 0);
    assert_close(rows_value(&rows, 4, "fastest_id_2"), 73, 0);
    assert_close(rows_value(&rows, 4, "steps_per_time_scale"), tau / 0.25, 1e-13);
    rows_free(&rows);
    assert_continues(d, NULL, &scene.moment);
    diagnostic_destroy(d);
    scene_destroy(&scene);
}

/* Energies by hand: the moments need no bodies that have them. */
static void set_energies(struct scene *scene, size_t step, const double values[3])
{
    scene_moment(scene, step, 1.0, false);
    for (size_t s = 0; s < scene->bodies->systems; s++)
        scene->conserved[s] = (struct conserved){ .internal = values[0] + (double)s,
                                                  .potential = values[1],
                                                  .virial = values[2] };
}

static const double energies[5][3] = {
    { 9, -99, -9 }, { 1, -4, -3 }, { 2, -5, -3 }, { 3, -6, -3 }, { 1.5, -4, -2 }
};

static void test_running_means(void **state)
{
    (void)state;
    struct scene scene = scene_create(2, 1, 1.0, 0.0);
    struct config *config = config_of("type = \"virial\"; average_after = 0.5;");
    const struct section *section = config_item(config, "diagnostics", 0);
    struct diagnostic *d =
        diagnostic_make(&diagnostic_virial, section, scene_moment(&scene, 0, 1.0, false));
    struct rows rows = { 0 };
    for (size_t k = 0; k < 4; k++) { /* the first one is before average_after */
        set_energies(&scene, k, energies[k]);
        rows_measure(&rows, d, &scene.moment);
    }
    assert_true(isnan(rows_value(&rows, 0, "kinetic_mean")));
    assert_close(rows_value(&rows, 0, "samples"), 0, 0);
    assert_close(rows_value(&rows, 6, "samples"), 3, 0);
    assert_close(rows_value(&rows, 6, "kinetic_mean"), 2, 1e-15);
    assert_close(rows_value(&rows, 7, "kinetic_mean"), 3, 1e-15); /* the second system */
    assert_close(rows_value(&rows, 6, "potential_mean"), -5, 1e-15);
    assert_close(rows_value(&rows, 6, "mean_virial_ratio"), 4.0 / 3, 1e-15);
    assert_close(rows_value(&rows, 6, "mean_virial_ratio_potential"), 4.0 / 5, 1e-15);
    assert_close(rows_value(&rows, 6, "kinetic_over_energy"), 2.0 / 3, 1e-15);
    assert_close(rows_value(&rows, 6, "potential_over_energy"), 5.0 / 6, 1e-15);
    rows_free(&rows);
    assert_continues(d, section, &scene.moment);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

static void test_window(void **state)
{
    (void)state;
    struct scene scene = scene_create(2, 1, 1.0, 0.0);
    struct config *config = config_of("type = \"virial\"; window = 2;");
    const struct section *section = config_item(config, "diagnostics", 0);
    struct diagnostic *d =
        diagnostic_make(&diagnostic_virial, section, scene_moment(&scene, 0, 1.0, false));
    struct rows rows = { 0 };
    for (size_t k = 0; k < 5; k++) {
        set_energies(&scene, k, energies[k]);
        rows_measure(&rows, d, &scene.moment);
    }
    const double means[] = { 9, 5, 1.5, 2.5, 2.25 };
    for (size_t k = 0; k < 5; k++) {
        assert_close(rows_value(&rows, 2 * k, "kinetic_mean"), means[k], 1e-15);
        assert_close(rows_value(&rows, 2 * k + 1, "kinetic_mean"), means[k] + 1, 1e-15);
        assert_close(rows_value(&rows, 2 * k, "samples"), k ? 2 : 1, 0);
    }
    assert_close(rows_value(&rows, 8, "virial_mean"), -2.5, 1e-15);
    rows_free(&rows);
    assert_continues(d, section, &scene.moment);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

static void test_unbound_has_no_equilibrium(void **state)
{
    (void)state;
    struct scene scene = scene_create(1, 1, 1.0, 0.0);
    struct config *config = config_of("type = \"virial\";");
    struct diagnostic *d =
        diagnostic_make(&diagnostic_virial, config_item(config, "diagnostics", 0),
                        scene_moment(&scene, 0, 1.0, false));
    set_energies(&scene, 0, (const double[]){ 1, 0, 0 });
    struct rows rows = { 0 };
    rows_measure(&rows, d, &scene.moment);
    const char *const undefined[] = { "mean_virial_ratio", "mean_virial_ratio_potential",
                                      "kinetic_over_energy", "potential_over_energy" };
    for (size_t k = 0; k < COUNT_OF(undefined); k++)
        assert_true(isnan(rows_value(&rows, 0, undefined[k])));
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closest_pair_is_remembered),
        cmocka_unit_test(test_running_means),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_unbound_has_no_equilibrium),
    };
    return cmocka_run_group_tests_name("diagnostic-series", tests, NULL, NULL);
}
