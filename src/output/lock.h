/*
 * Locks are files that one process holds, or that several share. The kernel drops a lock when the
 * last process that holds it ends, so a dead process never stands in the way.
 *
 * After lock_do_without(), or if the environment has ORRERY_LOCKS=none, the files of locks are made
 * as always, and their text says that nobody is kept out: this is for file systems that have no
 * locks. Such a lock counts as held while its process lives or, if the process is on another
 * machine, has written a note in the last ten minutes.
 */
#ifndef ORRERY_OUTPUT_LOCK_H
#define ORRERY_OUTPUT_LOCK_H

#include <stdbool.h>
#include <time.h>

#include "base/status.h"

/* Makes this process, and those that it starts, take no locks from now on. Called before any
 * threads begin. */
void lock_do_without(void);

enum lock_kind {
    LOCK_ALONE, /* held by one process */
    LOCK_SHARED /* shared by any number of processes */
};

/*
 * Takes the lock `name` in the open folder `folder`, which messages call `path`. Waits up to
 * `patience` seconds for other holders. STATUS_CANT_CREATE if the lock is still held (the message
 * names process and host) or if a file of that name is no lock; STATUS_IO. *lock becomes the
 * descriptor for lock_release().
 */
enum status lock_take(int folder, const char *path, const char *name, enum lock_kind kind,
                      double patience, int *lock, struct error *error);

/* Writes a line into the file of a lock, behind the line that names its holder: how far the holder
 * is. The function does not wait for the disk; a line that cannot be written is left out. A line of
 * the same length replaces the one before. */
void lock_note(int lock, const char *line);

/* The content of a lock, for those who only look at it. */
enum { LOCK_TEXT_SIZE = 160 };
struct lock_view {
    bool held;                  /* a living process holds it */
    char owner[LOCK_TEXT_SIZE]; /* the last holder, "process 12 on host"; "" if there is no file */
    char note[LOCK_TEXT_SIZE];  /* the line of lock_note(), without its line end */
    time_t written;             /* time at which the file was last written */
};

/* Reads the lock `name` in an open folder. To find out whether it is held, the function may hold it
 * for an instant. */
struct lock_view lock_look(int folder, const char *name);

/* Releases a lock; the last holder removes its file. */
void lock_release(int folder, const char *name, int lock);

/* Tells whether the open file `fd` is the one that `name` now means in the folder. */
bool lock_is_named(int folder, const char *name, int fd);

/* Locks the file `fd` that has just been made under a temporary name, so that other processes can
 * tell it from a file that a dead process left. Returns false if another process has removed it,
 * taking it for such a file. */
bool lock_temporary(int folder, const char *name, int fd);

/* Removes the temporary file of that name unless a living process holds it or, without locks, may
 * hold it. Returns true if there is no file of that name any more. */
bool lock_remove_litter(int folder, const char *name);

#endif
