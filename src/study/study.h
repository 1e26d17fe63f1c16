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

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/status.h"
#include "config/configuration.h"
#include "initial/body-files.h"
#include "output/directory.h"
#include "report/outcome.h"
#include "report/result.h"
#include "study/errorbar.h"

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

/* --- disk.c: what the study will write -------------------------------------------------------- */

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

/* --- folder.c: the directory ------------------------------------------------------------------ */

/*
 * The directory of a study, which is claimed, locked and written as that of a run is. Its manifest,
 * study.json, has the keys and values of the study, its files, and the directories of its members.
 */

/* Returns the description of the study for study.json: its keys, and the values of each member. A
 * new reference; NULL when memory is exhausted. */
json_t *folder_describe(const struct study *study);

/*
 * Makes the directory, or finds the same study there, and locks it until directory_close(): for
 * this process alone, or for a single member together with other jobs of the array. With
 * `options->force` removes the runs of the study that is there, with the files in their manifests,
 * but not those of the same study if a single member is to run; notices name files that stay
 * because Orrery did not write them. STATUS_CANT_CREATE if the directory holds another study, or
 * files with the study's own names that Orrery did not write, or if another process works there.
 */
enum status folder_open(const struct study *study, const struct study_options *options,
                        struct directory **directory, struct error *error);

/* Sets *complete if all members in the directory `path` have finished, whatever their verdict. The
 * errors of result_open(). */
enum status folder_is_complete(const struct study *study, const char *path, bool *complete,
                               struct error *error);

/* --- existing.c: what earlier commands have left ---------------------------------------------- */

/*
 * The runs that an earlier command has left in the directory of a study, and whether they still
 * count: a member (a single run of the study) is done only if it has finished with the config that
 * it would have now.
 */

/* The hash of the files of bodies that were read last, kept since most members read the same files.
 * All zero at first. */
struct existing_input {
    char *path; /* the paths of the files, one in each line */
    char hash[INPUT_HASH_SIZE];
};

/*
 * Compares the grid of keys and values in DIR/study.json with the present one: `now`, made by
 * folder_describe(). Adds a line to `error` for each difference (STATUS_CONFIG); none if the file
 * is missing or is not that of a study.
 */
void existing_grid(const char *directory, const struct study *study, const json_t *now,
                   struct error *error);

/* Opens the run of a member of `study`. STATUS_NO_INPUT if there is none, STATUS_CANT_CREATE if
 * another program's file is in the place of its manifest; else the errors of result_open(). */
enum status existing_open(const char *directory, const struct study *study, struct result *result,
                          struct error *error);

/*
 * Compares the config of the run in `directory` with `config`, as a restart does. Changes that a
 * restart allows although they change rows, frames or verdicts count as differences once the run
 * has finished. Adds a line to `error` for each difference (STATUS_CONFIG). Sets *done if the run
 * stands as it is, with the exit status *status; a run that must go on to a later end is not done.
 * `quiet_keys` is a study whose keys are not compared, since their differences were reported
 * already; or NULL.
 */
void existing_member(const char *directory, const struct result *result,
                     const struct config *config, const struct study *quiet_keys,
                     struct existing_input *input, bool *done, int *status, struct error *error);

/* --- table.c: study.csv ----------------------------------------------------------------------- */

/*
 * study.csv: one row for each member of a study, with the values of the keys, its exit status and
 * verdict, and the last row of every diagnostic that has one row per event, in columns
 * "diagnostic.column [unit]". Cells without a value are empty. A run is read once, when its process
 * ends or an earlier command has left it, so that the table can be written at any moment.
 */

struct table;

/* Creates an empty table of a study in that directory; both are borrowed. NULL without memory. */
struct table *table_create(const struct study *study, const char *directory);
void table_destroy(struct table *table); /* accepts NULL */

/* Takes the row of a member from its run, in place of an earlier row; after an error the member has
 * none. STATUS_IO, STATUS_MEMORY. */
enum status table_take(struct table *table, size_t member, const struct result *result,
                       struct error *error);
void table_forget(struct table *table, size_t member); /* removes the row of a member */
/* Takes the row of a member from its directory; without a run it has none. The errors of
 * existing_open() and table_take(). */
enum status table_read(struct table *table, size_t member, struct error *error);
/* Returns how the member's run has ended; OUTCOME_NOT_BEGUN if it has no row. */
enum outcome table_outcome(const struct table *table, size_t member);

/* Writes study.csv anew; first reads the members that have no row yet. Jobs of an array take turns.
 * The errors of table_read(); STATUS_CANT_CREATE. */
enum status table_write(struct table *table, struct directory *directory, struct error *error);

/* --- processes.c: members at work ------------------------------------------------------------- */

/* Runs the members (single runs) of a study in processes, as many at a time as cores allow. */

struct member {
    pid_t process; /* process that runs it now; 0: none */
    bool ended;
    int status;           /* exit status of the run, once `ended` */
    int signal;           /* signal that killed the process; or 0 */
    struct stat manifest; /* file status of its run.json when `ended` was read there */
};

struct work {
    const struct study *study;
    const struct study_options *options;
    struct member *members;
    struct table *table; /* rows of study.csv, for members that have ended */
    int jobs, threads;
    size_t running, done;
    size_t first, next; /* the first member that may be running, and the next to be started */
    bool stopping;
    size_t *notices; /* number of messages of all runs so far, in shared memory; or NULL */
};

const char *work_path(const struct work *work, size_t member, char buffer[STUDY_PATH_SIZE]);

/* Tells whether this process is to run the member: true unless options->only is another one. */
bool work_is_ours(const struct work *work, size_t member);

/* Tells whether the member has a run.json, whoever wrote it. */
bool work_has_begun(const struct work *work, size_t member);

void work_notice(const struct work *work, const char *line);

/* Runs the members that have not ended, until all have or the study must stop. Passes signals that
 * ask for a checkpoint or for the end on to the members. */
void work_run(struct work *work);

/* --- convergence.c: orders and error bars ----------------------------------------------------- */

/*
 * The result of a convergence study: for every column of every diagnostic, measured with steps dt,
 * dt/2 and dt/4, the order at which it converges and the error that is left.
 */

enum { CONVERGENCE_LEVELS = ERRORBAR_LEVELS, CONVERGENCE_NAME_SIZE = 128 };

struct convergence_row {
    char column[CONVERGENCE_NAME_SIZE]; /* diagnostic and its column: "conservation.energy" */
    char unit[CONVERGENCE_NAME_SIZE];
    double value; /* value with the smallest step, at the last time that all runs have */
    struct errorbar bar;
};

struct convergence {
    struct convergence_row *rows;
    size_t count;
};

/* Reads the three runs of the study in `path`, measures their convergence, and writes the study's
 * convergence.csv. STATUS_NO_INPUT if a run is missing; STATUS_CANT_CREATE if another process is at
 * work there. The caller calls convergence_free(). */
enum status convergence_measure(const char *path, struct convergence *convergence,
                                struct error *error);
void convergence_free(struct convergence *convergence);

#endif
