/* The common part of `run` and `check`: from the name of a config file to a run that is ready. */
#ifndef ORRERY_COMMANDS_PREPARATION_H
#define ORRERY_COMMANDS_PREPARATION_H

#include <stdbool.h>

#include "base/status.h"
#include "commands/arguments.h"
#include "config/configuration.h"
#include "run/run.h"

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

#endif
