/* The observers of the bodies of a run: its diagnostics, outputs and watch, with the files that
 * they write. */
#ifndef ORRERY_OBSERVATION_OBSERVERS_H
#define ORRERY_OBSERVATION_OBSERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accuracy/watch.h"
#include "base/status.h"
#include "config/configuration.h"
#include "diagnostics/diagnostic.h"
#include "formats/output.h"
#include "output/directory.h"
#include "output/stream.h"

/* A diagnostic of a run, whose rows go to its CSV file and to the criteria. */
struct observed_diagnostic {
    struct diagnostic *diagnostic;
    struct stream *stream;
    double *last_row;            /* last row of system 0, for the summary; NaN before the first */
    struct aggregate *aggregate; /* statistics over the systems of an ensemble; NULL without one */
    struct stream *aggregate_stream;
    double seconds; /* seconds of the slowest measurement in this process; 0 before the first */
};

struct observed_output {
    struct output *output; /* NULL when it is closed */
    const char *file;      /* name of its file, borrowed */
    uint64_t events;       /* number of events in the whole run; as planned, until the run ends */
};

struct observers {
    size_t diagnostic_count, output_count;
    struct observed_diagnostic *diagnostics; /* those of the list, then those of `energy_budget` and
                                                `trust` */
    struct observed_output *outputs;
    struct watch *watch;
    struct diagnostic *trust, *energy_budget; /* the last ones of `diagnostics`, or NULL */
    double *phi, *psi;                        /* phi and psi of all bodies, if an observer needs
                                                 them; else NULL */
    double seconds;  /* seconds of the slowest preparation of a step, before measurements */
    bool unresolved; /* a warning has told that the precision does not resolve a pair */
};

/* Makes room for these numbers of diagnostics and outputs, all of them NULL. STATUS_MEMORY. */
enum status observers_create(size_t diagnostics, size_t outputs, struct observers *observers,
                             struct error *error);
/* Frees the observers, and closes files that are open. */
void observers_destroy(struct observers *observers);

/* Tells whether the diagnostic, or its statistics over the systems, writes the file `name`.csv;
 * `name` has `length` letters. */
bool observers_writes(const struct observed_diagnostic *observed, const char *name, size_t length);

/* Returns the needs of all diagnostics and outputs together (enum need, or-ed). */
unsigned observers_needs(const struct observers *observers);

/* Hands all rows and frames to the system, and with `to_disk` to the disk. */
enum status observers_flush(const struct observers *observers, bool to_disk, struct error *error);
/* Cuts off the bytes of continued files beyond their marks; with `outputs`, also removes files of
 * outputs that a restart writes anew: those of later events, and compressed files. */
enum status observers_trim(const struct observers *observers, bool outputs, struct error *error);
/* Checks that all files are still as they were written. STATUS_IO. */
enum status observers_look(const struct observers *observers, const struct config *config,
                           const struct directory *directory, struct error *error);
/* Closes all files. */
void observers_close(struct observers *observers, struct error *error);

/* --- statistics of an ensemble ---------------------------------------------------------------- */

/*
 * The statistics over the systems of an ensemble: at each event mean, standard deviation, standard
 * error and quantiles of each column of a diagnostic; in each bin, if it has a table at each event.
 * Individual N-body trajectories are unpredictable after a few crossing times; such statistics are
 * sound if systems that conserve energy badly are left out (and counted).
 */

struct aggregate;

/* Creates the statistics of `source`, which it borrows, over `systems` systems. STATUS_MEMORY. */
enum status aggregate_create(const struct diagnostic *source, size_t systems,
                             struct aggregate **aggregate, struct error *error);

/*
 * Returns the statistics in the form of a diagnostic, owned by the aggregate. Its name is
 * "conservation-ensemble". Its columns are those of the source that say which bin a row is of, then
 * systems and left_out, then for each other column of the source _mean, _std, _sem, _q10, _q50 and
 * _q90.
 */
const struct diagnostic *aggregate_diagnostic(const struct aggregate *aggregate);

/* Takes the next row of a system at this event: all rows of one system in their order, then those
 * of another system. */
void aggregate_take(struct aggregate *aggregate, size_t system, const double *values);

/* Returns the statistics of one row over the systems whose `left_out` is false, once all systems
 * have given their rows; borrowed until the next call. A system whose value in a column is
 * undefined does not count in that column. */
const double *aggregate_row(struct aggregate *aggregate, size_t row, const bool *left_out);

/* Returns the last row, which must survive a restart; NaN before the first. */
double *aggregate_last_row(struct aggregate *aggregate);

#endif
