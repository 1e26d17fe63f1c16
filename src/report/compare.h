/* Several runs beside each other: what differs between them, and what comes of it. */
#ifndef ORRERY_REPORT_COMPARE_H
#define ORRERY_REPORT_COMPARE_H

#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "report/differences.h"
#include "report/draw.h"
#include "report/figure.h"

/* Errors against the key that was varied (the step, if that was), with the fitted slope, and
 * against what they cost; and the figures that the runs share, laid over one another. */
enum status compare_figures(const struct differences *runs, enum draw_extent extent,
                            struct figures *figures, struct error *error);

/* Name, verdicts, and a table with a row for each run, behind it the warning, which may be "". */
void compare_head(struct text *html, const struct differences *runs, const char *warning);

#endif
