/*
 * A study: one config file run many times with different values of some keys. A sweep is a study
 * over the grid that the config describes; a convergence test is one over the step.
 *
 * It lives in a directory: study.json (what it is, and its manifest), one run directory for each
 * member (001, 002, ...), and study.csv (a row for each member: its values, its verdict, its last
 * diagnostics). The same command goes on where an earlier one was ended: members that finished are
 * left alone, those that were begun are restarted, the others are run.
 */
#ifndef ORRERY_STUDY_STUDY_H
#define ORRERY_STUDY_STUDY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "output/directory.h"
#include "report/outcome.h"

enum {
    STUDY_NAME_SIZE = 24,
    STUDY_MEMBERS_MOST = 100000 /* a directory each; more of them no file system likes in one */
};

struct study {
    const struct config *config; /* that it was made from; must outlive it */
    size_t key_count;
    char **keys; /* "time.step" */
    struct location
        *locations;    /* where the values of each key are written; texts are the config's */
    size_t shown_keys; /* the first ones, which the study varies; the rest follows */
    size_t member_count;
    char **values;    /* member_count x key_count, in config syntax */
    bool convergence; /* its members differ in the step, so that it has orders: convergence.csv */
};

/* The grid of the list `sweep`; the last key changes fastest. */
enum status study_of_sweep(const struct config *config, struct study *study, struct error *error);

/* `levels` members with the step halved from one to the next, and every cadence doubled, so that
 * all of them measure at the same times. */
enum status study_of_convergence(const struct config *config, size_t levels, struct study *study,
                                 struct error *error);
void study_free(struct study *study);

/* "001", and its directory in that of the study. */
const char *study_member_name(size_t member, char buffer[STUDY_NAME_SIZE]);
enum { STUDY_PATH_SIZE = 4096 };
const char *study_member_path(const char *directory, size_t member, char buffer[STUDY_PATH_SIZE]);

struct study_options {
    const char *const *overrides; /* those of the command line, which are in the study already */
    size_t override_count;
    const char *directory;
    bool force;      /* run all members again; those of a study that is there are removed */
    size_t only;     /* run this member alone, counted from 1 (a job array); 0: all of them */
    double deadline; /* clock_seconds() by which all have stopped; 0: none */
    int threads;     /* of each member; 0: the cores, shared among the members at work */
    /* Lines for people, and how many members have ended. May be NULL. */
    void (*notice)(void *context, const char *line);
    void (*progress)(void *context, size_t done, size_t members);
    void *context;
};

/* Loads the config of a member that runs with `threads` threads. The caller frees it, before the
 * study. */
enum status study_load_member(const struct study *study, int threads, size_t member,
                              struct config **config, struct error *error);

/*
 * Runs the members that are not finished, as many at a time as there are cores. STATUS_OK,
 * STATUS_EXPECT_FAILED when that is the worst of any member, STATUS_STOPPED on a signal, or the
 * status of the first member that went wrong. Errors in any member's config are found before the
 * first is run. *outcomes: a new array with that of each member as far as it is known, and
 * OUTCOME_NOT_BEGUN for the others; NULL unless the directory is that of this study and has
 * something to tell.
 */
enum status study_run(const struct study *study, const struct study_options *options,
                      enum outcome **outcomes, struct error *error);

/* Is there memory for the members that will be at work at a time? Each is taken as large as the
 * largest. STATUS_MEMORY with the key that asks for it, or what is wrong with the config of one. */
enum status study_check_memory(const struct study *study, const struct study_options *options,
                               struct error *error);

/* The bytes that the runs of a study will write, before the first of them is run. */

/*
 * The bytes of all rows and frames of those members for which `counts` is true. They are worked out
 * in a process of its own, so that no device or team of threads is begun in this one, which must
 * have none yet. A member that cannot be prepared counts nothing: its own run will say why; where
 * that is so for all of them because of their config, STATUS_CONFIG with the words of the first. 0
 * bytes where no process could be made.
 */
enum status disk_needed(const struct study *study, const struct study_options *options,
                        bool (*counts)(const void *context, size_t member), const void *context,
                        double *bytes, struct error *error);

/* STATUS_CANT_CREATE where the disk of `directory`, which need not be there yet, has less room. */
enum status disk_check(const char *directory, double bytes, struct error *error);

#endif
