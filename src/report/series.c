#include "report/series.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "base/memory.h"
#include "base/text.h"

/* "name [unit]" as it stands between two commas. */
static void read_header_cell(struct series_column *column, const char *cell)
{
    const char *bracket = strstr(cell, " [");
    const size_t length = bracket ? (size_t)(bracket - cell) : strlen(cell);
    snprintf(column->name, sizeof column->name, "%.*s", (int)length, cell);
    if (!bracket)
        return;
    snprintf(column->unit, sizeof column->unit, "%s", bracket + 2);
    char *end = strrchr(column->unit, ']');
    if (end)
        *end = '\0';
    if (strcmp(column->unit, "1") == 0)
        column->unit[0] = '\0';
}

static enum status read_header(struct series *series, char *line, struct error *error)
{
    series->columns = 1;
    for (const char *c = line; *c; c++)
        series->columns += *c == ',';
    series->column = calloc(series->columns, sizeof *series->column);
    if (!series->column) {
        series->columns = 0;
        return error_set(error, STATUS_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < series->columns; i++)
        read_header_cell(&series->column[i], strsep(&line, ","));
    return STATUS_OK;
}

static enum status grow(struct series *series, size_t *capacity, struct error *error)
{
    if (series->rows < *capacity)
        return STATUS_OK;
    *capacity = *capacity ? 2 * *capacity : 1024;
    for (size_t i = 0; i < series->columns; i++) {
        double *values = realloc(series->column[i].values, memory_bytes(*capacity, sizeof *values));
        if (!values)
            return error_set(error, STATUS_MEMORY, "out of memory");
        series->column[i].values = values;
    }
    return STATUS_OK;
}

static enum status read_row(struct series *series, char *line, const struct lines *lines,
                            struct error *error)
{
    for (size_t i = 0; i < series->columns; i++) {
        char *cell = strsep(&line, ",");
        if (!cell)
            return lines_error(lines, error, "%zu cells, but %zu in the header", i,
                               series->columns);
        double *value = &series->column[i].values[series->rows];
        *value = NAN;
        if (cell[0] != '\0' && !text_parse_real(cell, value))
            return lines_error(lines, error, "\"%.40s\" is not a number", cell);
    }
    return STATUS_OK;
}

/* Which system each row is of, counted from 0: what the column `system` says, which counts from 1,
 * if there is one. */
static size_t *find_systems(struct series *series, size_t rows, struct error *error)
{
    const struct series_column *first = &series->column[0];
    const bool alone = strcmp(first->name, "system") != 0;
    size_t *system = malloc(memory_bytes(rows + 1, sizeof *system));
    if (!system) {
        error_set(error, STATUS_MEMORY, "out of memory");
        return NULL;
    }
    series->systems = 1;
    for (size_t i = 0; i < rows; i++) {
        const double s = alone ? 0.0 : first->values[i] - 1.0;
        system[i] = s >= 0 && s < (double)rows ? (size_t)s : 0;
        series->systems = system[i] >= series->systems ? system[i] + 1 : series->systems;
    }
    return system;
}

/* Puts the rows of each system together. What not every system has is left out. */
static enum status group_rows(struct series *series, size_t rows, struct error *error)
{
    size_t *system = find_systems(series, rows, error);
    if (!system)
        return error->status;
    size_t *seen = calloc(series->systems, sizeof *seen);
    double *grouped = malloc(memory_bytes(rows + 1, sizeof *grouped));
    if (!seen || !grouped) {
        error_set(error, STATUS_MEMORY, "out of memory");
        goto done;
    }
    for (size_t i = 0; i < rows; i++)
        seen[system[i]]++;
    series->rows = seen[0];
    for (size_t s = 1; s < series->systems; s++)
        series->rows = seen[s] < series->rows ? seen[s] : series->rows;
    for (size_t c = 0; c < series->columns && series->systems > 1; c++) {
        double *const values = series->column[c].values;
        memset(seen, 0, series->systems * sizeof *seen);
        for (size_t i = 0; i < rows; i++) {
            const size_t s = system[i], row = seen[s]++;
            if (row < series->rows)
                grouped[s * series->rows + row] = values[i];
        }
        memcpy(values, grouped, series->systems * series->rows * sizeof *values);
    }
done:
    free(system);
    free(seen);
    free(grouped);
    return error->status;
}

static enum status read_lines(struct series *series, struct lines *lines, struct error *error)
{
    char *line;
    size_t capacity = 0;
    enum status status = lines_next(lines, &line, error);
    if (!status && !line)
        status = lines_error(lines, error, "no header");
    if (!status)
        status = read_header(series, line, error);
    /* A run at work, or one that was killed, may have written half a row. */
    while (!status && !(status = lines_next(lines, &line, error)) && line && !lines_is_cut(lines)) {
        status = grow(series, &capacity, error);
        if (!status)
            status = read_row(series, line, lines, error);
        if (!status)
            series->rows++;
    }
    return status || series->rows == 0 ? status : group_rows(series, series->rows, error);
}

enum status series_read(const char *path, struct series **result, struct error *error)
{
    *result = NULL;
    struct lines *lines;
    if (lines_open(path, &lines, error))
        return error->status;
    struct series *series = calloc(1, sizeof *series);
    const enum status status = series ? read_lines(series, lines, error)
                                      : error_set(error, STATUS_MEMORY, "out of memory");
    lines_close(lines);
    if (status)
        series_destroy(series);
    else
        *result = series;
    return status;
}

void series_destroy(struct series *series)
{
    if (!series)
        return;
    for (size_t i = 0; i < series->columns; i++)
        free(series->column[i].values);
    free(series->column);
    free(series);
}

const struct series_column *series_find(const struct series *series, const char *name)
{
    for (size_t i = 0; i < series->columns; i++)
        if (strcmp(series->column[i].name, name) == 0)
            return &series->column[i];
    return NULL;
}
