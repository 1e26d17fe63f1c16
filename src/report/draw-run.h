/* All figures that the files of a run give: of its bodies, and of what its diagnostics measured. */
#ifndef ORRERY_REPORT_DRAW_RUN_H
#define ORRERY_REPORT_DRAW_RUN_H

#include "base/status.h"
#include "report/draw.h"
#include "report/figure.h"
#include "report/result.h"

/* Adds them. STATUS_MEMORY, or why a file of the run cannot be read. */
enum status draw_run(const struct result *result, enum draw_extent extent, struct figures *figures,
                     struct error *error);

#endif
