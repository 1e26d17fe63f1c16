#include "unit.h"

#include <omp.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "base/barrier.h"

enum { THREADS = 7, ROUNDS = 3000 };

/* Every thread writes its slot, waits, and finds all slots written; more threads than most test
 * machines have free cores, so that some are always late. */
static void test_all_have_arrived_when_one_goes_on(void **state)
{
    (void)state;
    static unsigned slots[THREADS];
    struct barrier barrier = { 0 };
    unsigned missed = 0;
    int team = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : missed)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        for (unsigned round = 1; round <= ROUNDS; round++) {
            slots[thread] = round;
            barrier_wait(&barrier);
            for (int other = 0; other < threads; other++)
                missed += slots[other] != round;
            barrier_wait(&barrier);
        }
        if (thread == 0)
            team = threads;
    }
    assert_int_equal(missed, 0);
    assert_int_equal(team, THREADS);
    assert_int_equal(barrier.generation, 2 * ROUNDS);
}

/* The last thread comes when all others sleep: they neither spin nor yield for ever, and it wakes
 * them all. */
static void test_who_waits_long_sleeps(void **state)
{
    (void)state;
    struct barrier barrier = { 0 };
    unsigned slept = 0, passed = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : slept, passed)
    for (int round = 0; round < 3; round++) {
        const time_t end = time(NULL) + 60;
        while (omp_get_thread_num() == 0 && time(NULL) < end) {
            const unsigned asleep = __atomic_load_n(&barrier.asleep, __ATOMIC_SEQ_CST);
            if (asleep == THREADS - 1) {
                slept += asleep;
                break;
            }
            sched_yield();
        }
        barrier_wait(&barrier);
        passed++;
        barrier_wait(&barrier);
    }
    assert_int_equal(slept, 3 * (THREADS - 1));
    assert_int_equal(passed, 3 * THREADS);
    assert_int_equal(barrier.asleep, 0);
}

/* A thread whose waits all end in sleep knows after five of them that spinning does not help; the
 * barriers at which it tries again do not change that. */
static void test_vain_spins_are_counted(void **state)
{
    (void)state;
    struct barrier barrier = { 0 };
    unsigned wrong = 0, passed = 0; /* by thread 1 */
#pragma omp parallel num_threads(2) reduction(+ : wrong)
    for (unsigned round = 1; round <= 70; round++) {
        const time_t end = time(NULL) + 60;
        while (omp_get_thread_num() == 0 && time(NULL) < end &&
               __atomic_load_n(&barrier.asleep, __ATOMIC_SEQ_CST) == 0)
            sched_yield();
        if (omp_get_thread_num() == 0)
            wrong += __atomic_load_n(&barrier.vain, __ATOMIC_RELAXED) != (round < 5 ? round : 5);
        barrier_wait(&barrier);
        if (omp_get_thread_num() == 1)
            __atomic_store_n(&passed, round, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&passed, __ATOMIC_SEQ_CST) < round && time(NULL) < end)
            sched_yield();
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(barrier.generation, 70);
}

static void test_alone_nobody_waits(void **state)
{
    (void)state;
    struct barrier barrier = { 0 };
    barrier_wait(&barrier);
    assert_int_equal(barrier.generation, 0);
}

/* A thread that nobody wakes would wait for ever: SIGALRM is a failure with a name. */
int main(void)
{
    alarm(300);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_have_arrived_when_one_goes_on),
        cmocka_unit_test(test_who_waits_long_sleeps),
        cmocka_unit_test(test_vain_spins_are_counted),
        cmocka_unit_test(test_alone_nobody_waits),
    };
    return cmocka_run_group_tests_name("barrier", tests, NULL, NULL);
}
