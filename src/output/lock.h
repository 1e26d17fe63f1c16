/*
 * Locks: files that one process holds, or that several share. The kernel drops a lock with the
 * last process that holds it, so a dead one never stands in the way.
 *
 * After lock_do_without(), or where the environment has ORRERY_LOCKS=none, files are made and named
 * as ever, but nobody is kept out: for file systems that take no locks. Such a lock says so, and
 * counts as held while its process lives or, on another machine, has left a note lately.
 */
#ifndef ORRERY_OUTPUT_LOCK_H
#define ORRERY_OUTPUT_LOCK_H

#include <stdbool.h>
#include <time.h>

#include "base/status.h"

/* Lets this process, and those that it starts, take no lock from here on. To be called before
 * threads begin. */
void lock_do_without(void);

enum lock_kind {
    LOCK_ALONE, /* one process */
    LOCK_SHARED /* any number of processes that share it */
};

/*
 * Takes the lock `name` of the open folder `folder`, whose path messages speak of, waiting up to
 * `patience` seconds for others. STATUS_CANT_CREATE when it is held still (by the process and host
 * that the message names) or when a file of that name is no lock; STATUS_IO. *lock is what
 * lock_release() wants.
 */
enum status lock_take(int folder, const char *path, const char *name, enum lock_kind kind,
                      double patience, int *lock, struct error *error);

/* Writes a line behind what the file says of its holder: how far that one is. It goes to the system
 * and to nobody's disk; where it cannot be written it is left out. A line of the same length takes
 * the place of the one before. */
void lock_note(int lock, const char *line);

/* The text of a lock for those who do not want to take it. */
enum { LOCK_TEXT_SIZE = 160 };
struct lock_view {
    bool held;                  /* by a process that lives */
    char owner[LOCK_TEXT_SIZE]; /* "process 12 on host", of the last one; "" where no file is there
                                 */
    char note[LOCK_TEXT_SIZE];  /* what lock_note() has left, without its line end */
    time_t written;             /* when it was */
};

/* Looks at the lock `name` of an open folder; for an instant it may have to hold it. */
struct lock_view lock_look(int folder, const char *name);

/* Lets go; the last one removes the file. */
void lock_release(int folder, const char *name, int lock);

/* Tells whether the open file is still the one of that name. */
bool lock_is_named(int folder, const char *name, int fd);

/* Holds the file that has just been made under a temporary name, so that others can tell it from
 * what a dead process left; false where another one took it for that. */
bool lock_temporary(int folder, const char *name, int fd);

/* Unlinks a temporary file of that name unless a living process holds it. */
bool lock_remove_litter(int folder, const char *name);

#endif
