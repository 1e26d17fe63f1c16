#include "report/figure.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "config/parameter-reference.h"

struct extent extent_of(const double *values, size_t count)
{
    struct extent extent = { INFINITY, -INFINITY };
    extent_add(&extent, values, count);
    return extent;
}

void extent_add(struct extent *extent, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        extent->low = fmin(extent->low, values[i]);
        extent->high = fmax(extent->high, values[i]);
    }
}

/* --- curves ----------------------------------------------------------------------------------- */

enum { THINNED_BINS = 600 }; /* bins along x of a thinned curve */

static bool visible(const struct figure *figure, double x, double y)
{
    return isfinite(x) && isfinite(y) && (!figure->x_log || x > 0) && (!figure->y_log || y > 0);
}

/* Keeps a point of a curve that is being thinned: moves it to the front of the curve's arrays,
 * behind the points kept before. x, y and upper are the indices of its coordinates. Points are kept
 * in order, so that none is overwritten that is still needed. */
static void keep_point(struct curve *curve, size_t x, size_t y, size_t upper)
{
    curve->x[curve->count] = curve->x[x];
    curve->y[curve->count] = curve->y[y];
    if (curve->upper)
        curve->upper[curve->count] = curve->upper[upper];
    curve->count++;
}

/* Thins a curve to THINNED_BINS bins. Of each bin of a line the lowest and the highest point
 * remain, so that no peak is lost; of each bin of a band one point, with the lowest and the highest
 * edge. */
static void thin(struct curve *curve)
{
    const double *const top = curve->upper ? curve->upper : curve->y;
    const size_t count = curve->count;
    if (count <= (curve->upper ? 1 : 2) * THINNED_BINS)
        return;
    curve->count = 0;
    for (size_t bin = 0; bin < THINNED_BINS; bin++) {
        const size_t first = bin * count / THINNED_BINS, end = (bin + 1) * count / THINNED_BINS;
        size_t low = first, high = first;
        for (size_t i = first; i < end; i++) {
            low = curve->y[i] < curve->y[low] ? i : low;
            high = top[i] > top[high] ? i : high;
        }
        if (curve->upper) {
            keep_point(curve, (first + end) / 2, low, high);
        } else {
            keep_point(curve, low < high ? low : high, low < high ? low : high, 0);
            keep_point(curve, low < high ? high : low, low < high ? high : low, 0);
        }
    }
}

static enum status create_curve(struct curve *curve, const char *label, enum curve_kind kind,
                                int color, size_t count, struct error *error)
{
    *curve = (struct curve){ .kind = kind, .color = color };
    snprintf(curve->label, sizeof curve->label, "%s", label);
    name_neutralise(curve->label);
    for (char *c = curve->label; *c; c++) /* the label becomes one line in a file of numbers */
        *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    curve->x = malloc(memory_bytes(count + 1, (kind == CURVE_BAND ? 3 : 2) * sizeof *curve->x));
    if (!curve->x)
        return error_memory(error);
    curve->y = curve->x + count + 1;
    curve->upper = kind == CURVE_BAND ? curve->y + count + 1 : NULL;
    return STATUS_OK;
}

bool figure_is_mark(enum curve_kind kind)
{
    return kind == CURVE_STARTS || kind == CURVE_FOCUS || kind == CURVE_RING;
}

bool figure_is_line(enum curve_kind kind)
{
    return kind != CURVE_BAND && kind != CURVE_FIT && !figure_is_mark(kind);
}

size_t figure_lines(const struct figure *figure)
{
    size_t lines = 0;
    for (size_t i = 0; i < figure->curve_count; i++)
        lines += figure_is_line(figure->curves[i].kind);
    return lines;
}

/* Tells whether there is room for one more curve: a line, or a band beneath it, while there are
 * fewer than FIGURE_MAX_LINES lines; a fit or a mark while there are fewer than FIGURE_MAX_CURVES
 * curves. */
static bool has_room(const struct figure *figure, enum curve_kind kind)
{
    const bool line = figure_is_line(kind) || kind == CURVE_BAND;
    return figure->curve_count < FIGURE_MAX_CURVES &&
           (!line || figure_lines(figure) < FIGURE_MAX_LINES);
}

/* Copies the points that can be drawn: finite, and positive on a logarithmic axis; with `upper`,
 * both edges of a band must be so. Other points leave one point of NaN in a CURVE_PATH: a gap. */
static void take_points(const struct figure *figure, struct curve *curve, size_t count,
                        const double *x, const double *y, const double *upper)
{
    for (size_t i = 0; i < count; i++)
        if (visible(figure, x[i], y[i]) && (!upper || visible(figure, x[i], upper[i]))) {
            curve->x[curve->count] = x[i];
            curve->y[curve->count] = y[i];
            if (upper)
                curve->upper[curve->count] = upper[i];
            curve->count++;
        } else if (curve->kind == CURVE_PATH && curve->count > 0 && i + 1 < count) {
            curve->x[curve->count] = curve->y[curve->count] = NAN;
            curve->count += !isnan(curve->x[curve->count - 1]);
        }
    if (curve->count > 0 && isnan(curve->x[curve->count - 1]))
        curve->count--;
}

static enum status add_curve(struct figure *figure, const char *label, enum curve_kind kind,
                             int color, size_t count, const double *x, const double *y,
                             const double *upper, struct error *error)
{
    const bool has_length = kind == CURVE_LINE || kind == CURVE_DASHED || kind == CURVE_PATH;
    struct curve curve;
    if (create_curve(&curve, label, kind, color, count, error))
        return error->status;
    take_points(figure, &curve, count, x, y, upper);
    if (kind == CURVE_LINE || kind == CURVE_DASHED || kind == CURVE_BAND)
        thin(&curve);
    if (curve.count == 1 && has_length)
        curve.kind = CURVE_POINTS; /* a line of one point would not be seen */
    const bool seen = curve.count > 0, room = has_room(figure, kind);
    figure->left_out += seen && !room && kind != CURVE_BAND;
    if (seen && room)
        figure->curves[figure->curve_count++] = curve;
    else
        free(curve.x);
    return STATUS_OK;
}

enum status figure_curve(struct figure *figure, const char *label, enum curve_kind kind, int color,
                         size_t count, const double *x, const double *y, struct error *error)
{
    return add_curve(figure, label, kind, color, count, x, y, NULL, error);
}

enum status figure_marks(struct figure *figure, size_t count, const double *x, const double *y,
                         const char *focus, struct error *error)
{
    const double origin = 0.0;
    const enum status status = figure_curve(figure, "start", CURVE_STARTS, 0, count, x, y, error);
    return status || !focus
               ? status
               : figure_curve(figure, focus, CURVE_FOCUS, 0, 1, &origin, &origin, error);
}

enum status figure_band(struct figure *figure, int color, size_t count, const double *x,
                        const double *lower, const double *upper, struct error *error)
{
    return add_curve(figure, "", CURVE_BAND, color, count, x, lower, upper, error);
}

void figure_free(struct figure *figure)
{
    for (size_t i = 0; i < figure->curve_count; i++)
        free(figure->curves[i].x);
    figure->curve_count = 0;
    text_free(&figure->caption);
    text_free(&figure->finding);
}

/* --- lists of figures ------------------------------------------------------------------------- */

struct figure *figure_add(struct figures *figures, struct error *error)
{
    struct figure *grown =
        realloc(figures->figures, memory_bytes(figures->count + 1, sizeof *figures->figures));
    if (!grown) {
        error_memory(error);
        return NULL;
    }
    figures->figures = grown;
    grown[figures->count] = (struct figure){ 0 };
    return &grown[figures->count++];
}

void figure_drop_empty(struct figures *figures)
{
    if (figures->count && figures->figures[figures->count - 1].curve_count == 0)
        figure_free(&figures->figures[--figures->count]);
}

struct figure *figure_find(const struct figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->count; i++)
        if (strcmp(figures->figures[i].name, name) == 0)
            return &figures->figures[i];
    return NULL;
}

struct text *figure_sentence(struct figure *figure)
{
    text_print(&figure->finding, "%s", figure->finding.length ? " " : "");
    return &figure->finding;
}

void figure_free_all(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        figure_free(&figures->figures[i]);
    free(figures->figures);
    *figures = (struct figures){ 0 };
}

/* --- what stands at the axes ------------------------------------------------------------------ */

const char *figure_label(const char *name, const char *unit, char buffer[FIGURE_LABEL_SIZE])
{
    static const char *const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char pretty[FIGURE_LABEL_SIZE] = "";
    bool power = false;
    for (const char *c = unit; *c && strlen(pretty) < FIGURE_LABEL_SIZE / 3; c++) {
        const bool digit = *c >= '0' && *c <= '9', minus = *c == '-';
        if (*c == '^')
            power = true;
        else if (power && (digit || minus))
            strcat(pretty, digit ? raised[*c - '0'] : "⁻");
        else
            strncat(pretty, c, 1);
        power = power && (*c == '^' || digit || minus);
    }
    char label[FIGURE_LABEL_SIZE];
    snprintf(label, sizeof label, unit[0] ? "%.48s [%.40s]" : "%.48s", name, pretty);
    return memcpy(buffer, label, sizeof label);
}

void figure_words(const char *name, const char *signs, char words[FIGURE_LABEL_SIZE])
{
    snprintf(words, FIGURE_LABEL_SIZE, "%s", name);
    for (char *c = words; *c; c++)
        *c = strchr(signs, *c) ? ' ' : *c;
    words[0] = (char)(words[0] >= 'a' && words[0] <= 'z' ? words[0] - 'a' + 'A' : words[0]);
}

void figures_change_time(struct figures *figures, const struct time_unit *unit)
{
    for (size_t f = 0; f < figures->count && unit->size != 1.0; f++) {
        struct figure *const figure = &figures->figures[f];
        if (!figure->over_time)
            continue;
        figure_label("t", unit->label, figure->x_label);
        for (size_t i = 0; i < figure->curve_count; i++)
            for (size_t k = 0; k < figure->curves[i].count; k++)
                figure->curves[i].x[k] /= unit->size;
        for (size_t k = 0; k < 2; k++)
            figure->x_range[k] /= unit->size;
    }
}

/* --- figures that a user has named ------------------------------------------------------------ */

static char plain(char c)
{
    return c == '_' ? '-' : c;
}

static bool is_named(const char *name, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!name[i] || plain(name[i]) != plain(word[i]))
            return false;
    return length > 0 && name[length] == '\0';
}

static const char *column_of(const struct figure *figure)
{
    const char *dot = strchr(figure->column, '.');
    return dot ? dot + 1 : "";
}

/* Moves figure `index` behind the *chosen figures at the front, which were chosen before, and adds
 * 1 to *chosen; does nothing if it is one of these. */
static void choose(struct figures *figures, size_t index, size_t *chosen)
{
    const struct figure figure = figures->figures[index];
    struct figure *const place = &figures->figures[*chosen];
    if (index < *chosen)
        return;
    memmove(place + 1, place, (index - *chosen) * sizeof *place);
    *place = figure;
    ++*chosen;
}

static bool is_meant(const struct figure *figure, bool by_name, const char *word, size_t length)
{
    if (by_name)
        return is_named(figure->name, word, length);
    return is_named(figure->column, word, length) || is_named(column_of(figure), word, length);
}

/* Finds the figure that a word names or, if there is none, all figures of a column of this name.
 * Chooses them unless `chosen` is NULL; returns false if nothing has this name. */
static bool find_word(struct figures *figures, const char *word, size_t length, size_t *chosen)
{
    bool found = false;
    for (int by_name = 1; by_name >= 0 && !found; by_name--)
        for (size_t i = 0; i < figures->count; i++)
            if (is_meant(&figures->figures[i], by_name, word, length)) {
                found = true;
                if (chosen)
                    choose(figures, i, chosen);
            }
    return found;
}

static void put_unknown(const struct figures *figures, const char *word, size_t length,
                        struct text *why)
{
    const char **names = calloc(figures->count + 1, sizeof *names);
    char wanted[FIGURE_LABEL_SIZE];
    size_t count = 0;
    snprintf(wanted, sizeof wanted, "%.*s", (int)length, word);
    for (size_t i = 0; i < figures->count && names; i++) {
        const struct figure *const figure = &figures->figures[i];
        names[count++] = figure->column[0] ? column_of(figure) : figure->name;
    }
    struct text meant = { 0 };
    if (names)
        suggest_choice(wanted, names, count, &meant);
    text_print(why, "%s\"%s\"", why->length ? ", " : "", wanted);
    if (meant.length > 2) /* "; did you mean x?" without "; " */
        text_print(why, " (%s)", meant.bytes + 2);
    why->failed |= !names || meant.failed;
    text_free(&meant);
    free(names);
}

static enum status refuse(const struct figures *figures, const struct text *why,
                          struct error *error)
{
    struct text there = { 0 };
    for (size_t i = 0; i < figures->count; i++)
        if (!figures->figures[i].column[0])
            text_print(&there, "%s%s", there.length ? ", " : "", figures->figures[i].name);
    const bool failed = why->failed || there.failed;
    if (!failed)
        error_set(error, STATUS_USAGE,
                  "--plot: no such figure: %s; there are %s, and every column of the diagnostics",
                  why->bytes, there.length ? there.bytes : "none");
    text_free(&there);
    return failed ? error_memory(error) : error->status;
}

/* Looks in a first pass whether every word names a figure, and chooses in a second: choosing
 * changes the order in which a refusal would list the figures. */
enum status figures_select(const char *words, struct figures *figures, struct error *error)
{
    struct text why = { 0 };
    size_t chosen = 0;
    for (int pass = 0; pass < 2 && !error->status; pass++) {
        for (const char *word = words; word;) {
            const size_t length = strcspn(word, ",");
            if (!find_word(figures, word, length, pass ? &chosen : NULL))
                put_unknown(figures, word, length, &why);
            word = word[length] ? word + length + 1 : NULL;
        }
        if (why.length || why.failed)
            refuse(figures, &why, error);
    }
    text_free(&why);
    while (!error->status && figures->count > chosen)
        figure_free(&figures->figures[--figures->count]);
    return error->status;
}

/* --- members of an ensemble ------------------------------------------------------------------- */

enum { LEAST, Q10, MEDIAN, Q90, GREATEST, STATISTICS };

/* Sets statistics[k][row], k from LEAST to GREATEST, over the systems whose y is finite; NaN if
 * there are none. `sorted` has room for a number of each system. */
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

enum status members_curve(struct figure *figure, const char *label, enum curve_kind kind,
                          const struct members *members, const double *x, const double *y,
                          bool bands, struct error *error)
{
    const size_t rows = members->rows;
    const int color = (int)figure_lines(figure);
    x += members->first;
    if (members->systems == 1)
        return figure_curve(figure, label, kind, color, rows, x, y + members->first, error);
    double *arrays = memory_array(rows + members->systems, STATISTICS * sizeof *arrays, error);
    if (!arrays)
        return error->status;
    double *const sorted = arrays + STATISTICS * rows;
    double *of[STATISTICS];
    for (size_t k = 0; k < STATISTICS; k++)
        of[k] = arrays + k * rows;
    for (size_t row = 0; row < rows; row++)
        find_statistics(members, row, y, sorted, of);
    if (!bands || (!figure_band(figure, color, rows, x, of[LEAST], of[GREATEST], error) &&
                   !figure_band(figure, color, rows, x, of[Q10], of[Q90], error)))
        figure_curve(figure, label, kind, color, rows, x, of[MEDIAN], error);
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
    text_print(figure_sentence(figure),
               "Median of the %zu systems%s; the bands hold 80 %% of them and, paler, all.",
               systems, among);
}
