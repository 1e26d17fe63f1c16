/* The last words of `orrery run`: the summary of a run. */
#ifndef ORRERY_COMMANDS_SUMMARY_H
#define ORRERY_COMMANDS_SUMMARY_H

#include "base/status.h"
#include "run/record.h"

/* To standard output, within 80 columns: what was computed on what, how well, and the verdict. */
void summary_print(const struct run_record *record, enum status status);

#endif
