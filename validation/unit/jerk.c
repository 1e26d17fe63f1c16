/*
 * Accelerations and jerks for Hermite's method: the reference against the change of its own
 * acceleration, and every kernel that this machine runs against the reference, with the same bits
 * for any team and any choice of bodies.
 */
#include "unit.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "force/direct/reference.h"
#include "force/jerk.h"
#include "force/method.h"
#include "motion-case.h"

enum { SUMS = 6 };

static struct error error;

static double uniform(double least, double greatest)
{
    return least + (greatest - least) * (double)rand() / RAND_MAX;
}

/* A sphere of bodies about (far, far, far) that moves with velocity far / 7; some have no mass. */
static struct bodies *bodies_of(size_t count, double far)
{
    struct bodies *bodies;
    srand(2385);
    assert_int_equal(bodies_create(2, count, &bodies, &error), STATUS_OK);
    for (size_t s = 0; s < 2; s++)
        for (size_t k = 0; k < count; k++) {
            const size_t i = s * bodies->stride + k;
            const double size = k % 3 ? 1 : 0.017; /* a dense core */
            bodies->m[i] = k % 11 == 7 ? 0 : uniform(0.017, 2.385);
            bodies->x[i] = far + size * uniform(-1, 1);
            bodies->y[i] = far + size * uniform(-1, 1);
            bodies->z[i] = far + size * uniform(-1, 1);
            bodies->vx[i] = far / 7 + uniform(-1.3, 1.3);
            bodies->vy[i] = far / 7 + uniform(-1.3, 1.3);
            bodies->vz[i] = far / 7 + uniform(-1.3, 1.3);
        }
    return bodies;
}

static const struct physics physics_open = { .gravitational_constant = 1.37, .softening = 0.03 };
static const struct physics physics_bare = { .gravitational_constant = 1.37 };
static const struct physics physics_box = { .gravitational_constant = 1.37,
                                            .softening = 0.03,
                                            .boundary = BOUNDARY_PERIODIC,
                                            .box_length = 2.3 };

/* --- the reference ---------------------------------------------------------------------------- */

/* (a(t + h) - a(t - h)) / 2h = jerk + h^2/6 a''' + ..., with the bodies moving straight on; twice,
 * so that the term of h^2 goes. What remains of h = 1e-3 is h^4, and 1e-16 / h of rounding. */
static void check_finite_difference(const struct physics *physics)
{
    const double h = 1e-3;
    struct bodies *const bodies = bodies_of(37, 0);
    const struct reference_motion motion = motion_of(bodies, 1);
    double *const x[3] = { bodies->x + bodies->stride, bodies->y + bodies->stride,
                           bodies->z + bodies->stride };
    for (size_t i = 0; i < bodies->count; i += 5) {
        double a[3], jerk[3], difference[2][3] = { { 0 } }, size = 0;
        reference_jerk(physics, &motion, i, a, jerk);
        for (int k = 0; k < 4; k++) {
            const double by = (k % 2 ? -h : h) * (k < 2 ? 1 : 2);
            double moved[3], unused[3];
            for (int axis = 0; axis < 3; axis++)
                for (size_t j = 0; j < bodies->count; j++)
                    x[axis][j] += by * motion.v[axis][j];
            reference_jerk(physics, &motion, i, moved, unused);
            for (int axis = 0; axis < 3; axis++) {
                difference[k / 2][axis] += moved[axis] / (2 * by);
                for (size_t j = 0; j < bodies->count; j++)
                    x[axis][j] -= by * motion.v[axis][j];
            }
        }
        for (int axis = 0; axis < 3; axis++)
            size = fmax(size, fabs(jerk[axis]));
        for (int axis = 0; axis < 3; axis++)
            assert_close((4 * difference[0][axis] - difference[1][axis]) / 3, jerk[axis],
                         2e-6 * size);
    }
    bodies_destroy(bodies);
}

static void test_the_jerk_is_the_change_of_the_acceleration(void **state)
{
    (void)state;
    check_finite_difference(&(struct physics){ .gravitational_constant = 1.37, .softening = 0.2 });
    check_finite_difference(&(struct physics){ .gravitational_constant = 1.37,
                                               .softening = 0.2,
                                               .boundary = BOUNDARY_PERIODIC,
                                               .box_length = 7 });
}

/* Two bodies on a circle: a = -Omega^2 x, jerk = -Omega^2 v, with Omega^2 = G (m1 + m2) / d^3. */
static void test_a_circle(void **state)
{
    (void)state;
    const double m[2] = { 3, 1 }, x[2] = { -0.25, 0.75 }, zero[2] = { 0, 0 };
    const double omega = sqrt(1.37 * 4), v[2] = { -0.25 * omega, 0.75 * omega };
    const struct reference_motion motion = { m, { x, zero, zero }, { zero, v, zero }, 2 };
    double a[3], jerk[3];
    for (size_t i = 0; i < 2; i++) {
        reference_jerk(&physics_bare, &motion, i, a, jerk);
        assert_close(a[0], -omega * omega * x[i], 1e-14);
        assert_close(jerk[1], -omega * omega * v[i], 1e-14);
        assert_close(jerk[0], 0, 1e-14);
        assert_int_equal(reference_strongest(&physics_bare, &motion, i), 1 - i);
    }
}

static void test_the_strongest_pull(void **state)
{
    (void)state;
    /* from 0: 1/1, 9/9, 5/4; those at rest in one point pull nothing unless nothing softens */
    const double m[4] = { 1, 1, 9, 5 }, x[4] = { 0, 1, 3, -2 }, zero[4] = { 0 };
    const struct reference_motion motion = { m, { x, zero, zero }, { zero, zero, zero }, 4 };
    assert_int_equal(reference_strongest(&physics_bare, &motion, 0), 3);
    const struct reference_motion one = { m, { x, zero, zero }, { zero, zero, zero }, 1 };
    assert_int_equal(reference_strongest(&physics_bare, &one, 0), 0);
    const struct reference_motion same = { m, { zero, zero, zero }, { zero, zero, zero }, 2 };
    assert_int_equal(reference_strongest(&physics_bare, &same, 0), 1);
    const struct reference_motion massless = { zero, { x, zero, zero }, { zero, zero, zero }, 4 };
    assert_int_equal(reference_strongest(&physics_bare, &massless, 0), 0);
}

/* --- the kernels ------------------------------------------------------------------------------ */

struct sums {
    double *of[SUMS];
};

static struct sums sums_of(size_t count)
{
    struct sums sums;
    for (int n = 0; n < SUMS; n++) {
        sums.of[n] = memory_array(count, sizeof(double), &error);
        assert_non_null(sums.of[n]);
    }
    return sums;
}

static void sums_free(const struct sums *sums)
{
    for (int n = 0; n < SUMS; n++)
        memory_free(sums->of[n]);
}

static struct jerk *jerk_of(const struct physics *physics, enum precision precision,
                            const char *isa, int threads, size_t count)
{
    struct jerk *jerk;
    const struct force_options options = {
        .precision = precision, .kernel = "auto", .isa = isa, .threads = threads
    };
    assert_int_equal(jerk_create(&options, physics, count, true, &jerk, &error), STATUS_OK);
    return jerk;
}

/* For the bodies of system 1, by a team that divides the packing too. */
static void run(struct jerk *jerk, int threads, const struct bodies *bodies, const uint32_t *active,
                size_t count, const struct sums *sums)
{
    const struct reference_motion motion = motion_of(bodies, 1);
    jerk_open(jerk, bodies, 1);
#pragma omp parallel num_threads(threads)
    {
        const size_t blocks = bodies->stride / BODIES_PADDING;
        const size_t rank = (size_t)omp_get_thread_num(), size = (size_t)omp_get_num_threads();
        jerk_pack(jerk, motion.x, motion.v, blocks * rank / size * BODIES_PADDING,
                  blocks * (rank + 1) / size * BODIES_PADDING);
        jerk_sum(jerk, active, count, sums->of, sums->of + 3);
    }
}

/* Relative to sums of sizes: sum_j m_j / s^2 and sum_j m_j (|v| + 3 |v|) / s^3. */
static void sizes_of(const struct physics *physics, const struct reference_motion *motion, size_t i,
                     double sizes[2])
{
    const double eps2 = physics->softening * physics->softening;
    sizes[0] = sizes[1] = 0;
    for (size_t j = 0; j < motion->count; j++) {
        double s2 = eps2, v2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            double d = motion->x[axis][j] - motion->x[axis][i];
            if (physics->boundary == BOUNDARY_PERIODIC)
                d = physics_nearest_image(d, physics->box_length);
            const double v = motion->v[axis][j] - motion->v[axis][i];
            s2 += d * d;
            v2 += v * v;
        }
        if (j != i) {
            sizes[0] += physics->gravitational_constant * motion->m[j] / s2;
            sizes[1] += physics->gravitational_constant * motion->m[j] * 4 * sqrt(v2 / s2) / s2;
        }
    }
}

static void check_kernel(const struct physics *physics, enum precision precision, const char *isa,
                         size_t count, double far)
{
    struct bodies *const bodies = bodies_of(count, far);
    const struct reference_motion motion = motion_of(bodies, 1);
    struct jerk *const jerk = jerk_of(physics, precision, isa, 1, count);
    const struct sums sums = sums_of(count);
    uint32_t *const active = memory_array(count, sizeof *active, &error);
    for (size_t i = 0; i < count; i++)
        active[i] = (uint32_t)i;
    run(jerk, 1, bodies, active, count, &sums);
    /* A dozen roundings make a term, most of which cancel among many terms; positions are read from
     * doubles, whose own rounding is `far` times larger. */
    const double unit = precision == PRECISION_DOUBLE ? 0x1p-53 : 0x1p-24;
    const double tolerance = 16 * unit + 100 * far * 0x1p-53;
    for (size_t i = 0; i < count; i++) {
        double expected[SUMS], sizes[2];
        reference_jerk(physics, &motion, i, expected, expected + 3);
        sizes_of(physics, &motion, i, sizes);
        for (int n = 0; n < SUMS; n++)
            if (!(fabs(sums.of[n][i] - expected[n]) <= tolerance * sizes[n / 3]))
                fail_msg("%s %s, %zu bodies at %g, body %zu, sum %d: %.17g in place of %.17g, %g "
                         "of %g",
                         isa, precision_names[precision], count, far, i, n, sums.of[n][i],
                         expected[n], fabs(sums.of[n][i] - expected[n]) / sizes[n / 3], tolerance);
    }
    memory_free(active);
    sums_free(&sums);
    jerk_destroy(jerk);
    bodies_destroy(bodies);
}

static void test_kernels_agree_with_the_reference(void **state)
{
    (void)state;
    static const size_t counts[] = { 1, 2, 3, 16, 63, 65, 300 };
    static const struct physics *const all[] = { &physics_open, &physics_bare, &physics_box };
    for (int isa = 1; force_isa_names[isa]; isa++)
        for (int p = PRECISION_DOUBLE; p <= PRECISION_MIXED && force_isa_runs(force_isa_names[isa]);
             p++)
            for (size_t k = 0; k < COUNT_OF(all); k++)
                for (size_t c = 0; c < COUNT_OF(counts); c++)
                    check_kernel(all[k], (enum precision)p, force_isa_names[isa], counts[c], 0);
}

/* Tests that the low parts hold the digits of positions and velocities that floats would round
 * away. */
static void test_bodies_far_away_and_fast(void **state)
{
    (void)state;
    for (int isa = 1; force_isa_names[isa]; isa++)
        if (force_isa_runs(force_isa_names[isa]))
            check_kernel(&physics_open, PRECISION_MIXED, force_isa_names[isa], 300, 1e4);
}

/* Any team, and any choice of bodies in any order: threads divide bodies where many are due, and
 * the bodies that pull where few are. */
static void check_bits(enum precision precision, const char *isa)
{
    enum { COUNT = 4500 }; /* three chunks */
    struct bodies *const bodies = bodies_of(COUNT, 0);
    static uint32_t all[COUNT], some[COUNT];
    static const size_t numbers[] = { 1, 2, 3, 7, 23, 130 };
    const struct sums expected = sums_of(COUNT), sums = sums_of(COUNT);
    struct jerk *const one = jerk_of(&physics_open, precision, isa, 1, COUNT);
    for (uint32_t i = 0; i < 131; i++)
        all[i] = (i * 29) % COUNT;
    run(one, 1, bodies, all, 131, &expected);
    for (int threads = 1; threads <= 4; threads++) {
        struct jerk *const jerk = jerk_of(&physics_open, precision, isa, threads, COUNT);
        for (size_t c = 0; c < COUNT_OF(numbers); c++) {
            for (size_t k = 0; k < numbers[c]; k++)
                some[k] = all[(k * 37 + 5) % 131];
            run(jerk, threads, bodies, some, numbers[c], &sums);
            for (size_t k = 0; k < numbers[c]; k++)
                for (int n = 0; n < SUMS; n++)
                    if (memcmp(&sums.of[n][k], &expected.of[n][(k * 37 + 5) % 131],
                               sizeof(double)) != 0)
                        fail_msg("%s, %d threads, %zu of %d due: number %zu", isa, threads,
                                 numbers[c], COUNT, k);
        }
        jerk_destroy(jerk);
    }
    jerk_destroy(one);
    sums_free(&expected);
    sums_free(&sums);
    bodies_destroy(bodies);
}

static void test_the_same_bits_for_any_team(void **state)
{
    (void)state;
    for (int isa = 1; force_isa_names[isa]; isa++)
        for (int p = PRECISION_DOUBLE; p <= PRECISION_MIXED && force_isa_runs(force_isa_names[isa]);
             p++)
            check_bits((enum precision)p, force_isa_names[isa]);
    assert_int_equal(error.status, STATUS_OK);
}

/* Without jerks a body has the same acceleration, bit for bit, and nothing else is written. */
static void check_accelerations_alone(enum precision precision, const char *isa)
{
    enum { COUNT = 2100 }; /* two chunks */
    struct bodies *const bodies = bodies_of(COUNT, 0);
    const struct force_options options = {
        .precision = precision, .kernel = "auto", .isa = isa, .threads = 2
    };
    static const uint32_t active[] = { 3, 0, 39, 2017, 8, 9, 10 };
    static const struct physics *const all[] = { &physics_open, &physics_box };
    const struct sums expected = sums_of(COUNT), sums = sums_of(COUNT);
    for (size_t p = 0; p < COUNT_OF(all); p++) {
        struct jerk *both, *alone;
        assert_int_equal(jerk_create(&options, all[p], COUNT, true, &both, &error), STATUS_OK);
        assert_int_equal(jerk_create(&options, all[p], COUNT, false, &alone, &error), STATUS_OK);
        assert_string_equal(both->kernel, "hermite");
        assert_string_equal(alone->kernel, "due");
        run(both, 2, bodies, active, COUNT_OF(active), &expected);
        run(alone, 2, bodies, active, COUNT_OF(active), &sums);
        for (int n = 0; n < SUMS; n++)
            for (size_t k = 0; k < COUNT_OF(active); k++)
                assert_close(sums.of[n][k], n < 3 ? expected.of[n][k] : 0, 0);
        jerk_destroy(both);
        jerk_destroy(alone);
    }
    sums_free(&expected);
    sums_free(&sums);
    bodies_destroy(bodies);
}

static void test_accelerations_alone(void **state)
{
    (void)state;
    for (int isa = 1; force_isa_names[isa]; isa++)
        for (int p = PRECISION_DOUBLE;
             p <= PRECISION_SINGLE && force_isa_runs(force_isa_names[isa]); p++)
            check_accelerations_alone((enum precision)p, force_isa_names[isa]);
}

static void test_the_reference_by_its_name(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    struct bodies *const bodies = bodies_of(COUNT, 0);
    const struct force_options options = { .kernel = "reference", .isa = "auto", .threads = 3 };
    const struct reference_motion motion = motion_of(bodies, 1);
    static const uint32_t active[] = { 3, 0, 39, 17, 8, 9, 10 };
    const struct sums sums = sums_of(COUNT);
    struct jerk *jerk;
    assert_int_equal(jerk_create(&options, &physics_box, COUNT, true, &jerk, &error), STATUS_OK);
    assert_string_equal(jerk->kernel, "reference");
    run(jerk, 3, bodies, active, COUNT_OF(active), &sums);
    for (size_t k = 0; k < COUNT_OF(active); k++) {
        double expected[SUMS];
        reference_jerk(&physics_box, &motion, active[k], expected, expected + 3);
        for (int n = 0; n < SUMS; n++)
            assert_close(sums.of[n][k], expected[n], 0);
    }
    jerk_destroy(jerk);
    sums_free(&sums);
    bodies_destroy(bodies);
    const struct force_options gpu = { .kernel = "tiled", .isa = "auto", .threads = 1 };
    assert_int_equal(jerk_create(&gpu, &physics_box, COUNT, true, &jerk, &error), STATUS_CONFIG);
    assert_null(jerk);
    jerk_destroy(NULL);
    error_clear(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_jerk_is_the_change_of_the_acceleration),
        cmocka_unit_test(test_a_circle),
        cmocka_unit_test(test_the_strongest_pull),
        cmocka_unit_test(test_kernels_agree_with_the_reference),
        cmocka_unit_test(test_bodies_far_away_and_fast),
        cmocka_unit_test(test_the_same_bits_for_any_team),
        cmocka_unit_test(test_accelerations_alone),
        cmocka_unit_test(test_the_reference_by_its_name),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("jerk", tests, NULL, NULL);
}
