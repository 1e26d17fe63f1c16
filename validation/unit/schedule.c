/* The schedule: when things happen. */
#include "unit.h"

#include "observation/schedule.h"

static void test_next_event(void **state)
{
    (void)state;
    const struct trigger triggers[] = { { 20 }, { 7 }, { UINT64_MAX } };
    /* Multiples of 7 and 20 up to 41, and the last step. */
    const uint64_t expected[] = { 7, 14, 20, 21, 28, 35, 40, 41, 41 };
    uint64_t step = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        step = trigger_next(triggers, 3, step, 41);
        assert_int_equal(step, expected[i]);
    }
    assert_int_equal(trigger_next(triggers, 0, 3, 41), 41);
}

static void test_firing(void **state)
{
    (void)state;
    const struct trigger trigger = { 20 };
    assert_true(trigger_fires(trigger, 0, 41));
    assert_true(trigger_fires(trigger, 40, 41));
    assert_true(trigger_fires(trigger, 41, 41));
    assert_false(trigger_fires(trigger, 39, 41));
}

/* As many as it fires at, from the step after this one on. */
static void test_events_are_counted(void **state)
{
    (void)state;
    for (uint64_t every = 1; every <= 9; every++)
        for (uint64_t last = 0; last <= 24; last++)
            for (uint64_t step = 0; step <= last + 1; step++) {
                const struct trigger trigger = { every };
                uint64_t events = 0;
                for (uint64_t next = step + 1; next <= last; next++)
                    events += trigger_fires(trigger, next, last);
                assert_int_equal(trigger_events(trigger, step, last), events);
            }
}

/* Two diagnostics and an output, in a run of 41 steps. */
static void test_schedule_of_a_run(void **state)
{
    (void)state;
    struct schedule schedule;
    struct error error = { 0 };
    assert_int_equal(schedule_create(2, 1, 41, &schedule, &error), STATUS_OK);
    assert_int_equal(schedule_next(&schedule), 41); /* nothing has a cadence yet */
    schedule_diagnostic(&schedule, 0)->every = 7;
    schedule_diagnostic(&schedule, 1)->every = 10;
    schedule_output(&schedule, 0)->every = 20;
    schedule.triggers[SCHEDULE_CHECKPOINT].every = 13;
    const uint64_t expected[] = { 7, 10, 13, 14, 20, 21, 26, 28, 30, 35, 39, 40, 41 };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(schedule_next(&schedule), expected[i]);
        schedule_advance(&schedule, expected[i] - schedule.step);
    }
    assert_close(schedule_events(&schedule, schedule_output(&schedule, 0)), 4.0,
                 0.0); /* 0 20 40 41 */
    assert_true(schedule_fires(&schedule, schedule_output(&schedule, 0)));
    assert_true(schedule_off_cadence(&schedule)); /* 41 is a multiple of none */
    schedule_destroy(&schedule);
}

/* A run that is cut short happens at its last step as if it went on, and what the end adds. */
static void test_cut(void **state)
{
    (void)state;
    struct schedule schedule;
    struct error error = { 0 };
    assert_int_equal(schedule_create(2, 0, 40, &schedule, &error), STATUS_OK);
    schedule_diagnostic(&schedule, 0)->every = 5;
    schedule_diagnostic(&schedule, 1)->every = 8;
    schedule_advance(&schedule, 15);
    assert_true(schedule_fires(&schedule, schedule_diagnostic(&schedule, 0)));
    assert_false(schedule_fires(&schedule, schedule_diagnostic(&schedule, 1)));
    schedule_cut(&schedule);
    assert_int_equal(schedule.last, 15);
    assert_false(schedule_fires(&schedule, schedule_diagnostic(&schedule, 0))); /* it has already */
    assert_true(schedule_fires(&schedule, schedule_diagnostic(&schedule, 1)));
    assert_false(schedule_off_cadence(&schedule)); /* no later end was planned to take rows back */
    schedule_destroy(&schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_event),
        cmocka_unit_test(test_firing),
        cmocka_unit_test(test_events_are_counted),
        cmocka_unit_test(test_schedule_of_a_run),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
