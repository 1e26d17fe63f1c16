/*
 * Locks: files that one process holds, or that several share. The kernel drops a lock with the
 * last process that holds it, so a dead one never stands in the way.
 */
#ifndef ORRERY_OUTPUT_LOCK_H
#define ORRERY_OUTPUT_LOCK_H

#include <stdbool.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Lets go; the last one removes the file. */
void lock_release(int folder, const char *name, int lock);

/* Is the open file still the one of that name? */
bool lock_is_named(int folder, const char *name, int fd);

/* Holds the file that has just been made under a temporary name, so that others can tell it from
 * what a dead process left; false where another one took it for that. */
bool lock_temporary(int folder, const char *name, int fd);

/* Unlinks a temporary file of that name unless a living process holds it. */
bool lock_remove_litter(int folder, const char *name);

#ifdef __cplusplus
}
#endif

#endif
