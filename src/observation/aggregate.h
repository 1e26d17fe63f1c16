/*
 * Statistics over the systems of an ensemble: at each event, mean, standard deviation, standard
 * error and quantiles of each column of a diagnostic, and where it has a table at each event, of
 * each bin. Individual N-body trajectories are unpredictable after a few crossing times; such
 * statistics are sound if systems that conserve energy badly are left out (and counted).
 */
#ifndef ORRERY_OBSERVATION_AGGREGATE_H
#define ORRERY_OBSERVATION_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "diagnostics/diagnostic.h"

struct aggregate;

/* Creates the statistics of `source`, which it borrows, over `systems` systems. STATUS_MEMORY. */
enum status aggregate_create(const struct diagnostic *source, size_t systems,
                             struct aggregate **aggregate, struct error *error);
void aggregate_destroy(struct aggregate *aggregate); /* accepts NULL */

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
