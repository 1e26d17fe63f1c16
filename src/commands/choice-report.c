#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/display.h"
#include "output/run-fields.h"

/* Sorts the candidate settings: first those that keep the accuracy asked for, each group by its
 * cost. */
static void sort_candidates(const struct choice *choice,
                            const struct candidate *sorted[CHOICE_CANDIDATES])
{
    for (size_t k = 0; k < choice->count; k++) {
        const struct candidate *const c = &choice->candidates[k];
        size_t at = k;
        while (at > 0 && (c->keeps > sorted[at - 1]->keeps ||
                          (c->keeps == sorted[at - 1]->keeps && c->cost < sorted[at - 1]->cost))) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = c;
    }
}

/* Writes a number by the printf format `format`, "3.1e-08"; returns "-" if the number is not
 * finite, which means unknown. */
enum { CELL_SIZE = 32 };
static const char *cell(char buffer[CELL_SIZE], const char *format, double value)
{
    if (!isfinite(value))
        return "-";
    snprintf(buffer, CELL_SIZE, format, value);
    return buffer;
}

/* Returns what setting_text() has behind the name of the integrator, "step 0.001" or "eta 0.02";
 * "-" if no setting was found (step 0). */
static const char *behind_name(const struct setting *setting, char buffer[SETTING_TEXT_SIZE])
{
    if (!(setting->step > 0.0))
        return "-";
    const char *const comma = strchr(setting_text(setting, buffer), ',');
    return comma ? comma + 2 : buffer;
}

void choice_report_table(const struct choice *choice, const char *indent, struct text *text)
{
    const struct candidate *sorted[CHOICE_CANDIDATES];
    const struct candidate *const taken = &choice->candidates[choice->chosen];
    sort_candidates(choice, sorted);
    text_print(text, "%s%-16s %-16s %-9s %-6s %-9s\n", indent, "integrator", "setting", "error",
               "cost", "least");
    for (size_t k = 0; k < choice->count; k++) {
        const struct candidate *const c = sorted[k];
        char setting[SETTING_TEXT_SIZE], error[CELL_SIZE], cost[CELL_SIZE], least[CELL_SIZE];
        text_print(text, "%s%-16s %-16s %-9s %-6s %-9s %s\n", indent,
                   c->setting.integrator->variant.name, behind_name(&c->setting, setting),
                   cell(error, "%.1e", c->error), cell(cost, "%.3g", c->cost / taken->cost),
                   cell(least, "%.1e", c->least),
                   c == taken      ? "chosen"
                   : c->why[0]     ? "cannot be taken"
                   : !c->tried     ? "not tried"
                   : !c->keeps     ? "misses it"
                   : c->part > 0.0 ? ""
                                   : "by its order");
    }
}

void choice_report_words(const struct choice *choice, struct text *text)
{
    const struct candidate *sorted[CHOICE_CANDIDATES];
    const struct candidate *const taken = &choice->candidates[choice->chosen];
    char setting[SETTING_TEXT_SIZE];
    sort_candidates(choice, sorted);
    text_print(text, "%s", setting_text(&taken->setting, setting));
    for (size_t k = 0; k < choice->count; k++)
        if (sorted[k] != taken && sorted[k]->keeps)
            text_print(text, "; %s for %.2g times the cost",
                       setting_text(&sorted[k]->setting, setting), sorted[k]->cost / taken->cost);
}

void choice_report_attempts(const struct choice *choice, struct text *text)
{
    const double cost = choice->candidates[choice->chosen].cost;
    const size_t count = json_array_size(choice->attempts);
    char setting[SETTING_TEXT_SIZE];
    double lost = 0.0;
    for (size_t k = 0; k < count; k++) {
        const json_t *const attempt = json_array_get(choice->attempts, k);
        const struct setting missed = setting_of_json(attempt);
        lost += run_field_real(attempt, FIELD_ATTEMPT_COST);
        if (missed.integrator)
            text_print(text, "%s%s",
                       k ? "; " : "missed the error: ", setting_text(&missed, setting));
    }
    if (count > 0)
        text_print(text, "; they cost %.2g of the run", lost / cost);
}
