/*
 * The figures of a diagnostic's measurements: one figure for each hint of its class
 * (diagnostics/drawing.h). Without hints, and of a diagnostic that this program does not know,
 * every column is drawn, those of one unit in one figure.
 */
#ifndef ORRERY_REPORT_DRAW_H
#define ORRERY_REPORT_DRAW_H

#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "formats/csv.h"
#include "report/figure.h"
#include "report/result.h"

/* The extent of a drawing. */
enum draw_extent {
    DRAW_PAGE,       /* what a page of one run shows */
    DRAW_COMPARISON, /* what can be laid over other runs: without hints, each column for itself */
    DRAW_ALL         /* that, and each column of a diagnostic with hints too */
};

/* Adds the figures of a diagnostic of this type, and this class or NULL, whose file is `name`.csv.
 * STATUS_MEMORY, STATUS_DATA. */
enum status draw_diagnostic(const struct result *result, const struct series *series,
                            const struct diagnostic_class *class_, const char *type,
                            const char *name, enum draw_extent extent, struct figures *figures,
                            struct error *error);

#endif
