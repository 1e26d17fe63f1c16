/*
 * What a diagnostic measured over radius, a table at each event: g(r), the density profile. The
 * last event is drawn, with the first for comparison.
 */
#ifndef ORRERY_REPORT_DISTRIBUTION_H
#define ORRERY_REPORT_DISTRIBUTION_H

#include "base/status.h"
#include "report/figures.h"
#include "report/result.h"
#include "report/series.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the figures of a diagnostic of class `type` whose file is `name`.csv. */
enum status distribution_draw(const struct result *result, const struct series *series,
                              const char *type, const char *name, struct figures *figures,
                              struct error *error);

#ifdef __cplusplus
}
#endif

#endif
