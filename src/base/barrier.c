#include "base/barrier.h"

#include <omp.h>

#ifdef __linux__
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sched.h>
#endif

/* The number of times that a waiting thread tests `generation` before it sleeps. The tests take
 * some 40 microseconds, by which threads with equal shares of a small problem differ. */
enum { SPINS = 1000 };

/* After more than MOST_VAIN waits in which spinning did not help, threads spin only where the
 * number of barriers passed is a multiple of TRIAL. That is a prime number, so that the trials of a
 * loop with several barriers, of which one is long to wait for, meet each of them in turn. */
enum { MOST_VAIN = 4, TRIAL = 31 };

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#ifdef __linux__
/* Sleeps while *generation is `current`. May return earlier, so the caller tests *generation
 * again. */
static void sleep_through(unsigned *generation, unsigned current)
{
    syscall(SYS_futex, generation, FUTEX_WAIT_PRIVATE, current, NULL, NULL, 0);
}

static void wake_all(unsigned *generation)
{
    syscall(SYS_futex, generation, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
#else
static void sleep_through(unsigned *generation, unsigned current)
{
    (void)generation;
    (void)current;
    sched_yield();
}

static void wake_all(unsigned *generation)
{
    (void)generation;
}
#endif

void barrier_wait(struct barrier *barrier)
{
    const unsigned team = (unsigned)omp_get_num_threads();
    if (team == 1)
        return;
    const unsigned generation = __atomic_load_n(&barrier->generation, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL) == team) {
        __atomic_store_n(&barrier->arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&barrier->generation, generation + 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&barrier->asleep, __ATOMIC_SEQ_CST))
            wake_all(&barrier->generation);
        return;
    }
    const unsigned vain = __atomic_load_n(&barrier->vain, __ATOMIC_RELAXED);
    const int spins = vain <= MOST_VAIN || generation % TRIAL == 0 ? SPINS : 1;
    for (int spin = 0; spin < spins; spin++) {
        if (__atomic_load_n(&barrier->generation, __ATOMIC_ACQUIRE) != generation) {
            if (vain > 0)
                __atomic_store_n(&barrier->vain, 0, __ATOMIC_RELAXED);
            return;
        }
        relax();
    }
    if (vain <= MOST_VAIN)
        __atomic_store_n(&barrier->vain, vain + 1, __ATOMIC_RELAXED);
    /* No thread sleeps for ever: by the order of SEQ_CST either the last thread to arrive sees this
     * thread counted in `asleep` and wakes it, or this thread sees the new generation. */
    __atomic_add_fetch(&barrier->asleep, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&barrier->generation, __ATOMIC_SEQ_CST) == generation)
        sleep_through(&barrier->generation, generation);
    __atomic_sub_fetch(&barrier->asleep, 1, __ATOMIC_SEQ_CST);
}
