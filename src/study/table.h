/*
 * study.csv: one row for each member of a study, with the values of the keys, its exit status and
 * verdict, and the last row of every diagnostic that has one row per event, as "diagnostic.column
 * [unit]", whichever member has it. A member that has not ended has empty cells. A run is read
 * once, when it has ended or was found, so that the table can be written at any moment.
 */
#ifndef ORRERY_STUDY_TABLE_H
#define ORRERY_STUDY_TABLE_H

#include <stddef.h>

#include "base/status.h"
#include "output/directory.h"
#include "report/outcome.h"
#include "report/result.h"
#include "study/study.h"

struct table;

/* An empty table of a study in that directory; both are borrowed. NULL without memory. */
struct table *table_create(const struct study *study, const char *directory);
void table_destroy(struct table *table); /* accepts NULL */

/* Takes the row of a member from its run, in the place of one that was taken before; after an
 * error it has none. STATUS_IO, STATUS_MEMORY. */
enum status table_take(struct table *table, size_t member, const struct result *result,
                       struct error *error);
void table_forget(struct table *table, size_t member); /* its run has gone */
/* The same, from its directory; without a run it has no row. Otherwise as existing_open(). */
enum status table_read(struct table *table, size_t member, struct error *error);
/* How that run has ended, so that it need not be read again; OUTCOME_NOT_BEGUN without a row. */
enum outcome table_outcome(const struct table *table, size_t member);

/* Writes study.csv anew, and reads the members for it that have no row yet. Jobs of an array take
 * turns. As table_read(); STATUS_CANT_CREATE. */
enum status table_write(struct table *table, struct directory *directory, struct error *error);

#endif
