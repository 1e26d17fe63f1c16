/* How a run ended, and why, as the files in its directory show it. */
#ifndef ORRERY_REPORT_OUTCOME_H
#define ORRERY_REPORT_OUTCOME_H

#include <jansson.h>

#include "base/text.h"
#include "report/result.h"

enum outcome {
    OUTCOME_HELD,      /* ended, and every expectation of its config held */
    OUTCOME_FINISHED,  /* ended, and its config expects nothing */
    OUTCOME_FAILED,    /* ended, but an expectation or the accuracy watch failed */
    OUTCOME_ERROR,     /* broke off with an error */
    OUTCOME_STOPPED,   /* stopped early, can be continued */
    OUTCOME_SILENT,    /* killed, or its run.json does not say how it ended */
    OUTCOME_AT_WORK,   /* a process works on it */
    OUTCOME_NOT_BEGUN, /* there is no run yet */
    OUTCOMES
};

/* A word for each outcome ("held"), for counts and for lists of runs. */
extern const char *const outcome_names[OUTCOMES];

/* Appends the numbers of runs with each outcome that occurs: "3 held, 2 failed, 1 not begun". */
void outcome_counts(const size_t counts[OUTCOMES], struct text *text);

/* Returns the outcome of a run, and appends the reason to `why`: the expectations that failed, the
 * error, or the step at which the run was stopped; nothing if it ended well or is at work. */
enum outcome outcome_of(const struct result *result, struct text *why);

/* Returns {"why", "reached", "mend", "command"} of a run that broke off: the error, how far the run
 * came, what the user should do first, and the words of the command that then continues the run.
 * The last two are empty if a continued run would only fail again. JSON false for any other run,
 * NULL for want of memory. */
json_t *outcome_broken(const struct result *result);

/* Returns the outcome in a few words, such as "every expectation held". */
const char *outcome_words(const struct result *result);

/* Appends how many systems of an ensemble its statistics leave out; nothing if they leave out
 * none. */
void outcome_left_out(const struct result *result, struct text *words);

/* Returns a word for the legend of a figure that says how a run went wrong, such as "failed"; ""
 * for a run that ended well. */
const char *outcome_mark(const struct result *result);

/*
 * Returns {"class", "words", "sentence", "reason", "advice"} for a page. class and words: a class
 * of the style sheet and a few words for the outcome. sentence: the sentence of run.json about a
 * run that failed (run/verdict.c); reason and advice: its beginning, what failed, and its end, what
 * to do. Without such a sentence these are null, null and "". NULL for want of memory.
 */
json_t *outcome_view(const struct result *result);

/* --- a run that has not ended ----------------------------------------------------------------- */

/* Returns {"text", "goes_on", "command"}: how far the run is; whether a command can continue it,
 * which needs that no process works on it; the words of that command. JSON false for a run that has
 * ended, well or badly, NULL for want of memory. */
json_t *unfinished_view(const struct result *result);

/*
 * Returns a copy of run.json, a new reference, with only what is true now; NULL for want of memory.
 * A run that is at work or was killed wrote its run.json when it began: from this the fields about
 * its end are taken out, and step and time become those that it has reached.
 */
json_t *unfinished_document(const struct result *result);

#endif
