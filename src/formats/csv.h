/*
 * The rows of a diagnostic as a CSV file: a header with a cell `name [unit]` for each column, then
 * a line for each row. The columns `system` and `file` (only for ensembles), step and time come
 * first, then those of the diagnostic. Numbers have 17 digits; an undefined value is an empty cell.
 */
#ifndef ORRERY_FORMATS_CSV_H
#define ORRERY_FORMATS_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "model/units.h"
#include "output/stream.h"

/* Writes the header row for `count` columns. `systems`: the table has a column for the system that
 * a row is about; `files`: it also has one for the file that the system came from. */
void csv_header(struct stream *stream, const struct column *columns, size_t count, bool systems,
                bool files, const struct units *units);

/* Writes one row of `count` values, with step and time of the moment. `system` counts from 0 here
 * and from 1 in the file, as in trajectories and snapshots; it is written only if `systems`, and
 * `file` only if it is not "". */
void csv_row(struct stream *stream, const struct moment *now, bool systems, size_t system,
             const char *file, const double *values, size_t count);

/* --- reading ---------------------------------------------------------------------------------- */

/* The functions below read a CSV file that a run has written into arrays of numbers. */

enum { SERIES_NAME_SIZE = 64 };

struct series_column {
    char name[SERIES_NAME_SIZE];
    char unit[SERIES_NAME_SIZE]; /* "" for a pure number */
    double *values;              /* [systems][rows]; NaN for an empty cell */
};

/* A table in memory: row k of system s is values[s * rows + k]. If the file was cut off, a last
 * event that is not whole is left out. */
struct series {
    size_t systems;       /* 1 unless the file has a column `system` */
    size_t rows, columns; /* number of rows of each system, and of columns */
    struct series_column *column;
    char **cells; /* the cells of the line that is being read */
};

/* Reads a CSV file of a run directory. STATUS_NO_INPUT, STATUS_DATA, STATUS_MEMORY. */
enum status series_read(const char *path, struct series **series, struct error *error);
void series_destroy(struct series *series); /* accepts NULL */

/* Finds a column by its name; NULL if there is none. */
const struct series_column *series_find(const struct series *series, const char *name);

#endif
