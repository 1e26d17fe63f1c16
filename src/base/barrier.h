/*
 * A barrier for a team of OpenMP threads: it waits some microseconds at full speed, then sleeps.
 * The runtime's own barrier does one or the other for the whole process (OMP_WAIT_POLICY):
 * spinning, it takes the core from the very thread that it waits for when the machine is busy with
 * other work; sleeping, it costs as much as a step of a small problem. To yield instead of sleeping
 * gives the core to other work for a whole time slice, at every barrier of every step.
 */
#ifndef ORRERY_BASE_BARRIER_H
#define ORRERY_BASE_BARRIER_H

#include <stddef.h>

/* All zero is a barrier that nobody waits at. */
struct barrier {
    unsigned arrived;
    char apart[60]; /* what is waited on has a cache line of its own */
    unsigned generation;
    unsigned asleep; /* threads that have to be woken */
};

/* To be called by all threads of the innermost team, or outside any team, where it does nothing.
 * What each of them wrote before is seen by all of them after. */
void barrier_wait(struct barrier *barrier);

/* --- shares ----------------------------------------------------------------------------------- */

/* Dealing a number of things out, as evenly as it goes. */

/*
 * Returns the beginning of share `k` of `parts`, which is the end of share k - 1: floor(total k /
 * parts), computed so that the product cannot overflow. The sizes of shares differ by at most one.
 */
static inline size_t share_start(size_t total, size_t parts, size_t k)
{
    return total / parts * k + total % parts * k / parts;
}

#endif
