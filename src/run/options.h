/* The options that a command gives to a run, and the functions by which the run tells the command
 * of its progress; and the quantities that a run shows (--show). */
#ifndef ORRERY_RUN_OPTIONS_H
#define ORRERY_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "model/units.h"
#include "observation/criteria.h"

/* The progress of a run, for a function of the command; texts are valid during its call. */
struct run_progress {
    const char *name;
    const struct units *units;
    double seconds; /* seconds since this process began */
    double time;    /* t of the step that was reached */
    double rate;    /* pair interactions per second of this process so far; 0 before any */
    /* The steps at which this process began, that it has reached, and at which the run ends. */
    uint64_t first_step, step, last;
};

/* A quantity that the option `show` names, at the step that was reached. */
enum { RUN_LABEL_SIZE = 288 };
struct run_cell {
    char label[RUN_LABEL_SIZE]; /* "radius_50 [pc]": the column, and its unit if it has one */
    bool measured; /* the quantity was measured at this event; if false, `value` means nothing */
    double value;  /* NaN where the quantity is undefined */
};

struct run_row {
    uint64_t step, last; /* the step reached, and the one at which the run ends */
    double time;         /* t of that step */
    const struct units *units;
    const struct run_cell *cells;
    size_t count;
};

struct run_options {
    const char *directory; /* directory to write into; NULL: "<name>.run" in the present one */
    bool force;            /* replace a run that is in the directory */
    bool restart;          /* continue the run that is in the directory */
    bool restart_if_any;   /* with `restart`: if there is no run, begin one */
    bool unchosen;    /* if integrator or steps are left to be chosen, take any: for a run of which
                         only the disk space is estimated */
    double deadline;  /* clock_seconds() when the run must have stopped, with a checkpoint; 0: no
                         limit */
    const char *show; /* quantities with commas between them, for `row`; NULL: none */
    /* `progress` is called after each call of the backend, which takes some 0.1 s or ends at an
     * event; `notice` is called with a line for people, `loud` if they must see it. Both may be
     * NULL. */
    void (*progress)(void *context, const struct run_progress *progress);
    void (*notice)(void *context, bool loud, const char *line);
    /* Called at each event at which a quantity of `show` is measured. May be NULL. */
    void (*row)(void *context, const struct run_row *row);
    void *context;
};

/* --- show.c: the quantities that a run shows -------------------------------------------------- */

/* The quantities that a run shows while it goes (--show), and their values at an event. */

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
