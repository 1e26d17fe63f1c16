/*
 * Work that may crash or never end, because a library meets damaged input: done in a process of its
 * own, whose results come through a pipe. The caller survives whatever happens there.
 */
#ifndef ORRERY_BASE_CHILD_H
#define ORRERY_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

struct child;

struct child_limits {
    uint64_t seconds; /* of CPU time */
    uint64_t bytes;   /* of memory, beyond what the process has already */
};

/* More than any process takes. */
#define CHILD_UNLIMITED                                                                            \
    (struct child_limits)                                                                          \
    {                                                                                              \
        INT64_MAX, INT64_MAX                                                                       \
    }

/*
 * Runs work(to, context) in a child, which sees a copy of all memory, ignores the signals that ask
 * a run to stop, says nothing on standard error and ends with the caller. It sends its results to
 * the descriptor `to` with child_send(). STATUS_MEMORY. Every child is ended by child_end().
 */
enum status child_start(void (*work)(int to, void *context), void *context,
                        const struct child_limits *limits, struct child **child,
                        struct error *error);

/* In any process that was forked: from now on `signal` reaches it when its parent ends, and where
 * that has been already it exits with `status`. Where the system has no such signal (Linux has), it
 * learns of a parent that ends later from what they share, a pipe, say, or not at all. */
void child_follow(pid_t parent, int signal, int status);

/* In the child: false where nobody listens any more, and nothing is left to do. */
bool child_send(int to, const void *bytes, size_t length);

/* The next bytes of what it sends; false where it has ended before. What a child sends after it
 * has met damaged input may be anything: check it. */
bool child_receive(struct child *child, void *bytes, size_t length);

/*
 * Ends the child, at work or not, and frees; accepts NULL. With `whole` false, when less has come
 * than was expected, the error says why in a sentence about `what`: STATUS_DATA where it crashed or
 * took too long, STATUS_MEMORY where the system killed it.
 */
enum status child_end(struct child *child, bool whole, const char *what, struct error *error);

#endif
