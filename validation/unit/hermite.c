/* Hermite's method with block steps: its order and its steps. */
#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "external/external.h"
#include "force/direct/reference.h"
#include "hermite-case.h"
#include "integrator/hermite.h"

static struct error error;

static double energy(const struct physics *physics, const struct bodies *b)
{
    double sum = 0;
    for (size_t i = 0; i < b->count; i++) {
        sum += 0.5 * b->m[i] * (b->vx[i] * b->vx[i] + b->vy[i] * b->vy[i] + b->vz[i] * b->vz[i]);
        for (size_t j = 0; j < i; j++) {
            const double dx = b->x[i] - b->x[j], dy = b->y[i] - b->y[j], dz = b->z[i] - b->z[j];
            sum -= b->m[i] * b->m[j] /
                   sqrt(dx * dx + dy * dy + dz * dz + physics->softening * physics->softening);
        }
    }
    return sum;
}

/* Advances by `steps` steps of dt, of all bodies: an eta beyond all bounds makes them equal. Of a
 * larger system, `others` other bodies have half the step. */
static void advance_by_equal_steps(const struct physics *physics, struct bodies *b, double others,
                                   double dt, uint64_t steps)
{
    const struct force_options force = {
        .precision = PRECISION_DOUBLE, .kernel = "auto", .isa = "auto", .threads = 1
    };
    const struct hermite_rule rule = { .eta = 1e300, .eta_start = 1e300, .others = { 0, others } };
    struct block_workspace work;
    struct adaptive_clock clock = { .smallest = INFINITY };
    double own[10][BODIES_PADDING] __attribute__((aligned(64))) = { { 0 } };
    const struct block_system system = { .count = b->count,
                                         .x = { b->x, b->y, b->z },
                                         .v = { b->vx, b->vy, b->vz },
                                         .a = { own[0], own[1], own[2] },
                                         .jerk = { own[3], own[4], own[5] },
                                         .step = own[6],
                                         .low = { own[7], own[8], own[9] },
                                         .clock = &clock };
    assert_int_equal(block_workspace_create(&work, &force, physics, b->count, true, &error),
                     STATUS_OK);
    assert_int_equal(
        block_advance(&hermite_method, &rule, &system, physics, b, &work, dt, steps, 1),
        ADAPTIVE_DONE);
    /* a force before the first step; in each step all pairs once, and in a small block twice more
     * for the second evaluation, from where they were predicted to where they are corrected */
    const double each = others > 0 ? 1 : 3;
    assert_close(clock.steps, (double)b->count * (double)steps, 0);
    assert_close(clock.sums, (double)b->count * (1 + each * (double)steps), 0);
    block_workspace_destroy(&work);
}

/* One period of e = 0.3: how far body 1 is from where it began. */
static double error_after_a_period(uint64_t steps)
{
    struct bodies *const b = case_pair(0.3);
    const double x = b->x[1];
    advance_by_equal_steps(&case_newton, b, 0, 2 * M_PI / (double)steps, steps);
    const double distance = hypot(b->x[1] - x, b->y[1]);
    bodies_destroy(b);
    return distance;
}

/* The jerk of the field is the slope of its acceleration along the motion, by differences of 4th
 * order, whose error is h^4/30 and roundings of 1e-16/h: 1e-12 where the field changes over 1. */
static void add_field(const struct physics *physics, const double x[3], const double v[3],
                      double a[3], double j[3])
{
    static const double weights[] = { 8.0, -1.0 }, h = 1e-3;
    double here[3];
    external_acceleration(physics->external, x, here);
    for (int axis = 0; axis < 3; axis++)
        a[axis] += here[axis];
    for (int n = -2; n <= 2; n++) {
        double there[3], at[3];
        for (int axis = 0; axis < 3; axis++)
            at[axis] = x[axis] + n * h * v[axis];
        external_acceleration(physics->external, at, there);
        for (int axis = 0; axis < 3 && n != 0; axis++)
            j[axis] += (n > 0 ? 1 : -1) * weights[abs(n) - 1] * there[axis] / (12 * h);
    }
}

static void forces_of_two(const struct physics *physics, const double *m, double *const x[3],
                          double *const v[3], double a[2][3], double j[2][3])
{
    const struct reference_motion two = { m, { x[0], x[1], x[2] }, { v[0], v[1], v[2] }, 2 };
    for (size_t i = 0; i < 2; i++) {
        reference_jerk(physics, &two, i, a[i], j[i]);
        if (physics->external)
            add_field(physics, (const double[3]){ x[0][i], x[1][i], x[2][i] },
                      (const double[3]){ v[0][i], v[1][i], v[2][i] }, a[i], j[i]);
    }
}

/* By the formulas of Makino & Aarseth (1992), eq. 2 to 6, with that of both ends for v:
 * v1 = v0 + h/2 (a0 + a1) + h^2/12 (j0 - j1). The step begins with the last evaluation of the one
 * before. */
static void hermite_steps(const struct physics *physics, struct bodies *b, double h, int steps,
                          int evaluations)
{
    double *const x[3] = { b->x, b->y, b->z }, *const v[3] = { b->vx, b->vy, b->vz };
    double a0[2][3], j0[2][3];
    forces_of_two(physics, b->m, x, v, a0, j0);
    for (int n = 0; n < steps; n++) {
        double predicted[3][2], a1[2][3], j1[2][3], v0[3][2];
        for (int axis = 0; axis < 3; axis++)
            for (size_t i = 0; i < 2; i++) {
                const double a = a0[i][axis], j = j0[i][axis];
                v0[axis][i] = v[axis][i];
                x[axis][i] += h * v[axis][i] + h * h / 2 * a + h * h * h / 6 * j;
                v[axis][i] += h * a + h * h / 2 * j;
                predicted[axis][i] = x[axis][i];
            }
        for (int k = 0; k < evaluations; k++) {
            forces_of_two(physics, b->m, x, v, a1, j1);
            for (int axis = 0; axis < 3; axis++)
                for (size_t i = 0; i < 2; i++) {
                    const double a = a0[i][axis], j = j0[i][axis], da = a - a1[i][axis];
                    const double a2 = (-6 * da - h * (4 * j + 2 * j1[i][axis])) / (h * h);
                    const double a3 = (12 * da + 6 * h * (j + j1[i][axis])) / (h * h * h);
                    x[axis][i] = predicted[axis][i] + pow(h, 4) / 24 * a2 + pow(h, 5) / 120 * a3;
                    v[axis][i] =
                        v0[axis][i] + h / 2 * (a + a1[i][axis]) + h * h / 12 * (j - j1[i][axis]);
                }
        }
        memcpy(a0, a1, sizeof a0);
        memcpy(j0, j1, sizeof j0);
    }
}

/* Two evaluations for a pair that is alone in its blocks, one for a pair of a sample whose block
 * would have a thousand bodies more. */
static void test_a_small_block_is_corrected_twice(void **state)
{
    (void)state;
    struct bodies *const b = case_pair(0.3), *const sample = case_pair(0.3),
                         *const once = case_pair(0.3), *const twice = case_pair(0.3);
    advance_by_equal_steps(&case_newton, b, 0, 0.125, 8);
    advance_by_equal_steps(&case_newton, sample, 1000, 0.125, 8);
    hermite_steps(&case_newton, once, 0.125, 8, 1);
    hermite_steps(&case_newton, twice, 0.125, 8, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_close(b->x[i], twice->x[i], 1e-14);
        assert_close(b->y[i], twice->y[i], 1e-14);
        assert_close(b->vx[i], twice->vx[i], 1e-14);
        assert_close(b->vy[i], twice->vy[i], 1e-14);
        assert_close(sample->x[i], once->x[i], 1e-14);
        assert_close(sample->vy[i], once->vy[i], 1e-14);
    }
    assert_true(fabs(b->x[1] - once->x[1]) > 1e-8); /* what the second one is worth */
    bodies_destroy(b);
    bodies_destroy(sample);
    bodies_destroy(once);
    bodies_destroy(twice);
}

static void test_fourth_order_with_equal_steps(void **state)
{
    (void)state;
    const double coarse = error_after_a_period(1000), fine = error_after_a_period(2000);
    assert_close(log2(coarse / fine), 4, 0.05);
}

/* A disc's field, in which a pair of bodies moves apart; no symmetry hides a component. */
static struct field disc_field = { .kind = FIELD_MIYAMOTO_NAGAI,
                                   .gravitational_constant = 1,
                                   .center = { 0.3, -0.2, 0.4 },
                                   .mass = 4,
                                   .a = 0.8,
                                   .b = 0.5 };
static struct external disc = { .count = 1, .fields = &disc_field };
static struct physics in_a_field = { .gravitational_constant = 1, .external = &disc };

static struct bodies *pair_in_a_field(void)
{
    struct bodies *const b = case_pair(0.3);
    b->x[0] -= 1;
    b->vy[0] -= 1;
    b->x[1] += 1;
    b->vz[1] += 0.6;
    return b;
}

/* Both evaluations take the fields with the jerk that is the slope of their acceleration. */
static void test_a_field_is_evaluated_twice(void **state)
{
    (void)state;
    struct bodies *const b = pair_in_a_field(), *const once = pair_in_a_field(),
                         *const twice = pair_in_a_field();
    advance_by_equal_steps(&in_a_field, b, 0, 0.125, 8);
    hermite_steps(&in_a_field, once, 0.125, 8, 1);
    hermite_steps(&in_a_field, twice, 0.125, 8, 2);
    const double *const found[] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
    const double *const wanted[] = {
        twice->x, twice->y, twice->z, twice->vx, twice->vy, twice->vz
    };
    for (size_t k = 0; k < COUNT_OF(found); k++)
        for (size_t i = 0; i < 2; i++)
            assert_close(found[k][i], wanted[k][i], 1e-11);
    assert_true(fabs(b->x[1] - once->x[1]) > 1e-8);
    bodies_destroy(b);
    bodies_destroy(once);
    bodies_destroy(twice);
}

static void test_fourth_order_in_a_field(void **state)
{
    (void)state;
    double x[3][3], change[2];
    for (int k = 0; k < 3; k++) {
        struct bodies *const b = pair_in_a_field();
        advance_by_equal_steps(&in_a_field, b, 0, ldexp(4, -9 - k), UINT64_C(512) << k);
        memcpy(x[k], (const double[3]){ b->x[1], b->y[1], b->z[1] }, sizeof x[k]);
        bodies_destroy(b);
    }
    for (int k = 0; k < 2; k++)
        change[k] =
            hypot(hypot(x[k][0] - x[k + 1][0], x[k][1] - x[k + 1][1]), x[k][2] - x[k + 1][2]);
    assert_close(log2(change[0] / change[1]), 4, 0.05);
}

/* Far from the origin as beside it, although x has but eight digits of the separation there. */
static void test_a_close_pair_far_from_the_origin(void **state)
{
    (void)state;
    const double size = 0x1p-27, far = 1;
    struct bodies *const b = case_pair(0.3), *const moved = case_pair(0.3);
    for (size_t i = 0; i < 2; i++) { /* of the same period, 2 pi */
        moved->m[i] = b->m[i] *= size * size * size;
        moved->vy[i] = b->vy[i] *= size;
        moved->x[i] = far + size * b->x[i];
        moved->y[i] = far;
        b->x[i] = moved->x[i] - far;
    }
    advance_by_equal_steps(&case_newton, b, 0, 2 * M_PI / 500, 500);
    advance_by_equal_steps(&case_newton, moved, 0, 2 * M_PI / 500, 500);
    for (size_t i = 0; i < 2; i++) { /* without the remainders: 2e-7 */
        assert_close(moved->vx[i] / size, b->vx[i] / size, 1e-11);
        assert_close(moved->vy[i] / size, b->vy[i] / size, 1e-11);
    }
    bodies_destroy(b);
    bodies_destroy(moved);
}

/* The energy's error per revolution, with the steps of eta = 0.02: measured 2.6e-8 on a circle and
 * 1.9e-6 with e = 0.9, where one evaluation leaves 6.3e-6 and 1.3e-5. */
static void test_the_energy_of_a_pair_in_every_revolution(void **state)
{
    (void)state;
    const double eccentricities[2] = { 0, 0.9 }, at_most[2] = { 1e-7, 4e-6 };
    for (int k = 0; k < 2; k++) {
        struct bodies *const b = case_pair(eccentricities[k]);
        struct adaptive *const adaptive = case_start(&case_newton, b, PRECISION_DOUBLE, 1, 1);
        const double before = energy(&case_newton, b);
        case_advance(adaptive, M_PI / 8, 16L * 30);
        assert_close(energy(&case_newton, b) / before, 1, 30 * at_most[k]);
        hermite_class.destroy(adaptive);
        bodies_destroy(b);
    }
}

/* Steps go with the root of eta, so that half as long ones leave an error 16 times smaller, or less
 * where powers of two round them. */
static void test_refined_steps_are_half_as_long(void **state)
{
    (void)state;
    double errors[2], steps[2];
    for (int k = 0; k < 2; k++) {
        struct bodies *const b = case_pair(0.9);
        struct adaptive *const adaptive = case_start(&case_newton, b, PRECISION_DOUBLE, 1, 1 + k);
        const double before = energy(&case_newton, b);
        case_advance(adaptive, 2 * M_PI / 64, 3 * 64);
        errors[k] = fabs(energy(&case_newton, b) / before - 1);
        steps[k] = case_statistics(adaptive, 0).steps;
        hermite_class.destroy(adaptive);
        bodies_destroy(b);
    }
    assert_close(steps[1] / steps[0], 2, 0.1);
    assert_in_range((int)(errors[0] / errors[1]), 10, 40);
    assert_true(errors[0] < 1e-4); /* measured: 3e-5 */
}

/* At rest |a| / |jerk| says nothing: the first steps are those of the pairs' fall. (Pythagorean
 * problem of Burrau, 1913, whose first close passage comes at t = 1.9.) */
static void test_bodies_at_rest(void **state)
{
    (void)state;
    struct bodies *const b = motion_bodies(1, 3);
    const double m[3] = { 3, 4, 5 }, x[3] = { 1, -2, 1 }, y[3] = { 3, -1, -1 };
    for (int k = 0; k < 3; k++) {
        b->m[k] = m[k];
        b->x[k] = x[k];
        b->y[k] = y[k];
    }
    struct adaptive *const adaptive = case_start(&case_newton, b, PRECISION_DOUBLE, 1, 1);
    const double before = energy(&case_newton, b);
    case_advance(adaptive, 1, 1);
    assert_close(energy(&case_newton, b) / before, 1, 1e-6);
    case_advance(adaptive, 1, 2);
    assert_close(energy(&case_newton, b) / before, 1, 1e-4);
    hermite_class.destroy(adaptive);
    bodies_destroy(b);
}

/* The first step of two masses of 1 at rest, 4 apart: 0.01 sqrt(r^3 / 2) = 0.0566, and so 1 / 32 of
 * the grid step; beside bodies without mass far away that fill more than a vector. */
static void test_the_first_step_of_a_fall(void **state)
{
    (void)state;
    struct bodies *const b = motion_bodies(1, 19);
    for (size_t i = 0; i < b->count; i++) {
        b->m[i] = i < 17 ? 0 : 1;
        b->y[i] = i < 17 ? 100 + 10 * (double)i : 0;
        b->x[i] = i == 18 ? 4 : 0;
    }
    struct adaptive *const adaptive = case_start(&case_newton, b, PRECISION_DOUBLE, 1, 1);
    case_advance(adaptive, 1, 1);
    assert_close(case_statistics(adaptive, 0).smallest, 1.0 / 32, 0);
    hermite_class.destroy(adaptive);
    bodies_destroy(b);
}

/* By how much the energy of a planet about its sun, which is at rest at first, changes in 30
 * revolutions of e = 0.9. */
static double change_of_a_planet(double mass)
{
    struct bodies *const b = motion_bodies(1, 2);
    const double e = 0.9;
    b->m[0] = 1;
    b->m[1] = mass;
    b->x[1] = 1 + e;
    b->vy[1] = sqrt((1 - e) / (1 + e));
    struct adaptive *const adaptive = case_start(&case_newton, b, PRECISION_DOUBLE, 1, 1);
    case_advance(adaptive, M_PI / 8, 16L * 30);
    const double vx = b->vx[1] - b->vx[0], vy = b->vy[1] - b->vy[0];
    const double r = hypot(b->x[1] - b->x[0], b->y[1] - b->y[0]);
    hermite_class.destroy(adaptive);
    bodies_destroy(b);
    return (0.5 * (vx * vx + vy * vy) - 1 / r) / -0.5 - 1;
}

/* A body without mass is corrected twice beside the one that it goes round, which is not due with
 * it: it loses per revolution what one of 1e-9 does, measured 1.63e-6, and not the 1.2e-5 of one
 * evaluation. */
static void test_bodies_without_mass_are_corrected_twice(void **state)
{
    (void)state;
    const double light = change_of_a_planet(1e-9) / 30;
    assert_in_range((int)(fabs(light) * 1e8), 100, 300);
    assert_close(change_of_a_planet(0) / 30 / light, 1, 1e-3);
}

/* Tests pulls that cancel, where differences of forces are roundings. A body in the middle of
 * three that circle it feels none; one that passes between two feels none for a moment. */
static void test_pulls_that_cancel_shorten_no_step(void **state)
{
    (void)state;
    for (int p = PRECISION_DOUBLE; p <= PRECISION_MIXED; p++)
        for (int moves = 0; moves < 2; moves++) {
            const size_t around = moves ? 2 : 3;
            const double v = sqrt(1 + 1e-3 / sqrt(3));
            struct bodies *const b = motion_bodies(1, 1 + around);
            b->m[0] = 1;
            b->vx[0] = b->vy[0] = moves ? 0.3 : 0;
            for (size_t i = 1; i <= around; i++) {
                const double angle = 2 * M_PI * (double)i / (double)around;
                b->m[i] = 1e-3;
                b->x[i] = cos(angle);
                b->y[i] = moves ? 0 : sin(angle);
                b->vx[i] = moves ? 0 : -v * sin(angle);
                b->vy[i] = v * cos(angle);
            }
            struct adaptive *const adaptive = case_start(&case_newton, b, (enum precision)p, 1, 1);
            const double before = energy(&case_newton, b);
            case_advance(adaptive, 0.0625, 32);
            assert_close(energy(&case_newton, b) / before, 1, p == PRECISION_DOUBLE ? 1e-6 : 1e-5);
            hermite_class.destroy(adaptive);
            bodies_destroy(b);
        }
}

/* Tests which of two close bodies and three far away ask for the smallest step; the far ones take
 * few of the many steps. */
static void test_every_body_has_its_own_step(void **state)
{
    (void)state;
    struct bodies *const b = motion_bodies(1, 5);
    const double x[5] = { 0, 5, 5.01, -6, 1 }, y[5] = { 0, 3, 3, 2, -7 };
    for (int k = 0; k < 5; k++) {
        b->id[k] = 11 + k;
        b->m[k] = 0.2;
        b->x[k] = x[k];
        b->y[k] = y[k];
        b->vy[k] = k == 1 ? 0.5 * sqrt(0.4 / 0.01) : k == 2 ? -0.5 * sqrt(0.4 / 0.01) : 0.01;
    }
    struct adaptive *const adaptive = case_start(&case_newton, b, PRECISION_DOUBLE, 1, 1);
    case_advance(adaptive, 0.25, 4);
    const struct work_done found = case_statistics(adaptive, 0);
    const int64_t close = found.pair[0] + found.pair[1];
    assert_int_equal(close, 12 + 13);
    assert_close(log2(0.25 / found.smallest), rint(log2(0.25 / found.smallest)), 0);
    assert_true(found.smallest < 0.25 / 512);
    /* the two take nearly all steps, on a circle equal ones but for the start */
    assert_close(found.steps * found.current, 2, 0.5);
    /* of all bodies with those due, and twice those of a block, which are 1 to 5, among themselves
     */
    const double second = found.interactions - 5 * (found.steps + 5);
    assert_true(second >= 2 * found.steps && second <= 2 * 5 * found.steps);
    assert_close(second, 2 * rint(second / 2), 0);
    hermite_class.destroy(adaptive);
    bodies_destroy(b);
}

static void test_a_collision_ends_the_motion(void **state)
{
    (void)state;
    struct bodies *const b = case_pair(1);
    struct adaptive *const adaptive = case_start(&case_newton, b, PRECISION_DOUBLE, 1, 1);
    assert_int_equal(hermite_class.advance(adaptive, 0.1, 100, &error), STATUS_NUMERICAL);
    if (!strstr(error.text, "system 1, bodies 1 and 2: at t = 3.14159") &&
        !strstr(error.text, "system 1, bodies 2 and 1: at t = 3.14159")) /* half a period */
        fail_msg("%s", error.text);
    assert_true(case_statistics(adaptive, 0).stuck);
    error_clear(&error);
    assert_int_equal(hermite_class.advance(adaptive, 0.1, 1, &error), STATUS_NUMERICAL);
    error_clear(&error);
    hermite_class.destroy(adaptive);
    bodies_destroy(b);
}

/* All bodies are left at one time, also one whose step was not yet over. */
static void test_a_system_that_is_stuck_has_one_time(void **state)
{
    (void)state;
    struct bodies *const b = motion_bodies(1, 3);
    const double m[3] = { 1, 1, 1e-9 }, x[3] = { -0.5, 0.5, 1000 };
    for (int k = 0; k < 3; k++) {
        b->m[k] = m[k];
        b->x[k] = x[k];
    }
    b->vy[2] = 1;
    struct adaptive *const adaptive = case_start(&case_newton, b, PRECISION_DOUBLE, 1, 1);
    assert_int_equal(hermite_class.advance(adaptive, 0.0625, 100, &error), STATUS_NUMERICAL);
    error_clear(&error);
    assert_close(b->y[2], case_statistics(adaptive, 0).time, 1e-6);
    hermite_class.destroy(adaptive);
    bodies_destroy(b);
}

static void test_a_body_alone(void **state)
{
    (void)state;
    struct bodies *const b = motion_bodies(1, 1);
    b->m[0] = 1;
    b->vx[0] = 0.3;
    struct adaptive *const adaptive = case_start(&case_newton, b, PRECISION_DOUBLE, 1, 1);
    case_advance(adaptive, 0.5, 3);
    assert_close(b->x[0], 0.45, 1e-15);
    assert_close(case_statistics(adaptive, 0).steps, 3, 0);
    hermite_class.destroy(adaptive);
    bodies_destroy(b);
}

static void test_single_is_refused(void **state)
{
    (void)state;
    struct bodies *const b = case_pair(0.3);
    const struct force_options force = {
        .precision = PRECISION_SINGLE, .kernel = "auto", .isa = "auto", .threads = 1
    };
    const struct adaptive_options options = { .refinement = 1, .force = &force };
    struct adaptive *adaptive;
    assert_int_equal(hermite_class.create(&options, &case_newton, b, &adaptive, &error),
                     STATUS_CONFIG);
    assert_non_null(strstr(error.text, "compute.precision = \"single\""));
    assert_null(adaptive);
    hermite_class.destroy(NULL);
    error_clear(&error);
    bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fourth_order_with_equal_steps),
        cmocka_unit_test(test_a_small_block_is_corrected_twice),
        cmocka_unit_test(test_a_field_is_evaluated_twice),
        cmocka_unit_test(test_fourth_order_in_a_field),
        cmocka_unit_test(test_a_close_pair_far_from_the_origin),
        cmocka_unit_test(test_the_energy_of_a_pair_in_every_revolution),
        cmocka_unit_test(test_refined_steps_are_half_as_long),
        cmocka_unit_test(test_bodies_at_rest),
        cmocka_unit_test(test_the_first_step_of_a_fall),
        cmocka_unit_test(test_bodies_without_mass_are_corrected_twice),
        cmocka_unit_test(test_pulls_that_cancel_shorten_no_step),
        cmocka_unit_test(test_every_body_has_its_own_step),
        cmocka_unit_test(test_a_collision_ends_the_motion),
        cmocka_unit_test(test_a_system_that_is_stuck_has_one_time),
        cmocka_unit_test(test_a_body_alone),
        cmocka_unit_test(test_single_is_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("hermite", tests, NULL, NULL);
}
