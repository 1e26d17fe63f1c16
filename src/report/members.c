#include "report/members.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { LEAST, Q10, MEDIAN, Q90, GREATEST, STATISTICS };

struct members members_all(const struct series *series)
{
    return (struct members){ series->systems, 0, series->rows, series->rows };
}

/* The statistics of one row over the systems, of those whose value is finite. */
static void find_statistics(const struct members *members, size_t row, const double *y,
                            double *sorted, double *const statistics[STATISTICS])
{
    static const double fractions[STATISTICS] = { 0.0, 0.1, 0.5, 0.9, 1.0 };
    size_t count = 0;
    for (size_t s = 0; s < members->systems; s++) {
        const double value = y[s * members->stride + members->first + row];
        if (isfinite(value))
            sorted[count++] = value;
    }
    gsl_sort(sorted, 1, count);
    for (size_t k = 0; k < STATISTICS; k++)
        statistics[k][row] =
            count ? gsl_stats_quantile_from_sorted_data(sorted, 1, count, fractions[k]) : NAN;
}

static enum status draw_statistics(struct figure *figure, const char *label, enum curve_kind kind,
                                   size_t rows, const double *x,
                                   double *const statistics[STATISTICS], bool bands,
                                   struct error *error)
{
    const int color = (int)figure_lines(figure);
    if (bands &&
        (figure_band(figure, color, rows, x, statistics[LEAST], statistics[GREATEST], error) ||
         figure_band(figure, color, rows, x, statistics[Q10], statistics[Q90], error)))
        return error->status;
    return figure_curve(figure, label, kind, color, rows, x, statistics[MEDIAN], error);
}

enum status members_curve(struct figure *figure, const char *label, enum curve_kind kind,
                          const struct members *members, const double *x, const double *y,
                          bool bands, struct error *error)
{
    const size_t rows = members->rows;
    x += members->first;
    if (members->systems == 1)
        return figure_curve(figure, label, kind, (int)figure_lines(figure), rows, x,
                            y + members->first, error);
    double *arrays = memory_array(rows + members->systems, STATISTICS * sizeof *arrays, error);
    if (!arrays)
        return error->status;
    double *const sorted = arrays + STATISTICS * rows;
    double *statistics[STATISTICS];
    for (size_t k = 0; k < STATISTICS; k++)
        statistics[k] = arrays + k * rows;
    for (size_t row = 0; row < rows; row++)
        find_statistics(members, row, y, sorted, statistics);
    draw_statistics(figure, label, kind, rows, x, statistics, bands, error);
    memory_free(arrays);
    return error->status;
}

void members_caption(struct figure *figure, size_t systems, double left_out)
{
    char among[64] = "";
    if (systems < 2)
        return;
    figure->systems = "the median of its systems";
    if (left_out > 0.0)
        snprintf(among, sizeof among, ", with %.0f that the statistics leave out", left_out);
    text_print(&figure->finding,
               "%sMedian of the %zu systems%s; the bands hold 80 %% of them and, paler, all.",
               figure->finding.length ? " " : "", systems, among);
}
