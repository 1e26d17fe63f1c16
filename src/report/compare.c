#include "report/compare.h"

#include <fnmatch.h>
#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/page.h"

enum { MOST_KEYS = 8, KEY_SIZE = 128, MOST_GROUPS = FIGURE_MAX_CURVES / 2, OVERLAYS = 8 };

struct compare {
    const struct result *results;
    size_t count;
    char keys[MOST_KEYS][KEY_SIZE]; /* of the config, that differ between the runs */
    size_t key_count;
    int x; /* index of the key that figures are drawn against; -1: none is a number */
};

/* --- what differs -------------------------------------------------------------------------------
 */

static const json_t *value_at(const struct compare *compare, size_t run, const char *key)
{
    char keys[KEY_SIZE + 8];
    snprintf(keys, sizeof keys, "config.%s", key);
    return result_find(&compare->results[run], keys);
}

static bool differs(const struct compare *compare, const char *key)
{
    for (size_t run = 1; run < compare->count; run++)
        if (!json_equal(value_at(compare, 0, key), value_at(compare, run, key)))
            return true;
    return false;
}

/* Keys that say what a run is called, when it looks and who computes: not what comes of it. */
static const char *const idle_keys[] = {
    "name", "diagnostics.*.every", "outputs.*.every", "checkpoint.*", "compute.threads",
};

static bool is_idle(const char *key)
{
    for (size_t i = 0; i < COUNT_OF(idle_keys); i++)
        if (fnmatch(idle_keys[i], key, 0) == 0)
            return true;
    return false;
}

/* Walks the config of the first run; scalars that differ elsewhere are noted. */
static void find_keys(struct compare *compare, json_t *value, const char *path)
{
    const char *key;
    json_t *inner;
    size_t index;
    char inner_path[KEY_SIZE];
    if (json_is_object(value)) {
        json_object_foreach(value, key, inner)
        {
            snprintf(inner_path, sizeof inner_path, "%s%s%s", path, path[0] ? "." : "", key);
            find_keys(compare, inner, inner_path);
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, index, inner)
        {
            snprintf(inner_path, sizeof inner_path, "%s.%zu", path, index);
            find_keys(compare, inner, inner_path);
        }
    } else if (!is_idle(path) && compare->key_count < MOST_KEYS && differs(compare, path)) {
        snprintf(compare->keys[compare->key_count++], KEY_SIZE, "%s", path);
    }
}

static bool numeric(const struct compare *compare, const char *key)
{
    for (size_t run = 0; run < compare->count; run++)
        if (!json_is_number(value_at(compare, run, key)))
            return false;
    return true;
}

/* The step, where it was varied; or else the first number that was. */
static int find_x(const struct compare *compare)
{
    int x = -1;
    for (size_t i = compare->key_count; i-- > 0;)
        if (numeric(compare, compare->keys[i]))
            x = (int)i;
    for (size_t i = 0; i < compare->key_count; i++)
        if (strcmp(compare->keys[i], "time.step") == 0)
            x = (int)i;
    return x;
}

enum status compare_create(const struct result *results, size_t count, struct compare **result,
                           struct error *error)
{
    struct compare *compare = *result = calloc(1, sizeof *compare);
    if (!compare)
        return error_set(error, STATUS_MEMORY, "out of memory");
    compare->results = results;
    compare->count = count;
    find_keys(compare, result_find(&results[0], "config"), "");
    compare->x = find_x(compare);
    return STATUS_OK;
}

void compare_destroy(struct compare *compare)
{
    free(compare);
}

static double x_of(const struct compare *compare, size_t run)
{
    return json_number_value(value_at(compare, run, compare->keys[compare->x]));
}

/* --- words --------------------------------------------------------------------------------------
 */

/* "step", the last part of "time.step". */
static const char *short_key(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

static const char *value_text(const json_t *value, char *buffer, size_t size)
{
    if (json_is_number(value))
        snprintf(buffer, size, "%.6g", json_number_value(value));
    else if (json_is_string(value))
        snprintf(buffer, size, "%s", json_string_value(value));
    else
        snprintf(buffer, size, "%s",
                 json_is_true(value)    ? "true"
                 : json_is_false(value) ? "false"
                                        : "–");
    return buffer;
}

/* The values of all keys that differ, but for `except`: what a run is called beside the others. */
static void run_label(const struct compare *compare, size_t run, int except, char *label,
                      size_t size)
{
    label[0] = '\0';
    for (size_t i = 0; i < compare->key_count; i++) {
        char value[64];
        const size_t length = strlen(label);
        const json_t *found = value_at(compare, run, compare->keys[i]);
        if ((int)i == except)
            continue;
        value_text(found, value, sizeof value);
        snprintf(label + length, size - length, "%s%s%s%s", length ? ", " : "",
                 json_is_string(found) ? "" : short_key(compare->keys[i]),
                 json_is_string(found) ? "" : " = ", value);
    }
}

/* --- error against step -------------------------------------------------------------------------
 */

struct points {
    char label[FIGURE_LABEL_SIZE];
    size_t count;
    double *x, *y; /* room for all runs */
};

/* The runs that differ in x alone belong together. */
static struct points *group_of(struct points *groups, size_t *count, const char *label)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(groups[i].label, label) == 0)
            return &groups[i];
    if (*count == MOST_GROUPS)
        return NULL;
    snprintf(groups[*count].label, FIGURE_LABEL_SIZE, "%s", label);
    return &groups[(*count)++];
}

/* y = c x^slope through the points, on both axes logarithmic; false below two points. */
static bool fit_power(const struct points *points, double *intercept, double *slope, double *sigma)
{
    double *x = malloc(memory_bytes(points->count + 1, 2 * sizeof *x)), *y = x + points->count;
    size_t n = 0;
    double c00, c01, c11, chi2;
    for (size_t i = 0; x && i < points->count; i++)
        if (points->x[i] > 0 && points->y[i] > 0 && isfinite(points->y[i])) {
            x[n] = log(points->x[i]);
            y[n++] = log(points->y[i]);
        }
    const bool fits =
        n >= 2 && gsl_fit_linear(x, 1, y, 1, n, intercept, slope, &c00, &c01, &c11, &chi2) == 0 &&
        isfinite(*slope);
    *sigma = fits && n > 2 ? sqrt(c11) : NAN;
    free(x);
    return fits;
}

static enum status draw_group(struct figure *figure, const struct points *points, int color,
                              struct error *error)
{
    double intercept, slope, sigma;
    char label[2 * FIGURE_LABEL_SIZE], fitted[FIGURE_LABEL_SIZE] = "";
    const bool fits =
        figure->x_log && figure->y_log && fit_power(points, &intercept, &slope, &sigma);
    if (fits && isfinite(sigma)) {
        const int decimals = (int)fmax(0, fmin(6, -floor(log10(sigma))));
        snprintf(fitted, sizeof fitted, "slope %.*f ± %.*f", decimals, slope, decimals, sigma);
    }
    if (fits && !isfinite(sigma))
        snprintf(fitted, sizeof fitted, "slope %.3f", slope);
    snprintf(label, sizeof label, "%.90s%s%.90s", points->label,
             points->label[0] && fits ? ": " : "", fitted);
    enum status status = figure_curve(figure, label, CURVE_POINTS, color, points->count, points->x,
                                      points->y, error);
    if (status || !fits)
        return status;
    double x[2] = { INFINITY, -INFINITY }, y[2];
    for (size_t i = 0; i < points->count; i++) {
        x[0] = fmin(x[0], points->x[i]);
        x[1] = fmax(x[1], points->x[i]);
    }
    for (size_t i = 0; i < 2; i++)
        y[i] = exp(intercept + slope * log(x[i]));
    return figure_curve(figure, "", CURVE_DASHED, color, 2, x, y, error);
}

static bool spans_decades(const struct compare *compare)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t run = 0; run < compare->count; run++) {
        const double x = x_of(compare, run);
        low = fmin(low, x);
        high = fmax(high, x);
    }
    return low > 0 && high >= 3 * low;
}

/* `quantity`: the path of a number in run.json. */
static enum status draw_errors(const struct compare *compare, const char *quantity,
                               struct figures *figures, struct error *error)
{
    const char *x_key = compare->keys[compare->x];
    struct points groups[MOST_GROUPS] = { 0 };
    size_t group_count = 0;
    struct figure *figure = figures_add(figures, error);
    double *values = calloc(compare->count, 2 * MOST_GROUPS * sizeof *values);
    if (!figure || !values) {
        free(values);
        return error_set(error, STATUS_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < MOST_GROUPS; i++) {
        groups[i].x = values + 2 * i * compare->count;
        groups[i].y = groups[i].x + compare->count;
    }
    for (size_t run = 0; run < compare->count; run++) {
        char label[FIGURE_LABEL_SIZE];
        run_label(compare, run, compare->x, label, sizeof label);
        struct points *points = group_of(groups, &group_count, label);
        if (!points)
            continue;
        points->x[points->count] = x_of(compare, run);
        points->y[points->count++] = fabs(result_real(&compare->results[run], quantity));
    }
    const char *name = short_key(quantity);
    figure->x_log = spans_decades(compare);
    figure->y_log = true;
    snprintf(figure->name, sizeof figure->name, "%.40s-against-%.40s", name, short_key(x_key));
    snprintf(figure->title, sizeof figure->title, "%.40s against %.40s", name, x_key);
    for (char *c = figure->title; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    figure->title[0] = (char)(figure->title[0] - 'a' + 'A');
    snprintf(figure->caption, sizeof figure->caption,
             "At the end of each run. The slope is that of a straight line through the points, on "
             "logarithmic axes: against the step, the measured order of the method.");
    snprintf(figure->x_label, sizeof figure->x_label, "%.90s", x_key);
    snprintf(figure->y_label, sizeof figure->y_label, "%.90s", name);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < group_count && !status; i++)
        status = draw_group(figure, &groups[i], (int)i, error);
    free(values);
    figures_settle(figures);
    return status;
}

/* Every number of the last rows that is an error, by its name. */
static enum status draw_all_errors(const struct compare *compare, struct figures *figures,
                                   struct error *error)
{
    const char *diagnostic, *column;
    json_t *row, *value;
    enum status status = STATUS_OK;
    json_object_foreach(result_find(&compare->results[0], "diagnostics"), diagnostic, row)
    {
        json_object_foreach(row, column, value)
        {
            char quantity[KEY_SIZE];
            const size_t length = strlen(column);
            const bool is_error = length >= 5 && strcmp(column + length - 5, "error") == 0;
            if (status || !is_error || strcmp(column, "relative_energy_error") == 0)
                continue;
            snprintf(quantity, sizeof quantity, "diagnostics.%s.%s", diagnostic, column);
            status = draw_errors(compare, quantity, figures, error);
        }
    }
    return status;
}

/* --- energy over time ---------------------------------------------------------------------------
 */

static enum status overlay_run(const struct compare *compare, size_t run, struct figure *figure,
                               struct error *error)
{
    struct series *series;
    char label[FIGURE_LABEL_SIZE], label_of_time[FIGURE_LABEL_SIZE];
    if (result_series(&compare->results[run], "conservation.csv", &series, error))
        return error->status;
    const struct series_column *time = series ? series_find(series, "time") : NULL;
    const struct series_column *worst = series ? series_find(series, "energy_error") : NULL;
    enum status status = STATUS_OK;
    run_label(compare, run, -1, label, sizeof label);
    if (time && worst) {
        const bool first = figure_lines(figure) == 0;
        figures_label("t", time->unit, label_of_time);
        if (first || strcmp(figure->x_label, label_of_time) == 0)
            memcpy(figure->x_label, label_of_time, sizeof label_of_time);
        else
            figures_label("t, each run in its own units", "", figure->x_label);
        status = figure_curve(figure, label, CURVE_LINE, (int)figure_lines(figure), series->rows,
                              time->values, worst->values, error);
    }
    series_destroy(series);
    return status;
}

/* Has this run the least value of the key that was varied? */
static bool at_least_x(const struct compare *compare, size_t run)
{
    for (size_t other = 0; other < compare->count; other++)
        if (x_of(compare, other) < x_of(compare, run))
            return false;
    return true;
}

static enum status draw_overlay(const struct compare *compare, struct figures *figures,
                                struct error *error)
{
    struct figure *figure = figures_add(figures, error);
    if (!figure)
        return error->status;
    snprintf(figure->name, sizeof figure->name, "energy-errors");
    snprintf(figure->title, sizeof figure->title, "Energy errors of the runs");
    const bool few = compare->count <= OVERLAYS || compare->x < 0;
    snprintf(figure->caption, sizeof figure->caption, "The largest |ΔE/E₀| so far, over time%s%s.",
             few ? "" : "; of the runs with the least ", few ? "" : compare->keys[compare->x]);
    snprintf(figure->y_label, sizeof figure->y_label, "largest |ΔE/E₀| so far");
    figure->y_log = true;
    enum status status = STATUS_OK;
    for (size_t run = 0; run < compare->count && !status; run++)
        if (few || at_least_x(compare, run))
            status = overlay_run(compare, run, figure, error);
    figures_settle(figures);
    return status;
}

enum status compare_figures(const struct compare *compare, struct figures *figures,
                            struct error *error)
{
    const enum status status =
        compare->x < 0 ? STATUS_OK : draw_all_errors(compare, figures, error);
    return status ? status : draw_overlay(compare, figures, error);
}

/* --- the table ----------------------------------------------------------------------------------
 */

static void print_row(struct text *html, const struct compare *compare, size_t run)
{
    const struct result *result = &compare->results[run];
    const char *slash = strrchr(result->path, '/');
    text_print(html, "<tr><td>");
    page_escape(html, slash ? slash + 1 : result->path);
    text_print(html, "</td>");
    for (size_t i = 0; i < compare->key_count; i++) {
        char value[64];
        text_print(html, "<td>");
        page_escape(html,
                    value_text(value_at(compare, run, compare->keys[i]), value, sizeof value));
        text_print(html, "</td>");
    }
    text_print(html,
               "<td class=\"n\">%.0f</td><td class=\"n\">%.3g s</td><td class=\"n\">%.3g</td><td>",
               result_real(result, "step"), result_real(result, "wall_seconds"),
               result_energy_error(result));
    page_verdict(html, result_string(result, "verdict"));
    text_print(html, "</td></tr>\n");
}

void compare_head(struct text *html, const struct compare *compare)
{
    size_t good = 0;
    for (size_t run = 0; run < compare->count; run++) {
        const char *verdict = result_string(&compare->results[run], "verdict");
        good += strcmp(verdict, "held") == 0 || strcmp(verdict, "none") == 0;
    }
    text_print(html, "<div class=\"head\"><h1>");
    page_escape(html, result_string(&compare->results[0], "name"));
    text_print(html,
               ", %zu runs</h1><span class=\"verdict %s\">%zu of %zu finished as expected"
               "</span></div>\n<h2>Runs</h2>\n<div class=\"wide\"><table>\n<tr><th>run</th>",
               compare->count, good == compare->count ? "good" : "bad", good, compare->count);
    for (size_t i = 0; i < compare->key_count; i++)
        text_print(html, "<th>%s</th>", compare->keys[i]);
    text_print(html, "<th class=\"n\">steps</th><th class=\"n\">wall time</th>"
                     "<th class=\"n\">largest |ΔE/E₀|</th><th>verdict</th></tr>\n");
    for (size_t run = 0; run < compare->count; run++)
        print_row(html, compare, run);
    text_print(html, "</table></div>\n");
}
