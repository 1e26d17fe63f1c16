/* The columns of a CSV file of a run directory, in memory: `name [unit]` headers, empty cells. */
#ifndef ORRERY_FORMATS_SERIES_H
#define ORRERY_FORMATS_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { SERIES_NAME_SIZE = 64 };

struct series_column {
    char name[SERIES_NAME_SIZE];
    char unit[SERIES_NAME_SIZE]; /* "" for a pure number */
    double *values;              /* rows x systems of them; NaN for an empty cell */
};

/* Row k of system s is values[s * rows + k]; of what is cut off only whole events count. */
struct series {
    size_t systems;       /* 1 unless the file has a column `system` */
    size_t rows, columns; /* rows of each system */
    struct series_column *column;
    char **cells; /* of the line at hand, while the file is read */
};

/* STATUS_NO_INPUT, STATUS_DATA, STATUS_MEMORY. */
enum status series_read(const char *path, struct series **series, struct error *error);
void series_destroy(struct series *series); /* accepts NULL */

/* NULL where there is no such column. */
const struct series_column *series_find(const struct series *series, const char *name);

#endif
