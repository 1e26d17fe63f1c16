/* The options of a run that a command asks for, and the functions by which it hears of the run. */
#ifndef ORRERY_RUN_OPTIONS_H
#define ORRERY_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/units.h"

/* The progress of a run; its texts are valid during the call. */
struct run_progress {
    const char *name;
    const struct units *units;
    double seconds; /* since this process began */
    double time;    /* t of the step that was reached */
    double rate;    /* pair interactions per second of this process so far; 0 before any */
    uint64_t first_step, step, last; /* where this process began and is, and where the run ends */
};

/* A row of the quantities that are shown (`show`), of the step that was reached. */
enum { RUN_LABEL_SIZE = 288 };
struct run_cell {
    char label[RUN_LABEL_SIZE]; /* "radius_50 [pc]": the column, and its unit if it has one */
    bool measured;              /* at this event; otherwise it has no value */
    double value;               /* NaN where it is undefined */
};

struct run_row {
    uint64_t step, last; /* reached, and where the run ends */
    double time;         /* t of that step */
    const struct units *units;
    const struct run_cell *cells;
    size_t count;
};

struct run_options {
    const char *directory; /* where to write; NULL: "<name>.run" here */
    bool force;            /* replace a run that is there */
    bool restart;          /* continue it */
    bool restart_if_any;   /* with `restart`: where there is none, begin */
    bool unchosen;         /* take any setting where one is to be chosen (estimate/choice.h) */
    double deadline;       /* clock_seconds() by which it has stopped, with a checkpoint; 0: none */
    const char *show;      /* quantities with commas between them, for `row`; NULL: none */
    /* Called a few times a second while it computes, and with a line for people, a `loud` one if
     * they must see it. May be NULL. */
    void (*progress)(void *context, const struct run_progress *progress);
    void (*notice)(void *context, bool loud, const char *line);
    /* Called at each event at which one of `show` is measured. May be NULL. */
    void (*row)(void *context, const struct run_row *row);
    void *context;
};

#endif
