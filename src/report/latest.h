/* The newest rows of the diagnostics' tables of a run, which may be at work. */
#ifndef ORRERY_REPORT_LATEST_H
#define ORRERY_REPORT_LATEST_H

#include "base/status.h"
#include "report/result.h"
#include "run/options.h"

/* The last complete row in the table of one diagnostic or, in an ensemble, in the table of its
 * statistics over the systems. */
struct latest_table {
    const char *name; /* name of the diagnostic, borrowed from run.json */
    bool found;       /* the table has a complete row, at this step and time */
    double step, time;
};

struct latest {
    size_t count;
    struct latest_table *tables;
    /* the chosen quantities with their values; show.quantities[k].diagnostic is an index into
     * `tables` */
    struct show show;
};

/*
 * Reads the newest values of the quantities in `names`, separated by commas as for the option
 * --show; NULL: of all. In an ensemble they are means over the systems. Only diagnostics with one
 * row at each event count. A table that cannot be read, or has no row yet, gives no values.
 * STATUS_USAGE for an unknown quantity, STATUS_DATA for a unit that no run could have written,
 * STATUS_MEMORY.
 */
enum status latest_read(const struct result *result, const char *names, struct latest *latest,
                        struct error *error);
void latest_free(struct latest *latest);

/* Makes a row of the values in `latest`, which still owns them, with the step and the time of the
 * newest row in any table; false if no table has a row yet. */
bool latest_row(const struct latest *latest, const struct result *result, struct run_row *row);

#endif
