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
    DIRECTORY_NEW,    /* must not hold one of its kind yet */
    DIRECTORY_FORCE,  /* may hold one, which directory_claim() then removes */
    DIRECTORY_SHARED, /* like DIRECTORY_FORCE, but shared with others that open it so */
    DIRECTORY_RESUME, /* must hold one */
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
/* Opens the directory of any kind likewise; STATUS_CANT_CREATE also if it holds a kind that this
 * one excludes. */
enum status directory_open_kind(const char *path, const struct directory_kind *kind,
                                enum directory_mode mode, struct directory **directory,
                                struct error *error);
/* Unlocks and frees; accepts NULL. */
void directory_close(struct directory *directory);

const char *directory_path(const struct directory *directory);

/* Lends an interruption to the work on its files that may take long: reading what a checkpoint has
 * marked, compressing and unpacking. It replaces the one before; NULL, as at first: nothing ends
 * such work early. */
void directory_lend(struct directory *directory, struct interruption *interruption);
/* Tells whether such work is to end: the interruption is raised. */
bool directory_interrupted(const struct directory *directory);

/* Locks the files that all processes which share a directory write, for the few moments of writing.
 * Waits for other processes; STATUS_CANT_CREATE after minutes. */
enum status directory_lock_files(struct directory *directory, struct error *error);
void directory_unlock_files(struct directory *directory);

/* --- progress --------------------------------------------------------------------------------- */

/*
 * The progress of the process that holds a directory, for those who look on from outside. A run
 * writes it into the file of its lock once a second: this file exists as long as the run goes on,
 * or longer if the run was killed, and the run waits for no disk.
 */

struct progress {
    bool held;                       /* a process holds the directory */
    char owner[LOCK_TEXT_SIZE];      /* "process 12 on host", which may be dead; or "" */
    bool known;                      /* the following members are */
    uint64_t first_step, step, last; /* where the process began, was, and would end */
    double seconds, rate;            /* since it began; pair interactions per second */
    char stamp[CLOCK_STAMP_SIZE];    /* when these were written */
};

/* Writes the numbers of `progress` into the lock of a directory that this process holds. */
void progress_write(const struct directory *directory, const struct progress *progress);

/* Reads the progress of the directory of that kind at `path`; `held` and `known` are false if there
 * is none. */
struct progress progress_read(const char *path, const struct directory_kind *kind);

#endif
