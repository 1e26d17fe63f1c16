
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/draw.h"

/* part of a curve's height within which two curves look like one */
static const double line_width = 0.01;
enum { MOST_BENEATH = 3 }; /* most hidden curves that are counted for one */

/* The runs, and for each the figure of the run alone that is now combined with those of the others;
 * NULL if the run has no such figure. */
struct overlay {
    const struct overlay_run *runs;
    size_t count;
    const struct figure *own[FIGURE_MAX_LINES];
};

/* --- the curve of a run ----------------------------------------------------------------------- */

/* Tells whether a curve of a run's own figure stands for the run in a figure of several: those
 * marked as `compared` do or, if none is, the middle one of the lines. */
static bool stands_for_run(const struct figure *figure, size_t index)
{
    size_t line = 0;
    for (size_t i = 0; i < figure->curve_count; i++)
        if (figure->curves[i].compared)
            return figure->curves[index].compared;
    for (size_t i = 0; i < index; i++)
        line += figure_is_line(figure->curves[i].kind);
    return figure_is_line(figure->curves[index].kind) && line == (figure_lines(figure) - 1) / 2;
}

static const struct curve *first_curve(const struct figure *figure)
{
    size_t i = 0;
    while (i + 1 < figure->curve_count && !stands_for_run(figure, i))
        i++;
    return &figure->curves[i];
}

static bool has_one_curve(const struct figure *figure)
{
    size_t count = 0;
    for (size_t i = 0; i < figure->curve_count; i++)
        count += stands_for_run(figure, i);
    return count == 1;
}

/* Adds to `figure` one curve, made of all curves in `own` (the figure of one run) that stand for
 * the run, with gaps between them. */
static enum status add_run(struct figure *figure, const struct figure *own, const char *label,
                           int color, struct error *error)
{
    enum curve_kind kind = first_curve(own)->kind;
    size_t count = 0, room = 0;
    for (size_t i = 0; i < own->curve_count; i++)
        room += own->curves[i].count + 1;
    double *const x = memory_array(room, 2 * sizeof *x, error), *const y = x + room;
    if (!x)
        return error->status;
    for (size_t i = 0; i < own->curve_count; i++) {
        const struct curve *curve = &own->curves[i];
        if (!stands_for_run(own, i))
            continue;
        memcpy(x + count, curve->x, curve->count * sizeof *x);
        memcpy(y + count, curve->y, curve->count * sizeof *y);
        count += curve->count;
        x[count] = y[count] = NAN;
        count++;
    }
    kind = kind == CURVE_DASHED ? CURVE_LINE : kind;
    figure_curve(figure, label, kind, color, count, x, y, error);
    memory_free(x);
    return error->status;
}

/* Adds marks at the points where a run's paths begin and, only for the `first` run, the mark of the
 * point about which they go. Only the first run's marks have labels. */
static enum status add_marks(struct figure *figure, const struct figure *own, bool first,
                             struct error *error)
{
    for (size_t i = 0; i < own->curve_count && !error->status; i++) {
        const struct curve *mark = &own->curves[i];
        if (mark->kind == CURVE_STARTS || (mark->kind == CURVE_FOCUS && first))
            figure_curve(figure, first ? mark->label : "", mark->kind, 0, mark->count, mark->x,
                         mark->y, error);
    }
    return error->status;
}

/* --- axes ------------------------------------------------------------------------------------- */

/* Makes `label` fit also an axis with the label `other`; each is "name [unit]". If only the units
 * differ it becomes "name, each run in its own units", if the names differ "one or other". */
static void join_labels(char *label, const char *other)
{
    const char *unit = strstr(label, " ["), *other_unit = strstr(other, " [");
    const size_t length = unit ? (size_t)(unit - label) : strlen(label);
    const size_t other_length = other_unit ? (size_t)(other_unit - other) : strlen(other);
    char joined[FIGURE_LABEL_SIZE];
    if (strcmp(label, other) == 0 || strstr(label, ", each run in its own"))
        return;
    if (length == other_length && strncmp(label, other, length) == 0)
        snprintf(joined, sizeof joined, "%.*s, each run in its own units",
                 (int)(length < 100 ? length : 100), label);
    else
        snprintf(joined, sizeof joined, "%.70s or %.70s", label, other);
    memcpy(label, joined, sizeof joined);
}

/* Gives `figure` axes that fit the curves of all runs: logarithmic if those of one run's figure
 * are, and no curve goes below 0. */
static void join_axes(const struct overlay *overlay, struct figure *figure)
{
    bool negative = false;
    for (size_t run = 0; run < overlay->count; run++) {
        const struct figure *own = overlay->own[run];
        if (!own)
            continue;
        for (size_t i = 0; i < own->curve_count; i++)
            negative |=
                stands_for_run(own, i) && extent_of(own->curves[i].y, own->curves[i].count).low < 0;
        figure->y_log |= own->y_log;
        figure->x_log |= own->x_log;
        figure->y_signed |= own->y_signed;
        figure->equal_axes |= own->equal_axes;
        join_labels(figure->x_label, own->x_label);
        join_labels(figure->y_label, own->y_label);
    }
    figure->y_log &= !negative;
    figure->x_log &= figure->y_log;
}

static const double least_span = 1e-6;

/* Returns the extent of the curves along x ('x'), y ('y') or both ('='): of the runs that went well
 * or, if not `well`, of the others. */
static struct extent reach_of(const struct overlay *overlay, const struct figure *figure, char axis,
                              bool well)
{
    struct extent extent = extent_of(NULL, 0);
    for (size_t i = 0; i < figure->curve_count; i++) {
        const struct curve *curve = &figure->curves[i];
        if (!figure_is_line(curve->kind) || well == (overlay->runs[curve->color].mark[0] != '\0'))
            continue;
        if (axis != 'y')
            extent_add(&extent, curve->x, curve->count);
        if (axis != 'x')
            extent_add(&extent, curve->y, curve->count);
    }
    return extent;
}

/* If runs that went wrong reach beyond `factor` times the extent of the runs that went well, sets
 * `frame`, the range of an axis, to three times this extent, but without negative values unless the
 * runs that went well have some. Returns false if none does, or if the runs that went well differ
 * only by least_span of their values: such a frame would show nothing but rounding. */
static bool frame_axis(const struct overlay *overlay, const struct figure *figure, char axis,
                       double factor, double frame[2])
{
    const struct extent good = reach_of(overlay, figure, axis, true);
    const struct extent bad = reach_of(overlay, figure, axis, false);
    const double span = good.high - good.low, beyond = 0.5 * (factor - 1.0) * span;
    if (!(span > least_span * fmax(fabs(good.low), fabs(good.high))) ||
        !(bad.low < good.low - beyond || bad.high > good.high + beyond))
        return false;
    frame[0] = good.low >= 0 ? fmax(0.0, good.low - span) : good.low - span;
    frame[1] = good.high + span;
    return true;
}

static bool lies_beyond(const double range[2], double value)
{
    return range[0] < range[1] && (value < range[0] || value > range[1]);
}

static void tell_frame(const struct overlay *overlay, struct figure *figure)
{
    bool any = false;
    for (size_t i = 0; i < figure->curve_count; i++) {
        const struct curve *curve = &figure->curves[i];
        bool beyond = false;
        for (size_t k = 0; k < curve->count && figure_is_line(curve->kind); k++)
            beyond |= lies_beyond(figure->range, curve->x[k]) ||
                      lies_beyond(figure->range, curve->y[k]) ||
                      lies_beyond(figure->x_range, curve->x[k]) ||
                      lies_beyond(figure->y_range, curve->y[k]);
        if (!beyond)
            continue;
        text_print(any ? &figure->finding : figure_sentence(figure), "%s%s",
                   any ? ", " : "The frame leaves out part of ", overlay->runs[curve->color].label);
        any = true;
    }
    if (any)
        text_print(&figure->finding, ".");
}

/* Limits the axes to the runs that went well, which could look like flat lines or points beside a
 * run that went wrong. */
static void frame_good_runs(const struct overlay *overlay, struct figure *figure)
{
    bool framed = false;
    if (figure->equal_axes) {
        framed = frame_axis(overlay, figure, '=', 3.0, figure->range);
    } else {
        if (!figure->y_log && !figure->y_signed)
            framed = frame_axis(overlay, figure, 'y', 3.0, figure->y_range);
        if (!figure->x_log)
            framed |= frame_axis(overlay, figure, 'x', 9.0, figure->x_range);
    }
    if (framed)
        tell_frame(overlay, figure);
}

static double height_of(const struct figure *figure, double y)
{
    return figure->y_log ? log(y) : y;
}

/* Tells whether curve `upper` hides curve `lower`: both are together at more than four fifths of
 * their points. */
static bool lies_upon(const struct figure *figure, const struct curve *upper,
                      const struct curve *lower)
{
    const struct extent extent = extent_of(lower->y, lower->count);
    const double span = height_of(figure, extent.high) - height_of(figure, extent.low);
    size_t apart = 0;
    if (upper->count != lower->count)
        return false;
    for (size_t i = 0; i < lower->count; i++) {
        const double dy = height_of(figure, upper->y[i]) - height_of(figure, lower->y[i]);
        const double dx = figure->equal_axes ? upper->x[i] - lower->x[i] : 0.0;
        apart += hypot(dx, dy) > line_width * span;
    }
    return 5 * apart < lower->count;
}

static void show_hidden(struct figure *figure)
{
    for (size_t i = 0; i < figure->curve_count; i++) {
        struct curve *upper = &figure->curves[i];
        if (!figure_is_line(upper->kind))
            continue;
        for (size_t k = 0; k < i && upper->beneath < MOST_BENEATH; k++)
            if (lies_upon(figure, upper, &figure->curves[k])) {
                upper->beneath++;
                figure->curves[k].above++;
            }
    }
}

/* --- words ------------------------------------------------------------------------------------ */

/* Tells whether the curves that stand for the runs all have the same label in the runs' own
 * figures; *label becomes this label, or NULL if several curves stand for each run. */
static bool same_label(const struct overlay *overlay, const char **label)
{
    *label = NULL;
    for (size_t run = 0; run < overlay->count; run++) {
        const struct figure *own = overlay->own[run];
        const char *of = own && has_one_curve(own) ? first_curve(own)->label : NULL;
        if (of && *label && strcmp(of, *label) != 0)
            return false;
        *label = of ? of : *label;
    }
    return true;
}

static void name_curve(char label[FIGURE_LABEL_SIZE], const struct overlay_run *run,
                       const char *apart)
{
    snprintf(label, FIGURE_LABEL_SIZE, "%.100s%s%.40s%s%.12s%s", run->label, apart[0] ? ", " : "",
             apart, run->mark[0] ? " (" : "", run->mark, run->mark[0] ? ")" : "");
}

/* Adds a sentence that lists runs after `words`: those without the figure if `missing`, else those
 * that went wrong. */
static void list_runs(const struct overlay *overlay, struct figure *figure, bool missing,
                      const char *words)
{
    bool any = false;
    for (size_t run = 0; run < overlay->count; run++) {
        const bool there = overlay->own[run] != NULL;
        const char *mark = overlay->runs[run].mark;
        if (missing ? there : !there || !mark[0])
            continue;
        text_print(any ? &figure->finding : figure_sentence(figure), "%s%s", any ? "; " : words,
                   overlay->runs[run].label);
        if (!missing)
            text_print(&figure->finding, " (%s)", mark);
        any = true;
    }
    if (any)
        text_print(&figure->finding, ".");
}

static void tell_systems(const struct overlay *overlay, struct figure *figure)
{
    for (size_t run = 0; run < overlay->count; run++) {
        const struct figure *own = overlay->own[run];
        if (!own || !own->systems)
            continue;
        text_print(figure_sentence(figure), "Of an ensemble: %s.", own->systems);
        return;
    }
}

/* --- figures ---------------------------------------------------------------------------------- */

static struct figure *begin_figure(const struct figure *own, struct figures *figures,
                                   struct error *error)
{
    struct figure *figure = figure_add(figures, error);
    if (!figure)
        return NULL;
    memcpy(figure->name, own->name, sizeof figure->name);
    memcpy(figure->title, own->title, sizeof figure->title);
    memcpy(figure->column, own->column, sizeof figure->column);
    memcpy(figure->x_label, own->x_label, sizeof figure->x_label);
    memcpy(figure->y_label, own->y_label, sizeof figure->y_label);
    text_print(&figure->caption, "%s", own->caption.length ? own->caption.bytes : "");
    return figure;
}

static enum status lay_over(const struct overlay *overlay, const struct figure *own,
                            struct figures *figures, struct error *error)
{
    struct figure *figure = begin_figure(own, figures, error);
    const char *label;
    if (!figure)
        return error->status;
    const bool same = same_label(overlay, &label);
    join_axes(overlay, figure);
    for (size_t run = 0; run < overlay->count; run++) {
        const struct figure *of = overlay->own[run];
        char name[FIGURE_LABEL_SIZE];
        if (!of)
            continue;
        name_curve(name, &overlay->runs[run], same ? "" : first_curve(of)->label);
        if (add_run(figure, of, name, (int)run, error))
            return error->status;
    }
    for (size_t run = 0; run < overlay->count; run++) {
        const struct figure *of = overlay->own[run];
        if (of && add_marks(figure, of, of == own, error))
            return error->status;
    }
    if (same && label && label[0] && figure_lines(own) > 1)
        text_print(&figure->finding, "For each run: %s.", label);
    tell_systems(overlay, figure);
    list_runs(overlay, figure, false, DRAW_RUNS_GONE_WRONG);
    list_runs(overlay, figure, true, "Without such a figure: ");
    frame_good_runs(overlay, figure);
    show_hidden(figure);
    return STATUS_OK;
}

/* Sets overlay->own to the runs' figures of this name. Returns true if several runs have one and
 * `run` is the first of them, so that each name is drawn once. */
static bool find_figures(struct overlay *overlay, const struct figures *own, size_t run,
                         const char *name)
{
    size_t before = 0, all = 0;
    for (size_t i = 0; i < overlay->count; i++) {
        overlay->own[i] = figure_find(&own[i], name);
        before += i < run && overlay->own[i];
        all += overlay->own[i] != NULL;
    }
    return before == 0 && all > 1;
}

/* Returns the unit of result_time_unit() if it is the same for all runs; else that of the runs'
 * files (size 1). */
static struct time_unit common_unit(const struct overlay_run *runs, size_t count)
{
    const struct time_unit unit = result_time_unit(runs[0].result);
    for (size_t run = 1; run < count; run++) {
        const struct time_unit other = result_time_unit(runs[run].result);
        if (strcmp(unit.label, other.label) != 0)
            return (struct time_unit){ .size = 1.0 };
    }
    return unit;
}

enum status overlay_draw(const struct overlay_run *runs, size_t count, enum draw_extent extent,
                         struct figures *figures, struct error *error)
{
    const size_t shown = count < FIGURE_MAX_LINES ? count : FIGURE_MAX_LINES;
    struct figures own[FIGURE_MAX_LINES] = { { 0 } };
    struct overlay overlay = { runs, shown, { NULL } };
    for (size_t run = 0; run < shown && !error->status; run++) {
        struct trajectory *trajectory;
        if (!trajectory_open(runs[run].result, &trajectory, error))
            draw_run(runs[run].result, trajectory, extent, &own[run], error);
        trajectory_close(trajectory);
    }
    const struct time_unit unit = common_unit(runs, shown);
    for (size_t run = 0; run < shown; run++)
        figures_change_time(&own[run], &unit);
    for (size_t run = 0; run < shown; run++)
        for (size_t i = 0; i < own[run].count && !error->status; i++) {
            const struct figure *figure = &own[run].figures[i];
            if (figure->alone || figure->curve_count == 0 ||
                !find_figures(&overlay, own, run, figure->name))
                continue;
            if (!lay_over(&overlay, figure, figures, error))
                figures->figures[figures->count - 1].left_out += count - shown;
        }
    for (size_t run = 0; run < shown; run++)
        figure_free_all(&own[run]);
    return error->status;
}
