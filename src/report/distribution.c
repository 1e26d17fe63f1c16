#include "report/distribution.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/members.h"

struct distribution_curve {
    const char *column, *label;
    enum curve_kind kind;
    bool first; /* of the first event; else of the last */
};

enum { DISTRIBUTION_CURVES = 5 };

enum scale { BY_RANGE, LOGARITHMIC };
enum space { ANY_SPACE, OPEN_SPACE, PERIODIC_SPACE };

struct distribution {
    const char *type, *name, *title, *y_label;
    enum scale scale; /* of both axes; by range: logarithmic where the values span decades */
    enum space space; /* where it is drawn */
    struct distribution_curve curves[DISTRIBUTION_CURVES];
    const char *caption;
};

static const struct distribution distributions[] = {
    { "radial-distribution",
      "pair-density",
      "Density of pairs",
      "pair density",
      BY_RANGE,
      OPEN_SPACE,
      { { "pair_density", "last frame", CURVE_LINE, false },
        { "pair_density_mean", "mean of the frames", CURVE_LINE, false },
        { "pair_density", "first frame", CURVE_DASHED, true } },
      "How the distances of the pairs of bodies are distributed: the probability density of the "
      "distance, which needs no volume to compare with." },
    { "radial-distribution",
      "radial-distribution",
      "Radial distribution g(r)",
      "g",
      BY_RANGE,
      PERIODIC_SPACE,
      { { "g", "last frame", CURVE_LINE, false },
        { "g_mean", "mean of the frames", CURVE_LINE, false },
        { "g", "first frame", CURVE_DASHED, true } },
      "Pairs at a distance, over those of an ideal gas of as many bodies in the same box." },
    { "radial-distribution",
      "radial-distribution",
      "Radial distribution g(r)",
      "g",
      BY_RANGE,
      OPEN_SPACE,
      { { "g", "last frame", CURVE_LINE, false },
        { "g_mean", "mean of the frames", CURVE_LINE, false },
        { "g", "first frame", CURVE_DASHED, true } },
      "Pairs at a distance, over those of an ideal gas of as many bodies in the volume "
      "cell_volume. In open space the height is as arbitrary as that volume, the shape is not." },
    { "density-profile",
      "density-profile",
      "Density profile",
      "ρ",
      LOGARITHMIC,
      ANY_SPACE,
      { { "density", "last frame", CURVE_POINTS, false },
        { "power_law", "fitted power law", CURVE_LINE, false },
        { "isothermal", "isothermal, r⁻²", CURVE_DASHED, false },
        { "plummer", "Plummer", CURVE_DASHED, false },
        { "density", "first frame", CURVE_DASHED, true } },
      "Mass density in shells about the centre, with fitted laws over the stated range." },
};

/* The rows of the first or of the last event. */
static void find_event(const struct series *series, bool first, size_t *begin, size_t *end)
{
    const double *time = series_find(series, "time")->values;
    *begin = first ? 0 : series->rows - 1;
    *end = *begin + 1;
    while (first && *end < series->rows && time[*end] == time[*begin])
        (*end)++;
    while (!first && *begin > 0 && time[*begin - 1] == time[*end - 1])
        (*begin)--;
}

static enum status draw_curve(struct figure *figure, const struct series *series,
                              const struct distribution *distribution,
                              const struct distribution_curve *curve, struct error *error)
{
    const struct series_column *r = series_find(series, "r");
    const struct series_column *column = series_find(series, curve->column);
    size_t begin, end;
    char label[FIGURE_LABEL_SIZE];
    if (!r || !column)
        return STATUS_OK;
    find_event(series, curve->first, &begin, &end);
    const struct series_column *time = series_find(series, "time");
    if (strstr(curve->label, "t frame")) /* the first or the last */
        figures_time(time->values[begin], 4, time->unit, label);
    else
        snprintf(label, sizeof label, "%s", curve->label);
    figures_label("r", r->unit, figure->x_label);
    figures_label(distribution->y_label, column->unit, figure->y_label);
    const struct members members = { series->systems, begin, end - begin, series->rows };
    return members_curve(figure, label, curve->kind, &members, r->values, column->values,
                         curve == distribution->curves, error);
}

static void tell_mean(struct figure *figure, double members, double left_out)
{
    const size_t length = strlen(figure->caption);
    char *end = figure->caption + length;
    const size_t room = sizeof figure->caption - length;
    if (members == 0.0)
        snprintf(end, room, " No mean is drawn: all systems have lost too much energy to count.");
    else if (left_out > 0.0)
        snprintf(end, room,
                 " The mean at the last frame lies on a band of its standard error; it is of %.0f "
                 "systems, without "
                 "%.0f that have lost too much energy.",
                 members, left_out);
    else
        snprintf(end, room, " Their mean at the last frame lies on a band of its standard error.");
}

/* The mean of the systems that count at the last event, on a band of its standard error, from the
 * statistics of the run; and in the caption how many these are. */
static enum status draw_mean(struct figure *figure, const struct series *statistics,
                             const char *column, struct error *error)
{
    char name[SERIES_NAME_SIZE];
    size_t begin, end;
    snprintf(name, sizeof name, "%s_mean", column);
    const struct series_column *mean = series_find(statistics, name);
    snprintf(name, sizeof name, "%s_sem", column);
    const struct series_column *sem = series_find(statistics, name);
    const struct series_column *r = series_find(statistics, "r");
    const struct series_column *members = series_find(statistics, "systems");
    const struct series_column *left_out = series_find(statistics, "left_out");
    if (!mean || !sem || !r || !members || !left_out)
        return STATUS_OK;
    find_event(statistics, false, &begin, &end);
    const size_t rows = end - begin;
    double *const lower = memory_array(2, rows * sizeof *lower, error);
    if (!lower)
        return error->status;
    double *const upper = lower + rows;
    for (size_t i = 0; i < rows; i++) {
        lower[i] = mean->values[begin + i] - sem->values[begin + i];
        upper[i] = mean->values[begin + i] + sem->values[begin + i];
    }
    const int color = (int)figure_lines(figure);
    if (!figure_band(figure, color, rows, r->values + begin, lower, upper, error))
        figure_curve(figure, "mean of the systems", CURVE_LINE, color, rows, r->values + begin,
                     mean->values + begin, error);
    tell_mean(figure, members->values[begin], left_out->values[begin]);
    memory_free(lower);
    return error->status;
}

/* Copies the positive values of what a curve draws, of all systems; their count. */
static size_t copy_values(const struct series *series, const struct distribution_curve *curve,
                          double *values)
{
    const struct series_column *column = series_find(series, curve->column);
    size_t begin, end, count = 0;
    if (!column)
        return 0;
    find_event(series, curve->first, &begin, &end);
    for (size_t s = 0; s < series->systems; s++)
        for (size_t i = begin; i < end; i++) {
            const double value = column->values[s * series->rows + i];
            if (value > 0.0 && isfinite(value))
                values[count++] = value;
        }
    return count;
}

/*
 * Whether the values of an event reach over more than two decades. The lowest tenth of them does
 * not count: any density of pairs goes to 0 at its ends.
 */
static enum status spans_decades(const struct series *series,
                                 const struct distribution *distribution, bool *does,
                                 struct error *error)
{
    double *values = memory_array(series->systems, series->rows * sizeof *values, error);
    *does = false;
    if (!values)
        return error->status;
    for (size_t k = 0; k < DISTRIBUTION_CURVES && distribution->curves[k].column; k++) {
        const size_t count = copy_values(series, &distribution->curves[k], values);
        gsl_sort(values, 1, count);
        *does = *does || (count > 0 &&
                          values[count - 1] >
                              100.0 * gsl_stats_quantile_from_sorted_data(values, 1, count, 0.1));
    }
    memory_free(values);
    return STATUS_OK;
}

static enum status choose_axes(struct figure *figure, const struct series *series,
                               const struct distribution *distribution, struct error *error)
{
    bool logarithmic = distribution->scale == LOGARITHMIC;
    if (!logarithmic && spans_decades(series, distribution, &logarithmic, error))
        return error->status;
    figure->x_log = figure->y_log = logarithmic;
    return STATUS_OK;
}

/* Titles and file names tell figures of diagnostics apart that the config gives names. */
static void name_figure(struct figure *figure, const struct distribution *distribution,
                        const char *name)
{
    const bool named = strcmp(distribution->type, name) != 0;
    snprintf(figure->name, sizeof figure->name, "%.40s%s%.40s", named ? name : "", named ? "-" : "",
             distribution->name);
    snprintf(figure->title, sizeof figure->title, "%s%s%.40s", distribution->title,
             named ? ": " : "", named ? name : "");
    snprintf(figure->caption, sizeof figure->caption, "%s", distribution->caption);
}

/* `statistics` over the systems, or NULL. */
static enum status draw_distribution(const struct series *series, const struct series *statistics,
                                     const struct distribution *distribution, const char *name,
                                     struct figures *figures, struct error *error)
{
    struct figure *figure = figures_add(figures, error);
    if (!figure || choose_axes(figure, series, distribution, error))
        return error->status;
    name_figure(figure, distribution, name);
    enum status status = STATUS_OK;
    for (size_t k = 0; k < DISTRIBUTION_CURVES && distribution->curves[k].column && !status; k++)
        status = draw_curve(figure, series, distribution, &distribution->curves[k], error);
    members_caption(figure, series->systems);
    if (!status && statistics)
        status = draw_mean(figure, statistics, distribution->curves[0].column, error);
    figures_settle(figures);
    return status;
}

static bool is_drawn(const struct distribution *distribution, const char *type, bool periodic)
{
    const enum space here = periodic ? PERIODIC_SPACE : OPEN_SPACE;
    return strcmp(distribution->type, type) == 0 &&
           (distribution->space == ANY_SPACE || distribution->space == here);
}

enum status distribution_draw(const struct result *result, const struct series *series,
                              const char *type, const char *name, struct figures *figures,
                              struct error *error)
{
    const bool periodic = strcmp(result_string(result, "config.physics.boundary"), "periodic") == 0;
    char file[SERIES_NAME_SIZE + 16];
    struct series *statistics = NULL;
    enum status status = STATUS_OK;
    snprintf(file, sizeof file, "%s-ensemble.csv", name);
    for (size_t i = 0; i < COUNT_OF(distributions) && !status; i++) {
        if (!is_drawn(&distributions[i], type, periodic))
            continue;
        if (series->systems > 1 && !statistics)
            status = result_series(result, file, &statistics, error);
        const bool any = statistics && statistics->rows > 0 && series_find(statistics, "time");
        if (!status)
            status = draw_distribution(series, any ? statistics : NULL, &distributions[i], name,
                                       figures, error);
    }
    series_destroy(statistics);
    return status;
}
