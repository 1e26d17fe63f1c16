/*
 * study.csv: one row for each member of a study, with the values of the keys, its exit status and
 * verdict, and the last row of every diagnostic that has one row per event, in columns
 * "diagnostic.column [unit]". Cells without a value are empty. A run is read once, when its process
 * ends or an earlier command has left it, so that the table can be written at any moment.
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

/* Creates an empty table of a study in that directory; both are borrowed. NULL without memory. */
struct table *table_create(const struct study *study, const char *directory);
void table_destroy(struct table *table); /* accepts NULL */

/* Takes the row of a member from its run, in place of an earlier row; after an error the member has
 * none. STATUS_IO, STATUS_MEMORY. */
enum status table_take(struct table *table, size_t member, const struct result *result,
                       struct error *error);
void table_forget(struct table *table, size_t member); /* removes the row of a member */
/* Takes the row of a member from its directory; without a run it has none. The errors of
 * existing_open() and table_take(). */
enum status table_read(struct table *table, size_t member, struct error *error);
/* Returns how the member's run has ended; OUTCOME_NOT_BEGUN if it has no row. */
enum outcome table_outcome(const struct table *table, size_t member);

/* Writes study.csv anew; first reads the members that have no row yet. Jobs of an array take turns.
 * The errors of table_read(); STATUS_CANT_CREATE. */
enum status table_write(struct table *table, struct directory *directory, struct error *error);

#endif
