/* Quantities: columns of the diagnostics of a run by name, as `expect`, `stop_when` and --show give
 * them: "energy_error" or "conservation.energy_error". */
#ifndef ORRERY_OBSERVATION_QUANTITY_H
#define ORRERY_OBSERVATION_QUANTITY_H

#include <stddef.h>

#include "base/text.h"
#include "diagnostics/diagnostic.h"

struct quantity_index {
    size_t diagnostic, column; /* indices: of the diagnostic, and of the column in it */
};

/* Counts the columns of the diagnostics with that name (NULL entries have none; those of tables
 * with many rows for each event need their "diagnostic."); *quantity is the last of them. */
size_t quantity_find(const char *name, const struct diagnostic *const *diagnostics, size_t count,
                     struct quantity_index *quantity);

/* Appends why a name of which quantity_find() has `found` columns, not one, is no quantity: the
 * diagnostic to add, the nearest column, or that there are several. */
void quantity_explain(const char *name, size_t found, const struct diagnostic *const *diagnostics,
                      size_t count, struct text *reason);

#endif
