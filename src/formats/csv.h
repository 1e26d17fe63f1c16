/*
 * The rows of a diagnostic as a CSV file: a header `name [unit]`, then one line a row with
 * [system, file,] step and time in front; %.17g, an empty cell where a value is undefined.
 */
#ifndef ORRERY_FORMATS_CSV_H
#define ORRERY_FORMATS_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "diagnostics/diagnostic.h"
#include "model/units.h"
#include "output/stream.h"

/* The header row. `systems`: the table has a column that says which system a row is about; `files`:
 * and one that names the file that the system came from. */
void csv_header(struct stream *stream, const struct column *columns, size_t count, bool systems,
                bool files, const struct units *units);

/* One row; `system` counts from 0 here and from 1 in the file, as in trajectories and snapshots. It
 * is written only with `systems`, and `file` unless it is "". */
void csv_row(struct stream *stream, const struct moment *now, bool systems, size_t system,
             const char *file, const double *values, size_t count);

#endif
