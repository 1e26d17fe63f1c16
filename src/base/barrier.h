/*
 * A barrier for a team of OpenMP threads: a thread that waits spins for some 40 microseconds and
 * then sleeps (without Linux's futex it yields its core instead). The barrier of the OpenMP runtime
 * either spins or sleeps, as OMP_WAIT_POLICY says for the whole process. Spinning takes the core
 * from the very thread that is waited for, if the machine has other work; sleeping costs as much
 * time as a step of a small problem; yielding loses the core for a time slice at every barrier.
 * After several waits in which spinning did not help, threads sleep at once, as on a machine with
 * other work; every 31st time that the barrier is passed they spin again, to find out whether it
 * helps now.
 */
#ifndef ORRERY_BASE_BARRIER_H
#define ORRERY_BASE_BARRIER_H

#include <stddef.h>

/* The state of a barrier, which begins as all zero. */
struct barrier {
    unsigned arrived;    /* threads of the team that have arrived and wait */
    char apart[60];      /* keeps `generation`, which waiting threads read, out of the cache line of
                            `arrived` */
    unsigned generation; /* barriers passed so far; threads wait until it changes */
    unsigned asleep;     /* waiting threads that no longer spin and have to be woken */
    unsigned vain;       /* waits since one that ended while the thread was spinning */
};

/* Waits until all threads of the innermost OpenMP team have called this function; outside any team
 * it does nothing. After it every thread sees all that any of them wrote before the call. */
void barrier_wait(struct barrier *barrier);

/* --- shares ----------------------------------------------------------------------------------- */

/* Returns the index of the first of `total` things that belongs to share `k` (from 0) of `parts`:
 * floor(total k / parts), computed so that the product cannot overflow. Share k ends where share k
 * + 1 begins; the sizes of shares differ by at most one. */
static inline size_t share_start(size_t total, size_t parts, size_t k)
{
    return total / parts * k + total % parts * k / parts;
}

#endif
