/* The errors of several runs, as points over the value that was varied or its cost, with the fitted
 * power law of those that belong together. */
#ifndef ORRERY_REPORT_ERRORS_H
#define ORRERY_REPORT_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "report/figure.h"

struct errors_axis {
    const char *name, *title, *label; /* of the figure's files, in its title, at the axis */
    const char *caption;
    const char *slope;                       /* of a fitted line, what its slope is; or NULL */
    const double *x;                         /* of each run; NaN: unknown */
    const char (*labels)[FIGURE_LABEL_SIZE]; /* of each run; those of one label belong together */
    const char *const *marks;                /* of each run: "" of one that ended well */
    bool chosen;                             /* values of the config, which are the ticks */
};

/* Adds the figure of a quantity of this name, `y` of each run. STATUS_MEMORY. */
enum status errors_draw(const struct errors_axis *axis, const char *name, const double *y,
                        size_t count, struct figures *figures, struct error *error);

#endif
