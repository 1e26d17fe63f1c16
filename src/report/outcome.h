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
 * that failed the sentence that run.json has of it (run/verdict.h), or null; NULL for want of
 * memory. */
json_t *outcome_view(const struct result *result);

#endif
