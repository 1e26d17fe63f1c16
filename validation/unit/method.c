/* The table of force methods, and that those who need forces ask the method of the options. */
#include <float.h>

#include "backend/backend.h"
#include "base/memory.h"
#include "force/method.h"
#include "motion-case.h"
#include "unit.h"

static const struct physics open_space = { .gravitational_constant = 1, .softening = 0.1 };

/* --- a method of the test: twice the forces of direct sums ------------------------------------ */

static void sum_twice(struct force *force, const struct bodies *bodies,
                      const struct force_item *item)
{
    force_direct.accelerations(force, bodies, item);
    const struct bodies *const b = item->batch ? item->batch : bodies;
    const size_t first = item->batch ? 0 : item->first * bodies->stride;
    const size_t last = item->batch ? b->count : item->last * bodies->stride;
    for (size_t i = first; i < last; i++) {
        b->ax[i] *= 2;
        b->ay[i] *= 2;
        b->az[i] *= 2;
    }
}

static double little_work(const struct force_options *options, double systems, double count)
{
    (void)options;
    return systems * count;
}

static struct force_method make_twice(void)
{
    struct force_method twice = force_direct;
    twice.name = "twice";
    twice.work = little_work;
    twice.accelerations = sum_twice;
    twice.jerk = NULL;
    return twice;
}

static enum status start(const char *backend, const struct force_method *method,
                         const char *integrator, struct bodies *bodies, struct backend **running,
                         struct error *error)
{
    const struct backend_options options = {
        .force = { .method = method, .kernel = "auto", .isa = "auto", .threads = 1 },
        .integrator = integrator_find(integrator)
    };
    return backend_find(backend)->create(&options, &open_space, bodies, running, error);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_table(void **state)
{
    (void)state;
    assert_string_equal(force_method_names[0], "direct");
    for (size_t k = 0; force_method_names[k]; k++) {
        assert_non_null(force_method_help[k]);
        assert_string_equal(force_method_find(force_method_names[k])->name, force_method_names[k]);
    }
    assert_null(force_method_find("none"));
    const struct force_method third = { .name = "third" };
    assert_false(force_method_takes(&force_direct, "accuracy"));
    assert_true(force_method_takes(&force_fmm, "accuracy"));
    assert_false(force_method_takes(&third, "accuracy"));
    assert_false(force_method_takes(&third, "precision"));
    assert_true(force_method_takes(&third, "threads"));
    assert_ptr_equal(force_method_of(&(struct force_options){ 0 }), &force_direct);
    const struct force_options named = force_options_named("direct", "mixed");
    assert_ptr_equal(named.method, &force_direct);
    assert_int_equal(named.precision, PRECISION_MIXED);
    assert_int_equal(force_options_named("", "double").precision, PRECISION_DOUBLE);
}

/* Tests direct sums: N^2 pairs a system; in double no errors but those of double, else those of
 * the pair terms in float; and nothing is left out. */
static void test_direct(void **state)
{
    (void)state;
    assert_true(force_work(&(struct force_options){ 0 }, 3, 1000) == 3e6);
    for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
        const struct force_options options = { .precision = (enum precision)p };
        const struct force_traits traits = force_traits(&options);
        assert_true(traits.rounding == (p == PRECISION_DOUBLE ? 0 : FLT_EPSILON));
        assert_true(traits.truncation == 0 && traits.kernels_agree);
        /* Noise grows from double to single, and is less than what a watch lets pass by default. */
        assert_true(traits.energy_noise > 0 && traits.energy_noise < 1e-4);
    }
}

/* Bodies of one system for threads together, batches of small systems, and systems alone. */
static void test_motion_asks_the_method(void **state)
{
    (void)state;
    const struct force_method twice = make_twice();
    const struct {
        size_t systems, count;
    } cases[] = { { 1, 300 }, { 40, 40 }, { 3, 8 } };
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        struct bodies *plain = motion_cube(cases[c].systems, cases[c].count, 5);
        struct bodies *other = motion_cube(cases[c].systems, cases[c].count, 5);
        struct backend *backends[2];
        struct error error = { 0 };
        struct backend_description description;
        assert_int_equal(start("openmp", NULL, "euler", plain, &backends[0], &error), STATUS_OK);
        assert_int_equal(start("openmp", &twice, "euler", other, &backends[1], &error), STATUS_OK);
        backends[1]->class_->describe(backends[1], &description);
        assert_ptr_equal(description.force.method, &twice);
        assert_string_not_equal(description.kernel, "small"); /* those are direct sums */
        double *const before = memory_array(bodies_length(plain), sizeof *before, &error);
        assert_non_null(before);
        memcpy(before, plain->vx, bodies_length(plain) * sizeof *before);
        /* One step of Euler's method adds dt a to the velocities: twice as much. */
        for (int k = 0; k < 2; k++)
            assert_int_equal(backends[k]->class_->advance(backends[k], integrator_find("euler"),
                                                          0x1p-6, 1, &error),
                             STATUS_OK);
        for (size_t s = 0; s < plain->systems; s++)
            for (size_t i = s * plain->stride; i < s * plain->stride + plain->count; i++) {
                const double one = plain->vx[i] - before[i], two = other->vx[i] - before[i];
                /* Rounding of two sums and of forces; "small" has other kernels. */
                assert_true(fabs(two - 2 * one) <= 1e-13 * (1 + fabs(one)));
                assert_true(one != 0);
            }
        for (int k = 0; k < 2; k++)
            backends[k]->class_->destroy(backends[k]);
        memory_free(before);
        bodies_destroy(plain);
        bodies_destroy(other);
    }
}

/* Tests that parts which do direct sums alone refuse others: the serial backend, and Hermite's
 * method if the force has no jerks. */
static void test_refusals(void **state)
{
    (void)state;
    const struct force_method twice = make_twice();
    struct bodies *bodies = motion_cube(1, 40, 5);
    struct backend *backend;
    struct error error = { 0 };
    assert_int_equal(start("serial", &twice, "euler", bodies, &backend, &error), STATUS_CONFIG);
    assert_string_equal(error.text, "compute.method = \"twice\": the serial backend sums over all "
                                    "pairs, by \"direct\" alone");
    error_clear(&error);
    assert_int_equal(start("openmp", &twice, "hermite4", bodies, &backend, &error), STATUS_CONFIG);
    assert_string_equal(error.text, "compute.method = \"twice\": hermite4 sums over all pairs, by "
                                    "\"direct\" alone");
    bodies_destroy(bodies);
}

/* Tests that nothing else changes if forces shall be exact. */
static void test_exact(void **state)
{
    (void)state;
    const struct force_method twice = make_twice();
    const struct force_options options = { .method = &twice,
                                           .precision = PRECISION_SINGLE,
                                           .kernel = "plain",
                                           .isa = "baseline",
                                           .threads = 7 };
    const struct force_options exact = force_exact(&options);
    assert_ptr_equal(exact.method, &force_direct);
    assert_int_equal(exact.precision, PRECISION_DOUBLE);
    assert_string_equal(exact.kernel, "plain");
    assert_int_equal(exact.threads, 7);
    assert_true(force_work(&options, 2, 100) == 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_direct),
        cmocka_unit_test(test_motion_asks_the_method),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
