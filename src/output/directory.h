/*
 * The directory of a run, a study, a report or a benchmark: it is created, locked against a second
 * process, and the only place where that process writes. File names are plain names or
 * "plots/name"; links are never followed. A manifest in the directory lists the files that Orrery
 * wrote; no other file is ever replaced or removed.
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

/* The ways to open a directory; "a run" stands for a directory of the kind that is opened. */
enum directory_mode {
    DIRECTORY_NEW,    /* the directory may hold no run yet */
    DIRECTORY_FORCE,  /* a run that is there will be removed by directory_claim() */
    DIRECTORY_SHARED, /* like DIRECTORY_FORCE, but several processes may have it open */
    DIRECTORY_RESUME, /* the directory must hold a run */
    DIRECTORY_ANY     /* any folder or a link to one, for single files; not locked */
};

/*
 * Opens the directory of a run, which it creates if the mode allows that. STATUS_CANT_CREATE if it
 * holds a run already, cannot be created, is a link (a slash behind its name follows it), or is
 * locked by another live process (the message names it and its host); STATUS_NO_INPUT if it should
 * hold a run and does not.
 */
enum status directory_open(const char *path, enum directory_mode mode, struct directory **directory,
                           struct error *error);
/* Opens a directory of any kind as directory_open() does that of a run; STATUS_CANT_CREATE also if
 * it holds a kind that this kind excludes. */
enum status directory_open_kind(const char *path, const struct directory_kind *kind,
                                enum directory_mode mode, struct directory **directory,
                                struct error *error);
/* Unlocks and closes the directory, removes it if it was created and is empty, and frees the
 * struct; accepts NULL. */
void directory_close(struct directory *directory);

const char *directory_path(const struct directory *directory);

/* Lends an interruption (base/interruption.h) to work on files of the directory that may take long:
 * reading the files that a checkpoint has recorded, compressing and unpacking. It replaces the one
 * lent before; with NULL, as at first, nothing ends such work early. */
void directory_lend(struct directory *directory, struct interruption *interruption);
/* Tells whether long work on files is to end, because the interruption is raised. */
bool directory_interrupted(const struct directory *directory);

/* Locks the files that are written by all processes that share a directory, for the few moments of
 * writing. Waits for other processes; STATUS_CANT_CREATE after ten minutes. */
enum status directory_lock_files(struct directory *directory, struct error *error);
void directory_unlock_files(struct directory *directory);

/* --- progress --------------------------------------------------------------------------------- */

/* The progress of the process that holds a directory, for those who look at the directory from
 * outside. A run writes it into the file of its lock, once per second or, if a step or the events
 * take longer, after these. The file exists as long as the run goes on, or longer if the run was
 * killed. The run does not wait for the disk. */

struct progress {
    bool held;                       /* a living process holds the directory */
    char owner[LOCK_TEXT_SIZE];      /* "process 12 on host", perhaps dead; or "" */
    bool known;                      /* the members below are known */
    uint64_t first_step, step, last; /* steps: where the process began; present; last */
    double seconds, rate;            /* wall time of the process; pair interactions per second */
    char stamp[CLOCK_STAMP_SIZE];    /* UTC time at which these numbers were written */
};

/* Writes the numbers of `progress` into the file of the lock of a directory that this process
 * holds. */
void progress_write(const struct directory *directory, const struct progress *progress);

/* Reads the progress of the process that holds the directory of that kind at `path`; `held` and
 * `known` are false if there is none. */
struct progress progress_read(const char *path, const struct directory_kind *kind);

#endif
