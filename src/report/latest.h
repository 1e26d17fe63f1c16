/* The newest rows of the tables of a run, also of one that is at work. */
#ifndef ORRERY_REPORT_LATEST_H
#define ORRERY_REPORT_LATEST_H

#include "base/status.h"
#include "report/result.h"
#include "run/options.h"
#include "run/show.h"

/* The last whole row of one table: of an ensemble that of its statistics. */
struct latest_table {
    const char *name; /* of the diagnostic, borrowed from run.json */
    bool found;       /* the table has a whole row */
    double step, time;
};

struct latest {
    size_t count;
    struct latest_table *tables;
    struct show show; /* the cells; show.quantities[k].diagnostic is the index of the table */
};

/*
 * Reads the chosen quantities, a list as --show takes it, or with NULL all of them (of an ensemble
 * their means), from those tables that have a row for each event. A table that cannot be read, or
 * has no row yet, measures nothing. STATUS_USAGE for an unknown quantity, STATUS_DATA for a unit
 * that no run could have written, STATUS_MEMORY.
 */
enum status latest_read(const struct result *result, const char *names, struct latest *latest,
                        struct error *error);
void latest_free(struct latest *latest);

/* Makes one row, whose cells are those of `latest`, and whose step is the newest of the tables;
 * false if no table has a row yet. */
bool latest_row(const struct latest *latest, const struct result *result, struct run_row *row);

#endif
