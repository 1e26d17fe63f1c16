/* By what a run is judged: what it is expected to show, and what ends it. */
#ifndef ORRERY_RUN_CRITERIA_H
#define ORRERY_RUN_CRITERIA_H

#include "run/expect.h"

struct criteria {
    struct expectations expect;
    struct expectations stop_when;
    char ended_by[CRITERION_TEXT_SIZE]; /* the condition of stop_when that was met first, or "" */
};

/* Of the config, on the columns of these diagnostics; see expectations_create(). All errors of both
 * lists are reported. */
enum status criteria_create(const struct config *config, const struct units *units,
                            const struct diagnostic *const *diagnostics, size_t diagnostic_count,
                            struct criteria *criteria, struct error *error);
void criteria_destroy(struct criteria *criteria);

/* Shows a row of a diagnostic to both; `system` counts from 1 and is 0 for a system alone and for
 * statistics. */
void criteria_row(struct criteria *criteria, size_t diagnostic, size_t system, double time,
                  const double *values);

/* "held", "failed", "stopped", "error", "none" (no criteria were expected): what a run, or a study,
 * that has ended so is called. */
const char *criteria_verdict(size_t expected, enum status status);

#endif
