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

/* A diagnostic at work: its rows go to its CSV file and to the criteria. */
struct observed_diagnostic {
    struct diagnostic *diagnostic;
    struct stream *stream;
    double *last_row;            /* of system 0, for the summary; undefined before the first */
    struct aggregate *aggregate; /* over the systems of an ensemble; NULL without one */
    struct stream *aggregate_stream;
    double seconds; /* that a measurement has taken at most in this process; 0 before the first */
};

struct observed_output {
    struct output *output; /* NULL when it is closed */
    const char *file;      /* its name, borrowed from the config */
    uint64_t events;       /* in the whole run, as planned until it ends */
};

struct observers {
    size_t diagnostic_count, output_count;
    struct observed_diagnostic *diagnostics; /* of the list, then `energy_budget` and `trust` */
    struct observed_output *outputs;
    struct watch *watch;
    struct diagnostic *trust, *energy_budget; /* the last ones of `diagnostics`, or NULL */
    double *phi, *psi;                        /* potentials, where something needs them */
    double seconds;  /* the same of what a step needs before it is measured */
    bool unresolved; /* it was said that the precision does not resolve a pair */
};

/* Makes room for as many, all of them NULL. STATUS_MEMORY. */
enum status observers_create(size_t diagnostics, size_t outputs, struct observers *observers,
                             struct error *error);
/* Closes what is open. */
void observers_destroy(struct observers *observers);

/* Does the diagnostic, or do its statistics over the systems, write the file `name`.csv, of which
 * `length` letters count? */
bool observers_writes(const struct observed_diagnostic *observed, const char *name, size_t length);

/* Returns what all diagnostics and outputs need (enum need, or-ed). */
unsigned observers_needs(const struct observers *observers);

/* Hands all rows and frames to the system, and with `to_disk` to the disk. */
enum status observers_flush(const struct observers *observers, bool to_disk, struct error *error);
/* Cuts off what continued files hold beyond what is kept; with `outputs`, the files of outputs that
 * have one for each event too. */
enum status observers_trim(const struct observers *observers, bool outputs, struct error *error);
/* Are their files still there as they were written? STATUS_IO. */
enum status observers_look(const struct observers *observers, const struct config *config,
                           const struct directory *directory, struct error *error);
/* Closes their files. */
void observers_close(struct observers *observers, struct error *error);

/* --- statistics of an ensemble ---------------------------------------------------------------- */

/*
 * Statistics over the systems of an ensemble: at each event, mean, standard deviation, standard
 * error and quantiles of each column of a diagnostic, and where it has a table at each event, of
 * each bin. Individual N-body trajectories are unpredictable after a few crossing times; such
 * statistics are sound if systems that conserve energy badly are left out (and counted).
 */

struct aggregate;

/* Creates the statistics of `source`, which it borrows, over `systems` systems. STATUS_MEMORY. */
enum status aggregate_create(const struct diagnostic *source, size_t systems,
                             struct aggregate **aggregate, struct error *error);

/*
 * Its name ("conservation-ensemble") and columns, in the form of a diagnostic: those of the source
 * that say which bin a row is of, systems, left_out, then for each other column of the source its
 * _mean, _std, _sem, _q10, _q50 and _q90. Owned by the aggregate.
 */
const struct diagnostic *aggregate_diagnostic(const struct aggregate *aggregate);

/* The next row of one system at this event: all of its rows in their order, then another system. */
void aggregate_take(struct aggregate *aggregate, size_t system, const double *values);

/* The statistics of one row, once all systems have given theirs, over the systems whose `left_out`
 * is false; borrowed until the next call. A system whose value is undefined does not count for that
 * column. */
const double *aggregate_row(struct aggregate *aggregate, size_t row, const bool *left_out);

/* Returns the last row, which must survive a restart; undefined values before the first. */
double *aggregate_last_row(struct aggregate *aggregate);

#endif
