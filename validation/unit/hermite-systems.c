/* hermite4 for all systems of a run. */
#include "unit.h"

#include "hermite-case.h"

static const struct physics soft = { .gravitational_constant = 1, .softening = 0.02 };

static struct adaptive *start(struct bodies *bodies, enum precision precision, int threads,
                              double refinement)
{
    return case_start(&soft, bodies, precision, threads, refinement);
}

static const struct block_case hermite = { start, false, PRECISION_MIXED, 6, 0.2, 1e-5 };

static void test_the_same_bits_for_any_threads_and_cadence(void **state)
{
    (void)state;
    case_check_schedules(&hermite);
}

static void test_a_system_alone_and_among_others(void **state)
{
    (void)state;
    case_check_alone(&hermite);
}

static void test_it_goes_on_from_what_was_saved(void **state)
{
    (void)state;
    case_check_saved(&hermite);
}

static void test_a_finer_copy(void **state)
{
    (void)state;
    case_check_finer(&hermite);
}

/* Steps that are as long as the grid's become half as long where both are refined. */
static void test_a_finer_copy_on_the_grid(void **state)
{
    (void)state;
    struct bodies *const own = case_pair(0.3);
    struct adaptive *const run_own = case_start(&case_newton, own, PRECISION_DOUBLE, 1, 1);
    case_advance(run_own, 0.02, 50);
    struct bodies *const copy = case_copy(own);
    struct adaptive *const shadow = case_start(&case_newton, copy, PRECISION_DOUBLE, 1, 2);
    hermite_class.copy_system(shadow, 0, run_own, 0);
    const double before = case_statistics(run_own, 0).steps;
    case_advance(run_own, 0.02, 50);
    case_advance(shadow, 0.01, 100);
    assert_close(case_statistics(run_own, 0).steps - before, 2 * 50, 0);
    assert_close(case_statistics(shadow, 0).steps - before, 2 * 100, 0);
    hermite_class.destroy(run_own);
    hermite_class.destroy(shadow);
    bodies_destroy(own);
    bodies_destroy(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_bits_for_any_threads_and_cadence),
        cmocka_unit_test(test_a_system_alone_and_among_others),
        cmocka_unit_test(test_it_goes_on_from_what_was_saved),
        cmocka_unit_test(test_a_finer_copy),
        cmocka_unit_test(test_a_finer_copy_on_the_grid),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("hermite-systems", tests, NULL, NULL);
}
