#include "run/aggregate.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

enum { NAME_SIZE = 128, COUNT_COLUMNS = 2 };

/* The places of those of the statistics below that are no quantiles. */
enum { MEAN, STD, SEM };

static const struct {
    const char *suffix;
    double quantile; /* NaN: not one */
    const char *help;
} statistics[] = {
    { "mean", NAN, "mean over the members" },
    { "std", NAN, "standard deviation over the members, n - 1 in the denominator" },
    { "sem", NAN, "standard error of the mean: the standard deviation over the root of n" },
    { "q10", 0.1, "10 % quantile" },
    { "q50", 0.5, "median" },
    { "q90", 0.9, "90 % quantile" },
};

struct aggregate {
    struct diagnostic diagnostic;
    const struct diagnostic *source;
    size_t systems;
    char name[NAME_SIZE];
    char (*names)[NAME_SIZE]; /* of the columns */
    struct column *columns;
    double *taken;  /* systems x columns of the source */
    double *sorted; /* one column's values */
    double *row;
};

static const struct diagnostic_class aggregate_class = {
    .variant = { .name = "ensemble", .help = "Statistics over the members of an ensemble." },
    .rows_per_event = 1,
};

static void name_columns(struct aggregate *aggregate)
{
    const struct diagnostic *source = aggregate->source;
    aggregate->columns[0] = (struct column){ "members", DIMENSION_NONE, "members that count" };
    aggregate->columns[1] =
        (struct column){ "left_out", DIMENSION_NONE, "members left out for their energy error" };
    size_t k = COUNT_COLUMNS;
    for (size_t c = 0; c < source->column_count; c++)
        for (size_t s = 0; s < COUNT_OF(statistics); s++, k++) {
            snprintf(aggregate->names[k], NAME_SIZE, "%.100s_%s", source->columns[c].name,
                     statistics[s].suffix);
            aggregate->columns[k] =
                (struct column){ aggregate->names[k], source->columns[c].dimension,
                                 statistics[s].help };
        }
}

enum status aggregate_create(const struct diagnostic *source, size_t systems,
                             struct aggregate **result, struct error *error)
{
    *result = NULL;
    const size_t columns = COUNT_COLUMNS + source->column_count * COUNT_OF(statistics);
    struct aggregate *aggregate = calloc(1, sizeof *aggregate);
    if (!aggregate)
        return error_set(error, STATUS_MEMORY, "out of memory");
    aggregate->source = source;
    aggregate->systems = systems;
    aggregate->names = calloc(columns, sizeof *aggregate->names);
    aggregate->columns = calloc(columns, sizeof *aggregate->columns);
    aggregate->row = calloc(columns, sizeof(double));
    aggregate->taken = calloc(systems, memory_bytes(source->column_count, sizeof(double)));
    aggregate->sorted = calloc(systems, sizeof(double));
    if (!aggregate->names || !aggregate->columns || !aggregate->row || !aggregate->taken ||
        !aggregate->sorted) {
        aggregate_destroy(aggregate);
        return error_set(error, STATUS_MEMORY, "out of memory");
    }
    snprintf(aggregate->name, NAME_SIZE, "%.100s-ensemble", source->name);
    name_columns(aggregate);
    for (size_t k = 0; k < columns; k++)
        aggregate->row[k] = NAN;
    aggregate->diagnostic = (struct diagnostic){ .class_ = &aggregate_class,
                                                 .name = aggregate->name,
                                                 .columns = aggregate->columns,
                                                 .column_count = columns };
    *result = aggregate;
    return STATUS_OK;
}

void aggregate_destroy(struct aggregate *aggregate)
{
    if (!aggregate)
        return;
    free(aggregate->names);
    free(aggregate->columns);
    free(aggregate->row);
    free(aggregate->taken);
    free(aggregate->sorted);
    free(aggregate);
}

const struct diagnostic *aggregate_diagnostic(const struct aggregate *aggregate)
{
    return &aggregate->diagnostic;
}

void aggregate_take(struct aggregate *aggregate, size_t system, const double *values)
{
    for (size_t c = 0; c < aggregate->source->column_count; c++)
        aggregate->taken[c * aggregate->systems + system] = values[c];
}

/* Of the n values in aggregate->sorted, which it sorts. */
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

const double *aggregate_row(struct aggregate *aggregate, const bool *left_out)
{
    size_t members = 0;
    for (size_t s = 0; s < aggregate->systems; s++)
        members += !left_out[s];
    aggregate->row[0] = (double)members;
    aggregate->row[1] = (double)(aggregate->systems - members);
    for (size_t c = 0; c < aggregate->source->column_count; c++) {
        const double *column = aggregate->taken + c * aggregate->systems;
        size_t n = 0;
        for (size_t s = 0; s < aggregate->systems; s++)
            if (!left_out[s] && isfinite(column[s]))
                aggregate->sorted[n++] = column[s];
        describe(aggregate, n, aggregate->row + COUNT_COLUMNS + c * COUNT_OF(statistics));
    }
    return aggregate->row;
}

double *aggregate_last_row(struct aggregate *aggregate)
{
    return aggregate->row;
}
