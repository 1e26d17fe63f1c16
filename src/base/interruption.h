/*
 * A request to end work early, lent to code that may work for long. The owner provides the function
 * that finds out whether a signal, a file or the clock asks for the end; the code at work tests for
 * a request after a fixed number of pair interactions. Once any thread has seen it, the request
 * stands until the owner lowers it: loops may then leave out the rest, and their results mean
 * nothing. The function that began the work undoes it and returns interruption_status(). A NULL
 * pointer stands for work that nothing interrupts.
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
    /* Tells whether the end of the work is asked for. Called some twenty times a second, from any
     * thread, by one thread at a time. */
    bool (*asked)(void *context);
    void *context;
    /* Tells whether any of the processes that share the work has seen the request. All of them call
     * it at the same point. NULL: one process. */
    bool (*agree)(void *context);
    bool raised, looking; /* private to interruption.c, like the next: */
    int64_t next_look;    /* nanoseconds */
};

/* Tells whether the end of the work is asked for. Calls asked() if its last call is long enough
 * ago. */
bool interruption_raised(struct interruption *interruption);

/* Tells whether any thread has seen a request, without calling asked(). */
bool interruption_noticed(const struct interruption *interruption);

/* Does the same for all processes that share the work: each gets the same answer. They call it at
 * the same points, before one leaves out what others would wait for, and before results are
 * used. */
bool interruption_agreed(struct interruption *interruption);

/* Ends the request, which was served. The owner calls it, while no thread works. */
void interruption_lower(struct interruption *interruption);

/* Returns STATUS_STOPPED if a thread has seen a request; the owner replaces the message. */
enum status interruption_status(const struct interruption *interruption, struct error *error);

/* Pair interactions between two tests: a millisecond or less of the fast kernels. */
#define INTERRUPTION_WORK 1e6

/* Adds `work`, in pair interactions, to *done. After INTERRUPTION_WORK of them sets *done to 0 and
 * returns interruption_raised(); before, returns false. *done is the caller's, 0 at first. */
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
