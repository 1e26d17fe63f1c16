/* The commands `orrery NAME ...`. Each has a source file command-NAME.c and a row of the table in
 * commands.c. */
#ifndef ORRERY_COMMANDS_COMMANDS_H
#define ORRERY_COMMANDS_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "commands/arguments.h"
#include "config/configuration.h"
#include "run/run.h"

struct command {
    const char *name;
    const char *help; /* one line for `orrery --help` */
    /* Executes the command; argv[0] is its name, the arguments follow. It prints results itself and
     * returns errors for main() to print. */
    enum status (*execute)(int argc, char **argv, struct error *error);
    bool prints_result; /* a failure to print is an error: the output is the result */
    bool computes;      /* the command computes forces, with teams of threads */
};

/* Return the command at an index of the table, or the command called `name`; NULL if there is
 * none. */
const struct command *command_at(size_t index);
const struct command *command_find(const char *name);

enum status command_run(int argc, char **argv, struct error *error);
enum status command_check(int argc, char **argv, struct error *error);
enum status command_bench(int argc, char **argv, struct error *error);
enum status command_bench_gpu(int argc, char **argv, struct error *error);
enum status command_convert(int argc, char **argv, struct error *error);
enum status command_info(int argc, char **argv, struct error *error);
enum status command_report(int argc, char **argv, struct error *error);
enum status command_verify(int argc, char **argv, struct error *error);
enum status command_watch(int argc, char **argv, struct error *error);

/* --- preparing a run -------------------------------------------------------------------------- */

/* The common part of `orrery run` and `orrery check`: both make, from the path of a config file, a
 * run that is ready to begin. */

struct prepare_options {
    const char *path;               /* path of the config file; "-": standard input */
    struct argument_list overrides; /* the options -P, "key.path=value" */
    bool convergence;               /* --convergence: the run will be repeated with smaller steps */
};

/* A config and the run that was prepared from it; NULL until each is there. prepare_done() frees
 * both. */
struct prepared {
    struct config *config;
    struct run *run;
};

/* Reads the config into *prepared; the caller calls prepare_done() in any case. */
enum status prepare_config(const struct prepare_options *options, struct prepared *prepared,
                           struct error *error);

void prepare_done(struct prepared *prepared);

/* Prepares the run, and prints all keys of the config with their values and an estimate of what the
 * run costs; does not start the run. */
enum status prepare_check(const struct prepare_options *options, const struct run_options *run,
                          struct error *error);

/* --- studies: command-study.c ----------------------------------------------------------------- */

/* The part of `orrery run` for a study: several runs, by a sweep in the config or by
 * --convergence. */

struct command_study_options {
    bool convergence;
    bool quiet;    /* print neither progress nor a summary */
    size_t member; /* member of the study to run alone, counted from 1; 0: all members */
};

/* Runs the members of the study, and prints a summary with the verdict. */
enum status command_study(const struct prepare_options *prepare, const struct config *config,
                          const struct run_options *run,
                          const struct command_study_options *options, struct error *error);

/* The number of runs of a sweep (0: no sweep) and the bytes that their files take together. */
struct sweep_estimate {
    size_t runs;
    double disk_bytes;
};

/* Checks that there is memory for those members of a study that will run at one time, and estimates
 * the disk space of a sweep. A forked process does the estimate, so the caller must have no threads
 * yet. */
enum status command_study_check(const struct prepare_options *prepare, const struct config *config,
                                struct sweep_estimate *sweep, struct error *error);

#endif
