/* The figures that a user has named: --plot. */
#ifndef ORRERY_REPORT_CHOICE_H
#define ORRERY_REPORT_CHOICE_H

#include "base/status.h"
#include "report/figure.h"

/*
 * Keeps the figures that `words` names, in that order: names of figures and columns of diagnostics,
 * also as "diagnostic.column", with commas between; '_' and '-' are one. STATUS_USAGE for what is
 * none of them, with what there is. STATUS_MEMORY.
 */
enum status choice_select(const char *words, struct figures *figures, struct error *error);

#endif
