#include "formats/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

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
