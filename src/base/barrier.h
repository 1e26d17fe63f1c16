/*
 * A barrier for a team of OpenMP threads, which spins for some 40 microseconds and then sleeps
 * (without Linux's futex it yields). The runtime's own barrier does only one of them, for the whole
 * process (OMP_WAIT_POLICY). Spinning takes the core from the very thread that is waited for, if
 * the machine has other work; sleeping costs as much as a step of a small problem; yielding loses
 * the core for a time slice at every barrier.
 */
#ifndef ORRERY_BASE_BARRIER_H
#define ORRERY_BASE_BARRIER_H

#include <stddef.h>

/* The state of a barrier; all zero at first. */
struct barrier {
    unsigned arrived;
    char apart[60]; /* `generation` begins a cache line of its own */
    unsigned generation;
    unsigned asleep; /* threads that have to be woken */
};

/* Waits until all threads of the innermost team have called it; outside any team it does nothing.
 * What a thread wrote before the call, all threads see after it. */
void barrier_wait(struct barrier *barrier);

/* --- shares ----------------------------------------------------------------------------------- */

/* Divides a number of things into shares that are as equal as possible. */

/*
 * Returns the beginning of share `k` of `parts`, which is the end of share k - 1: floor(total k /
 * parts), computed so that the product cannot overflow. The sizes of shares differ by at most one.
 */
static inline size_t share_start(size_t total, size_t parts, size_t k)
{
    return total / parts * k + total % parts * k / parts;
}

#endif
