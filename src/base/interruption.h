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
    /* Tells whether the end of the work is asked for. It is called at most twenty times per second,
     * from any thread, but by one thread at a time. */
    bool (*asked)(void *context);
    void *context;
    /* Tells whether any of the processes that share the work has seen the request; all of them call
     * it at the same point of the work. NULL if one process works alone. */
    bool (*agree)(void *context);
    bool raised, looking; /* private: a thread has seen a request; a thread calls asked() */
    int64_t next_look;    /* private: when asked() may be called again, in nanoseconds of
                             clock_seconds() */
};

/* Tells whether the end of the work is asked for. Calls asked() if its last call was long enough
 * ago. */
bool interruption_raised(struct interruption *interruption);

/* Tells whether any thread has seen a request, without calling asked(). */
bool interruption_noticed(const struct interruption *interruption);

/* Tells whether any thread of any process that shares the work has seen a request; all processes
 * get the same answer. All call it at the same points of the work: before one of them leaves out
 * something for which others would wait, and before results are used. */
bool interruption_agreed(struct interruption *interruption);

/* Ends a request that has been served. The owner calls it while no thread works. */
void interruption_lower(struct interruption *interruption);

/* Returns STATUS_STOPPED if a thread has seen a request, with a message that the owner replaces;
 * otherwise STATUS_OK. */
enum status interruption_status(const struct interruption *interruption, struct error *error);

/* The pair interactions between two tests for a request: a millisecond or less of the fast
 * kernels. */
#define INTERRUPTION_WORK 1e6

/* Adds `work`, a number of pair interactions, to *done, which the caller sets to 0 at first. When
 * *done reaches INTERRUPTION_WORK, sets it to 0 and returns interruption_raised(); otherwise
 * returns false. */
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
