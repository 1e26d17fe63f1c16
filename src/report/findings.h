/*
 * The meaning of the numbers of a figure for its run, in whole sentences under its caption. In an
 * ensemble, the worst system counts. A run that went wrong must read so. Figures without a finding
 * have no row in the table.
 */
#ifndef ORRERY_REPORT_FINDINGS_H
#define ORRERY_REPORT_FINDINGS_H

#include "base/text.h"
#include "report/drawn.h"

/* Adds the sentences for the figure of that name, which may be none. */
void finding_tell(const char *figure, const struct drawn *drawn, struct text *words);

#endif
