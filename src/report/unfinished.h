/* A page of a run that has not ended: what is said of it, and what is not said yet. */
#ifndef ORRERY_REPORT_UNFINISHED_H
#define ORRERY_REPORT_UNFINISHED_H

#include <jansson.h>

#include "report/result.h"

/* {"text", "command"}: how far it is and how it goes on; false for one that has ended, NULL for
 * want of memory. */
json_t *unfinished_view(const struct result *result);

/*
 * run.json as far as it says what is so now, a new reference, or NULL for want of memory. A run
 * that is at work, or was killed, has written it when it began: what it knew of the end is left
 * out, and step and time are those that it has reached.
 */
json_t *unfinished_document(const struct result *result);

/* The criteria with the "words" and the "class" of their outcome: of a run that has not ended none
 * is held. A new array; NULL for want of memory. */
json_t *unfinished_criteria(const struct result *result);

#endif
