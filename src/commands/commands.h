/* The commands: `orrery NAME ...`. Each has a source file and a row of the table. */
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
    const char *help; /* one line */
    /* argv[0] is the command's name. Prints results, returns errors. */
    enum status (*execute)(int argc, char **argv, struct error *error);
    bool prints_result; /* it is called for its output: failing to print that is an error */
    bool computes;      /* it computes forces, by teams of threads */
};

/* Return the command at an index, or of a name; NULL if there is none. */
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

/* The common part of `run` and `check` leads from the name of a config file to a run that is
 * ready. */

struct prepare_options {
    const char *path;               /* path of the config file; "-": standard input */
    struct argument_list overrides; /* -P */
    bool convergence;               /* the run will be repeated with smaller steps */
};

struct prepared {
    struct config *config;
    struct run *run;
};

/* Reads the config; the caller calls prepare_done() in any case. */
enum status prepare_config(const struct prepare_options *options, struct prepared *prepared,
                           struct error *error);

void prepare_done(struct prepared *prepared);

/* Prepares the run and prints the resolved config and the estimate; starts no run. */
enum status prepare_check(const struct prepare_options *options, const struct run_options *run,
                          struct error *error);

/* --- studies: command-study.c ----------------------------------------------------------------- */

/* The part of `orrery run` for a config with a sweep, or with --convergence. */

struct command_study_options {
    bool convergence;
    bool quiet;
    size_t member; /* member of a sweep, counted from 1; 0: all */
};

/* Runs the study, and prints its summary with the verdict. */
enum status command_study(const struct prepare_options *prepare, const struct config *config,
                          const struct run_options *run,
                          const struct command_study_options *options, struct error *error);

/* The estimate for all runs of a sweep together. */
struct sweep_estimate {
    size_t runs; /* number of runs; 0 without a sweep */
    double disk_bytes;
};

/* Checks that there is memory for the members of a study that will be at work at a time, and
 * estimates the disk space of a sweep. Another process estimates it, so this one must have no
 * threads yet. */
enum status command_study_check(const struct prepare_options *prepare, const struct config *config,
                                struct sweep_estimate *sweep, struct error *error);

#endif
