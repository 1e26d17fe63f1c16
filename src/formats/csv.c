#include "formats/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/text.h"

static void header_cell(struct stream *stream, const char *name, struct dimension dimension,
                        const struct units *units)
{
    char label[UNITS_LABEL_SIZE];
    stream_print(stream, "%s [%s]", name, units_label(units, dimension, label));
}

void csv_header(struct stream *stream, const struct column *columns, size_t count, bool systems,
                bool files, const struct units *units)
{
    if (systems)
        stream_print(stream, "system [1],");
    if (files)
        stream_print(stream, "file,");
    stream_print(stream, "step [1],");
    header_cell(stream, "time", (struct dimension)DIMENSION_TIME, units);
    for (size_t k = 0; k < count; k++) {
        stream_write(stream, ",", 1);
        header_cell(stream, columns[k].name, columns[k].dimension, units);
    }
    stream_write(stream, "\n", 1);
}

static void file_cell(struct stream *stream, const char *file)
{
    struct text cell = { 0 };
    text_cell(&cell, file);
    if (cell.failed)
        stream_fail(stream, ENOMEM);
    else
        stream_write(stream, cell.bytes, cell.length);
    stream_write(stream, ",", 1);
    text_free(&cell);
}

void csv_row(struct stream *stream, const struct moment *now, bool systems, size_t system,
             const char *file, const double *values, size_t count)
{
    if (systems)
        stream_print(stream, "%zu,", system + 1);
    if (file[0])
        file_cell(stream, file);
    stream_print(stream, "%" PRIu64 ",", now->step);
    stream_real(stream, now->time, 17);
    for (size_t k = 0; k < count; k++) {
        stream_write(stream, ",", 1);
        if (isfinite(values[k]))
            stream_real(stream, values[k], 17);
    }
    stream_write(stream, "\n", 1);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Reads a cell of the header, "name [unit]", into `column`, whose unit stays "" for a pure number.
 * Returns false for a cell that no run could have written. */
static bool read_header_cell(struct series_column *column, char *cell)
{
    const char *unit = text_cut_unit(cell);
    if (!name_is_word(cell) || strlen(cell) >= sizeof column->name)
        return false;
    snprintf(column->name, sizeof column->name, "%s", cell);
    if (unit && (!name_is_unit(unit) || strlen(unit) >= sizeof column->unit))
        return false;
    if (unit && strcmp(unit, "1") != 0)
        snprintf(column->unit, sizeof column->unit, "%s", unit);
    return true;
}

static enum status read_header(struct series *series, char *line, const struct lines *lines,
                               struct error *error)
{
    size_t most = 1;
    for (const char *c = line; *c; c++)
        most += *c == ',';
    series->column = calloc(most, sizeof *series->column);
    series->cells = calloc(most, sizeof *series->cells);
    if (!series->column || !series->cells)
        return error_memory(error);
    series->columns = text_split(line, ',', series->cells, most);
    for (size_t i = 0; i < series->columns; i++)
        if (!read_header_cell(&series->column[i], series->cells[i]))
            return lines_error(lines, error,
                               "column %zu: \"%.40s\": is no name of a column that a run could "
                               "have written",
                               i + 1, series->cells[i]);
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
            return error_memory(error);
        series->column[i].values = values;
    }
    return STATUS_OK;
}

static enum status read_row(struct series *series, char *line, const struct lines *lines,
                            struct error *error)
{
    const size_t cells = text_split(line, ',', series->cells, series->columns);
    if (cells < series->columns)
        return lines_error(lines, error, "%zu cells, but %zu in the header", cells,
                           series->columns);
    for (size_t i = 0; i < series->columns; i++) {
        const char *cell = series->cells[i];
        double *value = &series->column[i].values[series->rows];
        *value = NAN;
        if (strcmp(series->column[i].name, "file") == 0)
            continue; /* the name of the file that a system came from is no number */
        if (cell[0] != '\0' && !text_parse_real(cell, value))
            return lines_error(lines, error, "\"%.40s\" is not a number", cell);
    }
    return STATUS_OK;
}

/* Returns the system of each row, counted from 0: by the first column if it is `system`, which
 * counts from 1; otherwise 0 for all rows. Also sets series->systems. The caller frees the array;
 * NULL without memory. */
static size_t *find_systems(struct series *series, size_t rows, struct error *error)
{
    const struct series_column *first = &series->column[0];
    const bool alone = strcmp(first->name, "system") != 0;
    size_t *system = malloc(memory_bytes(rows + 1, sizeof *system));
    if (!system) {
        error_memory(error);
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

/* Sorts the values of each column by systems: row k of system s to s * series->rows + k. Every
 * system keeps as many rows as the one that has fewest. */
static enum status group_rows(struct series *series, size_t rows, struct error *error)
{
    size_t *system = find_systems(series, rows, error);
    if (!system)
        return error->status;
    size_t *seen = calloc(series->systems, sizeof *seen);
    double *grouped = malloc(memory_bytes(rows + 1, sizeof *grouped));
    if (!seen || !grouped) {
        error_memory(error);
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

/* Counts the rows of the last event before row `end`: those that have the step of row `end` - 1. */
static size_t count_event(const double *step, size_t end)
{
    size_t rows = 0;
    while (rows < end && step[end - 1 - rows] == step[end - 1])
        rows++;
    return rows;
}

/* Drops the last event if it has fewer rows than the event before it: all events have equally many,
 * but a process that was killed may have written a part of the last one. */
static void drop_part(struct series *series)
{
    const struct series_column *const step = series_find(series, "step");
    const size_t rows = series->rows, last = step ? count_event(step->values, rows) : 0;
    if (!step || count_event(step->values, rows - last) <= last)
        return;
    series->rows -= last;
    for (size_t c = 0; c < series->columns; c++)
        for (size_t s = 1; s < series->systems; s++)
            memmove(&series->column[c].values[s * series->rows],
                    &series->column[c].values[s * rows], series->rows * sizeof(double));
}

static enum status read_lines(struct series *series, struct lines *lines, struct error *error)
{
    char *line;
    size_t capacity = 0;
    enum status status = lines_next(lines, &line, error);
    if (!status && !line)
        status = lines_error(lines, error, "no header");
    if (!status)
        status = read_header(series, line, lines, error);
    /* A last line without a line end is left out: a run at work, or one that was killed, may have
     * written half of a row. */
    while (!status && !(status = lines_next(lines, &line, error)) && line && !lines_is_cut(lines)) {
        status = grow(series, &capacity, error);
        if (!status)
            status = read_row(series, line, lines, error);
        if (!status)
            series->rows++;
    }
    if (status || series->rows == 0 || group_rows(series, series->rows, error))
        return error->status;
    drop_part(series);
    return STATUS_OK;
}

enum status series_read(const char *path, struct series **result, struct error *error)
{
    *result = NULL;
    struct lines *lines;
    if (lines_open_own(path, &lines, error))
        return error->status;
    struct series *series = calloc(1, sizeof *series);
    const enum status status = series ? read_lines(series, lines, error) : error_memory(error);
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
    free(series->cells);
    free(series);
}

const struct series_column *series_find(const struct series *series, const char *name)
{
    for (size_t i = 0; i < series->columns; i++)
        if (strcmp(series->column[i].name, name) == 0)
            return &series->column[i];
    return NULL;
}
