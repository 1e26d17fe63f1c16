#include "report/draw.h"
#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* --- what is expected ------------------------------------------------------------------------- */

/* Tells whether `quantity`, as the config names it under `expect` ("energy" or
 * "conservation.energy"), is `column`, which always has its diagnostic before the dot
 * ("conservation.energy"). */
static bool is_quantity(const char *quantity, const char *column)
{
    const char *const dot = strchr(column, '.');
    return quantity[0] && (strcmp(quantity, column) == 0 ||
                           (dot && !strchr(quantity, '.') && strcmp(quantity, dot + 1) == 0));
}

static bool shows(const struct figure *figure, const char *quantity)
{
    for (size_t c = 0; c < figure->curve_count; c++)
        if (is_quantity(quantity, figure->curves[c].column))
            return true;
    return false;
}

static bool is_expected(const struct result *result, const char *column)
{
    size_t index;
    json_t *item;
    json_array_foreach(result_find(result, FIELD_CONFIG_EXPECT), index, item)
    {
        if (is_quantity(run_field_string(item, FIELD_EXPECTED_QUANTITY), column))
            return true;
    }
    return false;
}

static bool is_drawn(const struct figures *figures, size_t first, const char *column)
{
    for (size_t i = first; i < figures->count; i++)
        if (shows(&figures->figures[i], column))
            return true;
    return false;
}

enum status arrange_expected(const struct measured *measured, struct figures *figures, size_t first,
                             struct error *error)
{
    const struct series *const series = measured->series;
    struct figures all = { 0 };
    bool any = false;
    for (size_t i = 0; i < series->columns; i++) {
        char column[2 * SERIES_NAME_SIZE];
        snprintf(column, sizeof column, "%s.%s", measured->name, series->column[i].name);
        any |= is_expected(measured->result, column);
    }
    if (!any || draw_diagnostic(measured, DRAW_ALL, &all, error))
        return error->status;
    for (size_t i = 0; i < all.count && !error->status; i++) {
        struct figure *const one = &all.figures[i];
        if (!one->column[0] || !is_expected(measured->result, one->column) ||
            is_drawn(figures, first, one->column))
            continue;
        struct figure *const added = figure_add(figures, error);
        if (added) {
            *added = *one;
            *one = (struct figure){ 0 };
        }
    }
    figure_free_all(&all);
    return error->status;
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* The extents of all curves of a figure, along x and along y. */
struct frame {
    struct extent x, y;
};

static struct frame frame_of(const struct figure *figure)
{
    struct frame frame = { extent_of(NULL, 0), extent_of(NULL, 0) };
    for (size_t c = 0; c < figure->curve_count; c++) {
        extent_add(&frame.x, figure->curves[c].x, figure->curves[c].count);
        extent_add(&frame.y, figure->curves[c].y, figure->curves[c].count);
    }
    return frame;
}

/* A bound is far if the curves would look flat beside it. On a linear axis: if it is more than
 * far_extents times the height of the curves away from their edge, and more than far_part of |y| at
 * the middle of the curves away from this middle. On a logarithmic axis: if it is beyond the curves
 * by far_factor. */
static const double far_extents = 3.0, far_part = 0.6, far_factor = 1e4;

static bool is_far(const struct figure *figure, const struct frame *frame, double bound)
{
    const double extent = frame->y.high - frame->y.low;
    if (figure->y_log)
        return bound > far_factor * frame->y.high || bound * far_factor < frame->y.low;
    const double middle = 0.5 * (frame->y.low + frame->y.high), away = fabs(bound - middle);
    return !(away <= (0.5 + far_extents) * extent || away <= far_part * fabs(middle));
}

static bool is_beyond(const struct curve *curve, bool from_above, double bound, const double x[2])
{
    for (size_t i = 0; i < curve->count; i++)
        if (curve->x[i] >= x[0] && curve->x[i] <= x[1] &&
            (from_above ? curve->y[i] > bound : curve->y[i] < bound))
            return true;
    return false;
}

/* Tells whether readers would think that `quantity` misses the bound, though it keeps it, because
 * another curve of the figure lies beyond the bound. */
static bool misleads(const struct figure *figure, const char *quantity, bool from_above,
                     double bound, const double x[2])
{
    bool own = false, other = false;
    for (size_t c = 0; c < figure->curve_count; c++) {
        const struct curve *const curve = &figure->curves[c];
        if (curve->column[0] && is_beyond(curve, from_above, bound, x))
            *(is_quantity(quantity, curve->column) ? &own : &other) = true;
    }
    return other && !own;
}

static void name_curve(const struct figure *figure, const char *quantity, struct text *label)
{
    for (size_t c = 0; c < figure->curve_count; c++)
        if (is_quantity(quantity, figure->curves[c].column) && figure->curves[c].label[0]) {
            text_print(label, "%s: ", figure->curves[c].label);
            return;
        }
}

/* Bounds have the last colour of the palette, which few curves reach. */
static const int bound_color = PALETTE_COLORS - 1;

static enum status add_bound(const json_t *item, const char *quantity, bool from_above,
                             double bound, struct figure *figure, struct error *error)
{
    const char *const words = from_above ? "at most" : "at least";
    const struct frame frame = frame_of(figure);
    const double after = run_field_real(item, FIELD_EXPECTED_AFTER);
    const double before = run_field_real(item, FIELD_EXPECTED_BEFORE);
    const double x[2] = { fmax(frame.x.low, after),
                          fmin(frame.x.high, before) }; /* fmax() and fmin() ignore NaN: no limit */
    const double y[2] = { bound, bound };
    const bool never = !(x[0] < x[1]);
    if (!never && !is_far(figure, &frame, bound)) {
        struct text label = { 0 };
        if (misleads(figure, quantity, from_above, bound, x))
            name_curve(figure, quantity, &label);
        text_print(&label, "%s %.6g expected", words, bound);
        const enum status status = label.failed ? error_memory(error)
                                                : figure_curve(figure, label.bytes, CURVE_DASHED,
                                                               bound_color, 2, x, y, error);
        text_free(&label);
        return status;
    }
    text_print(figure_sentence(figure), "Expected: %s %.6g, %s.", words, bound,
               never && after >= frame.x.high ? "but only at times that the run did not reach"
               : never                        ? "but at no time that is drawn"
               : bound < frame.y.low          ? "far below all that is drawn"
                                              : "far above all that is drawn");
    return STATUS_OK;
}

static enum status add_bounds(const json_t *item, struct figure *figure, struct error *error)
{
    static const enum run_field fields[] = { FIELD_EXPECTED_AT_LEAST, FIELD_EXPECTED_AT_MOST };
    const char *const quantity = run_field_string(item, FIELD_EXPECTED_QUANTITY);
    const json_t *const between = run_field(item, FIELD_EXPECTED_BETWEEN);
    if (!shows(figure, quantity))
        return STATUS_OK;
    figure->place = FIGURE_EXPECTED;
    for (size_t k = 0; k < 2 && !error->status; k++) {
        const json_t *const limit = json_array_get(between, k);
        const double bound =
            json_is_number(limit) ? json_number_value(limit) : run_field_real(item, fields[k]);
        if (!isnan(bound))
            add_bound(item, quantity, k == 1, bound, figure, error);
    }
    return error->status;
}

/* --- curves that lie upon each other ---------------------------------------------------------- */

/* Two curves closer than this part of the figure's height look like one; a line is wider. */
static const double unseen = 1e-3;

static bool lies_upon(const struct figure *figure, const struct frame *frame,
                      const struct curve *one, const struct curve *other)
{
    if (figure->y_log || figure->y_signed || one->count != other->count || one->count < 2)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (one->x[i] != other->x[i] ||
            !(fabs(one->y[i] - other->y[i]) <= unseen * (frame->y.high - frame->y.low)))
            return false;
    return true;
}

static void take_out(struct figure *figure, size_t index)
{
    struct curve *const curve = &figure->curves[index];
    free(curve->x);
    figure->curve_count--;
    memmove(curve, curve + 1, (figure->curve_count - index) * sizeof *curve);
}

/* Takes out dashed curves that lie upon a solid one, since they would hide it, and says so under
 * the figure. */
static void tell_equal_curves(struct figure *figure)
{
    const struct frame frame = frame_of(figure);
    for (size_t k = figure->curve_count; k-- > 1;)
        for (size_t i = 0; i < k; i++) {
            if (figure->curves[k].kind != CURVE_DASHED || figure->curves[i].kind != CURVE_LINE ||
                !lies_upon(figure, &frame, &figure->curves[k], &figure->curves[i]))
                continue;
            text_print(figure_sentence(figure), "The curve of %s is that of %s.",
                       figure->curves[k].label, figure->curves[i].label);
            take_out(figure, k);
            break;
        }
}

/* --- the order -------------------------------------------------------------------------------- */

static bool has_name(const struct figure *figure, const char *name)
{
    const char *const found = strstr(figure->name, name);
    return found && found[strlen(name)] == '\0' && (found == figure->name || found[-1] == '-');
}

/* Returns the place of a figure on the page of a run, if the config expects nothing of the
 * quantities in it. */
static enum figure_place place_of(const struct result *result, const struct figure *figure)
{
    static const char *const vectors[] = { "momentum", "angular-momentum" };
    static const char *const conserved[] = { "energy-error", "energies", "virial-ratio", "momentum",
                                             "angular-momentum" };
    const bool round_off = figure->finding.length &&
                           strcmp(figure->finding.bytes, finding_round_off) == 0 &&
                           isfinite(result_real(result, FIELD_SCALES_MOMENTUM));
    if (figure->equal_axes)
        return FIGURE_PATHS;
    for (size_t i = 0; i < COUNT_OF(vectors); i++)
        if (has_name(figure, vectors[i]) && round_off && result_is_whole(result))
            return FIGURE_PASSED;
    for (size_t i = 0; i < COUNT_OF(conserved); i++)
        if (has_name(figure, conserved[i]))
            return FIGURE_CONSERVED;
    return FIGURE_MEASURED;
}

static void sort(struct figures *figures)
{
    for (size_t i = 1; i < figures->count; i++)
        for (size_t k = i; k > 0 && figures->figures[k].place < figures->figures[k - 1].place;
             k--) {
            const struct figure other = figures->figures[k];
            figures->figures[k] = figures->figures[k - 1];
            figures->figures[k - 1] = other;
        }
}

enum status arrange_page(const struct result *result, struct figures *figures, struct error *error)
{
    size_t index;
    json_t *item;
    for (size_t i = 0; i < figures->count && !error->status; i++) {
        struct figure *const figure = &figures->figures[i];
        figure->place = place_of(result, figure);
        tell_equal_curves(figure);
        json_array_foreach(result_find(result, FIELD_CONFIG_EXPECT), index, item)
        {
            if (figure->curve_count > 0 && !figure->equal_axes && !error->status)
                add_bounds(item, figure, error);
        }
    }
    sort(figures);
    return error->status;
}
