/*
 * The report of one run or of several: figures as files, and one HTML page that needs nothing
 * else. The report of one run is DIR/report.html with DIR/plots/. A manifest of its own
 * (report.json) lists the files, so that --force removes them with the run and a report replaces
 * only a report.
 */
#ifndef ORRERY_REPORT_REPORT_H
#define ORRERY_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct report_options {
    const char *const *directories; /* runs; a single one may be a folder of runs */
    size_t count;
    const char *output; /* folder to write to; NULL: the run's own, or the folder of runs, or
                           "report" for several */
    bool no_player;     /* leave out the player of the bodies (report/player.h) */
    const char *plots;  /* figures to draw, with commas between (report/figure.h); NULL: all */
};

enum { REPORT_PATH_SIZE = 4096, REPORT_WARNING_SIZE = 768 };

/* The page and the figures that were written. */
struct report_summary {
    char page[REPORT_PATH_SIZE];
    size_t runs, figures;
    char warning[REPORT_WARNING_SIZE]; /* why the runs should not be compared so; "": no reason */
};

/*
 * Writes the report of the runs. STATUS_USAGE (no such figure, too many runs), STATUS_NO_INPUT (no
 * run there), STATUS_DATA, STATUS_CANT_CREATE (also if a file of another origin stands in the place
 * of one of the report's), STATUS_IO, STATUS_STOPPED (the run was replaced again and again).
 * STATUS_UNAVAILABLE without gnuplot: the page is written all the same, without figures.
 */
enum status report_write(const struct report_options *options, struct report_summary *summary,
                         struct error *error);

#endif
