/* Several runs beside each other: what differs between them, and what comes of it. */
#ifndef ORRERY_REPORT_COMPARE_H
#define ORRERY_REPORT_COMPARE_H

#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "report/figures.h"
#include "report/result.h"

#ifdef __cplusplus
extern "C" {
#endif

struct compare; /* opaque; borrows the results */

enum status compare_create(const struct result *results, size_t count, struct compare **compare,
                           struct error *error);
void compare_destroy(struct compare *compare); /* accepts NULL */

/* Errors against the key that was varied (the step, if that was), with the fitted slope; and the
 * energy errors of all runs over time. */
enum status compare_figures(const struct compare *compare, struct figures *figures,
                            struct error *error);

/* Name, verdicts, and a table with a row for each run. */
void compare_head(struct text *html, const struct compare *compare);

#ifdef __cplusplus
}
#endif

#endif
