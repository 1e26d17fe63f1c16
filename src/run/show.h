/* The quantities that a run shows while it goes (--show), and their values at an event. */
#ifndef ORRERY_RUN_SHOW_H
#define ORRERY_RUN_SHOW_H

#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "observation/criteria.h"
#include "run/options.h"

struct show {
    size_t count;                      /* number of quantities; 0: none is shown */
    struct quantity_index *quantities; /* [count]: diagnostic and column of each */
    struct run_cell *cells; /* [count]: values, as the function `row` of the options gets them */
};

/*
 * Creates the list of the quantities that are shown: `names` has their names with commas between
 * them, or is NULL for none. `step` and `time`, which are always shown, add nothing. STATUS_USAGE
 * for each name that is no quantity, with the names that there are.
 *
 * For an ensemble statistics over its systems are shown: `statistics` has those of each of the
 * `count` diagnostics (NULL if it has none); their indices in show->quantities follow those of the
 * diagnostics, and a column named without an ending such as _std is its mean. For one system
 * `statistics` is NULL. `units` may be NULL: then labels have no units.
 */
enum status show_create(const char *names, const struct diagnostic *const *diagnostics,
                        const struct diagnostic *const *statistics, size_t count,
                        const struct units *units, struct show *show, struct error *error);

void show_destroy(struct show *show);

void show_begin(struct show *show);
/* Takes the values of the quantities that are shown from a row, with the values of all columns, of
 * the diagnostic with this index. */
void show_take(struct show *show, size_t diagnostic, const double *values);
/* Tells whether a quantity that is shown was measured at this event. */
bool show_due(const struct show *show);

#endif
