/* Work in a child process: what comes back, and every way in which it can end. */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"

static const struct child_limits limits = { 60, 1 << 28 };

/* Sends as many numbers as it is asked for, and then ends as it is asked to. */
struct task {
    int numbers, signal;
};

static void work(int to, void *context)
{
    const struct task *task = context;
    for (int i = 0; i < task->numbers; i++)
        if (!child_send(to, &i, sizeof i))
            return;
    if (task->signal)
        raise(task->signal);
}

static enum status receive(struct task task, const struct child_limits *most, int wanted,
                           struct error *error)
{
    struct child *child;
    bool whole = true;
    *error = (struct error){ 0 };
    assert_int_equal(child_start(work, &task, most, &child, error), STATUS_OK);
    for (int i = 0; i < wanted && whole; i++) {
        int number = -1;
        whole = child_receive(child, &number, sizeof number);
        if (whole)
            assert_int_equal(number, i);
    }
    return child_end(child, whole, "a.hdf5", error);
}

static void test_numbers_come_back(void **state)
{
    (void)state;
    struct error error;
    assert_int_equal(receive((struct task){ 3000, 0 }, &limits, 3000, &error), STATUS_OK);
    /* More than a pipe holds, of which the caller wants three. */
    assert_int_equal(receive((struct task){ 1 << 22, 0 }, &limits, 3, &error), STATUS_OK);
}

enum { LONG_NUMBERS = 1 << 20 };

static void do_nothing(int number)
{
    (void)number;
}

/* Sends all at once, while a clock interrupts. */
static void work_interrupted(int to, void *context)
{
    int *const numbers = context;
    const struct itimerval often = { { 0, 500 }, { 0, 500 } };
    for (int i = 0; i < LONG_NUMBERS; i++)
        numbers[i] = i;
    signal(SIGALRM, do_nothing);
    setitimer(ITIMER_REAL, &often, NULL);
    child_send(to, numbers, LONG_NUMBERS * sizeof *numbers);
}

/* Sends three numbers, and when these have been read ten more. */
static void work_slowly(int to, void *context)
{
    const struct timespec pause = { 0, 50000000 };
    const int *const numbers = context;
    child_send(to, numbers, 3 * sizeof *numbers);
    nanosleep(&pause, NULL);
    child_send(to, numbers + 3, 10 * sizeof *numbers);
}

/* Bytes that come in parts are put together, and none of those that follow is taken with them. */
static void test_what_is_read_in_parts_is_whole(void **state)
{
    (void)state;
    int numbers[13], found[20];
    struct error error = { 0 };
    struct child *child;
    for (int i = 0; i < 13; i++)
        numbers[i] = 100 + i;
    for (int i = 0; i < 20; i++)
        found[i] = -1;
    assert_int_equal(child_start(work_slowly, numbers, &limits, &child, &error), STATUS_OK);
    assert_true(child_receive(child, found, 5 * sizeof *found));
    assert_int_equal(found[5], -1);
    assert_true(child_receive(child, found + 5, 8 * sizeof *found));
    assert_memory_equal(found, numbers, sizeof numbers);
    assert_int_equal(found[13], -1);
    assert_int_equal(child_end(child, true, "a.hdf5", &error), STATUS_OK);
}

/* A write that a signal interrupts has written a part, and the rest goes on from there. */
static void test_what_is_written_in_parts_is_whole(void **state)
{
    (void)state;
    enum { PART = 1 << 14 };
    const struct timespec pause = { 0, 200000 };
    static int numbers[LONG_NUMBERS], part[PART];
    struct error error = { 0 };
    struct child *child;
    assert_int_equal(child_start(work_interrupted, numbers, &limits, &child, &error), STATUS_OK);
    for (int done = 0; done < LONG_NUMBERS; done += PART) {
        nanosleep(&pause, NULL); /* so that the pipe is full, and the child waits */
        assert_true(child_receive(child, part, sizeof part));
        for (int i = 0; i < PART; i++)
            assert_int_equal(part[i], done + i);
    }
    assert_int_equal(child_end(child, true, "a.hdf5", &error), STATUS_OK);
}

static void test_a_crash_is_bad_data(void **state)
{
    (void)state;
    static const int signals[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE };
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct error error;
        assert_int_equal(receive((struct task){ 5, signals[i] }, &limits, 6, &error), STATUS_DATA);
        assert_non_null(
            strstr(error.text, "a.hdf5: is damaged: the library that reads it crashed"));
    }
    struct error error;
    assert_int_equal(receive((struct task){ 5, 0 }, &limits, 6, &error), STATUS_DATA);
    assert_non_null(strstr(error.text, "gave up"));
    assert_int_equal(receive((struct task){ 5, SIGKILL }, &limits, 6, &error), STATUS_MEMORY);
}

/* A signal that asks a run to stop does not end the child. */
static void test_signals_are_the_callers(void **state)
{
    (void)state;
    static const int signals[] = { SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP };
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct error error;
        receive((struct task){ 5, signals[i] }, &limits, 6, &error);
        assert_non_null(strstr(error.text, "gave up"));
    }
}

static void never_end(int to, void *context)
{
    const volatile int stay = to;
    (void)context;
    while (stay >= 0)
        ;
}

static void test_the_time_is_limited(void **state)
{
    (void)state;
    struct error error = { 0 };
    struct child *child;
    char byte;
    assert_int_equal(
        child_start(never_end, NULL, &(struct child_limits){ 1, 1 << 28 }, &child, &error),
        STATUS_OK);
    assert_false(child_receive(child, &byte, 1));
    assert_int_equal(child_end(child, false, "a.hdf5", &error), STATUS_DATA);
    assert_non_null(strstr(error.text, "more than 1 s of CPU time"));
}

#ifndef __SANITIZE_ADDRESS__
static void take_memory(int to, void *context)
{
    const size_t size = *(const size_t *)context;
    char *volatile bytes = malloc(size);
    const char taken = bytes != NULL;
    child_send(to, &taken, 1);
    free(bytes);
}

static void test_the_memory_is_limited(void **state)
{
    (void)state;
    size_t sizes[] = { (size_t)1 << 27, (size_t)1 << 29 };
    for (int i = 0; i < 2; i++) {
        struct error error = { 0 };
        struct child *child;
        char taken = -1;
        assert_int_equal(child_start(take_memory, &sizes[i], &limits, &child, &error), STATUS_OK);
        assert_true(child_receive(child, &taken, 1));
        assert_int_equal(taken, i == 0);
        assert_int_equal(child_end(child, true, "a.hdf5", &error), STATUS_OK);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_come_back),
        cmocka_unit_test(test_what_is_read_in_parts_is_whole),
        cmocka_unit_test(test_what_is_written_in_parts_is_whole),
        cmocka_unit_test(test_a_crash_is_bad_data),
        cmocka_unit_test(test_signals_are_the_callers),
        cmocka_unit_test(test_the_time_is_limited),
#ifndef __SANITIZE_ADDRESS__ /* whose shadow memory is larger than any limit */
        cmocka_unit_test(test_the_memory_is_limited),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
