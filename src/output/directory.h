/*
 * The directory of a run, a study, a report or a benchmark: created, locked against a second
 * process, and the only place where it writes. File names are plain names or "plots/name"; links
 * are never followed. A manifest lists the files that are its own; no other file is ever replaced
 * or removed.
 */
#ifndef ORRERY_OUTPUT_DIRECTORY_H
#define ORRERY_OUTPUT_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/interruption.h"
#include "base/status.h"
#include "output/directory-files.h"
#include "output/lock.h"
#include "output/manifest.h"

enum directory_mode {
    DIRECTORY_NEW,    /* must not hold one yet */
    DIRECTORY_FORCE,  /* may hold one, which directory_claim() then removes */
    DIRECTORY_SHARED, /* the same, together with others that open it so */
    DIRECTORY_RESUME, /* must hold one */
    DIRECTORY_ANY     /* any folder, for single files; not locked; a link to one will do */
};

/*
 * For a run. STATUS_CANT_CREATE when it holds one already, cannot be created, is a link (a slash
 * behind its name follows it), or another live process (named with host and pid) has it locked;
 * STATUS_NO_INPUT when it should hold a run and does not.
 */
enum status directory_open(const char *path, enum directory_mode mode, struct directory **directory,
                           struct error *error);
/* The same for any kind; STATUS_CANT_CREATE also when it holds a kind that is excluded. */
enum status directory_open_kind(const char *path, const struct directory_kind *kind,
                                enum directory_mode mode, struct directory **directory,
                                struct error *error);
/* Unlocks; accepts NULL. */
void directory_close(struct directory *directory);

const char *directory_path(const struct directory *directory);

/* Lends an interruption to the work on its files that may take long: reading what a checkpoint has
 * marked, compressing and unpacking. It replaces the one before; NULL, as at first: nothing ends
 * such work early. */
void directory_lend(struct directory *directory, struct interruption *interruption);
/* Tells whether such work is to end. */
bool directory_interrupted(const struct directory *directory);

/* For the few moments of writing files that all who share a directory write: waits for the others.
 * STATUS_CANT_CREATE after minutes. */
enum status directory_lock_files(struct directory *directory, struct error *error);
void directory_unlock_files(struct directory *directory);

/* --- progress --------------------------------------------------------------------------------- */

/*
 * The progress of the process that holds a directory, for those who look on from outside. A run
 * leaves it in its lock once a second: the file is there for exactly as long as the run is, or
 * longer where it was killed, and nobody waits for a disk.
 */

struct progress {
    bool held;                  /* a process holds the directory */
    char owner[LOCK_TEXT_SIZE]; /* "process 12 on host": it, or the one that was killed; or "" */
    bool known;                 /* it has left the following */
    uint64_t first_step, step, last; /* where that process began, was, and would end */
    double seconds, rate;            /* since it began; pair interactions per second */
    char stamp[CLOCK_STAMP_SIZE];    /* when it was so */
};

/* Leaves the numbers of `progress` in the lock of a directory that this process holds. */
void progress_write(const struct directory *directory, const struct progress *progress);

/* Reads the progress of the directory of that kind at `path`; nothing held and nothing known if
 * there is none. */
struct progress progress_read(const char *path, const struct directory_kind *kind);

#endif
