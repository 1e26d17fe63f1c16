/*
 * Several runs laid over one another: the figures of one run that at least two of them have, with
 * one curve for each run in the place of all that a page of one run shows. Which one that is, the
 * hints of a diagnostic say (diagnostics/drawing.h).
 */
#ifndef ORRERY_REPORT_OVERLAY_H
#define ORRERY_REPORT_OVERLAY_H

#include <stddef.h>

#include "base/status.h"
#include "report/draw.h"
#include "report/figure.h"
#include "report/result.h"

struct overlay_run {
    const struct result *result;
    const char *mark;              /* how it went wrong, "failed", or "" */
    char label[FIGURE_LABEL_SIZE]; /* in the key */
};

/* Adds the figures. As many runs as a figure shows are drawn, the others counted in its left_out.
 * STATUS_MEMORY, or why a file of a run cannot be read. */
enum status overlay_draw(const struct overlay_run *runs, size_t count, enum draw_extent extent,
                         struct figures *figures, struct error *error);

#endif
