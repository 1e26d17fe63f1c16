/* The Gauss-Radau integrator: its coefficients against their own definition, and motions whose
 * answers are known. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "integrator/gauss-radau.h"

/* --- coefficients ----------------------------------------------------------------------------- */

/* Node n = 0, 1 ... 7, of which the first is the start of the step. */
static long double node(size_t n)
{
    return n == 0 ? 0 : radau.h[n - 1];
}

/* Coefficients of h^0 ... h^7 of the product of h - h_m for m < k, over its value at node k. */
static void newton_product(size_t k, long double power[RADAU_TERMS + 1])
{
    long double value = 1;
    memset(power, 0, (RADAU_TERMS + 1) * sizeof *power);
    power[0] = 1;
    for (size_t m = 0; m < k; m++) {
        for (size_t j = m + 2; j-- > 0;)
            power[j] = (j > 0 ? power[j - 1] : 0) - node(m) * power[j];
        value *= node(k) - node(m);
    }
    for (size_t j = 0; j <= RADAU_TERMS; j++)
        power[j] /= value;
}

static long double polynomial(const long double power[RADAU_TERMS + 1], int derivative,
                              long double h)
{
    long double sum = 0;
    for (int j = RADAU_TERMS; j >= 0; j--) {
        long double factor = power[j];
        for (int d = 0; d < derivative; d++) /* of h^j */
            factor *= j - d;
        for (int d = 1; d <= -derivative; d++) /* integrals from 0 */
            factor /= j + d;
        if (j >= derivative)
            sum += factor * powl(h, j - derivative);
    }
    return sum;
}

/* A few roundings of a long double's sum of terms a hundred times its size. */
static const double rounding = 4e-16;

static void assert_near(double value, long double expected)
{
    assert_close(value, (double)expected, rounding * (double)fabsl(expected) + 1e-19);
}

static void test_the_basis_is_newtons(void **state)
{
    (void)state;
    for (size_t k = 1; k <= RADAU_TERMS; k++) {
        long double power[RADAU_TERMS + 1];
        newton_product(k, power);
        for (size_t n = 1; n <= RADAU_NODES; n++) {
            if (k < n)
                assert_near(radau.basis[n - 1][k - 1], polynomial(power, 0, node(n)));
            assert_close(radau.path[n - 1][k - 1], (double)polynomial(power, -2, node(n)),
                         1e-16 + 1e-14 * fabs(radau.path[n - 1][k - 1]));
        }
        for (int order = 0; order < RADAU_RATES; order++)
            assert_near(radau.end[order][k - 1], polynomial(power, order, 1));
        for (size_t j = 0; j < RADAU_TERMS; j++)
            assert_near(radau.c[j][k - 1], power[j + 1]);
    }
}

/* b to g and back again. */
static void test_both_bases_say_the_same(void **state)
{
    (void)state;
    for (size_t j = 0; j < RADAU_TERMS; j++)
        for (size_t i = 0; i < RADAU_TERMS; i++) {
            long double sum = 0, size = 0;
            for (size_t k = 0; k < RADAU_TERMS; k++) {
                const long double part = (long double)radau.c[j][k] * radau.d[k][i];
                sum += part;
                size += fabsl(part);
            }
            assert_close((double)sum, i == j, 1e-15 * (double)size);
        }
}

/* A quadrature of eight nodes, one of which is fixed, is exact to h^14 (Radau); those below h^8
 * hold for any nodes, and so for the rounded ones to more digits than a double has. */
static void test_the_weights_are_radaus(void **state)
{
    (void)state;
    for (int power = 1; power <= 14; power++) {
        long double dv = 0, dx = 0;
        for (size_t n = 0; n < RADAU_NODES; n++) {
            const long double value = powl(radau.h[n], power);
            dv += ((long double)radau.in_v[n] + radau.in_v_low[n]) * value;
            dx += ((long double)radau.in_x[n] + radau.in_x_low[n]) * value;
        }
        const double tolerance = power < 8 ? 1e-18 : 1e-16;
        assert_close((double)(dv - 1.0L / (power + 1)), 0, tolerance);
        if (power < 14)
            assert_close((double)(dx - 1.0L / ((power + 1) * (power + 2))), 0, tolerance);
    }
}

/* --- motions ---------------------------------------------------------------------------------- */

enum { MOST = 8 };

struct motion {
    struct physics physics;
    double m[MOST], x[3][MOST], a[3][MOST], scratch[RADAU_SCRATCH_ARRAYS][3][MOST];
    double arrays[RADAU_ARRAYS][3][MOST];
    struct adaptive_clock clock;
    struct radau_system system;
    struct radau_problem problem;
    struct radau_worker worker;
};

static void sum_forces(void *context)
{
    struct motion *const s = context;
    const double G = s->physics.gravitational_constant;
    memset(s->a, 0, sizeof s->a);
    for (size_t i = 0; i < s->system.count; i++)
        for (size_t j = 0; j < s->system.count; j++) {
            double d[3], r2 = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = s->x[k][j] - s->x[k][i];
                r2 += d[k] * d[k];
            }
            for (int k = 0; k < 3 && i != j; k++)
                s->a[k][i] += G * s->m[j] / (r2 * sqrt(r2)) * d[k];
        }
}

/* Rows of mass, position and velocity. */
static struct motion *begin(size_t count, const double rows[][7], double accuracy)
{
    struct motion *const s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->physics.gravitational_constant = 1;
    for (size_t i = 0; i < count; i++) {
        s->m[i] = rows[i][0];
        for (int k = 0; k < 3; k++) {
            s->arrays[RADAU_X][k][i] = rows[i][1 + k];
            s->arrays[RADAU_V][k][i] = rows[i][4 + k];
        }
    }
    s->system = (struct radau_system){ count, MOST, &s->arrays[0][0][0], &s->clock };
    s->problem = (struct radau_problem){ &s->physics, s->m, 1e-3 };
    s->worker = (struct radau_worker){
        .last = count,
        .scratch = { .terms = &s->scratch[0][0][0],
                     .x = { s->x[0], s->x[1], s->x[2] },
                     .a = { s->a[0], s->a[1], s->a[2] } },
        .length = radau_length(accuracy),
        .context = s,
        .force = sum_forces,
    };
    radau_begin(&s->system, &s->problem);
    return s;
}

static void move(struct motion *s, double target, bool land)
{
    assert_int_equal(radau_advance(&s->worker, &s->system, &s->problem, target, land),
                     ADAPTIVE_DONE);
}

static double of(const struct motion *s, int array, int axis, size_t i)
{
    return s->arrays[array][axis][i];
}

static long double energy(const struct motion *s)
{
    long double E = 0;
    for (size_t i = 0; i < s->system.count; i++)
        for (int k = 0; k < 3; k++) {
            const long double v = (long double)of(s, RADAU_V, k, i) + of(s, RADAU_CSV, k, i);
            E += s->m[i] * v * v / 2;
        }
    for (size_t i = 0; i < s->system.count; i++)
        for (size_t j = 0; j < i; j++) {
            long double r2 = 0;
            for (int k = 0; k < 3; k++) {
                const long double d =
                    ((long double)of(s, RADAU_X, k, i) - of(s, RADAU_X, k, j)) +
                    ((long double)of(s, RADAU_CSX, k, i) - of(s, RADAU_CSX, k, j));
                r2 += d * d;
            }
            E -= s->m[i] * s->m[j] / sqrtl(r2);
        }
    return E;
}

/* The Pleiades problem of the Test Set for Initial Value Problems (Mazzia & Magherini 2008). */
static void test_pleiades(void **state)
{
    (void)state;
    const double start[7][7] = {
        { 1, 3, 3, 0, 0, 0, 0 },   { 2, 3, -3, 0, 0, 0, 0 }, { 3, -1, 2, 0, 0, 0, 0 },
        { 4, -3, 0, 0, 0, -1.25 }, { 5, 2, 0, 0, 0, 1 },     { 6, -2, -4, 0, 1.75 },
        { 7, 2, 4, 0, -1.5 },
    };
    const double x[] = { 0.3706139143970502, 3.237284092057233,  -3.222559032418324,
                         0.6597091455775310, 0.3425581707156584, 1.562172101400631,
                         -0.7003092922212495 };
    const double y[] = { -3.943437585517392, -3.271380973972550, 5.225081843456543,
                         -2.590612434977470, 1.198213693392275,  -0.2429682344935824,
                         1.091449240428980 };
    struct motion *const s = begin(7, start, 1e-9);
    move(s, 3, true);
    for (size_t i = 0; i < 7; i++) {
        assert_close(of(s, RADAU_X, 0, i), x[i], 1e-10);
        assert_close(of(s, RADAU_X, 1, i), y[i], 1e-10);
    }
    free(s);
}

static const double pythagorean[3][7] = { { 3, 1, 3 }, { 4, -2, -1 }, { 5, 1, -1 } };

/* Body 1 at t = 10 as Brutus has it (Boekholt & Portegies Zwart 2015), which carries as many digits
 * as it takes; the smallest step of the closest of some passages is 1e-7 of the run. */
static void test_pythagorean(void **state)
{
    (void)state;
    struct motion *const s = begin(3, pythagorean, 1e-9);
    const long double before = energy(s);
    move(s, 10, true);
    assert_close(of(s, RADAU_X, 0, 0), 0.778480410138085, 1e-9);
    assert_close(of(s, RADAU_X, 1, 0), 0.141392300290086, 1e-9);
    assert_close((double)((energy(s) - before) / before), 0, 1e-12);
    assert_true(s->clock.smallest < 1e-4);
    /* three passes, as steps are predicted */
    assert_true(s->clock.sums < 22.5 * 3 * s->clock.steps);
    assert_close(s->clock.pair[0] + s->clock.pair[1], 3, 0); /* bodies 2 and 3: 1 + 2 */
    free(s);
}

/* Steps aside land where they are told, and leave no trace in the motion that they were taken
 * from. */
static void test_a_step_aside_is_as_good(void **state)
{
    (void)state;
    struct motion *const s = begin(3, pythagorean, 1e-9), *const aside = malloc(sizeof *aside);
    const double at = 1.9; /* shortly after the first close passage */
    move(s, at, false);
    assert_true(s->clock.time < at && s->clock.time + s->clock.step > at);
    memcpy(aside->arrays, s->arrays, sizeof s->arrays);
    aside->clock = s->clock;
    const struct radau_system copy = { 3, MOST, &aside->arrays[0][0][0], &aside->clock };
    assert_int_equal(radau_advance(&s->worker, &copy, &s->problem, at, true), ADAPTIVE_DONE);
    assert_close(aside->clock.time, at, 0);
    struct motion *const other = begin(3, pythagorean, 1e-10); /* other steps on the way */
    move(other, at, true);
    for (size_t i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            assert_close(aside->arrays[RADAU_X][k][i], of(other, RADAU_X, k, i), 1e-11);
    free(s);
    free(aside);
    free(other);
}

static struct motion *kepler(double e, double accuracy)
{
    const double speed = sqrt((1 + e) / (1 - e));
    const double rows[2][7] = { { 0.6, -0.4 * (1 - e), 0, 0, 0, -0.4 * speed },
                                { 0.4, 0.6 * (1 - e), 0, 0, 0, 0.6 * speed } };
    return begin(2, rows, accuracy);
}

/* Ten orbits come back to where they began; what is off is along the path, where the speed at the
 * pericentre and the error of the period work together. */
static void test_eccentric_orbits_close(void **state)
{
    (void)state;
    const double eccentricities[] = { 0.0, 0.5, 0.9, 0.99 };
    for (size_t k = 0; k < 4; k++) {
        const double e = eccentricities[k];
        struct motion *const s = kepler(e, 1e-9);
        const double x = of(s, RADAU_X, 0, 1);
        const long double before = energy(s);
        move(s, 20 * M_PI, true);
        assert_close((double)((energy(s) - before) / before), 0, 1e-13);
        assert_close(of(s, RADAU_X, 0, 1), x, 1e-13 / (1 - e));
        assert_close(of(s, RADAU_X, 1, 1), 0, 2e-12 / (1 - e));
        free(s);
    }
}

/* The largest error of the energy in some stretches of equal length. */
static void measure_growth(struct motion *s, size_t stretches, double length, double *error)
{
    const long double before = energy(s);
    for (size_t k = 0; k < stretches; k++) {
        move(s, (double)(k + 1) * length, false);
        error[k] = (double)((energy(s) - before) / before);
    }
}

/*
 * Roundings alone (Brouwer 1937): after 2,000 periods of a random walk with steps of 1e-17 the
 * energy is off by some 1e-15; a weight that were one rounding off would make that 1e-13.
 */
static void test_errors_do_not_add_up(void **state)
{
    (void)state;
    double error[20];
    struct motion *const s = kepler(0.1, 1e-9);
    measure_growth(s, 20, 200 * M_PI, error);
    for (size_t k = 0; k < 20; k++)
        assert_close(error[k], 0, 8e-15);
    free(s);
}

/* A first step that is much too long is taken back, and the motion is none the worse for it. */
static void test_steps_too_long_are_taken_back(void **state)
{
    (void)state;
    struct motion *const s = kepler(0.9, 1e-9);
    const long double before = energy(s);
    s->clock.step = 0.5;
    move(s, 6, true);
    assert_true(s->clock.rejections > 0 && s->clock.smallest < 0.01);
    assert_close((double)((energy(s) - before) / before), 0, 1e-13);
    free(s);
}

/* A first step that is much too short is followed by one four times as long. */
static void test_steps_grow_by_four_at_most(void **state)
{
    (void)state;
    struct motion *const s = kepler(0.3, 1e-9);
    s->clock.step = 1e-6;
    move(s, 1.5e-6, false);
    assert_close(s->clock.steps, 1, 0);
    assert_close(s->clock.step, 4e-6, 0);
    free(s);
}

/* The time of a million steps of 0.1 and of a rounding more: to more digits than a double has. */
static void test_times_add_up(void **state)
{
    (void)state;
    struct adaptive_clock clock = { .time = 0 };
    for (int k = 0; k < 1000000; k++)
        radau_tick(&clock, 0.1 + (k % 3) * 1e-16);
    long double expected = 0;
    for (int k = 0; k < 3; k++)
        expected += (long double)(0.1 + k * 1e-16) * (1000000 / 3 + (k == 0));
    assert_close((double)((long double)clock.time + clock.time_low - expected), 0, 1e-13);
    assert_close(radau_left(&clock, clock.time), -clock.time_low, 0);
    assert_true(clock.time_low != 0);
}

/* An accuracy that is 2^7 times finer halves the steps. */
static void test_accuracy_sets_the_steps(void **state)
{
    (void)state;
    struct motion *const coarse = kepler(0.3, 1e-9), *const fine = kepler(0.3, 1e-9 / 128);
    move(coarse, 60, true);
    move(fine, 60, true);
    assert_close(fine->clock.steps / coarse->clock.steps, 2, 0.02);
    free(coarse);
    free(fine);
}

/* Two bodies that fall on each other from rest: no step is short enough. */
static void test_collisions_end_the_motion(void **state)
{
    (void)state;
    const double rows[2][7] = { { 1, -0.5 }, { 1, 0.5 } };
    struct motion *const s = begin(2, rows, 1e-9);
    assert_int_equal(radau_advance(&s->worker, &s->system, &s->problem, 1, false),
                     ADAPTIVE_TOO_SMALL);
    assert_close(s->clock.time, M_PI / 4, 1e-9); /* pi/2 sqrt(r^3 / 2 G M) */
    free(s);
}

/* The figure of eight begins with a body at a point where its acceleration is 0 and grows as t: the
 * ratio of the two is no time scale. One period (Chenciner & Montgomery 2000), whose digits limit
 * how well it closes. */
static void test_a_force_that_passes_through_zero(void **state)
{
    (void)state;
    const double x = 0.97000436, y = -0.24308753, vx = 0.466203685, vy = 0.43236573;
    const double rows[3][7] = { { 1, x, y, 0, vx, vy },
                                { 1, -x, -y, 0, vx, vy },
                                { 1, 0, 0, 0, -2 * vx, -2 * vy } };
    struct motion *const s = begin(3, rows, 1e-9);
    move(s, 6.32591398, true);
    assert_close(of(s, RADAU_X, 0, 0), x, 1e-7);
    assert_close(of(s, RADAU_X, 1, 0), y, 1e-7);
    assert_true(s->clock.steps < 300);
    free(s);
}

/* The middle one of three equal bodies on a line feels nothing, and must not set the step by what
 * roundings leave over (Euler's orbit). One body alone goes as far as it is asked to. */
static void test_bodies_without_a_force(void **state)
{
    (void)state;
    const double w = sqrt(1.25);
    const double rows[3][7] = { { 1, -1, 0, 0, 0, -w }, { 1 }, { 1, 1, 0, 0, 0, w } };
    struct motion *const line = begin(3, rows, 1e-9);
    move(line, 3, true);
    assert_true(line->clock.steps < 40);
    assert_close(of(line, RADAU_X, 0, 2), cos(3 * w), 1e-13);
    struct motion *const alone = begin(1, (const double[1][7]){ { 1, 2, 0, 0, 3, 0, 0 } }, 1e-9);
    move(alone, 1e9, true);
    assert_close(of(alone, RADAU_X, 0, 0), 2 + 3e9, 1e-6);
    assert_true(alone->clock.steps < 100);
    free(line);
    free(alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_basis_is_newtons),
        cmocka_unit_test(test_both_bases_say_the_same),
        cmocka_unit_test(test_the_weights_are_radaus),
        cmocka_unit_test(test_pleiades),
        cmocka_unit_test(test_pythagorean),
        cmocka_unit_test(test_a_step_aside_is_as_good),
        cmocka_unit_test(test_eccentric_orbits_close),
        cmocka_unit_test(test_errors_do_not_add_up),
        cmocka_unit_test(test_steps_too_long_are_taken_back),
        cmocka_unit_test(test_steps_grow_by_four_at_most),
        cmocka_unit_test(test_times_add_up),
        cmocka_unit_test(test_accuracy_sets_the_steps),
        cmocka_unit_test(test_collisions_end_the_motion),
        cmocka_unit_test(test_a_force_that_passes_through_zero),
        cmocka_unit_test(test_bodies_without_a_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
