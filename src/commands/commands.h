/* The commands: `orrery NAME ...`. One source file and one row of the table each. */
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
    bool prints_result; /* what it prints is what it is for: failing to print it is an error */
    bool computes;      /* forces, by teams of threads */
};

/* NULL past the last / for an unknown name. */
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

/* The common part of `run` and `check`: from the name of a config file to a run that is ready. */

struct prepare_options {
    const char *path;               /* of the config file; "-": standard input */
    struct argument_list overrides; /* -P */
    bool convergence;               /* the run is to be repeated with smaller steps */
};

struct prepared {
    struct config *config;
    struct run *run;
};

/* Reads the config; the caller calls prepare_done() on any outcome. */
enum status prepare_config(const struct prepare_options *options, struct prepared *prepared,
                           struct error *error);

void prepare_done(struct prepared *prepared);

/* Prepares, prints the resolved configuration and the estimate, computes nothing. */
enum status prepare_check(const struct prepare_options *options, const struct run_options *run,
                          struct error *error);

/* --- studies: command-study.c ----------------------------------------------------------------- */

/* The part of `orrery run` for a config that describes a sweep, or with --convergence. */

struct command_study_options {
    bool convergence;
    bool quiet;
    size_t member; /* of a sweep, counted from 1; 0: all */
};

/* Runs the study, prints its table and its verdict. */
enum status command_study(const struct prepare_options *prepare, const struct config *config,
                          const struct run_options *run,
                          const struct command_study_options *options, struct error *error);

/* The sum over all runs of a sweep. */
struct sweep_estimate {
    size_t runs; /* 0 without a sweep */
    double disk_bytes;
};

/* Checks that the members of a study that will be at work at a time have memory, and estimates a
 * sweep. Another process does that, so this one must have no threads yet. */
enum status command_study_check(const struct prepare_options *prepare, const struct config *config,
                                struct sweep_estimate *sweep, struct error *error);

#endif
