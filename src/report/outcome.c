#include "report/outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "report/template.h"

const char *const outcome_names[OUTCOMES] = {
    [OUTCOME_HELD] = "held",       [OUTCOME_FINISHED] = "finished",   [OUTCOME_FAILED] = "failed",
    [OUTCOME_ERROR] = "error",     [OUTCOME_STOPPED] = "stopped",     [OUTCOME_SILENT] = "killed",
    [OUTCOME_AT_WORK] = "at work", [OUTCOME_NOT_BEGUN] = "not begun",
};

void outcome_counts(const size_t counts[OUTCOMES], struct text *text)
{
    const char *separator = "";
    for (size_t k = 0; k < OUTCOMES; k++)
        if (counts[k] > 0) {
            text_print(text, "%s%zu %s", separator, counts[k], outcome_names[k]);
            separator = ", ";
        }
}

/* "failed: energy error 0.22, bound 0.0005 (447 times): ..."; "" of a run that did not fail, and of
 * one of an earlier version. */
static const char failed_prefix[] = "failed: ";
static const char *sentence_of(const struct result *result)
{
    const char *sentence = result_string(result, FIELD_VERDICT_TEXT);
    const bool whole = strncmp(sentence, failed_prefix, strlen(failed_prefix)) == 0;
    return result->state == RESULT_ENDED && whole ? sentence : "";
}

/* Returns the sentence about a failed run without its first word. */
static const char *reason_of(const struct result *result)
{
    const char *sentence = sentence_of(result);
    return sentence[0] ? sentence + strlen(failed_prefix) : "";
}

static void put_failures(const struct result *result, struct text *why)
{
    text_print(why, "%s", reason_of(result));
}

/* The first message says what, the others what follows from it. */
void outcome_error(const struct result *result, struct text *why)
{
    const char *message = json_string_value(json_array_get(result_find(result, FIELD_ERRORS), 0));
    text_print(why, "exit status %.0f", result_real(result, FIELD_EXIT_STATUS));
    if (message)
        text_print(why, ": %s", message);
}

static void put_error(const struct result *result, struct text *why)
{
    if (reason_of(result)[0])
        text_print(why, "exit status %.0f: %s", result_real(result, FIELD_EXIT_STATUS),
                   reason_of(result));
    else
        outcome_error(result, why);
}

static void put_step(const struct result *result, struct text *why)
{
    text_print(why, "at step %.0f of %.0f", result_real(result, FIELD_STEP),
               result_real(result, FIELD_STEPS));
}

static void put_silence(const struct result *result, struct text *why)
{
    (void)result;
    text_print(why, "it ended without a word");
}

static const char unsaid[] = "its run.json does not say how it ended";

static void put_unsaid(const struct result *result, struct text *why)
{
    (void)result;
    text_print(why, "%s", unsaid);
}

/* One row for each verdict of run.json; "left" is for a run that was killed and has none, and the
 * last row for an unknown one. */
static const struct ending {
    const char *verdict;
    enum outcome outcome;
    const char *class_;       /* on a page */
    const char *mark, *words; /* in the key of a figure, and on a page */
    void (*tell)(const struct result *result, struct text *why);
} endings[] = {
    { "held", OUTCOME_HELD, "good", "", "every expectation held", NULL },
    { "none", OUTCOME_FINISHED, "open", "", "finished; nothing was expected", NULL },
    { "failed", OUTCOME_FAILED, "bad", "failed", "an expectation or the watch failed",
      put_failures },
    { "error", OUTCOME_ERROR, "bad", "error", "ended with an error", put_error },
    { "stopped", OUTCOME_STOPPED, "open", "stopped", "stopped early", put_step },
    { "running", OUTCOME_AT_WORK, "open", "running", "running", NULL },
    { "left", OUTCOME_SILENT, "open", "not ended", "not finished, killed", put_silence },
    { NULL, OUTCOME_SILENT, "open", "unknown", unsaid, put_unsaid },
};

static const struct ending *find_ending(const struct result *result)
{
    const bool left = result->state == RESULT_LEFT;
    const char *verdict = left ? "left" : result_string(result, FIELD_VERDICT);
    size_t i = 0;
    while (endings[i].verdict && strcmp(endings[i].verdict, verdict) != 0)
        i++;
    return &endings[i];
}

enum outcome outcome_of(const struct result *result, struct text *why)
{
    const struct ending *ending = find_ending(result);
    if (ending->tell)
        ending->tell(result, why);
    return ending->outcome;
}

const char *outcome_words(const struct result *result)
{
    return find_ending(result)->words;
}

void outcome_left_out(const struct result *result, struct text *words)
{
    const double left_out = result_left_out(result);
    if (left_out > 0.0)
        text_print(words,
                   "%.0f of %.0f systems %s left out of the statistics (energy error above %.6g, "
                   "or undefined)",
                   left_out, result_real(result, FIELD_SYSTEMS), left_out == 1.0 ? "is" : "are",
                   result_real(result, FIELD_CONFIG_ENSEMBLE_ENERGY_ERROR_LIMIT));
}

const char *outcome_mark(const struct result *result)
{
    return find_ending(result)->mark;
}

json_t *outcome_view(const struct result *result)
{
    const struct ending *ending = find_ending(result);
    return json_pack("{s:s, s:s, s:o}", "class", ending->class_, "words", ending->words, "sentence",
                     sentence_of(result)[0] ? json_string_nocheck(sentence_of(result))
                                            : json_null());
}

/* --- a run that has not ended ----------------------------------------------------------------- */

/* Tells whether it has come to an end, good or bad. One that was stopped goes on. */
static bool has_ended(const struct result *result)
{
    return result->state == RESULT_ENDED && !result_was_stopped(result);
}

static void put_place(const struct result *result, struct text *text)
{
    const struct progress *p = &result->progress;
    if (result->state == RESULT_ENDED)
        text_print(text, "at step %.0f of %.0f", result_real(result, FIELD_STEP),
                   result_real(result, FIELD_STEPS));
    else if (p->known)
        text_print(text, "at step %.0f of %.0f, %.1f %% of the way, as of %s", (double)p->step,
                   (double)p->last, 100.0 * (double)p->step / (double)p->last, p->stamp);
    else
        text_print(text, "before its first step");
}

json_t *unfinished_view(const struct result *result)
{
    struct text text = { 0 }, command = { 0 };
    if (has_ended(result))
        return json_false();
    const bool at_work = result->state == RESULT_AT_WORK;
    text_print(&text, "This run has not ended: ");
    if (at_work)
        text_print(&text, "%s is at work on it, ", result->progress.owner);
    else if (result_was_stopped(result))
        text_print(&text, "it was stopped ");
    else
        text_print(&text, "it was killed, and no process works on it; it was ");
    put_place(result, &text);
    text_print(&text, ". This page shows what it had written by then; there is no verdict yet.");
    if (!at_work)
        result_way_on(result, &command);
    return json_pack("{s:o, s:o}", "text", template_value(&text), "command",
                     template_value(&command));
}

json_t *unfinished_document(const struct result *result)
{
    static const enum run_field of_the_end[] = {
        FIELD_DIAGNOSTICS,  FIELD_LEFT_OUT,        FIELD_WATCH,
        FIELD_TRUST,        FIELD_ENERGY_BUDGET,   FIELD_FINAL,
        FIELD_WALL_SECONDS, FIELD_ADVANCE_SECONDS, FIELD_INTERACTIONS_PER_SECOND,
    };
    json_t *document = json_copy(result->json);
    const double step = result->progress.known ? (double)result->progress.step : 0.0;
    if (result->state == RESULT_ENDED || !document)
        return document;
    for (size_t i = 0; i < COUNT_OF(of_the_end); i++)
        json_object_del(document, run_field_path(of_the_end[i]));
    if (!result->progress.known)
        return document;
    document_set(&document, run_field_path(FIELD_STEP),
                 json_integer((json_int_t)result->progress.step));
    document_set(&document, run_field_path(FIELD_TIME),
                 document_number(step * result_step(result)));
    return document;
}

/* "<= 5 km"; null for no number. */
static json_t *number_view(const json_t *finding, const char *before, enum run_field field)
{
    const json_t *number = run_field(finding, field);
    const char *unit = run_field_string(finding, FIELD_FINDING_UNIT);
    char words[96];
    snprintf(words, sizeof words, "%s%.6g%s%.40s", before, json_number_value(number),
             unit[0] ? " " : "", unit);
    return json_is_number(number) ? json_string(words) : json_null();
}

/* The words for a row. One that has failed stays failed, whatever comes. */
static const struct judgement {
    const char *severity, *class_;
    const char *at_end, *broke_off, *so_far;
} judgements[] = {
    { "failure", "bad", "failed", "failed", "failed" },
    { "warning", "quiet", "warned", "warned", "warned" },
    { "held", "good", "held", "held until it broke off", "held so far" },
    { "", "quiet", "not judged", "not judged", "not judged yet" },
};

static void view_finding(json_t **row, const struct result *result)
{
    const bool ended = has_ended(result), broke_off = result_broke_off(result);
    const double bound = run_field_real(*row, FIELD_FINDING_BOUND),
                 value = run_field_real(*row, FIELD_FINDING_VALUE);
    const double since = run_field_real(*row, FIELD_FINDING_SINCE);
    const bool below = strcmp(run_field_string(*row, FIELD_FINDING_BOUND_IS), "least") == 0;
    const struct judgement *judgement = judgements;
    char time[UNITS_TEXT_SIZE], ratio[32];
    while (judgement->severity[0] &&
           strcmp(judgement->severity, run_field_string(*row, FIELD_FINDING_SEVERITY)) != 0)
        judgement++;
    const bool unmeasured = broke_off &&
                            isnan(result_real(result, FIELD_WATCH_ENERGY_ERROR_TIME)) &&
                            strcmp(run_field_string(*row, FIELD_FINDING_JUDGE), "watch") == 0 &&
                            strncmp(run_field_string(*row, FIELD_FINDING_NAME), "energy", 6) == 0;
    if (unmeasured && strcmp(judgement->severity, "held") == 0)
        judgement++; /* the energy of the start alone was seen */
    const char *words = !ended      ? judgement->so_far
                        : broke_off ? judgement->broke_off
                                    : judgement->at_end;
    snprintf(ratio, sizeof ratio, "%.3g", value / bound);
    result_time(result, since, 4, time);
    document_set(row, "words", json_string(words));
    document_set(row, "class",
                 json_string(strcmp(words, judgement->at_end) == 0 ? judgement->class_ : "quiet"));
    document_set(row, "value_words", number_view(*row, "", FIELD_FINDING_VALUE));
    document_set(row, "bound_words", number_view(*row, below ? "≥ " : "≤ ", FIELD_FINDING_BOUND));
    document_set(row, "ratio", bound > 0.0 && isfinite(value) ? json_string(ratio) : json_null());
    document_set(row, "since_words", isnan(since) ? json_null() : json_string(time));
    document_set(row, "of_rows",
                 json_boolean(strcmp(run_field_string(*row, FIELD_FINDING_JUDGE), "expect") == 0));
}

json_t *unfinished_findings(const struct result *result)
{
    size_t index;
    json_t *finding, *rows = json_array();
    json_array_foreach(result_find(result, FIELD_FINDINGS), index, finding)
    {
        json_t *row = json_copy(finding);
        view_finding(&row, result);
        document_append(&rows, row);
    }
    return rows;
}
