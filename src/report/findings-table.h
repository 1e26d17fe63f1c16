/* The table of findings on the page of a run: what its config expects, and what the program checks
 * by itself. */
#ifndef ORRERY_REPORT_FINDINGS_TABLE_H
#define ORRERY_REPORT_FINDINGS_TABLE_H

#include <jansson.h>

#include "report/result.h"

/* Returns the groups of the table that have rows, [{"heading", "rows"}], with the words of each
 * cell; no quantity counts as held in a run that has not ended. A new array; NULL for want of
 * memory. */
json_t *findings_table_view(const struct result *result);

/* Tells whether the energy is among the failures and other quantities held: these say little. */
bool findings_table_lost_energy(const struct result *result);

#endif
