#include "report/draw.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { FIT_POINTS = 33 };

/* The points of all runs with the same label. */
struct points {
    const char *label, *mark; /* `mark`: how one of these runs went wrong, or "" */
    size_t count, bad;        /* number of points, and of runs that went wrong */
    double *x, *y;            /* [count], with room for all runs */
};

/* A slope is fitted only if the largest x is this many times the smallest. */
static const double least_factor = 1.5;

static bool spans_factor(const double *x, size_t count)
{
    const struct extent extent = extent_of(x, count);
    return extent.low > 0 && extent.high >= least_factor * extent.low;
}

/* Fits y = c x^slope to the points, by a straight line through their logarithms: *intercept becomes
 * log(c), *sigma the standard error of the slope, or NaN for two points. `logs` has room for 2
 * count numbers. Returns false if fewer than two points are positive, or the sign of the slope is
 * not known. */
static bool fit_power(const struct points *points, double *logs, double *intercept, double *slope,
                      double *sigma)
{
    double *const x = logs, *const y = logs + points->count;
    size_t n = 0;
    double c00, c01, c11, chi2;
    for (size_t i = 0; i < points->count; i++)
        if (points->x[i] > 0 && points->y[i] > 0 && isfinite(points->y[i])) {
            x[n] = log(points->x[i]);
            y[n++] = log(points->y[i]);
        }
    const bool fits =
        n >= 2 && gsl_fit_linear(x, 1, y, 1, n, intercept, slope, &c00, &c01, &c11, &chi2) == 0 &&
        isfinite(*slope);
    *sigma = fits && n > 2 ? sqrt(c11) : NAN;
    return fits && !(*sigma > fabs(*slope));
}

/* Adds the points of one label and, if a slope can be fitted, the fitted line, with the slope in
 * the legend. `logs` has room for 2 count numbers. */
static enum status draw_group(struct figure *figure, const struct points *points, int color,
                              double *logs, struct error *error)
{
    double intercept, slope, sigma;
    char label[2 * FIGURE_LABEL_SIZE], fitted[FIGURE_LABEL_SIZE] = "", mark[96] = "";
    const size_t before = figure_lines(figure);
    const bool fits = figure->x_log && figure->y_log && spans_factor(points->x, points->count) &&
                      fit_power(points, logs, &intercept, &slope, &sigma);
    if (fits && isfinite(sigma)) {
        const int decimals = (int)fmax(0, fmin(6, -floor(log10(sigma))));
        snprintf(fitted, sizeof fitted, "slope %.*f ± %.*f", decimals, slope, decimals, sigma);
    }
    if (fits && !isfinite(sigma))
        snprintf(fitted, sizeof fitted, "slope %.3f", slope);
    if (points->bad && points->bad < points->count)
        snprintf(mark, sizeof mark, " (%zu of %zu %.40s)", points->bad, points->count,
                 points->mark);
    else if (points->bad)
        snprintf(mark, sizeof mark, " (%.40s)", points->mark);
    snprintf(label, sizeof label, "%.90s%s%.60s%s", points->label,
             points->label[0] && fits ? ": " : "", fitted, mark);
    enum status status = figure_curve(figure, label + (label[0] == ' '), CURVE_POINTS, color,
                                      points->count, points->x, points->y, error);
    if (status || !fits || figure_lines(figure) == before)
        return status;
    double low = INFINITY, high = -INFINITY, x[FIT_POINTS], y[FIT_POINTS];
    for (size_t i = 0; i < points->count; i++)
        if (points->y[i] > 0) {
            low = fmin(low, points->x[i]);
            high = fmax(high, points->x[i]);
        }
    for (size_t i = 0; i < FIT_POINTS; i++) {
        x[i] = low * pow(high / low, (double)i / (FIT_POINTS - 1));
        y[i] = exp(intercept + slope * log(x[i]));
    }
    return figure_curve(figure, "", CURVE_FIT, color, FIT_POINTS, x, y, error);
}

/* Adds the points of all labels, in the order in which they occur. `room` has 4 numbers for each
 * run. */
static enum status draw_groups(const struct errors_axis *axis, double *room, struct figure *figure,
                               struct error *error)
{
    const size_t count = axis->count;
    int group = 0; /* index of the colour; a label without points has one too */
    for (size_t first = 0; first < count; first++) {
        struct points points = { axis->labels[first], "", 0, 0, room, room + count };
        bool drawn = false;
        for (size_t run = 0; run < count; run++) {
            if (strcmp(axis->labels[run], points.label) != 0)
                continue;
            drawn |= run < first;
            if (isnan(axis->y[run]))
                continue;
            if (axis->marks[run][0]) {
                points.mark = axis->marks[run];
                points.bad++;
            }
            points.x[points.count] = axis->x[run];
            points.y[points.count++] = axis->y[run];
        }
        if (!drawn && draw_group(figure, &points, group++, room + 2 * count, error))
            return error->status;
    }
    return STATUS_OK;
}

/* Sets ticks along x at the values of axis->x, sorted, each once; none if they are more than
 * FIGURE_MAX_TICKS. `sorted` has room for axis->count numbers. */
static void set_ticks(const struct errors_axis *axis, double *sorted, struct figure *figure)
{
    size_t count = 0;
    memcpy(sorted, axis->x, axis->count * sizeof *sorted);
    gsl_sort(sorted, 1, axis->count);
    for (size_t i = 0; i < axis->count; i++)
        if (i == 0 || sorted[i] > sorted[i - 1]) {
            if (count == FIGURE_MAX_TICKS)
                return;
            figure->ticks[count++] = sorted[i];
        }
    figure->tick_count = count;
}

static void name_figure(struct figure *figure, const char *name, const struct errors_axis *axis)
{
    snprintf(figure->name, sizeof figure->name, "%.50s-against-%.30s", name, axis->name);
    char words[FIGURE_LABEL_SIZE];
    figure_words(name, "_", words);
    snprintf(figure->title, sizeof figure->title, "%.80s against %.60s", words, axis->title);
    snprintf(figure->x_label, sizeof figure->x_label, "%.90s", axis->label);
    snprintf(figure->y_label, sizeof figure->y_label, "%.90s",
             strcmp(name, "energy_error") == 0 ? "largest |ΔE|/max(|E₀|, |U₀|)" : name);
    text_print(&figure->caption, "%s", axis->caption);
}

static bool has_fit(const struct figure *figure)
{
    for (size_t i = 0; i < figure->curve_count; i++)
        if (figure->curves[i].kind == CURVE_FIT)
            return true;
    return false;
}

static void tell_missing(const double *y, size_t count, struct text *caption)
{
    size_t zero = 0, none = 0;
    for (size_t run = 0; run < count; run++) {
        zero += y[run] == 0.0;
        none += isnan(y[run]);
    }
    if (zero)
        text_print(caption,
                   " %zu of %zu runs %s an error of exactly 0, which a logarithmic axis "
                   "does not show.",
                   zero, count, zero == 1 ? "has" : "have");
    if (none)
        text_print(caption, " %zu of %zu runs %s no such number of %s end.", none, count,
                   none == 1 ? "has" : "have", none == 1 ? "its" : "their");
}

enum status errors_draw(const struct errors_axis *axis, const char *name, struct figures *figures,
                        struct error *error)
{
    struct figure *figure = figure_add(figures, error);
    double *room = memory_array(axis->count, 4 * sizeof *room, error);
    if (figure && room) {
        figure->x_log = spans_factor(axis->x, axis->count);
        figure->y_log = true;
        name_figure(figure, name, axis);
        draw_groups(axis, room, figure, error);
        if (axis->slope && has_fit(figure))
            text_print(&figure->caption, " %s", axis->slope);
        tell_missing(axis->y, axis->count, &figure->caption);
        if (axis->chosen)
            set_ticks(axis, room, figure);
        figure_drop_empty(figures);
    }
    memory_free(room);
    return error->status;
}
