/* The schedule: when things happen. */
#include "unit.h"

#include "run/schedule.h"

static void test_next_event(void **state)
{
    (void)state;
    const struct trigger triggers[] = { { 20 }, { 7 }, { UINT64_MAX } };
    /* Multiples of 7 and 20 up to 41, and the last step. */
    const uint64_t expected[] = { 7, 14, 20, 21, 28, 35, 40, 41, 41 };
    uint64_t step = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        step = schedule_next(triggers, 3, step, 41);
        assert_int_equal(step, expected[i]);
    }
    assert_int_equal(schedule_next(triggers, 0, 3, 41), 41);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_event),
        cmocka_unit_test(test_firing),
        cmocka_unit_test(test_events_are_counted),
    };
    return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
