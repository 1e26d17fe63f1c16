/*
 * A study: one config file, run many times with different values of some keys. Each of these runs
 * is a member of the study. A sweep is a study over the grid of values that the config lists; a
 * convergence test is a study in which only the step differs.
 *
 * A study has a directory with study.json (its description and manifest), a run directory for each
 * member (001, 002, ...), and study.csv (a row for each member: its values, verdict and last
 * diagnostics). The same command continues a study that was stopped: members that have finished are
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
    STUDY_MEMBERS_MOST = 100000 /* more directories in one are a burden for file systems */
};

struct study {
    const struct config *config; /* config of the study, which must outlive the study */
    size_t key_count;
    char **keys;                /* paths of the varied keys, such as "time.step" */
    struct location *locations; /* [key_count], where the config gives the values of each key;
                                   strings borrowed */
    size_t shown_keys;          /* number of keys that are columns of study.csv, the first ones */
    size_t member_count;
    char **values;    /* [member_count][key_count], in config syntax */
    bool convergence; /* a convergence test, which writes convergence.csv */
};

/* Makes the study of `sweep`, whose last key changes fastest. STATUS_CONFIG, STATUS_MEMORY. */
enum status study_of_sweep(const struct config *config, struct study *study, struct error *error);

/* Makes a study of `levels` members, each with half the step of the one before and twice the steps
 * from one row or frame to the next: all measure at equal times. STATUS_CONFIG, STATUS_MEMORY. */
enum status study_of_convergence(const struct config *config, size_t levels, struct study *study,
                                 struct error *error);
void study_free(struct study *study);

/* Returns time.end, which all members have in common; NaN if it or physics.units is varied. */
double study_end(const struct study *study);

/* Write the name of a member into `buffer`, "001" for index 0, or its path in the study's
 * `directory`, and return `buffer`. */
const char *study_member_name(size_t member, char buffer[STUDY_NAME_SIZE]);
enum { STUDY_PATH_SIZE = 4096 };
const char *study_member_path(const char *directory, size_t member, char buffer[STUDY_PATH_SIZE]);

struct study_options {
    const char *const *overrides; /* values of -P on the command line, which `config` has */
    size_t override_count;
    const char *directory;
    bool force;  /* remove the old runs, finished or not, and begin members anew */
    size_t only; /* the only member to run, counted from 1 (for a job of an array); 0: run all */
    double deadline; /* clock_seconds() when all must have stopped; 0: no limit */
    int threads;     /* threads of each member; 0: the members at work share the cores */
    /* notice() gets messages for the user, a line each; progress() gets the number of members that
     * have ended. Both may be NULL. */
    void (*notice)(void *context, const char *line);
    void (*progress)(void *context, size_t done, size_t members);
    void *context;
};

/* Loads the config of a member, with `threads` threads. The caller frees it before the study. */
enum status study_load_member(const struct study *study, int threads, size_t member,
                              struct config **config, struct error *error);

/*
 * Runs the members that have not finished, as many at a time as cores allow. Errors in any member's
 * config are found before the first is run. STATUS_OK; STATUS_EXPECT_FAILED if that is the worst
 * status of a member; STATUS_STOPPED on a signal; or the status of the first member that went
 * wrong. *outcomes is a new array with the outcome of each member, OUTCOME_NOT_BEGUN if none is
 * known; NULL unless the directory is that of this study.
 */
enum status study_run(const struct study *study, const struct study_options *options,
                      enum outcome **outcomes, struct error *error);

/* Checks that there is memory for the members at work at a time, each as large as the largest.
 * STATUS_MEMORY with the key that asks for it, or the error of a member's config. */
enum status study_check_memory(const struct study *study, const struct study_options *options,
                               struct error *error);

/*
 * Estimates the bytes of all rows, frames and checkpoints of the members for which `counts` is
 * true (NULL: of all). A child process prepares their runs, so that this process, which must have
 * no GPU context and no team of threads yet, gets none. A member that cannot be prepared counts 0
 * bytes: its own run will report why. STATUS_CONFIG, with the error of the first, if no member can
 * be prepared because of its config. *bytes is 0 if there is no child process.
 */
enum status disk_needed(const struct study *study, const struct study_options *options,
                        bool (*counts)(const void *context, size_t member), const void *context,
                        double *bytes, struct error *error);

/* Returns STATUS_CANT_CREATE if the disk of `directory`, which need not exist yet, has room for
 * fewer than `bytes` bytes. */
enum status disk_check(const char *directory, double bytes, struct error *error);

#endif
