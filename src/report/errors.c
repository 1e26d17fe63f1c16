#include "report/draw.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy/trust.h"
#include "base/memory.h"
#include "estimate/choice.h"

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

/* --- what an asked error costs ---------------------------------------------------------------- */

/* The choice of an integrator and its steps for an accuracy that the config asks for
 * (estimate/choice.h), and how accurate the run then was. */
struct error_cost {
    const struct result *result;
    struct choice choice;
    double reached; /* energy error of the run; NaN: not known */
    bool ends;      /* the run has come to its end */
};

static const struct candidate *chosen_of(const struct error_cost *drawn)
{
    return &drawn->choice.candidates[drawn->choice.chosen];
}

/* Returns the element of `findings` in run.json that says whether the run kept the accuracy that
 * its config asks for; NULL if there is none. */
static const json_t *find_judgement(const struct result *result)
{
    size_t index;
    json_t *row;
    json_array_foreach(result_find(result, FIELD_FINDINGS), index, row)
    {
        const char *const name = run_field_string(row, FIELD_FINDING_NAME);
        if (strcmp(name, "time.energy_error") == 0 || strcmp(name, "time.trust_until") == 0)
            return row;
    }
    return NULL;
}

static bool has_place(double error, double cost)
{
    return error > 0.0 && isfinite(error) && cost > 0.0 && isfinite(cost);
}

static enum status draw_candidates(const struct error_cost *drawn, struct figure *figure,
                                   struct error *error)
{
    const struct choice *const choice = &drawn->choice;
    for (size_t k = 0; k < choice->count && !error->status; k++) {
        const struct candidate *const c = &choice->candidates[k];
        char text[SETTING_TEXT_SIZE];
        figure_curve(figure, setting_text(&c->setting, text), CURVE_POINTS, (int)k, 1, &c->cost,
                     &c->error, error);
    }
    return error->status;
}

static enum status draw_attempts(const struct error_cost *drawn, struct figure *figure,
                                 struct error *error)
{
    double x[CHOICE_ATTEMPTS], y[CHOICE_ATTEMPTS];
    size_t count = 0, index;
    json_t *attempt;
    json_array_foreach(drawn->choice.attempts, index, attempt)
    {
        if (count == CHOICE_ATTEMPTS)
            break;
        x[count] = run_field_real(attempt, FIELD_ATTEMPT_COST);
        y[count++] = run_field_real(attempt, accuracy_target_of_orbits(&drawn->choice.target)
                                                 ? FIELD_ATTEMPT_ORBIT_ERROR
                                                 : FIELD_ATTEMPT_ENERGY_ERROR);
    }
    return figure_curve(figure, "missed it and began anew", CURVE_POINTS, CHOICE_CANDIDATES, count,
                        x, y, error);
}

/* Draws the error asked for as a line from the least to the greatest cost in the figure, and by a
 * factor beyond both, so that the line is seen if all costs are the same. */
static enum status draw_asked(const struct error_cost *drawn, struct figure *figure,
                              struct error *error)
{
    static const double beyond = 1.5;
    const double asked[2] = { drawn->choice.target.asked, drawn->choice.target.asked };
    struct extent costs = extent_of(NULL, 0);
    char label[FIGURE_LABEL_SIZE];
    for (size_t c = 0; c < figure->curve_count; c++)
        extent_add(&costs, figure->curves[c].x, figure->curves[c].count);
    const double ends[2] = { costs.low / beyond, costs.high * beyond };
    snprintf(label, sizeof label, "asked for: %.3g", asked[0]);
    return figure_curve(figure, label, CURVE_DASHED, CHOICE_CANDIDATES + 1, 2, ends, asked, error);
}

/* Draws a circle about the chosen candidate, a line from it to the error asked for (its margin),
 * and a cross at the error that the run reached. */
static enum status draw_chosen(const struct error_cost *drawn, struct figure *figure,
                               struct error *error)
{
    const struct candidate *const c = chosen_of(drawn);
    const double cost[2] = { c->cost, c->cost },
                 margin[2] = { c->error, drawn->choice.target.asked };
    if (has_place(c->error, c->cost) &&
        (figure_curve(figure, "chosen", CURVE_RING, 0, 1, cost, margin, error) ||
         figure_curve(figure, "its margin", CURVE_PATH, (int)drawn->choice.chosen, 2, cost, margin,
                      error)))
        return error->status;
    return figure_curve(figure, drawn->ends ? "reached by the run" : "reached so far", CURVE_FOCUS,
                        0, 1, cost, &drawn->reached, error);
}

static void tell_undrawn(const struct error_cost *drawn, struct text *words)
{
    for (size_t k = 0; k < drawn->choice.count; k++) {
        const struct candidate *const c = &drawn->choice.candidates[k];
        if (!has_place(c->error, c->cost))
            text_print(words, " %s is not drawn: %s.", c->setting.integrator->variant.name,
                       c->why[0]         ? "it cannot be taken"
                       : c->error == 0.0 ? "an error of 0 is expected of it"
                       : !c->tried       ? "it was not tried"
                                         : "it loses the energy");
    }
}

static void tell_horizon(const struct error_cost *drawn, struct text *words)
{
    const struct units *const units = result_units(drawn->result);
    const json_t *const row = find_judgement(drawn->result);
    const double value = run_field_real(row, FIELD_FINDING_VALUE),
                 bound = run_field_real(row, FIELD_FINDING_BOUND);
    char until[UNITS_TEXT_SIZE], due[UNITS_TEXT_SIZE];
    units_time(units, value, 4, until);
    units_time(units, bound, 4, due);
    if (isnan(value))
        text_print(words, "Until when the orbits are accurate is not known.");
    else if (strcmp(run_field_string(row, FIELD_FINDING_SEVERITY), "failure") == 0)
        text_print(words,
                   "The run missed what was asked for: its orbits are accurate until t = "
                   "%s, and not until t = %s.",
                   until, due);
    else
        text_print(words, "The orbits of the run are accurate until t = %s%s.", until,
                   value >= bound ? ", which keeps what was asked for" : " so far");
    if (bound < drawn->choice.target.until)
        text_print(words, " Double precision carries them until about t = %s.",
                   units_time(units, bound / TRUST_CARRIED_PART, 3, due));
}

static void tell_choice(const struct error_cost *drawn, struct text *words)
{
    const struct candidate *const c = chosen_of(drawn);
    const double asked = drawn->choice.target.asked, reached = drawn->reached;
    const size_t attempts = json_array_size(drawn->choice.attempts);
    char setting[SETTING_TEXT_SIZE];
    text_print(words, "%s was chosen, with an expected error of %.2g",
               setting_text(&c->setting, setting), c->error);
    if (c->error > 0.0 && c->error <= asked)
        text_print(words, ", which left a margin of %.2g times", asked / c->error);
    text_print(words, ". ");
    if (accuracy_target_of_orbits(&drawn->choice.target))
        tell_horizon(drawn, words);
    else if (reached > asked || isinf(reached))
        text_print(words, "The run missed what was asked for: its error is %.2g, %.3g times that.",
                   reached, reached / asked);
    else if (isfinite(reached))
        text_print(words, "%s %.2g, %s what was asked for.",
                   drawn->ends ? "The run reached" : "The run has not come to its end, and reached",
                   reached, drawn->ends ? "which keeps" : "which so far keeps");
    else
        text_print(words, "The error of the run is not known%s.",
                   result_has_end(drawn->result) ? "" : " before its end");
    if (attempts)
        text_print(words, " Before, %zu attempt%s missed it.", attempts, attempts == 1 ? "" : "s");
    tell_undrawn(drawn, words);
}

static enum status draw_cost(const struct error_cost *drawn, struct figures *figures,
                             struct error *error)
{
    struct figure *const figure = figure_add(figures, error);
    if (!figure)
        return error->status;
    snprintf(figure->name, sizeof figure->name, "error-against-cost");
    const bool orbits = accuracy_target_of_orbits(&drawn->choice.target);
    snprintf(figure->title, sizeof figure->title, "%s error against cost",
             orbits ? "Orbit" : "Energy");
    snprintf(figure->x_label, sizeof figure->x_label, "cost of the motion [pairs of bodies]");
    snprintf(figure->y_label, sizeof figure->y_label,
             orbits ? "distance over size" : "|ΔE|/max(|E₀|, |U₀|)");
    figure->x_log = figure->y_log = figure->alone = true;
    text_print(&figure->caption,
               "The settings that were considered for the error that was asked for: the error "
               "that pilots predict for the end, and the work of the run as it was counted. The "
               "cheapest that keeps it with a margin was taken.");
    tell_choice(drawn, &figure->finding);
    if (!draw_candidates(drawn, figure, error) && !draw_attempts(drawn, figure, error) &&
        !draw_chosen(drawn, figure, error))
        draw_asked(drawn, figure, error);
    figure_drop_empty(figures);
    return error->status;
}

enum status error_cost_draw(const struct result *result, struct figures *figures,
                            struct error *error)
{
    struct error_cost drawn = { .result = result, .ends = result_is_whole(result) };
    const bool known = choice_of_json(result->json, &drawn.choice);
    drawn.reached = accuracy_target_of_orbits(&drawn.choice.target)
                        ? NAN
                        : run_field_real(find_judgement(result), FIELD_FINDING_VALUE);
    if (known && isfinite(drawn.choice.target.asked))
        draw_cost(&drawn, figures, error);
    choice_destroy(&drawn.choice);
    return error->status;
}
