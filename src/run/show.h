/* The quantities that a run shows while it goes: which they are, and their values at an event. */
#ifndef ORRERY_RUN_SHOW_H
#define ORRERY_RUN_SHOW_H

#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "observation/criteria.h"
#include "run/options.h"

struct show {
    size_t count;                      /* 0: nothing is to be shown */
    struct quantity_index *quantities; /* where each comes from */
    struct run_cell *cells;            /* as the options' `row` gets them */
};

/*
 * `names`: a list with commas between, or NULL for none. `step` and `time`, which are always shown,
 * add nothing. STATUS_USAGE for each name that is no quantity, with what there is.
 *
 * Of an ensemble its statistics are shown: `statistics` are those of each of the diagnostics (NULL
 * where there are none), whose indices count on behind those of the diagnostics; a column without
 * one of their endings is its mean. Of a system alone it is NULL. `units` may be NULL: then labels
 * have none.
 */
enum status show_create(const char *names, const struct diagnostic *const *diagnostics,
                        const struct diagnostic *const *statistics, size_t count,
                        const struct units *units, struct show *show, struct error *error);

void show_destroy(struct show *show);

/* Begins a new event: no quantity has been measured at it yet. */
void show_begin(struct show *show);
/* A row of this diagnostic. */
void show_take(struct show *show, size_t diagnostic, const double *values);
/* Tells whether anything of this event was measured that is to be shown. */
bool show_due(const struct show *show);

#endif
