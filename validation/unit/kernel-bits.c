/* The force kernels that this machine runs: their bits are the same for any team and for a system
 * alone or in a batch; and which of them are chosen. */
#include "unit.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "force/direct/direct.h"
#include "force/direct/reference.h"
#include "kernel-case.h"

static struct error error;

/* --- the same bits ---------------------------------------------------------------------------- */

static const int team_sizes[] = { 1, 2, 3, 4, 7, 0 };

static void assert_same_bits(const struct bodies *bodies, const double *expected, const char *what)
{
    const size_t bytes = bodies_length(bodies) * sizeof(double);
    const double *const a[3] = { bodies->ax, bodies->ay, bodies->az };
    for (int axis = 0; axis < 3; axis++)
        if (memcmp(a[axis], expected + (size_t)axis * bodies_length(bodies), bytes))
            fail_msg("%s: the bits differ", what);
}

static void keep(const struct bodies *bodies, double *expected)
{
    const size_t length = bodies_length(bodies), bytes = length * sizeof(double);
    memcpy(expected, bodies->ax, bytes);
    memcpy(expected + length, bodies->ay, bytes);
    memcpy(expected + 2 * length, bodies->az, bytes);
}

/* Compares teams of each number of threads, 0 after the last, with each system alone by one
 * thread. */
static void check_teams(const struct bodies *bodies, const struct physics *physics,
                        struct force_options options, const int threads[])
{
    double *const expected = memory_array(3 * bodies_length(bodies), sizeof *expected, &error);
    assert_non_null(expected);
    for (size_t s = 0; s < bodies->systems; s++) {
        const struct bodies one = case_view(bodies, s);
        case_run(&options, physics, &one);
    }
    keep(bodies, expected);
    for (size_t k = 0; threads[k] > 0; k++) {
        char what[100];
        options.threads = threads[k];
        snprintf(what, sizeof what, "%s %s %s, %zu x %zu on %d threads",
                 precision_names[options.precision], options.kernel, options.isa, bodies->systems,
                 bodies->count, options.threads);
        case_guard(bodies);
        case_run(&options, physics, bodies);
        assert_same_bits(bodies, expected, what);
    }
    memory_free(expected);
}

static void check_bits(size_t systems, size_t count, enum precision precision, const char *kernel)
{
    const struct problem problem = {
        count, CLUSTERED, RANDOM, { 1.37, 0.01, BOUNDARY_OPEN, 0, 0, NULL, NULL, NULL }
    };
    struct bodies *const bodies = motion_bodies(systems, count);
    case_fill(&problem, bodies, 11);
    check_teams(bodies, &problem.physics, case_options(precision, kernel, "auto", 1), team_sizes);
    bodies_destroy(bodies);
}

/* Small systems go through the lanes of one kernel, if there are enough of them for each thread,
 * and come out as from the plain one; those of equal masses together with others. */
static void check_batches(const struct problem *problem, enum precision precision, const char *isa,
                          bool kinds)
{
    static const int few_threads[] = { 1, 2, 3, 0 };
    struct bodies *const bodies = motion_bodies(37, problem->count);
    case_fill(problem, bodies, 13);
    for (size_t i = 0; i < bodies_length(bodies); i++) {
        bodies->x[i] *= (double)(1 + i / bodies->stride); /* no two of one scale */
        if (kinds && i / bodies->stride == 20)
            bodies->m[i] = i % bodies->stride < problem->count ? 49 : 0; /* 49 (1/49) < 1 */
    }
    check_teams(bodies, &problem->physics, case_options(precision, "plain", isa, 1), few_threads);
    bodies_destroy(bodies);
}

static void test_same_bits_in_batches(void **state)
{
    (void)state;
    static const size_t few[] = { 1, 2, 3, 4, 5, 17, 64, 101, 255, 256, 257 };
    for (size_t isa = 0; case_isa(isa); isa++)
        for (size_t c = 0; c < COUNT_OF(few) && case_isa_runs(case_isa(isa)); c++)
            for (size_t p = 0; precision_names[p]; p++)
                for (int masses = 0; masses < MASSES; masses++) {
                    const struct problem problem = { few[c],
                                                     c % 2 ? CLUSTERED : UNIFORM,
                                                     (enum masses)masses,
                                                     { 1.37, masses ? 0.01 : 0, BOUNDARY_OPEN, 0, 0,
                                                       NULL, NULL, NULL } };
                    check_batches(&problem, (enum precision)p, case_isa(isa), c % 2 == 1);
                }
}

/* 4100 bodies in double precision take more than one wave of rounds (force.c). */
static void test_same_bits_on_any_threads(void **state)
{
    (void)state;
    static const struct layout_case {
        size_t systems, count;
    } cases[] = { { 1, 19 }, { 1, 1000 }, { 1, 4100 }, { 2, 333 }, { 5, 600 }, { 23, 35 } };
    for (size_t c = 0; c < COUNT_OF(cases); c++)
        for (size_t p = 0; precision_names[p]; p++)
            for (size_t k = 0; k < COUNT_OF(case_kernels); k++)
                check_bits(cases[c].systems, cases[c].count, (enum precision)p, case_kernels[k]);
}

static void test_same_potentials_on_any_threads(void **state)
{
    (void)state;
    const struct problem problem = {
        777, UNIFORM, RANDOM, { 1.37, 0.01, BOUNDARY_OPEN, 0, 0, NULL, NULL, NULL }
    };
    struct bodies *const bodies = motion_bodies(3, problem.count);
    case_fill(&problem, bodies, 11);
    const size_t length = bodies_length(bodies);
    double *const phi = memory_array(4 * length, sizeof *phi, &error), *const psi = phi + length;
    assert_non_null(phi);
    for (size_t k = 0; team_sizes[k] > 0; k++) {
        const struct force_options options =
            case_options(PRECISION_DOUBLE, "auto", "auto", team_sizes[k]);
        struct force *force;
        assert_int_equal(force_create(&options, &problem.physics, bodies, &force, &error), 0);
#pragma omp parallel num_threads(options.threads)
        force_potentials(force, bodies, phi, psi);
        force_destroy(force);
        if (k == 0)
            memcpy(phi + 2 * length, phi, 2 * length * sizeof *phi);
        assert_memory_equal(phi, phi + 2 * length, 2 * length * sizeof *phi);
    }
    memory_free(phi);
    bodies_destroy(bodies);
}

/* --- the bits of the reference ---------------------------------------------------------------- */

static void find_potentials(const struct force_options *options, const struct physics *physics,
                            const struct bodies *bodies, double *phi, double *psi)
{
    struct force *force;
    assert_int_equal(force_create(options, physics, bodies, &force, &error), 0);
#pragma omp parallel num_threads(options->threads)
    force_potentials(force, bodies, phi, psi);
    force_destroy(force);
}

/* Compares the kernel `portable` with the loops of reference.c, for some numbers of threads. Two
 * bodies of a system are in one place. */
static void check_portable(const struct problem *problem, size_t systems, const char *isa)
{
    struct bodies *const bodies = motion_bodies(systems, problem->count);
    const size_t length = bodies_length(bodies);
    double *const expected = memory_array(7 * length, sizeof *expected, &error);
    assert_non_null(expected);
    double *const phi = expected + 3 * length, *const psi = expected + 4 * length;
    case_fill(problem, bodies, 17);
    for (size_t s = 0; s < systems && problem->count > 2; s++) {
        const size_t i = s * bodies->stride;
        bodies->x[i + 1] = bodies->x[i];
        bodies->y[i + 1] = bodies->y[i];
        bodies->z[i + 1] = bodies->z[i];
    }
    reference_accelerations(&problem->physics, bodies);
    reference_potentials(&problem->physics, bodies, expected + 5 * length, expected + 6 * length);
    keep(bodies, expected);
    for (int threads = 1; threads <= 3; threads++) {
        char what[100];
        const struct force_options options =
            case_options(PRECISION_DOUBLE, "portable", isa, threads);
        snprintf(what, sizeof what, "portable %s, %zu x %zu on %d threads", isa, systems,
                 problem->count, threads);
        case_guard(bodies);
        case_run(&options, &problem->physics, bodies);
        assert_same_bits(bodies, expected, what);
        find_potentials(&options, &problem->physics, bodies, phi, psi);
        assert_memory_equal(phi, expected + 5 * length, 2 * length * sizeof *phi);
    }
    memory_free(expected);
    bodies_destroy(bodies);
}

static void test_portable_has_the_bits_of_the_reference(void **state)
{
    (void)state;
    static const size_t shapes[][2] = { { 1, 1 }, { 1, 2 }, { 1, 17 }, { 1, 1000 }, { 3, 65 } };
    static const struct physics spaces[] = {
        { 1.37, 0, BOUNDARY_OPEN, 0, 0, NULL, NULL, NULL },
        { 1.37, 0.01, BOUNDARY_OPEN, 0, 0, NULL, NULL, NULL },
        { 1.37, 0.01, BOUNDARY_PERIODIC, 1.3719, 0, NULL, NULL, NULL },
    };
    for (size_t isa = 0; case_isa(isa); isa++)
        for (size_t n = 0; n < COUNT_OF(shapes) * COUNT_OF(spaces) && case_isa_runs(case_isa(isa));
             n++) {
            const size_t *const shape = shapes[n / COUNT_OF(spaces)];
            const struct problem problem = { shape[1], n % 2 ? CLUSTERED : UNIFORM,
                                             (enum masses)((n + n / MASSES) % MASSES),
                                             spaces[n % COUNT_OF(spaces)] };
            check_portable(&problem, shape[0], case_isa(isa));
        }
}

static void test_portable_computes_in_double_only(void **state)
{
    (void)state;
    const struct physics physics = { .gravitational_constant = 1 };
    struct force *force;
    struct bodies *const bodies = motion_bodies(1, 100);
    for (int p = PRECISION_MIXED; p <= PRECISION_SINGLE; p++) {
        const struct force_options options = case_options((enum precision)p, "portable", "auto", 1);
        assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_CONFIG);
        assert_non_null(strstr(error.text, "\"portable\" computes in double only"));
        error_clear(&error);
    }
    bodies_destroy(bodies);
}

/* --- the choice ------------------------------------------------------------------------------- */

static void test_instruction_sets_are_chosen(void **state)
{
    (void)state;
    const struct physics physics = { .gravitational_constant = 1 };
    struct force *force;
    struct bodies *const bodies = motion_bodies(1, 100);
    struct force_options options = case_options(PRECISION_DOUBLE, "plain", "auto", 1);

    setenv("ORRERY_ISA", "baseline", 1);
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
    assert_string_equal(force->isa, "baseline");
    assert_string_equal(force->kernel, "plain");
    force_destroy(force);

    setenv("ORRERY_ISA", "mmx", 1);
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_UNAVAILABLE);
    assert_non_null(strstr(error.text, "ORRERY_ISA = mmx"));
    assert_null(force);
    error_clear(&error);

    unsetenv("ORRERY_ISA");
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
    assert_true(force_isa_suits(force->isa));
    force_destroy(force);
    assert_true(force_isa_suits("auto") && force_isa_suits("baseline"));
    assert_false(force_isa_runs("mmx") || force_isa_suits("mmx"));

    setenv("ORRERY_ISA", "mmx", 1);
    options.isa = "baseline"; /* the config is the stronger one */
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
    force_destroy(force);
    unsetenv("ORRERY_ISA");

    options.kernel = "reference";
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
    assert_string_equal(force->kernel, "reference");
    force_destroy(force);
    bodies_destroy(bodies);
}

/* Tests the hash of the estimates by which CPUs of one instruction set differ: with SSE2 and AVX2
 * it is that of one and the same instruction, which this test asks itself. */
static void test_estimates_of_the_cpu_are_told(void **state)
{
    (void)state;
    assert_int_equal(direct_estimates("portable"), 0);
    assert_int_not_equal(direct_estimates("baseline"), 0);
#ifdef __SSE2__
    double estimates[2][KERNEL_ESTIMATES];
    for (int k = 0; k < KERNEL_ESTIMATES; k++) {
        const float a = 1 + 3.0F * (float)k / KERNEL_ESTIMATES;
        estimates[0][k] = estimates[1][k] = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(a)));
    }
    const uint32_t expected = (uint32_t)XXH3_64bits(estimates, sizeof estimates);
    const char *const same[] = { "baseline", "avx2", "avx2-zen" };
    for (size_t k = 0; k < COUNT_OF(same); k++)
        if (force_isa_runs(same[k]))
            assert_int_equal(direct_estimates(same[k]), expected);
    if (force_isa_runs("avx512"))
        assert_int_not_equal(direct_estimates("avx512"), expected);
#endif
}

/* Newton's third law divides by masses; where one is 0 the plain kernel does the work. */
static void test_massless_bodies_take_the_plain_kernel(void **state)
{
    (void)state;
    const struct problem problem = {
        300, UNIFORM, SOME_ZERO, { 1, 0.1, BOUNDARY_OPEN, 0, 0, NULL, NULL, NULL }
    };
    struct force *force;
    struct bodies *const bodies = motion_bodies(1, problem.count);
    case_fill(&problem, bodies, 2);
    const struct force_options options = case_options(PRECISION_DOUBLE, "symmetric", "auto", 1);
    assert_int_equal(force_create(&options, &problem.physics, bodies, &force, &error), STATUS_OK);
    assert_string_equal(force->kernel, "plain");
    force_destroy(force);
    bodies_destroy(bodies);
}

int main(void)
{
    case_tell_skipped();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_on_any_threads),
        cmocka_unit_test(test_same_bits_in_batches),
        cmocka_unit_test(test_same_potentials_on_any_threads),
        cmocka_unit_test(test_portable_has_the_bits_of_the_reference),
        cmocka_unit_test(test_portable_computes_in_double_only),
        cmocka_unit_test(test_instruction_sets_are_chosen),
        cmocka_unit_test(test_estimates_of_the_cpu_are_told),
        cmocka_unit_test(test_massless_bodies_take_the_plain_kernel),
    };
    return cmocka_run_group_tests_name("kernel-bits", tests, NULL, NULL);
}
