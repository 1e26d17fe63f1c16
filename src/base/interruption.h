/*
 * A wish to end work before it is done, lent to whoever does work that may take long. The owner
 * says how the outside is asked (signals, files, the clock); those who work test it after a fixed
 * number of pair interactions. Once somebody has seen the wish, it stands until the owner lowers
 * it: from then on loops may leave out what is left, and what they return means nothing. Who has
 * begun the work then undoes it and returns interruption_status(). NULL stands for work that
 * nothing interrupts.
 */
#ifndef ORRERY_BASE_INTERRUPTION_H
#define ORRERY_BASE_INTERRUPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct interruption {
    /* Is there a wish? Called some twenty times a second, from any thread, one call at a time. */
    bool (*asked)(void *context);
    void *context;
    /* Agrees with other processes that share the work whether one of them has seen
     * the wish. Called by all of them alike. NULL: one process. */
    bool (*agree)(void *context);
    bool raised, looking; /* the module's own, as is: */
    int64_t next_look;    /* nanoseconds */
};

/* Is there a wish to end? Looks for it where it is time to. */
bool interruption_raised(struct interruption *interruption);

/* Tells whether anybody has seen one. Does not look. */
bool interruption_noticed(const struct interruption *interruption);

/* The same; where several processes share the work, all of them get the same answer. They call it
 * alike: before one leaves out what makes others wait for it, and before results are believed. */
bool interruption_agreed(struct interruption *interruption);

/* The wish was served; by the owner, while nobody works. */
void interruption_lower(struct interruption *interruption);

/* STATUS_STOPPED where somebody has seen a wish; the owner replaces the words. */
enum status interruption_status(const struct interruption *interruption, struct error *error);

/* Work between two tests, in pair interactions: a millisecond or less of the fast kernels. */
#define INTERRUPTION_WORK 1e6

/* The same as interruption_raised(), where `work` adds up to enough since the last test; *done is
 * the caller's own count, 0 at first. */
static inline bool interruption_after(struct interruption *interruption, double *done, double work)
{
    *done += work;
    if (!interruption || *done < INTERRUPTION_WORK)
        return false;
    *done = 0;
    return interruption_raised(interruption);
}

#ifdef __cplusplus
}
#endif

#endif
