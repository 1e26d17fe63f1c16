/*
 * The rows of a diagnostic as a CSV file: a header `name [unit]`, then one line a row with
 * [system, file,] step and time in front; %.17g, an empty cell where a value is undefined.
 */
#ifndef ORRERY_FORMATS_CSV_H
#define ORRERY_FORMATS_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "model/units.h"
#include "output/stream.h"

/* Writes the header row. `systems`: the table has a column for the system that a row is about;
 * `files`: and one for the file from which the system came. */
void csv_header(struct stream *stream, const struct column *columns, size_t count, bool systems,
                bool files, const struct units *units);

/* Writes one row; `system` counts from 0 here and from 1 in the file, as in trajectories and
 * snapshots. It is written only with `systems`, and `file` unless it is "". */
void csv_row(struct stream *stream, const struct moment *now, bool systems, size_t system,
             const char *file, const double *values, size_t count);

/* --- reading ---------------------------------------------------------------------------------- */

/* The columns of a CSV file of a run directory, in memory: `name [unit]` headers, empty cells. */

enum { SERIES_NAME_SIZE = 64 };

struct series_column {
    char name[SERIES_NAME_SIZE];
    char unit[SERIES_NAME_SIZE]; /* "" for a pure number */
    double *values;              /* rows x systems of them; NaN for an empty cell */
};

/* A table in memory: row k of system s is values[s * rows + k]. If the file was cut off, a last
 * event that is not whole is left out. */
struct series {
    size_t systems;       /* 1 unless the file has a column `system` */
    size_t rows, columns; /* rows of each system */
    struct series_column *column;
    char **cells; /* of the line at hand, while the file is read */
};

/* Reads a CSV file of a run directory. STATUS_NO_INPUT, STATUS_DATA, STATUS_MEMORY. */
enum status series_read(const char *path, struct series **series, struct error *error);
void series_destroy(struct series *series); /* accepts NULL */

/* Finds a column by its name; NULL if there is none. */
const struct series_column *series_find(const struct series *series, const char *name);

#endif
