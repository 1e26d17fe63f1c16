/*
 * A barrier for a team of OpenMP threads: it waits some microseconds at full speed, then lets
 * others have the core. The runtime's own barrier does one or the other for the whole process
 * (OMP_WAIT_POLICY): spinning, it takes the core from the very thread that it waits for when the
 * machine is busy with other work; sleeping, it costs as much as a step of a small problem.
 */
#ifndef ORRERY_BASE_BARRIER_H
#define ORRERY_BASE_BARRIER_H

#ifdef __cplusplus
extern "C" {
#endif

/* All zero is a barrier that nobody waits at. */
struct barrier {
    unsigned arrived;
    char apart[60]; /* what is waited on has a cache line of its own */
    unsigned generation;
};

/* To be called by all threads of the innermost team, or outside any team, where it does nothing.
 * What each of them wrote before is seen by all of them after. */
void barrier_wait(struct barrier *barrier);

#ifdef __cplusplus
}
#endif

#endif
