/* The observers of the bodies of a run: its diagnostics, its outputs and the accuracy watch (which
 * judges energy and orbits between their events), with the files that they write. */
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
    /* Last row of system 0, for the summary of the run; NaN before the first row. */
    double *last_row;
    /* Statistics over the systems of an ensemble; NULL: the run has one system. */
    struct aggregate *aggregate;
    struct stream *aggregate_stream;
    /* The seconds of the longest measurement in this process; 0 before the first. */
    double seconds;
};

struct observed_output {
    struct output *output; /* NULL when it is closed */
    const char *file;      /* name of its file in the run directory, borrowed */
    /* Planned number of frames in the whole run. After the end it is the number of files written,
     * for an output that writes one for each event. */
    uint64_t events;
};

struct observers {
    size_t diagnostic_count, output_count;
    /* The diagnostics of the config's list `diagnostics`, then those for `energy_budget` and
     * `trust`. */
    struct observed_diagnostic *diagnostics;
    struct observed_output *outputs;
    struct watch *watch;
    /* The diagnostics for the groups `trust` and `energy_budget`, also the last of `diagnostics`;
     * NULL if the config does not ask for them. */
    struct diagnostic *trust, *energy_budget;
    /* Potential phi and share psi of the virial of each body; NULL if no observer needs them. */
    double *phi, *psi;
    /* The longest time, in seconds, that it took at an event to get from the backend the positions,
     * energies and so on that the observers need. */
    double seconds;
    /* A warning was given that the precision of the forces does not resolve a close pair. */
    bool unresolved;
};

/* Allocates the arrays for these numbers of observers, with all entries NULL. STATUS_MEMORY. */
enum status observers_create(size_t diagnostics, size_t outputs, struct observers *observers,
                             struct error *error);
/* Frees the observers, and closes files that are open. */
void observers_destroy(struct observers *observers);

/* Tells whether the diagnostic, or its statistics over the systems, writes the file `name`.csv.
 * `name` has `length` bytes and need not end with NUL. */
bool observers_writes(const struct observed_diagnostic *observed, const char *name, size_t length);

/* Returns the bits of enum need (positions, energies, potentials ...) that at least one diagnostic
 * or output needs. */
unsigned observers_needs(const struct observers *observers);

/* Hands all buffered rows and frames to the operating system or, if `to_disk`, to the disk. */
enum status observers_flush(const struct observers *observers, bool to_disk, struct error *error);
/* Cuts the files that a restart continues back to their lengths at the checkpoint. With `outputs`,
 * also removes those that it writes anew: compressed ones, and those of later events. */
enum status observers_trim(const struct observers *observers, bool outputs, struct error *error);
/* Checks that nobody has replaced or changed the files since the run wrote them, else STATUS_IO. */
enum status observers_look(const struct observers *observers, const struct config *config,
                           const struct directory *directory, struct error *error);
void observers_close(struct observers *observers, struct error *error);

/* --- statistics of an ensemble ---------------------------------------------------------------- */

/*
 * The statistics over the systems of an ensemble: at each event mean, standard deviation, standard
 * error and quantiles of each column of a diagnostic, for each row if the diagnostic has several
 * (bins of a table). Individual N-body trajectories are unpredictable after a few crossing times;
 * such statistics are sound if systems that conserve energy badly are left out.
 */

struct aggregate;

/* Creates the statistics of the diagnostic `source`, borrowed, over all systems. STATUS_MEMORY. */
enum status aggregate_create(const struct diagnostic *source, size_t systems,
                             struct aggregate **aggregate, struct error *error);

/*
 * Returns the statistics in the form of a diagnostic, owned by the aggregate. Its name is that of
 * the source and "-ensemble": "conservation-ensemble". Its columns are those of the source that
 * tell the bin of a row, then the numbers of systems that count (`systems`) and that are left out
 * (`left_out`), then for each other column of the source _mean, _std, _sem, _q10, _q50, _q90.
 */
const struct diagnostic *aggregate_diagnostic(const struct aggregate *aggregate);

/* Takes the next row of a system at the present event. The caller gives all rows of one system in
 * their order, then those of another system. */
void aggregate_take(struct aggregate *aggregate, size_t system, const double *values);

/* Returns the statistics of one row over the systems whose `left_out` is false, once all systems
 * have given their rows; borrowed until the next call. A system whose value in a column is
 * undefined does not count in that column. */
const double *aggregate_row(struct aggregate *aggregate, size_t row, const bool *left_out);

/* Returns the last row of statistics, which checkpoints save; NaN before the first. */
double *aggregate_last_row(struct aggregate *aggregate);

#endif
