/* The end of a run and its cause, as its directory shows them. */
#ifndef ORRERY_REPORT_OUTCOME_H
#define ORRERY_REPORT_OUTCOME_H

#include <jansson.h>

#include "base/text.h"
#include "report/result.h"

enum outcome {
    OUTCOME_HELD,      /* every criterion held */
    OUTCOME_FINISHED,  /* it ended, and had no criterion */
    OUTCOME_FAILED,    /* a criterion or the accuracy watch failed */
    OUTCOME_ERROR,     /* it could not go on */
    OUTCOME_STOPPED,   /* stopped in order; the same command continues it */
    OUTCOME_SILENT,    /* killed */
    OUTCOME_AT_WORK,   /* a process works on it */
    OUTCOME_NOT_BEGUN, /* there is no run yet */
    OUTCOMES
};

/* The names of runs of each outcome, in a count and before the name of one of them. */
extern const char *const outcome_names[OUTCOMES];

/* Appends "3 held, 2 failed, 1 not begun". */
void outcome_counts(const size_t counts[OUTCOMES], struct text *text);

/* Returns the outcome of a run, and appends to `why` what went wrong, with the criteria that
 * failed; nothing if nothing did. */
enum outcome outcome_of(const struct result *result, struct text *why);

/* {"why", "reached", "mend", "command"} of a run that broke off: its error, how far it came, and
 * what to do and the words of the command that continues it, both empty if it would end in the same
 * way again; false of any other run. NULL for want of memory. */
json_t *outcome_broken(const struct result *result);

/* Returns the outcome in a few words, such as "every expectation held". */
const char *outcome_words(const struct result *result);

/* Appends how many systems of an ensemble the statistics leave out; nothing if they have all. */
void outcome_left_out(const struct result *result, struct text *words);

/* Returns a word for the key of a figure, such as "failed"; "" for a run that ended well. */
const char *outcome_mark(const struct result *result);

/* Returns {"class", "words", "sentence", "reason", "advice"} for a page: how good the outcome is,
 * the verdict in words, and of a run that failed the sentence that run.json has of it
 * (run/verdict.c), what failed and what to do; null, null and "" if it has none. NULL for want of
 * memory. */
json_t *outcome_view(const struct result *result);

/* --- a run that has not ended ----------------------------------------------------------------- */

/* The page of a run that has not ended says how far it is, and leaves out what is not known yet. */

/* Returns {"text", "goes_on", "command"}: how far the run is, and the words of the command that
 * continues it; false for a run that has ended, NULL for want of memory. */
json_t *unfinished_view(const struct result *result);

/*
 * Returns run.json as far as it is true now, a new reference, or NULL for want of memory. A run
 * that is at work, or was killed, has written it when it began: keys on its end are left out, and
 * step and time are those that it has reached.
 */
json_t *unfinished_document(const struct result *result);

#endif
