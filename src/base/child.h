/* A child process for work that may crash or never end, because a library meets damaged input. The
 * results of the child come through a pipe, and the caller survives whatever happens in the
 * child. */
#ifndef ORRERY_BASE_CHILD_H
#define ORRERY_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

struct child;

struct child_limits {
    uint64_t seconds; /* seconds of CPU time */
    uint64_t bytes;   /* bytes of address space in addition to what the process has at its start */
};

/* Limits that no process reaches. */
#define CHILD_UNLIMITED                                                                            \
    (struct child_limits)                                                                          \
    {                                                                                              \
        INT64_MAX, INT64_MAX                                                                       \
    }

/*
 * Starts a child process that runs work(to, context) and then exits. The child has a copy of the
 * caller's memory, ignores the signals that ask a run to stop, prints nothing on standard error and
 * ends with the caller. It sends its results to the descriptor `to` with child_send().
 * STATUS_MEMORY if the system gives no process or no pipe. The caller ends every child by
 * child_end().
 */
enum status child_start(void (*work)(int to, void *context), void *context,
                        const struct child_limits *limits, struct child **child,
                        struct error *error);

/* Makes the calling process, which was forked, receive `signal` when its parent ends; if the parent
 * has ended already, the process exits with `status`. Only Linux has such a signal: elsewhere the
 * process notices a later end of its parent by what they share, such as a pipe, or not at all. */
void child_follow(pid_t parent, int signal, int status);

/* Sends bytes to the caller; called in the child. Returns false if writing fails; if nobody reads
 * the pipe any more, SIGPIPE ends the child. */
bool child_send(int to, const void *bytes, size_t length);

/* Tells, without waiting, whether the child has sent something or has ended. */
bool child_has_news(const struct child *child);

/* Waits for the next `length` bytes that the child sends; returns false if the child ends before
 * they have come. The caller checks the bytes, since a child that has met damaged input may send
 * anything. */
bool child_receive(struct child *child, void *bytes, size_t length);

/*
 * Waits for the end of the child and frees *child; accepts NULL. `whole` says that all expected
 * results have come: then the child is killed, in case it is still at work. If `whole` is false,
 * the error says why the child ended, in a sentence about the file `what`: STATUS_DATA if the child
 * crashed or took too long, STATUS_MEMORY if the system killed it. Returns error->status.
 */
enum status child_end(struct child *child, bool whole, const char *what, struct error *error);

#endif
