/*
 * What a diagnostic measured, over time: one figure for each row of a table that says which columns
 * of which diagnostic belong together.
 */
#ifndef ORRERY_REPORT_HISTORY_H
#define ORRERY_REPORT_HISTORY_H

#include "base/status.h"
#include "report/figures.h"
#include "report/result.h"
#include "report/series.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the figures of a diagnostic of class `type` of a run whose file is `name`.csv. */
enum status history_draw(const struct result *result, const struct series *series, const char *type,
                         const char *name, struct figures *figures, struct error *error);

#ifdef __cplusplus
}
#endif

#endif
