/* The part of `orrery run` for a config that describes a sweep, or with --convergence. */
#ifndef ORRERY_COMMANDS_COMMAND_STUDY_H
#define ORRERY_COMMANDS_COMMAND_STUDY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "commands/preparation.h"
#include "config/configuration.h"
#include "run/run.h"

struct command_study_options {
    bool convergence;
    bool quiet;
    size_t member; /* of a sweep, counted from 1; 0: all */
};

/* Runs the study, prints its table and its verdict. */
enum status command_study(const struct prepare_options *prepare, const struct config *config,
                          const struct run_options *run,
                          const struct command_study_options *options, struct error *error);

#endif
