/* The end of a run and its cause, as its directory shows them. */
#ifndef ORRERY_REPORT_OUTCOME_H
#define ORRERY_REPORT_OUTCOME_H

#include <jansson.h>

#include "base/text.h"
#include "report/result.h"

enum outcome {
    OUTCOME_HELD,      /* every criterion did */
    OUTCOME_FINISHED,  /* and had none */
    OUTCOME_FAILED,    /* a criterion or the accuracy watch */
    OUTCOME_ERROR,     /* it could not go on */
    OUTCOME_STOPPED,   /* in order; the same command goes on */
    OUTCOME_SILENT,    /* killed */
    OUTCOME_AT_WORK,   /* a process is at it */
    OUTCOME_NOT_BEGUN, /* no run is there */
    OUTCOMES
};

/* The names of runs of each outcome, in a count and before the name of one of them. */
extern const char *const outcome_names[OUTCOMES];

/* Appends "3 held, 2 failed, 1 not begun". */
void outcome_counts(const size_t counts[OUTCOMES], struct text *text);

/* Appends to `why` what went wrong, with the criteria that failed; nothing where nothing did. */
enum outcome outcome_of(const struct result *result, struct text *why);

/* Appends to `why` how a run ended in an error, as it was reported then: "exit status 70: ...". */
void outcome_error(const struct result *result, struct text *why);

/* The same in a few words: "every expectation held". */
const char *outcome_words(const struct result *result);

/* Appends how many systems of an ensemble the statistics leave out; nothing where they have all. */
void outcome_left_out(const struct result *result, struct text *words);

/* A word for the key of a figure, of a run that did not end well: "failed"; "" of one that did. */
const char *outcome_mark(const struct result *result);

/* {"class", "words", "sentence"} for a page: how good that is, the verdict in words, and of a run
 * that failed the sentence that run.json has of it (run/verdict.c), or null; NULL for want of
 * memory. */
json_t *outcome_view(const struct result *result);

/* --- a run that has not ended ----------------------------------------------------------------- */

/* A page of a run that has not ended: what is said of it, and what is not said yet. */

/* {"text", "command"}: how far it is and how it goes on; false for one that has ended, NULL for
 * want of memory. */
json_t *unfinished_view(const struct result *result);

/*
 * run.json as far as it says what is so now, a new reference, or NULL for want of memory. A run
 * that is at work, or was killed, has written it when it began: what it knew of the end is left
 * out, and step and time are those that it has reached.
 */
json_t *unfinished_document(const struct result *result);

/* The table of findings with the words of each cell and the "class" of the outcome: of a run that
 * has not ended none is held. A new array; NULL for want of memory. */
json_t *unfinished_findings(const struct result *result);

#endif
