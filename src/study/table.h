/* study.csv: one row for each member of a study. */
#ifndef ORRERY_STUDY_TABLE_H
#define ORRERY_STUDY_TABLE_H

#include "base/status.h"
#include "output/directory.h"
#include "study/study.h"

/*
 * Writes study.csv anew: member, the values of the keys, exit status and verdict, and the last
 * row of every diagnostic that has one row per event, as "diagnostic.column [unit]", whichever
 * member has it. A member that
 * has not ended has empty cells. Jobs of an array take turns. STATUS_IO.
 */
enum status table_write(const struct study *study, struct directory *directory,
                        struct error *error);

#endif
