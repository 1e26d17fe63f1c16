/* An experiment: all that follows from a config before the first step is taken. */
#ifndef ORRERY_ESTIMATE_EXPERIMENT_H
#define ORRERY_ESTIMATE_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/configuration.h"
#include "external/external.h"
#include "initial/body-files.h"
#include "initial/initial.h"
#include "simulation/simulation.h"

enum { EXPERIMENT_NAME_SIZE = 256 }; /* longest name of a file, in bytes */

struct experiment {
    const struct config *config;      /* borrowed */
    char name[EXPERIMENT_NAME_SIZE];  /* key `name`, or the name of the config file */
    struct external *external;        /* owned: the external fields; NULL: none */
    struct simulation simulation;     /* not started, with bodies at t = 0, which a run moves */
    uint64_t steps;                   /* steps in the whole run: end / step, rounded up */
    struct body_files body_files;     /* files from which the systems are read */
    struct initial_warnings warnings; /* warnings about the bodies */
    bool identical; /* there are several systems, and all are copies of the first */
};

/* The format of the warning for an experiment that is `identical`: the number of systems, and the
 * reason, which experiment_why_identical() returns. */
#define EXPERIMENT_IDENTICAL                                                                       \
    "all %zu systems are the same: %s, so an ensemble of them has no scatter"
const char *experiment_why_identical(const struct experiment *experiment);

/*
 * Resolves `config` and makes the bodies, if there is memory for the run (see need.h).
 * `interruption` may end all work on the experiment, making the bodies included (STATUS_STOPPED);
 * NULL: nothing does. STATUS_CONFIG, STATUS_DATA, STATUS_NO_INPUT, STATUS_MEMORY,
 * STATUS_UNAVAILABLE (a backend that cannot run here).
 */
enum status experiment_create(const struct config *config, struct interruption *interruption,
                              struct experiment *experiment, struct error *error);
void experiment_destroy(struct experiment *experiment);

/* Writes the key `name` or, if unset, the config file's name without directory and suffix. */
void experiment_name(const struct config *config, char name[EXPERIMENT_NAME_SIZE]);

const struct integrator *experiment_integrator(const struct config *config);

/* Returns the directory of the experiment's run: `given`, or "<name>.run", written into `buffer`,
 * if `given` is NULL. */
enum { EXPERIMENT_DIRECTORY_SIZE = EXPERIMENT_NAME_SIZE + 8 };
const char *experiment_directory(const struct experiment *experiment, const char *given,
                                 char buffer[EXPERIMENT_DIRECTORY_SIZE]);

/* The default number of grid steps of a run whose integrator chooses its own steps. */
#define EXPERIMENT_DEFAULT_GRID 1000.0

/*
 * Returns the grid step of a run whose integrator chooses its own steps: `step` or, if it does not
 * divide `end`, the longest shorter one that does, so that the last row is at `end`. NAN stands for
 * `end` / EXPERIMENT_DEFAULT_GRID.
 */
double experiment_grid(double end, double step);

/* Returns the number of steps in the whole run if each were `step` long. */
double experiment_step_count(const struct experiment *experiment, double step);

/*
 * Returns "time.end = 1 is no multiple of the step: the run ends at t = 1.2", or, if the integrator
 * chooses its own steps, that the grid step is shorter than the config says; "" if time.end is a
 * multiple of the step but for rounding.
 */
enum { EXPERIMENT_NOTE_SIZE = 160 };
const char *experiment_end_note(const struct experiment *experiment,
                                char buffer[EXPERIMENT_NOTE_SIZE]);

/* Returns the work of `steps` steps, in pair interactions (force_work()); 0 if the integrator
 * chooses its own steps. */
double experiment_interactions(const struct experiment *experiment, uint64_t steps);

#endif
