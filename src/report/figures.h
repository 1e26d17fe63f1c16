/* A list of figures, and what stands at their axes. */
#ifndef ORRERY_REPORT_FIGURES_H
#define ORRERY_REPORT_FIGURES_H

#include <stddef.h>

#include "base/status.h"
#include "report/figure.h"

struct figures {
    size_t count;
    struct figure *figures; /* owned */
};

/* An empty figure at the end; NULL with STATUS_MEMORY. Valid until the next one. */
struct figure *figures_add(struct figures *figures, struct error *error);
/* Takes the last figure back where it has no curve. */
void figures_drop_empty(struct figures *figures);
void figures_free(struct figures *figures);

/* "name [unit]", or the name alone for a pure number. */
const char *figures_label(const char *name, const char *unit, char buffer[FIGURE_LABEL_SIZE]);

/* "t = 12.5 Myr" with so many digits; the unit is left away where it is the T of N-body units. */
const char *figures_time(double time, int digits, const char *unit, char buffer[FIGURE_LABEL_SIZE]);

#endif
