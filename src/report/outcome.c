#include "report/outcome.h"

#include <errno.h>
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

static const char failed_prefix[] = "failed: ";

/* Returns the sentence of run.json on a failed run, "failed: energy error 0.22, bound 0.0005 (447
 * times): ..."; "" if the run did not fail, or an earlier version wrote its run.json. */
static const char *sentence_of(const struct result *result)
{
    const char *sentence = result_string(result, FIELD_VERDICT_TEXT);
    const bool whole = strncmp(sentence, failed_prefix, strlen(failed_prefix)) == 0;
    return result->state == RESULT_ENDED && whole && !result_falls_short(result) ? sentence : "";
}

/* Appends the exit status of a run and the first of its error messages: that says what went wrong,
 * the others what followed. */
static void put_report(const struct result *result, struct text *why)
{
    const char *message = json_string_value(json_array_get(result_find(result, FIELD_ERRORS), 0));
    text_print(why, "exit status %.0f", result_real(result, FIELD_EXIT_STATUS));
    if (message)
        text_print(why, ": %s", message);
}

/* Errors of the operating system that end a run because there is no room for its files, and what
 * the user can do about each. */
static const struct {
    int code; /* error number of errno.h */
    const char *mend;
} full[] = {
    { ENOSPC, "free space on the disk, or begin it anew on another one (-o DIR)" },
    { EDQUOT, "free space within your quota, or begin it anew on another disk (-o DIR)" },
    { EFBIG, "raise the limit on the size of files (ulimit -f)" },
};

/* If the error of a run lay outside of it, such as a full disk, appends what the user must do
 * before the run can continue, and returns true; else returns false. */
static bool put_mending(const struct result *result, struct text *text)
{
    static const enum status outside[] = { STATUS_UNAVAILABLE, STATUS_MEMORY, STATUS_IO };
    const char *message = json_string_value(json_array_get(result_find(result, FIELD_ERRORS), 0));
    const double status = result_real(result, FIELD_EXIT_STATUS);
    bool lies_outside = false;
    for (size_t k = 0; k < COUNT_OF(outside); k++)
        lies_outside |= status == (double)outside[k];
    for (size_t k = 0; k < COUNT_OF(full) && message && lies_outside; k++)
        if (strstr(message, strerror(full[k].code))) {
            text_print(text,
                       "Make room: %s, or begin it anew with fewer frames (a larger `every` of its "
                       "outputs). Once there is room, ",
                       full[k].mend);
            return true;
        }
    if (lies_outside)
        text_print(text, "Once that is mended, ");
    return lies_outside;
}

json_t *outcome_broken(const struct result *result)
{
    struct text why = { 0 }, reached = { 0 }, mend = { 0 }, command = { 0 };
    const struct time_unit unit = result_time_unit(result);
    char end[UNITS_TEXT_SIZE];
    if (!result_broke_off(result))
        return json_false();
    put_report(result, &why);
    time_unit_text(&unit, result_real(result, FIELD_CONFIG_TIME_END), 4, end);
    text_print(&reached, "It broke off at step %.0f of %.0f, t = %.4g of %s",
               result_real(result, FIELD_STEP), result_real(result, FIELD_STEPS),
               result_real(result, FIELD_TIME) / unit.size, end);
    if (put_mending(result, &mend))
        result_way_on(result, &command);
    return DOCUMENT({ "why", template_value(&why) }, { "reached", template_value(&reached) },
                    { "mend", template_value(&mend) }, { "command", template_words(&command) });
}

static void put_failures(const struct result *result, struct text *why)
{
    const char *const sentence = sentence_of(result);
    text_print(why, "%s", sentence[0] ? sentence + strlen(failed_prefix) : "");
}

static void put_error(const struct result *result, struct text *why)
{
    if (strlen(sentence_of(result)) > strlen(failed_prefix)) {
        text_print(why, "exit status %.0f: ", result_real(result, FIELD_EXIT_STATUS));
        put_failures(result, why);
    } else {
        put_report(result, why);
    }
}

static void put_step(const struct result *result, struct text *why)
{
    text_print(why, "at step %.0f of %.0f", result_real(result, FIELD_STEP),
               result_real(result, FIELD_STEPS));
}

static void put_earlier_end(const struct result *result, struct text *why)
{
    text_print(why, "at an earlier time.end, step %.0f", result_real(result, FIELD_STEP));
}

static const char unsaid[] = "its run.json does not say how it ended";

/* The words for a run and its outcome, for each verdict of run.json. "left" stands for a run that
 * was killed and has no verdict, "short" for a run that falls short of its study, the last row for
 * any unknown verdict. */
static const struct ending {
    const char *verdict;
    enum outcome outcome;
    const char *class_;       /* class in the style sheet of pages */
    const char *mark, *words; /* words in the legend of a figure, and on a page */
    /* appends the reason to `why`; or NULL */
    void (*tell)(const struct result *result, struct text *why);
    const char *why; /* without tell(): the reason; NULL: there is none */
} endings[] = {
    { "held", OUTCOME_HELD, "good", "", "every expectation held", NULL, NULL },
    { "none", OUTCOME_FINISHED, "open", "", "finished; nothing was expected", NULL, NULL },
    { "failed", OUTCOME_FAILED, "bad", "failed", "an expectation or the watch failed", put_failures,
      NULL },
    { "error", OUTCOME_ERROR, "bad", "error", "ended with an error", put_error, NULL },
    { "stopped", OUTCOME_STOPPED, "open", "stopped", "stopped early", put_step, NULL },
    { "running", OUTCOME_AT_WORK, "open", "running", "running", NULL, NULL },
    { "left", OUTCOME_SILENT, "open", "not ended", "not finished, killed", NULL,
      "it ended without a word" },
    { "short", OUTCOME_STOPPED, "open", "stopped", "stopped early", put_earlier_end, NULL },
    { NULL, OUTCOME_SILENT, "open", "unknown", unsaid, NULL, unsaid },
};

static const struct ending *find_ending(const struct result *result)
{
    const bool left = result->state == RESULT_LEFT;
    const char *verdict = left                         ? "left"
                          : result_falls_short(result) ? "short"
                                                       : result_string(result, FIELD_VERDICT);
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
    else if (ending->why)
        text_print(why, "%s", ending->why);
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
    struct text sentence = { 0 };
    result_put_words(result, sentence_of(result), &sentence);
    const char *const words = sentence.length ? sentence.bytes : "";
    const char *const advice = words[0] ? strstr(words + strlen(failed_prefix), ": ") : NULL;
    const size_t length = advice ? (size_t)(advice - words) : strlen(words);
    json_t *view =
        sentence.failed
            ? NULL
            : DOCUMENT({ "class", json_string(ending->class_) },
                       { "words", json_string(ending->words) },
                       { "sentence", words[0] ? json_string_nocheck(words) : json_null() },
                       { "reason", words[0] ? json_stringn_nocheck(words, length) : json_null() },
                       { "advice", json_string_nocheck(advice ? advice + 2 : "") });
    text_free(&sentence);
    return view;
}

/* --- a run that has not ended ----------------------------------------------------------------- */

static void put_place(const struct result *result, struct text *text)
{
    const struct progress *p = &result->progress;
    if (result->state == RESULT_ENDED)
        put_step(result, text);
    else if (p->known)
        text_print(text, "at step %.0f of %.0f, %.1f %% of the way, as of %s", (double)p->step,
                   (double)p->last, 100.0 * (double)p->step / (double)p->last, p->stamp);
    else
        text_print(text, "before its first step");
}

json_t *unfinished_view(const struct result *result)
{
    struct text text = { 0 }, command = { 0 };
    if (result_is_over(result))
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
    return DOCUMENT({ "text", template_value(&text) }, { "goes_on", json_boolean(!at_work) },
                    { "command", template_words(&command) });
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
