#include "report/draw.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* A diagnostic whose figures are drawn, with columns of its file. The file of a table diagnostic,
 * such as a profile, has several rows (bins) for each event. */
struct subject {
    struct measured of;
    const struct series *statistics; /* of a table: statistics over the systems; else NULL */
    const struct series_column *time;
    const struct series_column *bin; /* column of a table's bins, which is x; NULL: x is the time */
    size_t first;                    /* index of the first measured column, after time and bins */
    enum draw_extent extent;
};

/* A figure that is being drawn, and the hint (`drawing`) by which it is drawn. */
struct plot {
    const struct subject *subject;
    const struct drawing *drawing;
    struct figure *figure;
    struct drawn drawn;
};

/* --- the numbers of a curve ------------------------------------------------------------------- */

/* Finds the rows of the first or the last event of a table, which are the same in every system:
 * *rows of them, all with the same time, from row *begin on. */
static void find_event(const struct series *series, bool first, size_t *begin, size_t *rows)
{
    const double *time = series_find(series, "time")->values;
    size_t end = first ? 1 : series->rows;
    *begin = end - 1;
    while (first && end < series->rows && time[end] == time[*begin])
        end++;
    while (!first && *begin > 0 && time[*begin - 1] == time[end - 1])
        (*begin)--;
    *rows = end - *begin;
}

/* Returns the systems and rows that a curve draws: with equal axes only system 1, of a table the
 * rows of one event. */
static struct members rows_of(const struct plot *plot, const struct drawn_curve *curve)
{
    const struct series *const all = plot->drawn.series;
    struct members members = { all->systems, 0, all->rows, all->rows };
    if (plot->drawing->equal_axes)
        members.systems = 1;
    if (plot->subject->bin)
        find_event(all, curve->first, &members.first, &members.rows);
    return members;
}

static bool find_vector(const struct series *series, const char *stem,
                        const struct series_column *v[3])
{
    for (size_t k = 0; k < 3; k++) {
        char name[SERIES_NAME_SIZE];
        snprintf(name, sizeof name, "%s_%c", stem, "xyz"[k]);
        if (!(v[k] = series_find(series, name)))
            return false;
    }
    return true;
}

/*
 * Sets y[i], in each row, to |v - v0|, where v0 is the vector in the first row of the same system,
 * and returns false. If `relative`, and if each v0 is larger than the largest of these changes (a
 * smaller v0 may be rounding error only), it sets y[i] to |v - v0| / |v0| and returns true.
 */
static bool vector_changes(const struct series *series, const struct series_column *const v[3],
                           bool relative, double *y)
{
    const double *const a = v[0]->values, *const b = v[1]->values, *const c = v[2]->values;
    const size_t count = series->systems * series->rows, rows = series->rows;
    double least = INFINITY, largest = 0.0;
    for (size_t i = 0, start = 0; i < count; i++, start = i - i % rows) {
        y[i] = hypot(hypot(a[i] - a[start], b[i] - b[start]), c[i] - c[start]);
        largest = fmax(largest, y[i]);
        least = fmin(least, hypot(hypot(a[start], b[start]), c[start]));
    }
    relative = relative && least > largest;
    for (size_t i = 0, start = 0; i < count && relative; i++, start = i - i % rows)
        y[i] /= hypot(hypot(a[start], b[start]), c[start]);
    return relative;
}

/* --- curves ----------------------------------------------------------------------------------- */

/* Adds a curve of the values y or, in an ensemble, of their median, with bands of the systems if
 * `curve` is a solid line over time or the first curve of a table. With `label` NULL the time of
 * the event is the label. */
static enum status add_values(struct plot *plot, const struct drawn_curve *curve, const char *label,
                              const double *y, struct error *error)
{
    const struct subject *subject = plot->subject;
    const struct series_column *time = subject->time, *x = subject->bin ? subject->bin : time;
    const struct members members = rows_of(plot, curve);
    const bool bands = subject->bin ? curve == plot->drawing->curves : curve->kind == CURVE_LINE;
    char at[FIGURE_LABEL_SIZE], words[UNITS_TEXT_SIZE];
    if (curve->x && !(x = series_find(subject->of.series, curve->x)))
        return STATUS_OK;
    figure_label(curve->x ? "x" : x == time ? "t" : x->name, x->unit, plot->figure->x_label);
    plot->figure->over_time = x == time && !curve->x;
    snprintf(at, sizeof at, "t = %s",
             result_time(subject->of.result, time->values[members.first], 4, words));
    label = label ? label : at;
    return members_curve(plot->figure, label, curve->kind, &members, x->values, y, bands, error);
}

static void note_column(struct plot *plot, size_t first, const char *column)
{
    struct figure *const figure = plot->figure;
    for (size_t c = first; c < figure->curve_count; c++)
        if (figure_is_line(figure->curves[c].kind))
            snprintf(figure->curves[c].column, FIGURE_LABEL_SIZE, "%s.%s", plot->subject->of.name,
                     column);
}

/* Adds the curve of a column or, if the hint asks for DRAWN_CHANGE, of the changes of the vector
 * whose x component the column is. */
static enum status add_column(struct plot *plot, const struct drawn_curve *curve, const char *label,
                              const struct series_column *column, struct error *error)
{
    const struct series *series = plot->drawn.series;
    const size_t count = memory_bytes(series->systems, series->rows);
    const char *y_label = plot->drawing->y_label, *unit = column->unit;
    const struct series_column *v[3];
    const bool change = curve->value == DRAWN_CHANGE;
    if (change && !find_vector(series, curve->column, v))
        return STATUS_OK;
    double *y = memory_array(count, sizeof *y, error);
    if (!y)
        return error->status;
    if (change) {
        plot->drawn.relative = vector_changes(series, v, curve->relative != NULL, y);
        y_label = label = plot->drawn.relative ? curve->relative : curve->label;
        unit = plot->drawn.relative ? "" : unit;
    } else {
        for (size_t i = 0; i < count; i++)
            y[i] = curve->value ? fabs(column->values[i]) : column->values[i];
    }
    for (size_t i = 0; i < count && curve == plot->drawing->curves; i++)
        plot->drawn.largest = fmax(plot->drawn.largest, y[i]);
    const size_t before = plot->figure->curve_count;
    figure_label(y_label, unit, plot->figure->y_label);
    add_values(plot, curve, label, y, error);
    if (!change && !curve->x && !plot->subject->bin)
        note_column(plot, before, column->name);
    memory_free(y);
    return error->status;
}

/* Tells whether a curve stands for its run in a figure of several runs: that of the column which
 * the hint names or, if it names none, the first of the figure. */
static bool is_compared(const struct plot *plot, const struct drawn_curve *curve,
                        const struct series_column *column)
{
    const char *wanted = plot->drawing->compared;
    return wanted ? strcmp(column->name, wanted) == 0 && !curve->first
                  : curve == plot->drawing->curves && figure_lines(plot->figure) == 1;
}

/* Adds the curves of all columns that `curve`, an entry of a hint, means: the column of this name,
 * or all that match a pattern such as "radius_*". */
static enum status add_curve(struct plot *plot, const struct drawn_curve *curve,
                             struct error *error)
{
    const struct series *series = plot->drawn.series;
    const size_t stem = strcspn(curve->column, "*");
    const bool pattern = curve->column[stem] == '*';
    const char *end = curve->value == DRAWN_CHANGE ? "_x" : "";
    for (size_t i = 0; i < series->columns && !error->status; i++) {
        const struct series_column *column = &series->column[i];
        char label[FIGURE_LABEL_SIZE];
        if (strncmp(column->name, curve->column, stem) != 0 ||
            (!pattern && strcmp(column->name + stem, end) != 0))
            continue;
        snprintf(label, sizeof label, "%s%s", pattern ? column->name + stem : "",
                 curve->label ? curve->label : "");
        const size_t before = plot->figure->curve_count;
        add_column(plot, curve, curve->label ? label : NULL, column, error);
        if (plot->figure->curve_count > before)
            plot->figure->curves[plot->figure->curve_count - 1].compared =
                is_compared(plot, curve, column);
    }
    return error->status;
}

/* --- axes ------------------------------------------------------------------------------------- */

/*
 * Tells whether the positive values of a column span more than two powers of ten. The lowest tenth
 * of them does not count, since a histogram goes to 0 at its ends. A negative value sets *negative.
 * `sorted` has room for all values.
 */
static bool spans_decades(const struct members *members, const struct series_column *column,
                          double *sorted, bool *negative)
{
    size_t count = 0;
    for (size_t s = 0; s < members->systems; s++)
        for (size_t i = 0; i < members->rows; i++) {
            const double value = column->values[s * members->stride + members->first + i];
            *negative |= value < 0.0;
            if (value > 0.0 && isfinite(value))
                sorted[count++] = value;
        }
    gsl_sort(sorted, 1, count);
    return count > 0 &&
           sorted[count - 1] > 100.0 * gsl_stats_quantile_from_sorted_data(sorted, 1, count, 0.1);
}

/* Sets *logarithmic: no curve has a negative value, and spans_decades() is true of one. */
static enum status find_scale(const struct plot *plot, bool *logarithmic, struct error *error)
{
    const struct series *series = plot->drawn.series;
    const struct drawn_curve *curves = plot->drawing->curves;
    bool spans = false, negative = false;
    double *sorted = memory_array(series->systems, series->rows * sizeof *sorted, error);
    if (!sorted)
        return error->status;
    for (size_t k = 0; k < DRAWING_CURVES && curves[k].column; k++) {
        const struct members members = rows_of(plot, &curves[k]);
        const struct series_column *column = series_find(series, curves[k].column);
        spans |= column && spans_decades(&members, column, sorted, &negative);
    }
    memory_free(sorted);
    *logarithmic = spans && !negative;
    return STATUS_OK;
}

static enum status choose_axes(const struct plot *plot, struct error *error)
{
    struct figure *figure = plot->figure;
    const enum drawing_scale scale = plot->drawing->scale;
    figure->equal_axes = plot->drawing->equal_axes;
    figure->y_log = scale == SCALE_LOGARITHMIC;
    figure->y_signed = scale == SCALE_SIGNED;
    if (scale == SCALE_BY_RANGE && find_scale(plot, &figure->y_log, error))
        return error->status;
    figure->x_log = plot->subject->bin && figure->y_log;
    return STATUS_OK;
}

/* --- the mean of an ensemble ------------------------------------------------------------------ */

static void tell_mean(struct text *words, double members, double left_out)
{
    if (members == 0.0)
        text_print(words, " No mean is drawn: all systems have lost too much energy to count.");
    else if (left_out > 0.0)
        text_print(words,
                   " The mean at the last frame lies on a band of its standard error; it is of "
                   "%.0f systems, without %.0f that have lost too much energy.",
                   members, left_out);
    else
        text_print(words, " Their mean at the last frame lies on a band of its standard error.");
}

/* Adds the mean over the systems at the last event, on a band of its standard error, from the
 * statistics of the run. A sentence under the figure says how many systems that is, since the
 * statistics leave out systems that have lost too much energy. */
static enum status add_mean(struct figure *figure, const struct subject *subject,
                            const char *column, struct error *error)
{
    const struct series *statistics = subject->statistics;
    char name[SERIES_NAME_SIZE];
    size_t begin, rows;
    snprintf(name, sizeof name, "%s_mean", column);
    const struct series_column *const mean = series_find(statistics, name);
    snprintf(name, sizeof name, "%s_sem", column);
    const struct series_column *const sem = series_find(statistics, name);
    const struct series_column *const bin = series_find(statistics, subject->bin->name);
    const struct series_column *const members = series_find(statistics, "systems");
    const struct series_column *const left_out = series_find(statistics, "left_out");
    if (!mean || !sem || !bin || !members || !left_out)
        return STATUS_OK;
    find_event(statistics, false, &begin, &rows);
    double *const lower = memory_array(2, rows * sizeof *lower, error);
    if (!lower)
        return error->status;
    double *const upper = lower + rows;
    for (size_t i = 0; i < rows; i++) {
        lower[i] = mean->values[begin + i] - sem->values[begin + i];
        upper[i] = mean->values[begin + i] + sem->values[begin + i];
    }
    const int color = (int)figure_lines(figure);
    if (!figure_band(figure, color, rows, bin->values + begin, lower, upper, error))
        figure_curve(figure, "mean of the systems", CURVE_LINE, color, rows, bin->values + begin,
                     mean->values + begin, error);
    tell_mean(&figure->finding, members->values[begin], left_out->values[begin]);
    memory_free(lower);
    return error->status;
}

/* --- figures by hints ------------------------------------------------------------------------- */

/* Sets the title of a figure, and its name, which its files get. Both contain the name that the
 * config gives the diagnostic, if any, so that figures of two diagnostics of one type differ. */
static void name_figure(struct figure *figure, const struct subject *subject, const char *name,
                        const char *title)
{
    const bool named = strcmp(subject->of.type, subject->of.name) != 0;
    snprintf(figure->name, sizeof figure->name, "%.40s%s%.40s", named ? subject->of.name : "",
             named ? "-" : "", name);
    snprintf(figure->title, sizeof figure->title, "%.50s%s%.40s", title, named ? ": " : "",
             named ? subject->of.name : "");
}

static void write_caption(const struct plot *plot)
{
    const size_t systems = plot->drawn.series->systems;
    text_print(&plot->figure->caption, "%s", plot->drawing->caption);
    finding_tell(plot->drawing->name, &plot->drawn, &plot->figure->finding);
    if (plot->drawing->equal_axes && systems > 1) {
        plot->figure->systems = "its system 1";
        text_print(figure_sentence(plot->figure), "Of system 1, of several.");
    } else {
        members_caption(plot->figure, systems, result_left_out(plot->subject->of.result));
    }
}

static enum status draw_hints(const struct subject *subject, const struct drawing *drawing,
                              struct figures *figures, struct error *error)
{
    struct plot plot = { subject,
                         drawing,
                         figure_add(figures, error),
                         { subject->of.series, subject->of.result, 0.0, false } };
    if (!plot.figure || choose_axes(&plot, error))
        return error->status;
    name_figure(plot.figure, subject, drawing->name, drawing->title);
    for (size_t i = 0; i < DRAWING_CURVES && drawing->curves[i].column && !error->status; i++)
        add_curve(&plot, &drawing->curves[i], error);
    write_caption(&plot);
    if (!error->status && drawing->focus && plot.figure->curve_count)
        figure_marks(plot.figure, 1, plot.figure->curves[0].x, plot.figure->curves[0].y,
                     drawing->focus, error);
    if (!error->status && subject->statistics)
        add_mean(plot.figure, subject, drawing->curves[0].column, error);
    figure_drop_empty(figures);
    return error->status;
}

/* --- figures without hints -------------------------------------------------------------------- */

static const char *help_of(const struct subject *subject, const char *column)
{
    for (size_t i = 0; subject->of.class_ && i < subject->of.class_->column_count; i++)
        if (strcmp(subject->of.class_->columns[i].name, column) == 0)
            return subject->of.class_->columns[i].help;
    return NULL;
}

/*
 * Draws column *column in a figure and, for DRAW_PAGE, up to DRAWING_CURVES columns of the same
 * unit, from *column on. *column becomes the next column of this unit, or the number of columns.
 */
static enum status draw_unit(const struct subject *subject, size_t *column, struct figures *figures,
                             struct error *error)
{
    const struct series *series = subject->of.series;
    const struct series_column *const first = &series->column[*column];
    char name[FIGURE_LABEL_SIZE], title[FIGURE_LABEL_SIZE], type[FIGURE_LABEL_SIZE];
    struct text caption = { 0 };
    struct drawing drawing = { .name = name, .title = title, .scale = SCALE_BY_RANGE };
    size_t count = 0;
    for (; *column < series->columns; (*column)++) {
        const struct series_column *of = &series->column[*column];
        if (strcmp(of->unit, first->unit) != 0)
            continue;
        if (count == (subject->extent == DRAW_PAGE ? DRAWING_CURVES : 1))
            break;
        const char *help = help_of(subject, of->name);
        const bool named = !subject->bin || subject->extent == DRAW_PAGE;
        drawing.curves[count++] =
            (struct drawn_curve){ .column = of->name, .label = named ? of->name : NULL };
        text_print(&caption, "%s%s%s%s", count > 1 ? "; " : "", of->name, help ? ": " : "",
                   help ? help : "");
    }
    text_print(&caption, subject->bin ? ", at the last event." : ".");
    snprintf(name, sizeof name, "%.40s-%.40s", subject->of.type, first->name);
    figure_words(subject->of.type, "_-", type);
    if (count == 1)
        snprintf(title, sizeof title, "%.40s: %.40s", type, first->name);
    else
        figure_label(type, first->unit, title);
    drawing.y_label = count == 1 ? first->name : "value";
    drawing.caption = caption.failed ? "" : caption.bytes;
    const size_t before = figures->count;
    draw_hints(subject, &drawing, figures, error);
    text_free(&caption);
    if (figures->count > before && count == 1)
        snprintf(figures->figures[before].column, FIGURE_LABEL_SIZE, "%.40s.%.40s",
                 subject->of.name, first->name);
    return error->status;
}

static enum status draw_columns(const struct subject *subject, struct figures *figures,
                                struct error *error)
{
    const struct series *series = subject->of.series;
    for (size_t i = subject->first; i < series->columns && !error->status; i++) {
        bool drawn = false;
        for (size_t k = subject->first; k < i; k++)
            drawn = drawn || strcmp(series->column[k].unit, series->column[i].unit) == 0;
        for (size_t column = i; column < series->columns && !drawn && !error->status;)
            draw_unit(subject, &column, figures, error);
    }
    return error->status;
}

/* --- a diagnostic ----------------------------------------------------------------------------- */

/* Tells whether a diagnostic makes a table: several rows of the same time at each event. Without a
 * class, the first two rows tell it. */
static bool is_table(const struct measured *measured, const double *time)
{
    return measured->class_ ? measured->class_->table
                            : measured->series->rows > 1 && time[0] == time[1];
}

static enum status draw_all(const struct subject *subject, struct figures *figures,
                            struct error *error)
{
    const struct diagnostic_class *class_ = subject->of.class_;
    const bool hints = class_ && class_->drawing_count > 0;
    const enum drawing_space elsewhere =
        result_is_periodic(subject->of.result) ? OPEN_SPACE : PERIODIC_SPACE;
    for (size_t i = 0; hints && i < class_->drawing_count && !error->status; i++) {
        const struct drawing *drawing = &class_->drawings[i];
        if (drawing->space != elsewhere && (subject->extent != DRAW_PAGE || !drawing->comparative))
            draw_hints(subject, drawing, figures, error);
    }
    if (!error->status && (!hints || subject->extent == DRAW_ALL))
        draw_columns(subject, figures, error);
    return error->status;
}

enum status draw_diagnostic(const struct measured *measured, enum draw_extent extent,
                            struct figures *figures, struct error *error)
{
    const struct series *const series = measured->series;
    struct subject subject = { *measured, .extent = extent, .time = series_find(series, "time") };
    char file[SERIES_NAME_SIZE + 16];
    struct series *statistics = NULL;
    if (series->rows == 0 || !subject.time)
        return STATUS_OK;
    subject.first = (size_t)(subject.time - series->column) + 1;
    if (is_table(measured, subject.time->values) && subject.first < series->columns) {
        subject.bin = &series->column[subject.first];
        subject.first += measured->class_ ? measured->class_->bin_columns : 1;
        snprintf(file, sizeof file, "%s-ensemble.csv", measured->name);
        if (series->systems > 1 && result_series(measured->result, file, &statistics, error))
            return error->status;
        if (statistics && statistics->rows > 0 && series_find(statistics, "time"))
            subject.statistics = statistics;
    }
    if (!subject.bin && series->rows < 2)
        return STATUS_OK;
    draw_all(&subject, figures, error);
    series_destroy(statistics);
    return error->status;
}
