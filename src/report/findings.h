/*
 * The meaning of the numbers of a figure for its run, in whole sentences under its caption. In an
 * ensemble, the worst system counts. A run that went wrong must read so. Figures without a finding
 * have no row in the table.
 */
#ifndef ORRERY_REPORT_FINDINGS_H
#define ORRERY_REPORT_FINDINGS_H

#include <stdbool.h>

#include "base/text.h"
#include "formats/csv.h"
#include "report/result.h"

/* A figure that is drawn: its numbers, and the run that they are of. */
struct drawn {
    const struct series *series;
    const struct result *result;
    double largest; /* value of the first curve, of all systems */
    bool relative;  /* that is over the size that the vector began with */
};

/* Adds the sentences for the figure of that name, which may be none. */
void finding_tell(const char *figure, const struct drawn *drawn, struct text *words);

#endif
