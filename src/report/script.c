#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "report/template.h"

/* --- words ------------------------------------------------------------------------------------ */

void script_quote(struct text *script, const char *words)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                " .,:;()[]+-*/=_^%<>&|";
    text_print(script, "\"");
    for (const char *c = words; *c; c++)
        if (strchr(plain, *c) || (unsigned char)*c >= 0x80)
            text_append(script, c, 1);
        else
            text_print(script, (unsigned char)*c < ' ' ? " " : "\\%03o", (unsigned char)*c);
    text_print(script, "\"");
}

/* --- axes ------------------------------------------------------------------------------------- */

static bool in_frame(const struct figure *figure, double x)
{
    const double *const range = figure->x_range;
    return !(range[0] < range[1]) || (x >= range[0] && x <= range[1]);
}

/* Finds the extent along an axis of all points whose x lies in the figure's x_range, if that is
 * set. */
static void extent(const struct figure *figure, char axis, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t c = 0; c < figure->curve_count; c++) {
        const struct curve *curve = &figure->curves[c];
        for (size_t i = 0; i < curve->count; i++) {
            if (!in_frame(figure, curve->x[i]))
                continue;
            const double value = axis == 'x' ? curve->x[i] : curve->y[i];
            *low = fmin(*low, value);
            *high = fmax(*high, axis == 'y' && curve->upper ? curve->upper[i] : value);
        }
    }
}

/* In pixels: width of a letter, height of a line of text, lengths of the x and the y axis. */
enum { LETTER = 8, LINE = 18, AXIS_WIDTH = 380, AXIS_HEIGHT = 210 };

/* Appends the commands for ticks along x, from `low` to `high`. A tick has no number if that would
 * touch the number of an earlier tick. */
static void script_ticks(struct text *script, const double *ticks, size_t count, double low,
                         double high, bool logarithmic)
{
    double taken = -INFINITY; /* pixels from `low` that the numbers so far take up */
    text_print(script, "set format x '%%g'\nset xtics (");
    for (size_t i = 0; i < count; i++) {
        const double at = AXIS_WIDTH * (logarithmic ? log(ticks[i] / low) / log(high / low)
                                                    : (ticks[i] - low) / (high - low));
        char number[32];
        snprintf(number, sizeof number, "%.*g", fabs(ticks[i]) < 1e5 ? 5 : 6, ticks[i]);
        const double half = 0.5 * LETTER * (double)(strlen(number) + 1);
        const bool fits = at - half > taken;
        text_print(script, "%s'%s' %.9g", i ? ", " : "", fits ? number : "", ticks[i]);
        taken = fits ? at + half : taken;
    }
    text_print(script, ")\n");
}

/* Tells whether a figure has only points and fits: its axes then need a margin, so that no point
 * lies on the edge. */
static bool of_points(const struct figure *figure)
{
    for (size_t i = 0; i < figure->curve_count; i++)
        if (figure->curves[i].kind != CURVE_POINTS && figure->curves[i].kind != CURVE_FIT)
            return false;
    return true;
}

/* Returns a step between ticks, 1, 2 or 5 times a power of ten, that fits into `range` at most five
 * times. */
static double tick_step(double range)
{
    const double coarse = range / 5, decade = pow(10, floor(log10(coarse)));
    return coarse <= 2 * decade ? 2 * decade : coarse <= 5 * decade ? 5 * decade : 10 * decade;
}

static void script_equal(struct text *script, const struct figure *figure)
{
    double low, high, range = figure->range[1] - figure->range[0];
    for (const char *axis = "xy"; *axis && !(figure->range[0] < figure->range[1]); axis++) {
        extent(figure, *axis, &low, &high);
        range = fmax(range, high - low);
    }
    if (range > 0)
        text_print(script, "set xtics %.9g\nset ytics %.9g\n", tick_step(range), tick_step(range));
}

/* Appends the commands for a linear axis. Along x it has few ticks, so that long numbers have room,
 * and ends where the curves end, with a margin for points. Along y it begins at 0 if the least
 * value is not negative and less than a tenth of the greatest. */
static void script_linear(struct text *script, const struct figure *figure, char axis)
{
    double low, high;
    extent(figure, axis, &low, &high);
    text_print(script, "set format %c '%%g'\n", axis);
    if (axis == 'y' && low >= 0 && low < 0.1 * high)
        text_print(script, "set yrange [0:*]\n");
    if (axis == 'y' && figure->y_range[0] < figure->y_range[1])
        text_print(script, "set yrange [%.9g:%.9g]\n", figure->y_range[0], figure->y_range[1]);
    if (figure->equal_axes)
        script_equal(script, figure);
    if (axis == 'x' && low == high && !figure->equal_axes)
        text_print(script, "set xtics (%.9g)\n", low); /* all points are at one x */
    if (axis == 'y' || figure->equal_axes || !(low < high))
        return;
    if (figure->x_range[0] < figure->x_range[1]) {
        low = figure->x_range[0];
        high = figure->x_range[1];
    }
    const double step = tick_step(high - low);
    const double margin = of_points(figure) ? 0.04 * (high - low) : 0.0;
    low -= margin;
    high += margin;
    text_print(script, "set xrange [%.17g:%.17g]\nset xtics %.9g\n", low, high, step);
    if (figure->tick_count)
        script_ticks(script, figure->ticks, figure->tick_count, low, high, false);
}

/* If the ends of a logarithmic axis differ by less than this factor, it may have only one of the
 * ticks 1, 2, 5, 10, ... or none. */
static const double few_ticks = 5.0;

enum { MOST_TICKS = 16 };

/* Finds the ticks of a logarithmic axis from `low` to `high` and returns their number: with equal
 * steps if high / low is below few_ticks, else 1, 2 and 5 times powers of ten. */
static size_t find_ticks(double low, double high, double ticks[MOST_TICKS])
{
    static const double steps[] = { 1, 2, 5 };
    size_t count = 0;
    if (high / low < few_ticks) {
        const double step = tick_step(high - low);
        for (double k = ceil(low / step); k * step <= high; k++)
            ticks[count++] = k * step;
        return count;
    }
    for (double decade = pow(10, floor(log10(low))); decade < high; decade *= 10)
        for (size_t i = 0; i < COUNT_OF(steps); i++)
            if (steps[i] * decade >= low && steps[i] * decade <= high)
                ticks[count++] = steps[i] * decade;
    return count;
}

/* Appends the commands for a logarithmic axis; its ticks are powers of ten if its ends differ by a
 * factor of more than 300. A small range gets a linear axis, but not for points: a power law
 * through them is a straight line on logarithmic axes only. */
static void script_logarithmic(struct text *script, const struct figure *figure, char axis)
{
    double low, high;
    extent(figure, axis, &low, &high);
    const double margin = fmax(1.06, pow(high / low, 0.04));
    low /= margin;
    high *= margin;
    if (high / low < few_ticks && !of_points(figure)) {
        script_linear(script, figure, axis);
        return;
    }
    text_print(script, "set logscale %c\nset %crange [%.9g:%.9g]\n", axis, axis, low, high);
    if (axis == 'x' && figure->tick_count) {
        script_ticks(script, figure->ticks, figure->tick_count, low, high, true);
        return;
    }
    if (high / low > 300) {
        text_print(script, "set format %c '10^{%%T}'\n", axis);
        return;
    }
    double ticks[MOST_TICKS];
    const size_t count = find_ticks(low, high, ticks);
    if (axis == 'x') {
        script_ticks(script, ticks, count, low, high, true);
        return;
    }
    text_print(script, "set format y '%%g'\nset ytics (");
    for (size_t i = 0; i < count; i++)
        text_print(script, "%s%.9g", i ? ", " : "", ticks[i]);
    text_print(script, ")\n");
}

/* Returns the least, over all curves that are not 0 throughout, of their largest |y|; 0 if all
 * are. */
static double least_reach(const struct figure *figure)
{
    double least = 0.0;
    for (size_t c = 0; c < figure->curve_count; c++) {
        double reach = 0.0;
        for (size_t i = 0; i < figure->curves[c].count; i++)
            if (in_frame(figure, figure->curves[c].x[i]))
                reach = fmax(reach, fabs(figure->curves[c].y[i]));
        if (reach > 0.0 && (least == 0.0 || reach < least))
            least = reach;
    }
    return least;
}

/* If the largest |y| of a curve is this many times that of another, the other would be a flat line
 * on a linear axis. */
static const double signed_factor = 20.0;

/* Appends the commands for a y axis proportional to asinh(y / scale): linear about 0, logarithmic
 * on both sides, with 0 and powers of ten as ticks; a linear axis if signed_factor asks for no
 * more. */
static void script_signed(struct text *script, const struct figure *figure)
{
    double low, high;
    extent(figure, 'y', &low, &high);
    const double reach = fmax(fabs(low), fabs(high)), least = least_reach(figure);
    if (!(reach > signed_factor * least)) {
        script_linear(script, figure, 'y');
        return;
    }
    const double scale = least / 3, margin = 1.6;
    low = low < 0 ? margin * low : -least;
    high = high > 0 ? margin * high : least;
    text_print(script,
               "set nonlinear y via asinh(y/%.9g) inverse %.9g*sinh(y)\nset yrange [%.9g:%.9g]\n"
               "set ytics ('0' 0",
               scale, scale, low, high);
    const double pixels = AXIS_HEIGHT / (asinh(high / scale) - asinh(low / scale));
    const int stride = (int)ceil(1.5 * LINE / (pixels * M_LN10));
    for (int sign = 1; sign >= -1; sign -= 2) /* on both sides of 0, from the outer end inwards */
        for (int power = (int)floor(log10(sign > 0 ? high : -low));
             pixels * asinh(pow(10, power) / scale) > LINE && power > log10(scale); power -= stride)
            text_print(script, ", '%s10^{%d}' %s1e%d", sign > 0 ? "" : "−", power,
                       sign > 0 ? "" : "-", power);
    text_print(script, ")\n");
}

/* Returns {"axis", "label", "scale"} for the template of the commands: "x" or "y", its label as a
 * string of gnuplot, and the commands for its scale. */
static json_t *axis_view(const struct figure *figure, char axis)
{
    struct text label = { 0 }, scale = { 0 };
    const char name[] = { axis, '\0' };
    script_quote(&label, axis == 'x' ? figure->x_label : figure->y_label);
    if (axis == 'y' && figure->y_signed)
        script_signed(&scale, figure);
    else if (axis == 'x' ? figure->x_log : figure->y_log)
        script_logarithmic(&scale, figure, axis);
    else
        script_linear(&scale, figure, axis);
    return DOCUMENT({ "axis", json_string(name) }, { "label", template_value(&label) },
                    { "scale", template_value(&scale) });
}

/* --- the key ---------------------------------------------------------------------------------- */

/* The legend: its width, in a figure with unequal and with equal axes, and that of the sample
 * before a label, in letters; the most columns; the height of a row in pixels. */
enum { KEY_WIDTH = 40, KEY_WIDTH_EQUAL = 34, KEY_SAMPLE = 6, KEY_COLUMNS = 4, KEY_ROW_HEIGHT = 21 };

static size_t key_width(const struct figure *figure)
{
    return figure->equal_axes ? KEY_WIDTH_EQUAL : KEY_WIDTH;
}

/* Returns the number of bytes in the first line of a label, which is broken behind a blank if it is
 * wider than the legend; *letters becomes the number of letters in that line. */
static size_t first_line(const struct figure *figure, const char *label, size_t *letters)
{
    size_t end = 0, blank = 0;
    for (*letters = 0; label[end]; end++) {
        const bool begins = ((unsigned char)label[end] & 0xc0) != 0x80;
        if (begins && *letters == key_width(figure))
            return blank ? blank : end;
        *letters += begins;
        blank = label[end] == ' ' ? end + 1 : blank;
    }
    return end;
}

/* Finds the number of columns of equal width for which the legend has room, and its height in
 * pixels; both are 0 for a figure without labels. */
static void measure_key(const struct figure *figure, int *columns, int *height)
{
    size_t lines = 0, longest = 0, letters;
    for (size_t i = 0; i < figure->curve_count; i++)
        for (const char *label = figure->curves[i].label; *label; lines++) {
            label += first_line(figure, label, &letters);
            longest = letters > longest ? letters : longest;
        }
    const size_t room = (key_width(figure) + KEY_SAMPLE) / (longest + KEY_SAMPLE);
    const size_t most = room < 1 ? 1 : room < KEY_COLUMNS ? room : KEY_COLUMNS;
    *columns = (int)(lines < most ? lines : most);
    *height = *columns ? KEY_ROW_HEIGHT * (((int)lines + *columns - 1) / *columns) : 0;
}

/* --- curves ----------------------------------------------------------------------------------- */

static bool is_dashed_again(const struct curve *curve)
{
    return curve->color >= PALETTE_COLORS && curve->kind == CURVE_LINE;
}

static const char *style_of(const struct curve *curve)
{
    static const char *const styles[] = {
        [CURVE_LINE] = "line",     [CURVE_DASHED] = "dashed", [CURVE_PATH] = "path",
        [CURVE_POINTS] = "points", [CURVE_DOTS] = "dots",     [CURVE_DISCS] = "discs",
        [CURVE_FIT] = "dashed",    [CURVE_BAND] = "band",     [CURVE_STARTS] = "starts",
        [CURVE_FOCUS] = "focus",   [CURVE_RING] = "ring",
    };
    return is_dashed_again(curve) ? "dashed" : styles[curve->kind];
}

/* The length of a dash and the gap behind it, in units of gnuplot's dashtype. A line that hides n
 * others has dashes of this length / 2^n, so that the others show in its gaps. */
enum { DASH_PERIOD = 16 };

/* Tells whether the points of a curve are so small that the legend shows a larger one. */
static bool has_own_sample(const struct curve *curve)
{
    return (curve->kind == CURVE_DOTS || curve->kind == CURVE_DISCS) && curve->label[0];
}

/* Entries of gnuplot's `plot` command: a curve, a larger sample of its points for the legend, and a
 * further line of its label. */
enum entry { ENTRY_CURVE, ENTRY_SAMPLE, ENTRY_CONTINUED };

/* Returns the values for the template of one entry of gnuplot's `plot` command, of curve number
 * `index`. The first `length` bytes of `line`, a line of the curve's label, stand in the legend; 0:
 * it does not list the entry. */
static json_t *drawn_view(const struct curve *curve, enum entry entry, size_t index,
                          const char *line, size_t length)
{
    struct text words = { 0 }, label = { 0 };
    const bool has_gaps = curve->beneath && curve->kind == CURVE_LINE && !is_dashed_again(curve);
    const int dash = has_gaps ? DASH_PERIOD >> curve->beneath : 0;
    const int wide = curve->kind == CURVE_PATH ? curve->above : 0;
    text_append(&words, line, length);
    script_quote(&label, length ? words.bytes : "");
    label.failed |= words.failed;
    text_free(&words);
    return DOCUMENT(
        { "separator", json_string(index || entry != ENTRY_CURVE ? ", \\\n     " : "") },
        { "index", json_integer((json_int_t)index) },
        { "curve", json_boolean(entry == ENTRY_CURVE) },
        { "sample", json_boolean(entry == ENTRY_SAMPLE) },
        { "continued", json_boolean(entry == ENTRY_CONTINUED) },
        { "band", json_boolean(curve->kind == CURVE_BAND) },
        { "style", json_string(style_of(curve)) },
        { "color", json_integer(curve->color % PALETTE_COLORS + 1) },
        { "dash", json_integer(dash) }, { "gap", json_integer(DASH_PERIOD - dash) },
        { "wide", json_integer(wide) }, { "marks", json_boolean(figure_is_mark(curve->kind)) },
        { "in_key", json_boolean(length > 0) }, { "title", template_value(&label) });
}

static json_t *curves_view(const struct figure *figure)
{
    json_t *views = json_array();
    for (size_t i = 0; i < figure->curve_count; i++) {
        const struct curve *curve = &figure->curves[i];
        const char *line = curve->label;
        enum entry entry = ENTRY_CURVE;
        if (has_own_sample(curve)) {
            document_append(&views, drawn_view(curve, entry, i, line, 0));
            entry = ENTRY_SAMPLE;
        }
        do {
            size_t letters;
            const size_t length = first_line(figure, line, &letters);
            document_append(&views, drawn_view(curve, entry, i, line, length));
            entry = ENTRY_CONTINUED;
            line += length;
        } while (*line);
    }
    return views;
}

const struct curve *script_curve(const struct figure *figure, size_t drawn)
{
    for (size_t i = 0, letters; i < figure->curve_count; i++) {
        const char *line = figure->curves[i].label;
        if (has_own_sample(&figure->curves[i]) && drawn-- == 0)
            return &figure->curves[i];
        do {
            if (drawn-- == 0)
                return line == figure->curves[i].label ? &figure->curves[i] : NULL;
            line += first_line(figure, line, &letters);
        } while (*line);
    }
    return NULL;
}

json_t *script_view(const struct figure *figure)
{
    int columns, key_height;
    measure_key(figure, &columns, &key_height);
    const int height = (figure->equal_axes ? 430 : 310) + key_height;
    char range[64] = "";
    if (figure->range[0] < figure->range[1])
        snprintf(range, sizeof range, "%.9g:%.9g", figure->range[0], figure->range[1]);
    json_t *axes = json_array();
    document_append(&axes, axis_view(figure, 'x'));
    document_append(&axes, axis_view(figure, 'y'));
    return DOCUMENT(
        { "name", json_string(figure->name) }, { "palette", palette_view() }, { "axes", axes },
        { "key_columns", json_integer(columns) },
        { "linear", json_boolean(!figure->x_log && !figure->y_log && !figure->y_signed) },
        { "equal_axes", json_boolean(figure->equal_axes) }, { "range", json_string(range) },
        { "height", json_integer(height) }, { "png_height", json_integer(2 * height) },
        { "drawn", curves_view(figure) });
}

/* --- colours ---------------------------------------------------------------------------------- */

struct color {
    const char *name, *light, *dark; /* on light pages and on paper; on dark pages */
};

static const struct color curves[PALETTE_COLORS] = {
    { "c0", "#0072b2", "#3f9be0" }, /* blue */
    { "c1", "#d55e00", "#ff7a2e" }, /* vermilion */
    { "c2", "#009e73", "#1fc795" }, /* bluish green */
    { "c3", "#cc79a7", "#e59ac6" }, /* reddish purple */
    { "c4", "#e69f00", "#ffc83d" }, /* orange */
    { "c5", "#56b4e9", "#a5dcff" }, /* sky blue */
    { "c6", "#000000", "#ffffff" },
};

static const struct color others[] = {
    { "page", "#fafbfc", "#14171c" }, { "card", "#ffffff", "#1b1f26" },
    { "ink", "#1f2430", "#e8eaf0" },  { "muted", "#5b6472", "#a3acba" },
    { "grid", "#e3e6eb", "#30363f" }, { "link", "#005b8f", "#76c1f0" },
    { "good", "#00704f", "#1fc795" }, { "bad", "#b34700", "#ff7a2e" },
};

static json_t *colors_view(const struct color *colors, size_t count)
{
    json_t *views = json_array();
    for (size_t i = 0; i < count; i++)
        document_append(&views, DOCUMENT({ "name", json_string(colors[i].name) },
                                         { "light", json_string(colors[i].light) },
                                         { "dark", json_string(colors[i].dark) },
                                         { "linetype", json_integer((json_int_t)i + 1) }));
    return views;
}

json_t *palette_view(void)
{
    return DOCUMENT({ "curves", colors_view(curves, COUNT_OF(curves)) },
                    { "others", colors_view(others, COUNT_OF(others)) });
}
