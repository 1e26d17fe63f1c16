/*
 * The report of one run or of several: figures as files, and one HTML page that needs no other
 * file. The report of one run is DIR/report.html with DIR/plots/. A manifest, report.json, lists
 * the files of the report, so that `orrery run --force` removes them with the run, and a new report
 * replaces only files of an earlier one.
 */
#ifndef ORRERY_REPORT_REPORT_H
#define ORRERY_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct report_options {
    /* directories of runs; a single one may also be a folder that holds runs */
    const char *const *directories;
    size_t count;
    /* folder to write to; NULL: the directory of the only run, the folder of runs, or "report" */
    const char *output;
    bool no_player;    /* leave out the player, which shows the bodies in motion (report/page.h) */
    const char *plots; /* names of figures or columns to draw, with commas between; NULL: all */
};

enum { REPORT_PATH_SIZE = 4096, REPORT_WARNING_SIZE = 768 };

/* The path of the page that was written, and the numbers of runs and figures on it. */
struct report_summary {
    char page[REPORT_PATH_SIZE];
    size_t runs, figures;
    /* sentence on runs that share some systems although their seeds differ; or "" */
    char warning[REPORT_WARNING_SIZE];
};

/*
 * Writes the report of the runs. STATUS_USAGE (no such figure, too many runs), STATUS_NO_INPUT (no
 * run there), STATUS_DATA, STATUS_CANT_CREATE (also if a file that no report has written stands in
 * the place of one to be written), STATUS_IO, STATUS_STOPPED (the run was replaced by a new one
 * again and again while its report was drawn). STATUS_UNAVAILABLE without gnuplot: the page is
 * written all the same, without figures.
 */
enum status report_write(const struct report_options *options, struct report_summary *summary,
                         struct error *error);

#endif
