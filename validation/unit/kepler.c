#include "unit.h"

#include <gsl/gsl_errno.h>
#include <string.h>

#include "base/memory.h"
#include "model/kepler.h"

static const double MU = 1.75;

/* A rotation by arbitrary Euler angles, so that nothing lies in a coordinate plane. */
static void turn(const double in[2], double out[3])
{
    const double node = 0.7, tilt = 1.1, apse = -2.3;
    const double x = cos(apse) * in[0] - sin(apse) * in[1];
    const double y = sin(apse) * in[0] + cos(apse) * in[1];
    out[0] = cos(node) * x - sin(node) * cos(tilt) * y;
    out[1] = sin(node) * x + cos(node) * cos(tilt) * y;
    out[2] = sin(tilt) * y;
}

/* Textbook ellipse, parametrised by the eccentric anomaly: independent of Kepler's equation. */
static double ellipse(double a, double e, double E, struct kepler_state *state)
{
    const double b = a * sqrt(1 - e * e), n = sqrt(MU / (a * a * a)), rate = n / (1 - e * cos(E));
    turn((const double[]){ a * (cos(E) - e), b * sin(E) }, state->x);
    turn((const double[]){ -a * sin(E) * rate, b * cos(E) * rate }, state->v);
    return (E - e * sin(E)) / n; /* time since the pericentre */
}

static double hyperbola(double a, double e, double H, struct kepler_state *state)
{
    const double b = a * sqrt(e * e - 1), n = sqrt(MU / (a * a * a)), rate = n / (e * cosh(H) - 1);
    turn((const double[]){ a * (e - cosh(H)), b * sinh(H) }, state->x);
    turn((const double[]){ -a * sinh(H) * rate, b * cosh(H) * rate }, state->v);
    return (e * sinh(H) - H) / n;
}

static void assert_same_state(const struct kepler_state *got, const struct kepler_state *expected,
                              double tolerance)
{
    for (int k = 0; k < 3; k++) {
        assert_close(got->x[k], expected->x[k], tolerance);
        assert_close(got->v[k], expected->v[k], tolerance);
    }
}

static void advance(const struct kepler_interaction *interaction, const struct kepler_state *from,
                    double dt, struct kepler_state *to, double *angle)
{
    struct error error = { 0 };
    if (kepler_advance(interaction, from, dt, to, angle, &error) != STATUS_OK)
        fail_msg("kepler_advance: %s", error.text);
}

static struct kepler_orbit orbit_of(const struct kepler_interaction *interaction,
                                    const struct kepler_state *state)
{
    struct error error = { 0 };
    struct kepler_orbit orbit;
    if (kepler_orbit(interaction, state, &orbit, &error) != STATUS_OK)
        fail_msg("kepler_orbit: %s", error.text);
    return orbit;
}

static void test_ellipses(void **state)
{
    (void)state;
    const struct kepler_interaction interaction = { .mu = MU };
    const double a = 1.385;
    const double eccentricities[] = { 0.0, 1e-9, 0.1, 0.6, 0.95 };
    for (size_t k = 0; k < COUNT_OF(eccentricities); k++) {
        const double e = eccentricities[k];
        for (double E0 = -3.0; E0 < 3.2; E0 += 0.57) {
            for (double E1 = -9.0; E1 < 20.0; E1 += 1.03) {
                struct kepler_state from, expected, got;
                double angle;
                const double t0 = ellipse(a, e, E0, &from), t1 = ellipse(a, e, E1, &expected);
                advance(&interaction, &from, t1 - t0, &got, &angle);
                /* Round-off: the given state fixes a to some eps / (1 - e), so the phase of up to
                 * 4 revolutions; the pericentre passes with accelerations of 1 / (1 - e)^2. */
                assert_same_state(&got, &expected, 1e-13 + 1e-13 / pow(1 - e, 3));
                const double f0 = 2 * atan(sqrt((1 + e) / (1 - e)) * tan(E0 / 2));
                const double f1 = 2 * atan(sqrt((1 + e) / (1 - e)) * tan(E1 / 2)) +
                                  2 * M_PI * floor((E1 + M_PI) / (2 * M_PI));
                assert_close(angle, f1 - f0, 1e-12 + 1e-13 / pow(1 - e, 3));
                const struct kepler_orbit orbit = orbit_of(&interaction, &from);
                assert_close(orbit.semi_major_axis, a, 1e-14 / (1 - e));
                assert_close(orbit.eccentricity, e, 1e-15 / (1 - e));
                if (e > 0.01) {
                    assert_close(orbit.true_anomaly, f0, 1e-13 / (1 - e));
                    assert_close(orbit.mean_anomaly, E0 - e * sin(E0), 1e-13 / (1 - e));
                }
                assert_close(orbit.radial_period, 2 * M_PI * sqrt(a * a * a / MU), 1e-12 / (1 - e));
            }
        }
    }
}

/* Half a period more sweeps half a turn more, on whichever side of it rounding puts the time. */
static void test_half_periods(void **state)
{
    (void)state;
    const struct kepler_interaction interaction = { .mu = MU };
    for (double a = 0.3; a < 4.0; a += 0.11)
        for (int n = -8; n < 8; n++) {
            struct kepler_state from, to;
            double angle;
            ellipse(a, 0.6, 0.0, &from);
            advance(&interaction, &from, (n + 0.5) * 2 * M_PI * sqrt(a * a * a / MU), &to, &angle);
            assert_close(angle, (2 * n + 1) * M_PI, 1e-12);
        }
}

static void test_unbound(void **state)
{
    (void)state;
    const struct kepler_interaction interaction = { .mu = MU };
    const double a = 0.875, eccentricities[] = { 1.001, 1.6, 7.0 };
    for (size_t k = 0; k < COUNT_OF(eccentricities); k++)
        for (double H0 = -4.0; H0 < 4.1; H0 += 1.3)
            for (double H1 = -6.0; H1 < 6.1; H1 += 0.7) {
                struct kepler_state from, expected, got;
                double angle;
                const double e = eccentricities[k];
                const double t0 = hyperbola(a, e, H0, &from), t1 = hyperbola(a, e, H1, &expected);
                advance(&interaction, &from, t1 - t0, &got, &angle);
                /* Round-off of terms up to mu G3, e^10 for a flight from H = -4 to 6, and of the
                 * pericentre, 1 / (e - 1). */
                assert_same_state(&got, &expected, 3e-10 + 1e-13 / ((e - 1) * (e - 1)));
                const struct kepler_orbit orbit = orbit_of(&interaction, &from);
                /* The state itself is rounded by 1 / (e - 1), and 1 / a is a difference of terms
                 * of that size. */
                const double lost = 1e-15 / ((e - 1) * (e - 1));
                assert_close(orbit.semi_major_axis, -a, 1e-13 + lost);
                assert_close(orbit.eccentricity, e, 1e-13 + lost);
                assert_true(isnan(orbit.radial_period));
            }
    /* The parabola: Barker's equation, t = sqrt(2 q^3 / mu) (D + D^3 / 3) with D = tan(f / 2). */
    const double q = 0.6125, D = 1.7;
    struct kepler_state from = { .v = { 0 } }, got;
    from.x[0] = q, from.v[1] = sqrt(2 * MU / q);
    double angle;
    advance(&interaction, &from, sqrt(2 * q * q * q / MU) * (D + D * D * D / 3), &got, &angle);
    assert_close(got.x[0], q * (1 - D * D), 1e-14);
    assert_close(got.x[1], 2 * q * D, 1e-14);
    assert_close(angle, 2 * atan(D), 1e-14);
    assert_close(orbit_of(&interaction, &got).eccentricity, 1.0, 1e-15);
    /* And from as long before the pericentre to as long behind it, by more than half a turn. */
    from = got;
    from.x[1] = -got.x[1], from.v[0] = -got.v[0];
    advance(&interaction, &from, 2 * sqrt(2 * q * q * q / MU) * (D + D * D * D / 3), &got, &angle);
    assert_close(got.x[1], 2 * q * D, 1e-13);
    assert_close(angle, 4 * atan(D), 1e-13);
}

static void test_radial_fall(void **state)
{
    (void)state;
    /* From rest at distance d: time pi/2 sqrt(d^3 / 2 mu) to the centre; half of that distance is
     * reached at E = pi/2 of the degenerate ellipse, (pi/2 + 1) / pi of it. */
    const double d = 1.21, fall = M_PI / 2 * sqrt(d * d * d / (2 * MU));
    const struct kepler_interaction interaction = { .mu = MU };
    const struct kepler_state from = { .x = { d, 0, 0 } };
    struct kepler_state to;
    double angle;
    advance(&interaction, &from, fall * (M_PI / 2 + 1) / M_PI, &to, &angle);
    assert_close(to.x[0], d / 2, 1e-14);
    assert_close(to.v[0], -sqrt(2 * MU / d), 1e-14);
    assert_close(orbit_of(&interaction, &to).eccentricity, 1.0, 1e-15);
}

/* One revolution of the circular orbit at r = 1: physics.md, "Two bodies, eps > 0". */
static void test_softened_circle(void **state)
{
    (void)state;
    const double softenings[] = { 0.01, 0.1 };
    const double slower[] = { 7.4999e-5, 0.749066e-2 };  /* period / Kepler's period - 1 */
    const double apse[] = { -0.053982, -5.230302 };      /* degrees a radial period */
    const double digits[] = { 1e-9, 1e-8 }, half = 5e-7; /* of those figures, half a last digit */
    for (int k = 0; k < 2; k++) {
        const struct kepler_interaction interaction = { .mu = MU, .eps = softenings[k] };
        const double s2 = 1 + interaction.eps * interaction.eps, omega = sqrt(MU / (s2 * sqrt(s2)));
        struct kepler_state from = { .x = { 1, 0, 0 }, .v = { 0, omega, 0 } }, to;
        double angle;
        advance(&interaction, &from, 2 * M_PI / omega, &to, &angle);
        assert_close(angle, 2 * M_PI, 1e-12); /* the tolerance of the solver, over 2 pi */
        assert_same_state(&to, &from, 1e-11);
        struct kepler_orbit orbit = orbit_of(&interaction, &from);
        assert_close(orbit.eccentricity, 0, 1e-15);
        assert_close(orbit.semi_major_axis, 1, 1e-15);
        /* mean time of a revolution */
        const double period = orbit.radial_period * 2 * M_PI / orbit.apsidal_angle;
        assert_close(period / (2 * M_PI / sqrt(MU)) - 1, slower[k], digits[k]);
        /* nearly circular: the turn of the apse, 360 degrees short of the apsidal angle */
        from.v[1] *= 1 + 1e-8;
        orbit = orbit_of(&interaction, &from);
        assert_close(orbit.apsidal_angle * 180 / M_PI - 360, apse[k], half);
    }
}

/* The quadratures of a rosette against the differential equation. */
static void test_rosette(void **state)
{
    (void)state;
    const struct kepler_interaction interaction = { .mu = MU, .eps = 0.375 };
    struct kepler_state from, to;
    turn((const double[]){ 1.21, 0 }, from.x); /* an apocentre */
    turn((const double[]){ 0, 0.4375 }, from.v);
    const struct kepler_orbit orbit = orbit_of(&interaction, &from);
    assert_close(orbit.semi_major_axis * (1 + orbit.eccentricity), 1.21, 1e-14);
    double angle;
    advance(&interaction, &from, orbit.radial_period, &to, &angle);
    /* 1e-13 a step, some hundred steps */
    assert_close(angle, orbit.apsidal_angle, 1e-11);
    assert_close(sqrt(to.x[0] * to.x[0] + to.x[1] * to.x[1] + to.x[2] * to.x[2]), 1.21, 1e-11);
    /* Both anomalies grow with what is swept and with time, from every place. */
    for (double part = 0.05; part < 0.5; part += 0.1) {
        advance(&interaction, &from, part * orbit.radial_period, &to, &angle);
        const struct kepler_orbit now = orbit_of(&interaction, &to);
        assert_close(now.semi_major_axis, orbit.semi_major_axis, 1e-11);
        assert_close(now.eccentricity, orbit.eccentricity, 1e-11);
        assert_close(now.mean_anomaly, -M_PI + 2 * M_PI * part, 1e-10);
        assert_close(now.true_anomaly, -orbit.apsidal_angle / 2 + angle, 1e-10);
    }
    /* A vanishing softening gives Kepler's orbit. */
    const struct kepler_interaction hard = { .mu = MU, .eps = 1e-9 }, kepler = { .mu = MU };
    const struct kepler_orbit a = orbit_of(&hard, &to), b = orbit_of(&kepler, &to);
    assert_close(a.semi_major_axis, b.semi_major_axis, 1e-12);
    assert_close(a.eccentricity, b.eccentricity, 1e-12);
    assert_close(a.true_anomaly, b.true_anomaly, 1e-10);
    assert_close(a.mean_anomaly, b.mean_anomaly, 1e-10);
    assert_close(a.radial_period, b.radial_period, 1e-10);
}

static void test_softened_unbound_and_radial(void **state)
{
    (void)state;
    const struct kepler_interaction interaction = { .mu = MU, .eps = 0.375 };
    /* Fast at r = 1.21, crossing: E > 0. The inner turning point is where it stands. */
    const struct kepler_state fast = { .x = { 1.21, 0, 0 }, .v = { 0, 3.1, 0 } };
    struct kepler_orbit orbit = orbit_of(&interaction, &fast);
    const double energy = 0.5 * 3.1 * 3.1 - MU / hypot(1.21, 0.375);
    assert_close(orbit.semi_major_axis, -MU / (2 * energy), 1e-14);
    assert_close(orbit.semi_major_axis * (1 - orbit.eccentricity), 1.21, 1e-14);
    assert_true(isnan(orbit.true_anomaly) && isnan(orbit.radial_period));
    /* At rest: through the centre and out again. Small oscillations: the period of a body in the
     * harmonic core, pi / sqrt(mu / eps^3) for each half, up to order (r / eps)^2. */
    const struct kepler_state rest = { .x = { 1e-4, 0, 0 } };
    orbit = orbit_of(&interaction, &rest);
    assert_close(orbit.eccentricity, 1.0, 0.0);
    assert_close(orbit.radial_period, M_PI / sqrt(MU / pow(0.375, 3)), 1e-6);
    assert_true(isnan(orbit.apsidal_angle));
}

static void test_nothing_pulls(void **state)
{
    (void)state;
    const struct kepler_interaction interaction = { .mu = 0 };
    const struct kepler_state from = { .x = { 1, 0, 0 }, .v = { 0, 0.5, 0.25 } };
    struct kepler_state to;
    double angle;
    advance(&interaction, &from, 2.0, &to, &angle);
    assert_true(to.x[1] == 1.0 && to.x[2] == 0.5 && to.v[1] == 0.5);
    assert_true(isnan(orbit_of(&interaction, &from).semi_major_axis));
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
        cmocka_unit_test(test_ellipses),
        cmocka_unit_test(test_half_periods),
        cmocka_unit_test(test_unbound),
        cmocka_unit_test(test_radial_fall),
        cmocka_unit_test(test_softened_circle),
        cmocka_unit_test(test_rosette),
        cmocka_unit_test(test_softened_unbound_and_radial),
        cmocka_unit_test(test_nothing_pulls),
    };
    return cmocka_run_group_tests_name("kepler", tests, quiet, NULL);
}
