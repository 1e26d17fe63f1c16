/* The end of a run and its cause, as its directory shows them. */
#ifndef ORRERY_REPORT_OUTCOME_H
#define ORRERY_REPORT_OUTCOME_H

#include <jansson.h>

#include "base/text.h"
#include "report/result.h"

enum outcome {
    OUTCOME_HELD,      /* it ended, and all that its config expects held */
    OUTCOME_FINISHED,  /* it ended, and its config expects nothing */
    OUTCOME_FAILED,    /* an expectation of its config, or the accuracy watch, failed */
    OUTCOME_ERROR,     /* it broke off with an error */
    OUTCOME_STOPPED,   /* stopped early; the same command continues it */
    OUTCOME_SILENT,    /* killed, or its run.json does not say how it ended */
    OUTCOME_AT_WORK,   /* a process works on it */
    OUTCOME_NOT_BEGUN, /* there is no run yet */
    OUTCOMES
};

/* A word for each outcome, for counts ("3 held") and for lists of runs. */
extern const char *const outcome_names[OUTCOMES];

/* Appends the number of runs of each outcome that occurs: "3 held, 2 failed, 1 not begun". */
void outcome_counts(const size_t counts[OUTCOMES], struct text *text);

/* Returns the outcome of a run, and appends the reason to `why`: the expectations that failed, the
 * error, or the step at which it was stopped. Nothing for a run that ended well or goes on. */
enum outcome outcome_of(const struct result *result, struct text *why);

/* Returns {"why", "reached", "mend", "command"} of a run that broke off: its error, how far it
 * came, what to do first, and the words of the command that then continues it. The last two are
 * empty if it would only end in the same way again. Returns false for any other run, NULL for want
 * of memory. */
json_t *outcome_broken(const struct result *result);

/* Returns the outcome in a few words, such as "every expectation held". */
const char *outcome_words(const struct result *result);

/* Appends how many systems of an ensemble its statistics leave out; nothing if they leave out
 * none. */
void outcome_left_out(const struct result *result, struct text *words);

/* Returns a word that stands behind the name of a run in the key of a figure, such as "failed"; ""
 * for a run that ended well. */
const char *outcome_mark(const struct result *result);

/*
 * Returns {"class", "words", "sentence", "reason", "advice"} for a page: the class of the style
 * sheet that shows how good the outcome is, and the outcome in words; then, for a run that failed,
 * the sentence on that in run.json (run/verdict.c), its beginning that says what failed, and its
 * end that says what to do. Without such a sentence these three are null, null and "". NULL for
 * want of memory.
 */
json_t *outcome_view(const struct result *result);

/* --- a run that has not ended ----------------------------------------------------------------- */

/* The page of a run that has not ended says how far it is, and leaves out what is not known yet. */

/* Returns {"text", "goes_on", "command"}: how far the run is; whether a command can continue it,
 * since no process works on it; and the words of that command. Returns false for a run that has
 * come to its end, NULL for want of memory. */
json_t *unfinished_view(const struct result *result);

/*
 * Returns a copy of run.json with only what is true now, a new reference, or NULL for want of
 * memory. A run that is at work, or was killed, wrote its run.json when it began: the keys about
 * its end are left out, and its step and time become those that it has reached.
 */
json_t *unfinished_document(const struct result *result);

#endif
