/* The members of an ensemble in one curve: their median, and bands about it. */
#ifndef ORRERY_REPORT_MEMBERS_H
#define ORRERY_REPORT_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "formats/csv.h"
#include "report/figure.h"

/* Part of a series, the same of every system: `rows` rows from `first` on. */
struct members {
    size_t systems;
    size_t first, rows;
    size_t stride; /* from a system's first row to the next one's */
};

/* All rows of a series. */
struct members members_all(const struct series *series);

/*
 * Adds the median of y over the systems, against x of the first one, and if `bands` are wanted
 * two of them beneath it: from the 10 % to the 90 % quantile, and from the least to the greatest.
 * Of one system: its curve. The colour is the next one. STATUS_MEMORY.
 */
enum status members_curve(struct figure *figure, const char *label, enum curve_kind kind,
                          const struct members *members, const double *x, const double *y,
                          bool bands, struct error *error);

/* Says in the caption what lines and bands are; nothing of one system. `left_out` of them do not
 * count in the statistics. */
void members_caption(struct figure *figure, size_t systems, double left_out);

#endif
