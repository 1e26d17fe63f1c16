#include "base/barrier.h"

#include <omp.h>
#include <sched.h>

/* Some microseconds: what threads with equal shares of a small problem differ by. */
enum { SPINS = 500 };

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void barrier_wait(struct barrier *barrier)
{
    const unsigned team = (unsigned)omp_get_num_threads();
    if (team == 1)
        return;
    const unsigned generation = __atomic_load_n(&barrier->generation, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL) == team) {
        __atomic_store_n(&barrier->arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&barrier->generation, generation + 1, __ATOMIC_RELEASE);
        return;
    }
    for (int spin = 0; __atomic_load_n(&barrier->generation, __ATOMIC_ACQUIRE) == generation;
         spin++) {
        if (spin < SPINS)
            relax();
        else
            sched_yield();
    }
}
