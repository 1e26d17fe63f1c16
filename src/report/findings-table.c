#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "report/template.h"

/* --- what the quantities are ------------------------------------------------------------------ */

/* The quantities that run.json judges, and the words for them on the page. */
static const struct meaning {
    const char *name, *shown; /* name in run.json; name on the page, or NULL: the same */
    const char *is;
    const char *found_none; /* shown if the quantity held without a value */
    double factor;          /* a value on the page, over that in run.json */
} meanings[] = {
    { "time.energy_error", "energy error asked for", "the largest of the run (time.energy_error)",
      NULL, 1.0 },
    { "time.trust_until", "orbits accurate until t =", "as time.trust_until asks", NULL, 1.0 },
    { "energy error", NULL,
      "largest |ΔE|/max(|E₀|, |U₀|) since the start, at the watch's own checks", NULL, 1.0 },
    { "energy error over 10 |U|", NULL, "largest |ΔE| since the start, over ten times |U|", NULL,
      1.0 },
    { "energy drift", NULL, "the part of that change that is steady over the run", NULL, 1.0 },
    { "energy change within 1000 steps", NULL,
      "largest change of E between two of the watch's checks, over max(|E₀|, |U₀|)",
      "none larger was seen", 1.0 },
    { "orbit error", NULL, "of the energy of a light body's orbit", NULL, 1.0 },
    { "steps per period", NULL, "of the orbit of a light body", NULL, 1.0 },
    { "force error", NULL, "of a sample of the bodies, against direct summation", NULL, 1.0 },
    /* A pair on a circle turns by a radian in its time scale, and by 2 pi in a period. */
    { "steps per time scale", "steps per period",
      "of the fastest pair, if its orbit were a circle; a smaller number is warned of", NULL,
      2.0 * M_PI },
    { "systems that count", NULL, "", NULL, 1.0 },
    /* A column of a diagnostic, of which a config may expect something. */
    { "energy_error", NULL,
      "largest |ΔE|/max(|E₀|, |U₀|) since the start, in all rows and at the watch's checks", NULL,
      1.0 },
};

static const struct meaning *find_meaning(const char *name)
{
    static const struct meaning other = { NULL, NULL, "", NULL, 1.0 };
    for (size_t i = 0; i < COUNT_OF(meanings); i++)
        if (strcmp(meanings[i].name, name) == 0)
            return &meanings[i];
    return &other;
}

/* --- a row ------------------------------------------------------------------------------------ */

static bool is_expectation(const json_t *finding)
{
    return strcmp(run_field_string(finding, FIELD_FINDING_JUDGE), "expect") == 0;
}

/* A finding (an element of `findings` in run.json, the judgement of one quantity), and what else
 * its row on the page needs. */
struct row {
    const json_t *finding;
    const struct meaning *meaning;
    /* of an expectation: its entry in the config, and its result */
    const json_t *expected, *criterion;
    double value, bound;
    bool below;                      /* the bound is a least value, not a largest one */
    char unit[UNITS_LABEL_SIZE + 1]; /* " km"; or "" */
};

static struct row row_of(const struct result *result, const json_t *finding, size_t expectation)
{
    const char *const unit = run_field_string(finding, FIELD_FINDING_UNIT);
    const char *const name = run_field_string(finding, FIELD_FINDING_NAME);
    const char *const dot = strrchr(name, '.');
    struct row row = { .finding = finding, .meaning = find_meaning(name) };
    if (is_expectation(finding)) {
        row.meaning = find_meaning(dot ? dot + 1 : name); /* name of the column alone */
        row.expected = json_array_get(result_find(result, FIELD_CONFIG_EXPECT), expectation);
        row.criterion = json_array_get(result_find(result, FIELD_EXPECT), expectation);
    }
    row.value = row.meaning->factor * run_field_real(finding, FIELD_FINDING_VALUE);
    row.bound = row.meaning->factor * run_field_real(finding, FIELD_FINDING_BOUND);
    row.below = strcmp(run_field_string(finding, FIELD_FINDING_BOUND_IS), "least") == 0;
    snprintf(row.unit, sizeof row.unit, "%s%s", unit[0] ? " " : "", unit);
    return row;
}

static bool has_severity(const json_t *finding, const char *severity)
{
    return strcmp(run_field_string(finding, FIELD_FINDING_SEVERITY), severity) == 0;
}

static bool is_unmeasured(const struct row *row)
{
    return run_field_real(row->criterion, FIELD_EXPECT_ROWS) == 0.0;
}

/* Appends a value or a bound of the row: with six digits and the unit or, if it was multiplied by a
 * factor, with three digits and no unit. */
static void put_number(const struct row *row, double number, struct text *words)
{
    char buffer[TEXT_REAL_SIZE];
    if (row->meaning->factor == 1.0)
        text_print(words, "%.6g%s", number, row->unit);
    else
        text_print(words, "%s", text_factor(buffer, number, 3));
}

/* Returns the words for the bound, "3 to 5 km" or "≤ 5 km"; JSON null if the bound is no number. */
static json_t *bound_view(const struct row *row)
{
    const json_t *const between = run_field(row->expected, FIELD_EXPECTED_BETWEEN);
    const json_t *const low = json_array_get(between, 0), *const high = json_array_get(between, 1);
    struct text words = { 0 };
    if (json_is_number(low) && json_is_number(high))
        text_print(&words, "%.6g to ", json_number_value(low));
    else if (isfinite(row->bound))
        text_print(&words, "%s ", row->below ? "≥" : "≤");
    else
        return json_null();
    put_number(row, json_is_number(high) ? json_number_value(high) : row->bound, &words);
    return template_value(&words);
}

static json_t *value_view(const struct row *row)
{
    const bool held = has_severity(row->finding, "held");
    struct text words = { 0 };
    if (isfinite(row->value))
        put_number(row, row->value, &words);
    else if (held && row->meaning->found_none)
        text_print(&words, "%s", row->meaning->found_none);
    else if (is_unmeasured(row) || has_severity(row->finding, "open"))
        text_print(&words, "not measured");
    else if (has_severity(row->finding, "failure"))
        text_print(&words, "undefined");
    else
        return json_null();
    return template_value(&words);
}

/* Appends how far a value is beyond its bound: "too large by a factor of 35.5", "too small by
 * 20 %", "too large by 0.3 km". */
static void put_excess(const struct row *row, struct text *words)
{
    const double away = fabs(row->value - row->bound), share = away / row->bound;
    const double factor = row->below ? row->bound / row->value : row->value / row->bound;
    char buffer[TEXT_REAL_SIZE];
    text_print(words, "too %s by ", row->below ? "small" : "large");
    if (row->bound > 0.0 && factor >= 2.0 && isfinite(factor))
        text_print(words, "a factor of %s", text_factor(buffer, factor, 3));
    else if (row->bound > 0.0 && share >= 1e-3)
        text_print(words, "%s %%", text_factor(buffer, 100.0 * share, 2));
    else
        text_print(words, "%.2g%s", away, row->unit);
}

static void put_unmeasured(const struct result *result, const struct row *row, struct text *words)
{
    const double after = run_field_real(row->expected, FIELD_EXPECTED_AFTER);
    const double reached = result_real(result, FIELD_TIME);
    char begin[UNITS_TEXT_SIZE], end[UNITS_TEXT_SIZE];
    text_print(words, "it could not be judged: ");
    if (after > reached)
        text_print(words, "the run ended at t = %s, the expectation begins at t = %s",
                   result_time(result, reached, 4, end), result_time(result, after, 4, begin));
    else if (isnan(after) && isnan(run_field_real(row->expected, FIELD_EXPECTED_BEFORE)))
        text_print(words, "the run ended at t = %s, before it could be",
                   result_time(result, reached, 4, end));
    else
        text_print(words, "no row of the diagnostic lies between its times");
}

static json_t *excess_view(const struct result *result, const struct row *row)
{
    const bool failed = has_severity(row->finding, "failure");
    struct text words = { 0 };
    if (failed && is_unmeasured(row))
        put_unmeasured(result, row, &words);
    else if ((failed || has_severity(row->finding, "warning")) && isfinite(row->value))
        put_excess(row, &words);
    return template_value(&words);
}

/* Returns the words in which the config states an expectation, and its times in the unit of
 * result_time_unit() too: "mean_period in [3, 5] d after t = 182625 d (500 yr)". */
static json_t *sentence_view(const struct result *result, const struct row *row)
{
    const double after = run_field_real(row->expected, FIELD_EXPECTED_AFTER);
    const double before = run_field_real(row->expected, FIELD_EXPECTED_BEFORE);
    char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE];
    struct text words = { 0 };
    text_print(&words, "%s", run_field_string(row->finding, FIELD_FINDING_SENTENCE));
    result_time(result, after, 4, from);
    result_time(result, before, 4, to);
    if (result_time_unit(result).size == 1.0 || (isnan(after) && isnan(before)))
        return template_value(&words);
    text_print(&words, " (%s%s%s)", isnan(after) ? "" : from,
               isnan(after) || isnan(before) ? "" : " to ", isnan(before) ? "" : to);
    return template_value(&words);
}

/* Returns the name of a quantity that the program checks by itself, and whose it is: "energy error
 * of test body 7". */
static json_t *name_view(const struct row *row)
{
    const char *const whose = run_field_string(row->finding, FIELD_FINDING_WHOSE);
    struct text words = { 0 };
    text_print(&words, "%s%s%s",
               row->meaning->shown ? row->meaning->shown
                                   : run_field_string(row->finding, FIELD_FINDING_NAME),
               whose[0] ? " of " : "", whose);
    return template_value(&words);
}

/* --- the outcome ------------------------------------------------------------------------------ */

/* The words for the outcome of a quantity, by the severity that run.json gives it: if the run came
 * to its end, if it broke off, and if it has not ended. "" stands for any other severity. */
static const struct judgement {
    const char *severity, *class_;
    const char *at_end, *broke_off, *so_far;
} judgements[] = {
    { "failure", "bad", "failed", "failed", "failed" },
    { "warning", "warned", "warned", "warned", "warned" },
    { "held", "good", "held", "held until it broke off", "held so far" },
    { "", "quiet", "not judged", "not judged", "not judged yet" },
};

/* Tells whether a finding is about the energy, by the accuracy watch, in a run that broke off
 * before the watch looked at the energy again after the start: the finding then means nothing. */
static bool is_of_the_start(const struct result *result, const json_t *finding)
{
    return result_broke_off(result) && isnan(result_real(result, FIELD_WATCH_ENERGY_ERROR_TIME)) &&
           strcmp(run_field_string(finding, FIELD_FINDING_JUDGE), "watch") == 0 &&
           strncmp(run_field_string(finding, FIELD_FINDING_NAME), "energy", 6) == 0;
}

/* Sets the words for a quantity's outcome ("outcome") and their class in the style sheet ("class").
 * In a run that failed, a quantity that held is not shown as good. */
static void set_outcome(json_t **view, const struct result *result, const json_t *finding)
{
    const struct judgement *judgement = judgements;
    while (judgement->severity[0] && !has_severity(finding, judgement->severity))
        judgement++;
    const bool held = strcmp(judgement->severity, "held") == 0;
    if (held && is_of_the_start(result, finding))
        judgement++;
    const char *const words = !result_is_over(result)    ? judgement->so_far
                              : result_broke_off(result) ? judgement->broke_off
                                                         : judgement->at_end;
    const bool whole = strcmp(words, judgement->at_end) == 0;
    document_set(view, "outcome", json_string(words));
    document_set(view, "class",
                 json_string(!whole                              ? "quiet"
                             : held && result_has_failed(result) ? "plain"
                                                                 : judgement->class_));
}

static json_t *row_view(const struct result *result, const json_t *finding, size_t expectation)
{
    const struct row row = row_of(result, finding, expectation);
    const double since = run_field_real(finding, FIELD_FINDING_SINCE);
    char time[UNITS_TEXT_SIZE];
    json_t *view = json_copy((json_t *)finding);
    document_set(&view, "quantity",
                 is_expectation(finding) ? sentence_view(result, &row) : name_view(&row));
    document_set(&view, "is", json_string(row.meaning->is));
    document_set(&view, "excess", excess_view(result, &row));
    document_set(&view, "value_words", value_view(&row));
    document_set(&view, "bound_words", bound_view(&row));
    result_time(result, since, 4, time);
    document_set(&view, "since_words",
                 isnan(since) ? json_null() : json_string(since == 0.0 ? "0, the start" : time));
    set_outcome(&view, result, finding);
    return view;
}

/* --- the table -------------------------------------------------------------------------------- */

static bool is_asked(const json_t *finding)
{
    return is_expectation(finding) ||
           strncmp(run_field_string(finding, FIELD_FINDING_NAME), "time.", 5) == 0;
}

json_t *findings_table_view(const struct result *result)
{
    static const char *const headings[] = { "What the program checks in every run",
                                            "What the configuration expects" };
    json_t *groups = json_array();
    for (int asked = 1; asked >= 0; asked--) {
        size_t index, expectation = 0;
        json_t *finding, *rows = json_array();
        json_array_foreach(result_find(result, FIELD_FINDINGS), index, finding)
        {
            if (is_asked(finding) == (asked == 1))
                document_append(&rows, row_view(result, finding, expectation));
            expectation += is_expectation(finding);
        }
        if (rows && json_array_size(rows) == 0)
            json_decref(rows);
        else
            document_append(
                &groups, DOCUMENT({ "heading", json_string(headings[asked]) }, { "rows", rows }));
    }
    return groups;
}

bool findings_table_lost_energy(const struct result *result)
{
    size_t index;
    json_t *finding;
    bool lost = false, held = false;
    json_array_foreach(result_find(result, FIELD_FINDINGS), index, finding)
    {
        lost |= has_severity(finding, "failure") &&
                strstr(run_field_string(finding, FIELD_FINDING_NAME), "energy");
        held |= has_severity(finding, "held");
    }
    return lost && held;
}
