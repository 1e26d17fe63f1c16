#include "report/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy/trust.h"
#include "estimate/choice.h"

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
    enum status status = STATUS_OK;
    for (size_t k = 0; k < choice->count && !status; k++) {
        const struct candidate *const c = &choice->candidates[k];
        char text[SETTING_TEXT_SIZE];
        status = figure_curve(figure, setting_text(&c->setting, text), CURVE_POINTS, (int)k, 1,
                              &c->cost, &c->error, error);
    }
    return status;
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

static void tell_missing(const struct error_cost *drawn, struct text *words)
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

static void tell(const struct error_cost *drawn, struct text *words)
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
    tell_missing(drawn, words);
}

static enum status draw(const struct error_cost *drawn, struct figures *figures,
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
    tell(drawn, &figure->finding);
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
        draw(&drawn, figures, error);
    choice_destroy(&drawn.choice);
    return error->status;
}
