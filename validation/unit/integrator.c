#include "unit.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "integrator/integrator.h"

/* Sums of a few numbers near 1, each rounded to double. */
static const double ROUNDING = 8 * DBL_EPSILON;

static double coefficient_sum(const struct integrator *integrator, enum verb verb)
{
    double sum = 0;
    for (size_t k = 0; k < integrator->stage_count; k++)
        if (integrator->stages[k].verb == verb)
            sum += integrator->stages[k].coefficient;
    return sum;
}

static void test_rows_are_found_by_name(void **state)
{
    (void)state;
    const char *const names[] = { "euler", "semi-implicit-euler", "velocity-verlet", "leapfrog-dkd",
                                  "yoshida4" };
    for (size_t k = 0; k < COUNT_OF(names); k++)
        assert_string_equal(integrator_find(names[k])->variant.name, names[k]);
    assert_null(integrator_find("yoshida"));
    size_t count = 0;
    for (; integrator_at(count); count++) {
        const struct integrator *row = integrator_at(count);
        assert_ptr_equal(integrator_find(row->variant.name), row);
        assert_ptr_equal(integrator_variant(count), &row->variant);
        assert_true(strlen(row->variant.help) > 0 && strlen(row->source) > 0);
    }
    assert_true(count >= COUNT_OF(names));
    assert_null(integrator_variant(count));
}

/* Consistency: a whole step moves time by dt for positions and for velocities. */
static void test_coefficients_sum_to_one(void **state)
{
    (void)state;
    for (size_t k = 0; integrator_at(k); k++) {
        assert_close(coefficient_sum(integrator_at(k), VERB_KICK), 1, ROUNDING);
        assert_close(coefficient_sum(integrator_at(k), VERB_DRIFT), 1, ROUNDING);
    }
}

/* Forces left out, the kicks and drifts of a step. */
static size_t moves(const struct integrator *integrator, struct stage *list)
{
    size_t count = 0;
    for (size_t k = 0; k < integrator->stage_count; k++)
        if (integrator->stages[k].verb != VERB_FORCE)
            list[count++] = integrator->stages[k];
    return count;
}

/* A step that reads the same backwards undoes itself when dt changes sign. */
static void test_reversible_rows_are_symmetric(void **state)
{
    (void)state;
    for (size_t k = 0; integrator_at(k); k++) {
        struct stage list[INTEGRATOR_MAX_STAGES];
        const size_t count = moves(integrator_at(k), list);
        bool symmetric = true;
        for (size_t i = 0; i < count; i++) {
            const struct stage *mirror = &list[count - 1 - i];
            symmetric &= list[i].verb == mirror->verb &&
                         fabs(list[i].coefficient - mirror->coefficient) <= ROUNDING;
        }
        assert_int_equal(symmetric, integrator_at(k)->reversible);
    }
}

/*
 * A backend keeps one array of forces. Every kick must find those of the positions that it is
 * meant for: a row that starts with a kick must leave the step with a(x) of its last positions
 * (first same as last), and a symplectic row kicks only with the current ones.
 */
static void test_kicks_find_their_forces(void **state)
{
    (void)state;
    for (size_t k = 0; integrator_at(k); k++) {
        const struct integrator *row = integrator_at(k);
        bool current = integrator_needs_initial_force(row), stale_kick = false;
        for (size_t i = 0; i < row->stage_count; i++) {
            stale_kick |= row->stages[i].verb == VERB_KICK && !current;
            if (row->stages[i].verb != VERB_KICK)
                current = row->stages[i].verb == VERB_FORCE;
        }
        assert_int_equal(stale_kick, !row->symplectic);
        if (integrator_needs_initial_force(row))
            assert_true(current);
    }
}

static void test_forces_are_counted(void **state)
{
    (void)state;
    const struct {
        const char *name;
        size_t forces;
        bool initial;
    } expected[] = {
        { "euler", 1, false },          { "semi-implicit-euler", 1, false },
        { "velocity-verlet", 1, true }, { "leapfrog-dkd", 1, false },
        { "yoshida4", 3, false },       { "pefrl", 4, false },
        { "yoshida6", 7, false },
    };
    for (size_t k = 0; k < COUNT_OF(expected); k++) {
        const struct integrator *row = integrator_find(expected[k].name);
        assert_int_equal(integrator_forces_per_step(row), expected[k].forces);
        assert_int_equal(integrator_needs_initial_force(row), expected[k].initial);
    }
}

/* Yoshida's conditions on compositions of leapfrogs S(w dt): sum w^3 = 0 for order 4, and sum w^5
 * = 0 beside it for order 6 (which needs one more, on a commutator; the observed order shows it).
 */
static void test_compositions_meet_the_order_conditions(void **state)
{
    (void)state;
    const struct {
        const char *name;
        int powers[3];
    } rows[] = { { "yoshida4", { 3, 0 } }, { "yoshida6", { 3, 5, 0 } } };
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        const struct integrator *row = integrator_find(rows[k].name);
        for (const int *power = rows[k].powers; *power; power++) {
            double sum = 0;
            for (size_t i = 0; i < row->stage_count; i++)
                if (row->stages[i].verb == VERB_KICK)
                    sum += pow(row->stages[i].coefficient, *power);
            /* The terms are of size up to 5. */
            assert_close(sum, 0, 8 * ROUNDING);
        }
    }
}

/*
 * Of a splitting that is symmetric in time, order 4 asks for two sums more. Under a force that
 * grows as t^2 the velocity is right when sum kick (time so far)^2 = 1/3, and the other way round
 * when sum drift (kicks so far)^2 = 1/3.
 */
static void test_fourth_order_to_the_last_digit(void **state)
{
    (void)state;
    size_t checked = 0;
    for (size_t k = 0; integrator_at(k); k++) {
        const struct integrator *row = integrator_at(k);
        double time = 0, kicks = 0, by_time = 0, by_kicks = 0;
        for (size_t i = 0; i < row->stage_count && row->order >= 4; i++) {
            const struct stage stage = row->stages[i];
            if (stage.verb == VERB_KICK) {
                by_time += stage.coefficient * time * time;
                kicks += stage.coefficient;
            } else if (stage.verb == VERB_DRIFT) {
                by_kicks += stage.coefficient * kicks * kicks;
                time += stage.coefficient;
            }
        }
        if (row->order < 4)
            continue;
        assert_close(by_time, 1.0 / 3, 8 * ROUNDING);
        assert_close(by_kicks, 1.0 / 3, 8 * ROUNDING);
        checked++;
    }
    assert_int_equal(checked, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_found_by_name),
        cmocka_unit_test(test_coefficients_sum_to_one),
        cmocka_unit_test(test_reversible_rows_are_symmetric),
        cmocka_unit_test(test_kicks_find_their_forces),
        cmocka_unit_test(test_forces_are_counted),
        cmocka_unit_test(test_compositions_meet_the_order_conditions),
        cmocka_unit_test(test_fourth_order_to_the_last_digit),
    };
    return cmocka_run_group_tests_name("integrator", tests, NULL, NULL);
}
