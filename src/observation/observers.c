#include "observation/observers.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* --- statistics of an ensemble ---------------------------------------------------------------- */

enum { NAME_SIZE = 128, COUNT_COLUMNS = 2 };

/* The indices of those statistics below that are not quantiles. */
enum { MEAN, STD, SEM };

static const struct {
    const char *suffix;
    double quantile; /* NaN: the statistic is no quantile */
    const char *help;
} statistics[] = {
    { "mean", NAN, "mean over the systems" },
    { "std", NAN, "standard deviation over the systems, n - 1 in the denominator" },
    { "sem", NAN, "standard error of the mean: the standard deviation over the root of n" },
    { "q10", 0.1, "10 % quantile" },
    { "q50", 0.5, "median" },
    { "q90", 0.9, "90 % quantile" },
};

struct aggregate {
    struct diagnostic diagnostic;
    const struct diagnostic *source;
    size_t systems, rows;
    /* Number of the first columns of `source`, which tell the bin of a row in every system. */
    size_t bin_columns;
    char name[NAME_SIZE];
    char (*names)[NAME_SIZE]; /* names of the columns */
    struct column *columns;
    size_t system, next; /* the system whose rows are being taken, and the index of its next row */
    double *bins;        /* [rows][bin_columns] */
    double *taken;       /* [rows][other columns of the source][systems] */
    double *sorted;      /* [systems], room for the values of one column */
    double *row;
};

/* The classes of statistics in one row, and of those of a table. */
static const struct diagnostic_class aggregate_classes[] = { { .table = false },
                                                             { .table = true } };

static size_t measured_columns(const struct aggregate *aggregate)
{
    return aggregate->source->column_count - aggregate->bin_columns;
}

static size_t column_count(const struct aggregate *aggregate)
{
    return aggregate->bin_columns + COUNT_COLUMNS +
           measured_columns(aggregate) * COUNT_OF(statistics);
}

static void name_columns(struct aggregate *aggregate)
{
    const struct diagnostic *source = aggregate->source;
    size_t k = 0;
    for (; k < aggregate->bin_columns; k++)
        aggregate->columns[k] = source->columns[k];
    aggregate->columns[k++] = (struct column){ "systems", DIMENSION_NONE, "systems that count" };
    aggregate->columns[k++] =
        (struct column){ "left_out", DIMENSION_NONE, "systems left out for their energy error" };
    for (size_t c = aggregate->bin_columns; c < source->column_count; c++)
        for (size_t s = 0; s < COUNT_OF(statistics); s++, k++) {
            snprintf(aggregate->names[k], NAME_SIZE, "%.100s_%s", source->columns[c].name,
                     statistics[s].suffix);
            aggregate->columns[k] =
                (struct column){ aggregate->names[k], source->columns[c].dimension,
                                 statistics[s].help };
        }
}

static enum status allocate(struct aggregate *aggregate, struct error *error)
{
    const size_t columns = column_count(aggregate), rows = aggregate->rows;
    const size_t values =
        memory_bytes(rows, memory_bytes(measured_columns(aggregate), aggregate->systems));
    aggregate->names = memory_array(columns, sizeof *aggregate->names, error);
    aggregate->columns = memory_array(columns, sizeof *aggregate->columns, error);
    aggregate->row = memory_array(columns, sizeof(double), error);
    aggregate->sorted = memory_array(aggregate->systems, sizeof(double), error);
    aggregate->bins = memory_array(rows, (aggregate->bin_columns + 1) * sizeof(double), error);
    aggregate->taken = memory_array(values, sizeof(double), error);
    return error->status;
}

static void aggregate_destroy(struct aggregate *aggregate)
{
    if (!aggregate)
        return;
    memory_free(aggregate->names);
    memory_free(aggregate->columns);
    memory_free(aggregate->row);
    memory_free(aggregate->sorted);
    memory_free(aggregate->bins);
    memory_free(aggregate->taken);
    free(aggregate);
}

enum status aggregate_create(const struct diagnostic *source, size_t systems,
                             struct aggregate **result, struct error *error)
{
    *result = NULL;
    struct aggregate *aggregate = calloc(1, sizeof *aggregate);
    if (!aggregate)
        return error_memory(error);
    aggregate->source = source;
    aggregate->systems = aggregate->system = systems;
    aggregate->rows = source->row_count;
    aggregate->bin_columns = source->class_->bin_columns;
    if (allocate(aggregate, error)) {
        aggregate_destroy(aggregate);
        return error->status;
    }
    snprintf(aggregate->name, NAME_SIZE, "%.100s-ensemble", source->name);
    name_columns(aggregate);
    for (size_t k = 0; k < column_count(aggregate); k++)
        aggregate->row[k] = NAN;
    aggregate->diagnostic =
        (struct diagnostic){ .class_ = &aggregate_classes[source->class_->table],
                             .name = aggregate->name,
                             .columns = aggregate->columns,
                             .column_count = column_count(aggregate),
                             .row_count = source->row_count };
    *result = aggregate;
    return STATUS_OK;
}

const struct diagnostic *aggregate_diagnostic(const struct aggregate *aggregate)
{
    return &aggregate->diagnostic;
}

void aggregate_take(struct aggregate *aggregate, size_t system, const double *values)
{
    const size_t bins = aggregate->bin_columns, measured = measured_columns(aggregate);
    aggregate->next = system == aggregate->system ? aggregate->next : 0;
    aggregate->system = system;
    const size_t row = aggregate->next++;
    assert(row < aggregate->rows);
    for (size_t c = 0; c < bins; c++)
        aggregate->bins[row * bins + c] = values[c];
    for (size_t c = 0; c < measured; c++)
        aggregate->taken[(row * measured + c) * aggregate->systems + system] = values[bins + c];
}

/* Computes all statistics of the first n values in aggregate->sorted, which it sorts, into
 * statistic[]; NaN for those that need more values. */
static void describe(struct aggregate *aggregate, size_t n, double *statistic)
{
    double *values = aggregate->sorted;
    gsl_sort(values, 1, n);
    for (size_t s = 0; s < COUNT_OF(statistics); s++)
        statistic[s] =
            n > 0 && !isnan(statistics[s].quantile)
                ? gsl_stats_quantile_from_sorted_data(values, 1, n, statistics[s].quantile)
                : NAN;
    if (n > 0)
        statistic[MEAN] = gsl_stats_mean(values, 1, n);
    if (n < 2)
        return;
    statistic[STD] = gsl_stats_sd(values, 1, n);
    statistic[SEM] = statistic[STD] / sqrt((double)n);
}

const double *aggregate_row(struct aggregate *aggregate, size_t index, const bool *left_out)
{
    const size_t systems = aggregate->systems, measured = measured_columns(aggregate);
    double *row = aggregate->row;
    size_t counting = 0;
    for (size_t s = 0; s < systems; s++)
        counting += !left_out[s];
    for (size_t c = 0; c < aggregate->bin_columns; c++)
        *row++ = aggregate->bins[index * aggregate->bin_columns + c];
    *row++ = (double)counting;
    *row++ = (double)(systems - counting);
    for (size_t c = 0; c < measured; c++, row += COUNT_OF(statistics)) {
        const double *column = aggregate->taken + (index * measured + c) * systems;
        size_t n = 0;
        for (size_t s = 0; s < systems; s++)
            if (!left_out[s] && isfinite(column[s]))
                aggregate->sorted[n++] = column[s];
        describe(aggregate, n, row);
    }
    /* No system has this number, so the next event begins with row 0. */
    aggregate->system = systems;
    return aggregate->row;
}

double *aggregate_last_row(struct aggregate *aggregate)
{
    return aggregate->row;
}

/* --- the observers ---------------------------------------------------------------------------- */

enum status observers_create(size_t diagnostics, size_t outputs, struct observers *observers,
                             struct error *error)
{
    *observers = (struct observers){
        .diagnostic_count = diagnostics,
        .output_count = outputs,
        .diagnostics = calloc(diagnostics + 1, sizeof *observers->diagnostics),
        .outputs = calloc(outputs + 1, sizeof *observers->outputs),
    };
    return observers->diagnostics && observers->outputs ? STATUS_OK : error_memory(error);
}

static bool is_called(const struct diagnostic *diagnostic, const char *name, size_t length)
{
    return diagnostic && strlen(diagnostic->name) == length &&
           strncmp(diagnostic->name, name, length) == 0;
}

bool observers_writes(const struct observed_diagnostic *observed, const char *name, size_t length)
{
    return is_called(observed->diagnostic, name, length) ||
           (observed->aggregate &&
            is_called(aggregate_diagnostic(observed->aggregate), name, length));
}

unsigned observers_needs(const struct observers *observers)
{
    unsigned needs = 0;
    for (size_t i = 0; i < observers->diagnostic_count; i++)
        needs |= observers->diagnostics[i].diagnostic->needs;
    for (size_t i = 0; i < observers->output_count; i++)
        needs |= observers->outputs[i].output->needs;
    return needs;
}

/* --- their files ------------------------------------------------------------------------------ */

/* Returns the number of places for tables (CSV files): two for each diagnostic, the second for its
 * statistics over an ensemble. */
static size_t table_count(const struct observers *observers)
{
    return 2 * observers->diagnostic_count;
}

static struct stream *table_at(const struct observers *observers, size_t index)
{
    const struct observed_diagnostic *observed = &observers->diagnostics[index / 2];
    return index % 2 ? observed->aggregate_stream : observed->stream;
}

/* Returns the file with this index among all that grow: the tables, then those of outputs; NULL if
 * it is closed or does not exist. */
static struct stream *stream_at(const struct observers *observers, size_t index)
{
    const size_t tables = table_count(observers);
    if (index < tables)
        return table_at(observers, index);
    const struct output *output = observers->outputs[index - tables].output;
    return output ? output->stream : NULL;
}

static size_t stream_count(const struct observers *observers)
{
    return table_count(observers) + observers->output_count;
}

enum status observers_flush(const struct observers *observers, bool to_disk, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < stream_count(observers) && !status; k++)
        if (stream_at(observers, k))
            status = stream_flush(stream_at(observers, k), to_disk, error);
    return status;
}

enum status observers_trim(const struct observers *observers, bool outputs, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < stream_count(observers) && !status; k++)
        if (stream_at(observers, k))
            status = stream_trim(stream_at(observers, k), error);
    for (size_t i = 0; outputs && i < observers->output_count && !status; i++) {
        struct output *output = observers->outputs[i].output;
        if (output->class_->trim)
            status = output->class_->trim(output, error);
    }
    return status;
}

enum status observers_look(const struct observers *observers, const struct config *config,
                           const struct directory *directory, struct error *error)
{
    for (size_t k = 0; k < table_count(observers); k++)
        if (table_at(observers, k))
            stream_look(table_at(observers, k), directory, error);
    for (size_t i = 0; i < observers->output_count; i++)
        if (observers->outputs[i].output)
            output_look(observers->outputs[i].output, config_item(config, "outputs", i), directory,
                        error);
    return error->status;
}

void observers_close(struct observers *observers, struct error *error)
{
    for (size_t i = 0; observers->diagnostics && i < observers->diagnostic_count; i++) {
        struct observed_diagnostic *observed = &observers->diagnostics[i];
        stream_close(observed->stream, error);
        stream_close(observed->aggregate_stream, error);
        observed->stream = observed->aggregate_stream = NULL;
    }
    for (size_t i = 0; observers->outputs && i < observers->output_count; i++) {
        struct observed_output *observed = &observers->outputs[i];
        if (!observed->output)
            continue;
        if (observed->output->class_->event_file)
            observed->events = observed->output->written;
        observed->output->class_->close(observed->output, error);
        observed->output = NULL;
    }
}

void observers_destroy(struct observers *observers)
{
    struct error ignored = { 0 }; /* errors that mattered were reported when the run was closed */
    observers_close(observers, &ignored);
    for (size_t i = 0; observers->diagnostics && i < observers->diagnostic_count; i++) {
        const struct observed_diagnostic *observed = &observers->diagnostics[i];
        diagnostic_destroy(observed->diagnostic);
        aggregate_destroy(observed->aggregate);
        memory_free(observed->last_row);
    }
    watch_destroy(observers->watch);
    free(observers->diagnostics);
    free(observers->outputs);
    memory_free(observers->phi);
    memory_free(observers->psi);
}
