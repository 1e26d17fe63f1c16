/* An experiment: everything that a configuration decides before the first step, resolved. */
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

enum { EXPERIMENT_NAME_SIZE = 256 }; /* of any file name */

struct experiment {
    const struct config *config;      /* borrowed */
    char name[EXPERIMENT_NAME_SIZE];  /* `name`, or that of the config file */
    struct external *external;        /* owned: the fields of its physics; NULL: none */
    struct simulation simulation;     /* with bodies at t = 0, not started; a run moves it */
    uint64_t steps;                   /* in the whole run: end / step, rounded up to whole steps */
    struct body_files body_files;     /* the files that its systems come from */
    struct initial_warnings warnings; /* what may be wrong with these */
    bool identical; /* there are several systems, and all are copies of the first one */
};

/*
 * Resolves `config` and makes the bodies, if there is memory for the run (see need.h). All that
 * works on it may be interrupted (NULL: nothing is), the making of the bodies included
 * (STATUS_STOPPED). STATUS_CONFIG, STATUS_DATA, STATUS_NO_INPUT, STATUS_MEMORY, STATUS_UNAVAILABLE
 * (a backend that cannot run here).
 */
enum status experiment_create(const struct config *config, struct interruption *interruption,
                              struct experiment *experiment, struct error *error);
void experiment_destroy(struct experiment *experiment);

/* The key `name`; unset, that of the config file without directory and suffix. */
void experiment_name(const struct config *config, char name[EXPERIMENT_NAME_SIZE]);

/* Returns the integrator that the config names. */
const struct integrator *experiment_integrator(const struct config *config);

/* The directory of its run: `given`, or "<name>.run" if that is NULL. */
enum { EXPERIMENT_DIRECTORY_SIZE = EXPERIMENT_NAME_SIZE + 8 };
const char *experiment_directory(const struct experiment *experiment, const char *given,
                                 char buffer[EXPERIMENT_DIRECTORY_SIZE]);

/* Grid steps of a run whose integrator needs none and whose config names none. */
#define EXPERIMENT_DEFAULT_GRID 1000.0

/*
 * The grid of a run whose integrator chooses its own steps: `step`, or where it does not divide
 * `end` the longest shorter one that does, so that the last row is at `end`. NAN asks for `end`
 * over EXPERIMENT_DEFAULT_GRID.
 */
double experiment_grid(double end, double step);

/* Steps in the whole run if it took steps of this length. */
double experiment_step_count(const struct experiment *experiment, double step);

/*
 * "time.end = 1 is no multiple of the step: the run ends at t = 1.2", or "" where it is one, but
 * for rounding. Where a grid was made shorter instead it says so.
 */
enum { EXPERIMENT_NOTE_SIZE = 160 };
const char *experiment_end_note(const struct experiment *experiment,
                                char buffer[EXPERIMENT_NOTE_SIZE]);

/* Pair interactions of `steps` steps, by force_work(). */
double experiment_interactions(const struct experiment *experiment, uint64_t steps);

/* --- proportions between its numbers ---------------------------------------------------------- */

/* The proportions between the numbers of an experiment that are allowed, but are a slip as a
 * rule. */

enum { PROPORTIONS_TEXT_SIZE = 512 };

struct proportions {
    bool masses; /* they are of kilograms while G is 1: nothing else means anything */
    /* "time.end is 0.016 of the shortest orbital period ...; ...", for people; "" where nothing
     * stands out. */
    char text[PROPORTIONS_TEXT_SIZE];
};

/* Finds the proportions of an experiment at its start. STATUS_MEMORY. */
enum status proportions_find(const struct experiment *experiment, struct proportions *proportions,
                             struct error *error);

#endif
