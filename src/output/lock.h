/*
 * Locks: files that one process holds, or that several share. The kernel drops a lock with the
 * last process that holds it, so a dead process never stands in the way.
 *
 * After lock_do_without(), or if the environment has ORRERY_LOCKS=none, the files of locks are made
 * as ever, but keep nobody out: for file systems that take no locks. The text of such a file says
 * so. The lock counts as held while its process lives or, on another machine, has left a note
 * lately.
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
 * Takes the lock `name` of the open folder `folder`, which messages call `path`. Waits up to
 * `patience` seconds for other holders. STATUS_CANT_CREATE if it is still held (by the process and
 * host that the message names) or if a file of that name is no lock; STATUS_IO. *lock is for
 * lock_release().
 */
enum status lock_take(int folder, const char *path, const char *name, enum lock_kind kind,
                      double patience, int *lock, struct error *error);

/* Writes a line into the file of a lock, behind the line that names its holder, to say how far the
 * holder is. No disk is waited for; a line that cannot be written is left out. A line of the same
 * length takes the place of the one before. */
void lock_note(int lock, const char *line);

/* The text of a lock for those who do not want to take it. */
enum { LOCK_TEXT_SIZE = 160 };
struct lock_view {
    bool held;                  /* by a process that lives */
    char owner[LOCK_TEXT_SIZE]; /* "process 12 on host": the last holder; "" without a file */
    char note[LOCK_TEXT_SIZE];  /* what lock_note() has left, without its line end */
    time_t written;             /* when the file was last written */
};

/* Reads the lock `name` of an open folder. To see if it is held, it may hold it for an instant. */
struct lock_view lock_look(int folder, const char *name);

/* Releases a lock; its last holder removes the file. */
void lock_release(int folder, const char *name, int lock);

/* Tells whether the open file `fd` is still the one of that name. */
bool lock_is_named(int folder, const char *name, int fd);

/* Locks the file that has just been made under a temporary name, so that others can tell it from
 * one that a dead process left. Returns false if another process has taken it for such a file. */
bool lock_temporary(int folder, const char *name, int fd);

/* Unlinks a temporary file of that name unless a living process holds it. Returns true if no such
 * file is left. */
bool lock_remove_litter(int folder, const char *name);

#endif
