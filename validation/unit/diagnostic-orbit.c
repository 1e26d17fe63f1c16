#include "unit.h"

#include <gsl/gsl_errno.h>
#include <string.h>

#include "diagnostics/diagnostic.h"
#include "model/kepler.h"
#include "observe.h"

static const double G = 1.75, M1 = 2.385, M2 = 0.6125;

/* Sets the two bodies to a relative state about a centre of mass that drifts. */
static void set_pair(struct scene *scene, size_t system, const struct kepler_state *state,
                     double time)
{
    const double share[2] = { -M2 / (M1 + M2), M1 / (M1 + M2) }, drift = 0.125;
    for (size_t i = 0; i < 2; i++) {
        double x[3], v[3];
        for (int k = 0; k < 3; k++) {
            x[k] = share[i] * state->x[k] + drift * time + 0.4;
            v[k] = share[i] * state->v[k] + drift;
        }
        scene_body(scene, system, i, i ? M2 : M1, x, v);
    }
}

static struct kepler_state advanced(const struct kepler_interaction *interaction,
                                    const struct kepler_state *from, double dt)
{
    struct error error = { 0 };
    struct kepler_state to;
    double angle;
    assert_int_equal(kepler_advance(interaction, from, dt, &to, &angle, &error), STATUS_OK);
    return to;
}

static struct scene pair_scene(size_t systems, double softening)
{
    struct scene scene = scene_create(systems, 2, G, softening);
    return scene;
}

static const struct kepler_interaction kepler = { .mu = 1.75 * (2.385 + 0.6125) };

/* Apocentre of a tilted orbit with e = 1 - r v^2 / mu. */
static struct kepler_state start_state(double r, double e)
{
    const double v = sqrt(kepler.mu * (1 - e) / r);
    return (struct kepler_state){ { r * 0.6, r * 0.8, 0 }, { -0.48 * v, 0.36 * v, 0.8 * v } };
}

/* An exactly propagated state shows nothing but round-off. */
static void test_exact_motion_has_no_error(void **state)
{
    (void)state;
    const double e = 0.6, r = 1.21, a = r / (1 + e);
    const double period = 2 * M_PI * sqrt(a * a * a / kepler.mu);
    struct scene scene = pair_scene(1, 0.0);
    const struct kepler_state first = start_state(r, e);
    set_pair(&scene, 0, &first, 0);
    struct config *config = config_of("type = \"orbit\";");
    const struct section *section = config_item(config, "diagnostics", 0);
    struct diagnostic *d =
        diagnostic_make(&diagnostic_orbit, section, scene_moment(&scene, 0, 0.01, false));
    struct rows rows = { 0 };
    /* Events nearer and farther than a revolution, over 100 of them. */
    double step = 0;
    for (size_t k = 0; k < 40; k++, step += k < 20 ? 0.07 * (double)k : 5.03) {
        const struct kepler_state now = advanced(&kepler, &first, step * period);
        set_pair(&scene, 0, &now, step * period);
        const struct moment *moment = scene_moment(&scene, k, 0.01, false);
        scene.moment.time = step * period;
        rows_measure(&rows, d, moment);
        /* The centre of mass, some 100 away at the end, rounds the positions to 1e-14; velocities
         * of 1e-16 make an error of the period of 1e-15 and so of the phase of 1e-12. */
        const char *const small[] = { "radial",
                                      "along_track",
                                      "out_of_plane",
                                      "distance_error",
                                      "semi_major_axis_error",
                                      "eccentricity_error",
                                      "apse_turn",
                                      "apse_error",
                                      "phase_error" };
        for (size_t c = 0; c < COUNT_OF(small); c++)
            assert_close(rows_value(&rows, k, small[c]), 0.0, 3e-12);
        assert_close(rows_value(&rows, k, "semi_major_axis"), a, 1e-13);
        assert_close(rows_value(&rows, k, "period"), period, 1e-12);
        if (k > 0)
            assert_close(rows_value(&rows, k, "mean_period"), period, 1e-11);
        assert_int_equal(floor(rows_value(&rows, k, "revolutions") + 0.5), floor(step + 0.5));
    }
    rows_free(&rows);
    assert_continues(d, section, &scene.moment);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

/* Known errors come out in the right columns, also in the second of two systems. */
static void test_errors_have_their_direction(void **state)
{
    (void)state;
    const double e = 0.3, r = 1.21, a = r / (1 + e), time = 2.3;
    struct scene scene = pair_scene(2, 0.0);
    const struct kepler_state first = start_state(r, e);
    set_pair(&scene, 0, &first, 0);
    set_pair(&scene, 1, &first, 0);
    struct config *config = config_of("type = \"orbit\";");
    struct diagnostic *d = diagnostic_make(&diagnostic_orbit, config_item(config, "diagnostics", 0),
                                           scene_moment(&scene, 0, 0.01, false));
    struct kepler_state now = advanced(&kepler, &first, time);
    set_pair(&scene, 0, &now, time);
    /* The second system is displaced by known parts of radius, plane and normal. */
    const double *x = now.x, *v = now.v;
    double normal[3] = { x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2],
                         x[0] * v[1] - x[1] * v[0] };
    const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    const double h = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    struct kepler_state off = now;
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        const double ahead = (normal[p] * x[q] - normal[q] * x[p]) / (h * length);
        off.x[k] += 1e-3 * x[k] / length + 2e-3 * ahead - 3e-3 * normal[k] / h;
    }
    set_pair(&scene, 1, &off, time);
    const struct moment *moment = scene_moment(&scene, 1, time, false);
    struct rows rows = { 0 };
    rows_measure(&rows, d, moment);
    assert_close(rows_value(&rows, 0, "distance_error"), 0.0, 1e-14);
    assert_close(rows_value(&rows, 1, "radial"), 1e-3, 1e-14);
    assert_close(rows_value(&rows, 1, "along_track"), 2e-3, 1e-14);
    assert_close(rows_value(&rows, 1, "out_of_plane"), -3e-3, 1e-14);
    assert_close(rows_value(&rows, 1, "distance_error"), sqrt(14e-6) / a, 1e-14);
    /* Seen from the primary, in the frame of the start. */
    assert_close(hypot(rows_value(&rows, 0, "orbit_x"), rows_value(&rows, 0, "orbit_y")), length,
                 1e-14);
    assert_close(rows_value(&rows, 0, "orbit_x"), rows_value(&rows, 0, "reference_x"), 1e-14);
    assert_close(rows_value(&rows, 0, "orbit_y"), rows_value(&rows, 1, "reference_y"), 1e-14);
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

/* The apse: a state on an ellipse that has been turned by hand. */
/* Tests a parabola, whose a is infinite, or the result of rounding: an error over it is not 0. */
static void test_a_parabola_has_no_scale(void **state)
{
    (void)state;
    struct scene scene = pair_scene(1, 0.0);
    const double r = 1.21;
    const struct kepler_state first = start_state(r, -1.0); /* v^2 = 2 mu / r */
    set_pair(&scene, 0, &first, 0);
    struct config *config = config_of("type = \"orbit\";");
    struct diagnostic *d = diagnostic_make(&diagnostic_orbit, config_item(config, "diagnostics", 0),
                                           scene_moment(&scene, 0, 0.01, false));
    struct kepler_state now = advanced(&kepler, &first, 2.3);
    now.x[2] += 0.25;
    set_pair(&scene, 0, &now, 2.3);
    const struct moment *moment = scene_moment(&scene, 1, 0.01, false);
    scene.moment.time = 2.3;
    struct rows rows = { 0 };
    rows_measure(&rows, d, moment);
    assert_true(fabs(rows_value(&rows, 0, "radial")) + fabs(rows_value(&rows, 0, "along_track")) >
                0.1);
    assert_true(isnan(rows_value(&rows, 0, "distance_error")));
    assert_true(isnan(rows_value(&rows, 0, "semi_major_axis_error")));
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

static void test_apse_turns(void **state)
{
    (void)state;
    struct scene scene = pair_scene(1, 0.0);
    const struct kepler_state first = { { 1.21, 0, 0 }, { 0, 0.9 * sqrt(kepler.mu / 1.21), 0 } };
    set_pair(&scene, 0, &first, 0);
    struct config *config = config_of("type = \"orbit\";");
    struct diagnostic *d = diagnostic_make(&diagnostic_orbit, config_item(config, "diagnostics", 0),
                                           scene_moment(&scene, 0, 0.01, false));
    struct rows rows = { 0 };
    const double turn = 0.01;
    for (size_t k = 1; k < 60; k++) { /* 60 events, 0.01 each, over some revolutions */
        const struct kepler_state at = advanced(&kepler, &first, 0.21 * (double)k);
        const double c = cos(turn * (double)k), s = sin(turn * (double)k);
        const struct kepler_state now = {
            { c * at.x[0] - s * at.x[1], s * at.x[0] + c * at.x[1], 0 },
            { c * at.v[0] - s * at.v[1], s * at.v[0] + c * at.v[1], 0 },
        };
        set_pair(&scene, 0, &now, 0);
        rows_measure(&rows, d, scene_moment(&scene, k, 0.21, false));
        assert_close(rows_value(&rows, k - 1, "apse_turn"), turn * (double)k, 1e-11);
        assert_close(rows_value(&rows, k - 1, "phase_error"), turn * (double)k, 1e-11);
        assert_close(rows_value(&rows, k - 1, "eccentricity_error"), 0, 1e-13);
    }
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

/* Returns a state turned by an angle about the normal of start_state()'s plane: Rodrigues'
 * rotation. */
static struct kepler_state turned(const struct kepler_state *at, double angle)
{
    const double n[3] = { 0.64, -0.48, 0.6 }, c = cos(angle), s = sin(angle);
    struct kepler_state to;
    for (int i = 0; i < 3; i++) {
        const int p = (i + 1) % 3, q = (i + 2) % 3;
        to.x[i] = c * at->x[i] + s * (n[p] * at->x[q] - n[q] * at->x[p]);
        to.v[i] = c * at->v[i] + s * (n[p] * at->v[q] - n[q] * at->v[p]);
    }
    return to;
}

/* An orbit that others turn by 1 % of the angle swept: five turns from row to row are counted; over
 * a hundred it is a turn ahead of the two bodies alone, where they would be too: then the count,
 * and what needs it, is empty from then on, unlike the angle of the pericentre. */
static void test_turns_that_cannot_be_counted(void **state)
{
    (void)state;
    static const char *const counted[] = { "revolutions", "phase_error", "mean_period" };
    struct scene scene = pair_scene(1, 0.0);
    const struct kepler_state first = start_state(1.21, 0.3);
    const double a = 1.21 / 1.3, period = 2 * M_PI * sqrt(a * a * a / kepler.mu);
    set_pair(&scene, 0, &first, 0);
    struct config *config = config_of("type = \"orbit\";");
    struct diagnostic *d = diagnostic_make(&diagnostic_orbit, config_item(config, "diagnostics", 0),
                                           scene_moment(&scene, 0, 0.01, false));
    struct rows rows = { 0 };
    static const double turns[] = { 5, 10, 110, 115 }; /* of the two alone */
    for (size_t k = 0; k < COUNT_OF(turns); k++) {
        const double t = turns[k] * period, angle = 0.01 * 2 * M_PI * turns[k];
        const struct kepler_state at = advanced(&kepler, &first, t);
        const struct kepler_state now = turned(&at, angle);
        set_pair(&scene, 0, &now, t);
        scene_moment(&scene, k + 1, 0.01, false);
        scene.moment.time = t;
        rows_measure(&rows, d, &scene.moment);
        assert_close(rows_value(&rows, k, "apse_turn"), remainder(angle, 2 * M_PI), 1e-10);
        for (size_t i = 0; i < COUNT_OF(counted); i++)
            assert_int_equal(isnan(rows_value(&rows, k, counted[i])), turns[k] > 10);
        if (turns[k] <= 10)
            assert_close(rows_value(&rows, k, "revolutions"), 1.01 * turns[k], 1e-10);
    }
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

/* Each condition of the count alone: over 11 turns the orbit turns by more than a quarter turn; 100
 * are more than it may be followed, though it leads to the right direction; a period that a kick
 * has changed by a tenth leads half a turn astray in five, forwards from the first row, if the kick
 * came there, or backwards from the second. */
static void test_each_condition_of_the_count(void **state)
{
    (void)state;
    static const struct {
        double turns, share; /* turns between two rows, and the share by which the apse turns */
        double first_v, second_v; /* factors of the velocities at these rows */
        bool counted;
    } cases[] = {
        { 5, 0.01, 1, 1, true },    { 11, 0.05, 1, 1, false },  { 100, 0.01, 1, 1, false },
        { 5, 0, 1.0556, 1, false }, { 5, 0, 1, 1.0556, false },
    };
    /* At the apocentre of e = 0.3, v^2 = 0.7 mu / r; 1.0556^2 times that is the v^2 of an axis
     * longer by 1.3 / 1.22 = 1.1^(2/3). */
    const double a = 1.21 / 1.3, period = 2 * M_PI * sqrt(a * a * a / kepler.mu);
    struct config *config = config_of("type = \"orbit\";");
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct scene scene = pair_scene(1, 0.0);
        struct kepler_state first = start_state(1.21, 0.3);
        const double t = cases[k].turns * period;
        struct kepler_state second = advanced(&kepler, &first, t);
        second = turned(&second, cases[k].share * 2 * M_PI * cases[k].turns);
        for (int i = 0; i < 3; i++) {
            first.v[i] *= cases[k].first_v;
            second.v[i] *= cases[k].second_v;
        }
        set_pair(&scene, 0, &first, 0);
        struct diagnostic *d =
            diagnostic_make(&diagnostic_orbit, config_item(config, "diagnostics", 0),
                            scene_moment(&scene, 0, 0.01, false));
        struct rows rows = { 0 };
        set_pair(&scene, 0, &second, t);
        scene_moment(&scene, 1, 0.01, false);
        scene.moment.time = t;
        rows_measure(&rows, d, &scene.moment);
        assert_int_equal(!isnan(rows_value(&rows, 0, "revolutions")), cases[k].counted);
        rows_free(&rows);
        diagnostic_destroy(d);
        scene_destroy(&scene);
    }
    config_free(config);
}

/* physics.md: the circular orbit with eps / r = 0.1 is 0.749066 % slower than Kepler's, and the
 * apse of a nearly circular one turns by -5.230302 degrees a radial period. */
static void test_softened_orbits(void **state)
{
    (void)state;
    const double r = 1.21, eps = 0.1 * r;
    const struct kepler_interaction interaction = { .mu = kepler.mu, .eps = eps };
    const double s2 = r * r + eps * eps, omega = sqrt(interaction.mu / (s2 * sqrt(s2)));
    const double keplers = 2 * M_PI * sqrt(r * r * r / interaction.mu), circle = 2 * M_PI / omega;
    const double nudge[] = { 0.0, 1e-7 };
    struct config *config = config_of("type = \"orbit\";");
    const struct section *section = config_item(config, "diagnostics", 0);
    for (size_t n = 0; n < COUNT_OF(nudge); n++) {
        struct scene scene = pair_scene(1, eps);
        const struct kepler_state first = { { r, 0, 0 }, { 0, r * omega * (1 + nudge[n]), 0 } };
        set_pair(&scene, 0, &first, 0);
        struct diagnostic *d =
            diagnostic_make(&diagnostic_orbit, section, scene_moment(&scene, 0, 0.01, false));
        struct rows rows = { 0 };
        const size_t periods = 10;
        for (size_t k = 1; k <= 4 * periods; k++) {
            const double time = circle * (double)k / 4;
            const struct kepler_state now = advanced(&interaction, &first, time);
            set_pair(&scene, 0, &now, time);
            scene_moment(&scene, k, 0.01, false);
            scene.moment.time = time;
            rows_measure(&rows, d, &scene.moment);
            /* The solver's 1e-13 a step, over some 500 steps here and as many there. */
            assert_close(rows_value(&rows, k - 1, "distance_error"), 0, 1e-9);
            assert_close(rows_value(&rows, k - 1, "phase_error"), 0, 1e-9);
        }
        const size_t last = rows.count - 1;
        assert_close(rows_value(&rows, last, "period") / keplers - 1, 0.749066e-2,
                     1e-6 * 0.749066e-2 + 4 * nudge[n]);
        assert_close(rows_value(&rows, last, "mean_period") / keplers - 1, 0.749066e-2,
                     1e-6 * 0.749066e-2 + 4 * nudge[n]);
        assert_close(rows_value(&rows, last, "revolutions"), (double)periods, 1e-5);
        if (n ==
            1) { /* 10 revolutions: 10.15 radial periods, the tenth pericentre is the nearest */
            assert_close(rows_value(&rows, last, "apse_turn") * 180 / M_PI / 10, -5.230302,
                         1e-6 * 5.230302);
            assert_close(rows_value(&rows, last, "apse_error"), 0, 1e-6);
        } else {
            assert_true(isnan(rows_value(&rows, last, "apse_turn")));
        }
        rows_free(&rows);
        assert_continues(d, section, &scene.moment);
        diagnostic_destroy(d);
        scene_destroy(&scene);
    }
    config_free(config);
}

/* A chosen pair among more bodies, by ids; the periods of its osculating orbit. */
static void test_chosen_pair(void **state)
{
    (void)state;
    struct scene scene = scene_create(1, 3, G, 0.0);
    scene_body(&scene, 0, 0, 0.0, (const double[]){ 9, 9, 9 }, (const double[]){ 0, 0, 0 });
    scene_body(&scene, 0, 1, 0.0, (const double[]){ 2, 0, 0 },
               (const double[]){ 0, -sqrt(G * M1 / 2), 0 }); /* clockwise */
    scene_body(&scene, 0, 2, M1, (const double[]){ 0, 0, 0 }, (const double[]){ 0, 0, 0 });
    scene.bodies->id[1] = 71;
    scene.bodies->id[2] = 70;
    struct config *config = config_of("type = \"orbit\"; primary = 70; secondary = 71;");
    struct diagnostic *d = diagnostic_make(&diagnostic_orbit, config_item(config, "diagnostics", 0),
                                           scene_moment(&scene, 0, 0.01, false));
    /* A quarter of a revolution on, with an orbit 1 % wider and a proper circular speed there. */
    const double a = 2.02, v = sqrt(G * M1 / a), quarter = M_PI / 2 * sqrt(8 / (G * M1));
    scene_body(&scene, 0, 1, 0.0, (const double[]){ 0, -a, 0 }, (const double[]){ -v, 0, 0 });
    struct rows rows = { 0 };
    rows_measure(&rows, d, scene_moment(&scene, 1, quarter, false));
    assert_close(rows_value(&rows, 0, "semi_major_axis"), a, 1e-14);
    assert_close(rows_value(&rows, 0, "semi_major_axis_error"), 0.01, 1e-14);
    assert_close(rows_value(&rows, 0, "eccentricity"), 0.0, 1e-15);
    assert_close(rows_value(&rows, 0, "radial"), 0.02, 1e-14);
    assert_close(rows_value(&rows, 0, "revolutions"), 0.25, 1e-14);
    assert_close(rows_value(&rows, 0, "period"), 2 * M_PI * sqrt(a * a * a / (G * M1)), 1e-13);
    assert_close(rows_value(&rows, 0, "mean_period"), 4 * quarter, 1e-13);
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

static void assert_refused(const struct moment *start, const char *text, const char *message)
{
    struct config *config = config_of(text);
    struct error error = { 0 };
    struct diagnostic *d;
    const struct section *section = config_item(config, "diagnostics", 0);
    assert_int_equal(diagnostic_create_as(&diagnostic_orbit, section, start, &d, &error),
                     STATUS_CONFIG);
    assert_null(d);
    if (!strstr(error.text, message))
        fail_msg("'%s' does not say '%s'", error.text, message);
    config_free(config);
}

static void test_bad_pairs(void **state)
{
    (void)state;
    struct scene scene = scene_create(1, 3, G, 0.0);
    const struct moment *start = scene_moment(&scene, 0, 0.01, false);
    assert_refused(start, "type = \"orbit\";", "primary: must be given for more than two bodies");
    assert_refused(start, "type = \"orbit\"; primary = 1; secondary = 8;",
                   "secondary = 8: there is no such body among the 3");
    assert_refused(start, "type = \"orbit\"; primary = 2; secondary = 2;", "is the primary too");
    scene_destroy(&scene);
}

/* A head-on fall has no plane: what needs one is undefined, the rest is not. */
/* Bodies on either side of a periodic box are as far apart as their nearest images. */
static void test_the_nearest_image_is_on_the_orbit(void **state)
{
    (void)state;
    const double L = 8, r = 1.21;
    struct scene scene = pair_scene(1, 0.0);
    scene.physics.boundary = BOUNDARY_PERIODIC;
    scene.physics.box_length = L;
    const struct kepler_state first = start_state(r, 0.3);
    set_pair(&scene, 0, &first, 0);
    scene.bodies->y[1] -= L;
    struct config *config = config_of("type = \"orbit\";");
    struct diagnostic *d = diagnostic_make(&diagnostic_orbit, config_item(config, "diagnostics", 0),
                                           scene_moment(&scene, 0, 0.01, false));
    struct rows rows = { 0 };
    rows_measure(&rows, d, scene_moment(&scene, 0, 0.01, false));
    assert_close(rows_value(&rows, 0, "separation"), r, 1e-14);
    assert_close(rows_value(&rows, 0, "semi_major_axis"), r / 1.3, 1e-13);
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

static void test_straight_line(void **state)
{
    (void)state;
    struct scene scene = pair_scene(1, 0.05);
    const struct kepler_state first = { { 1.21, 0, 0 }, { 0, 0, 0 } };
    set_pair(&scene, 0, &first, 0);
    struct config *config = config_of("type = \"orbit\";");
    struct diagnostic *d = diagnostic_make(&diagnostic_orbit, config_item(config, "diagnostics", 0),
                                           scene_moment(&scene, 0, 0.01, false));
    struct rows rows = { 0 };
    rows_measure(&rows, d, scene_moment(&scene, 0, 0.01, false));
    assert_close(rows_value(&rows, 0, "semi_major_axis"), 0.605, 1e-14); /* between 0 and 1.21 */
    assert_true(rows_value(&rows, 0, "radial") == 0.0);
    assert_true(isnan(rows_value(&rows, 0, "along_track")));
    assert_true(isnan(rows_value(&rows, 0, "revolutions")));
    rows_free(&rows);
    diagnostic_destroy(d);
    config_free(config);
    scene_destroy(&scene);
}

static int quiet(void **state)
{
    (void)state;
    gsl_set_error_handler_off(); /* as the program does */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_motion_has_no_error),
        cmocka_unit_test(test_errors_have_their_direction),
        cmocka_unit_test(test_a_parabola_has_no_scale),
        cmocka_unit_test(test_apse_turns),
        cmocka_unit_test(test_turns_that_cannot_be_counted),
        cmocka_unit_test(test_each_condition_of_the_count),
        cmocka_unit_test(test_the_nearest_image_is_on_the_orbit),
        cmocka_unit_test(test_softened_orbits),
        cmocka_unit_test(test_chosen_pair),
        cmocka_unit_test(test_bad_pairs),
        cmocka_unit_test(test_straight_line),
    };
    return cmocka_run_group_tests_name("diagnostic-orbit", tests, quiet, NULL);
}
