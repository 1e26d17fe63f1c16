/* The results of a benchmark: what it prints, and its files, bench.csv, bench.json and figures. */
#ifndef ORRERY_BENCH_RESULTS_H
#define ORRERY_BENCH_RESULTS_H

#include <stdbool.h>

#include "base/status.h"
#include "bench/bench.h"
#include "output/directory.h"

struct results;

/* Creates empty results; `law` says in words which bodies and forces are measured.
 * STATUS_MEMORY. */
enum status results_create(const char *law, struct results **results, struct error *error);
void results_destroy(struct results *results); /* accepts NULL */

/* Opens the folder for the files, and makes it if it is missing, so that an error shows before
 * anything is measured. The caller closes it. STATUS_CANT_CREATE, also if a file that was not
 * written by a benchmark has one of the names. */
enum status results_open_folder(const char *path, struct directory **folder, struct error *error);

/* Writes the files and prints their names; without gnuplot it prints that there are no figures.
 * STATUS_CANT_CREATE, STATUS_IO, STATUS_MEMORY. */
enum status results_write(const struct results *results, struct directory *folder,
                          struct error *error);

/* --- the terminal ----------------------------------------------------------------------------- */

/* The state of the terminal output, row by row; the rows also go to the results. The caller sets
 * the first two members; the others are zero at first. */
struct console {
    struct results *results;
    bool terminal;     /* standard error is a terminal: a bar shows the progress */
    const char *title; /* title of the plan whose table is being printed */
    bool multipoles;   /* the table has rows of fast multipoles */
    bool any_multipoles, any_direct;
    char device[256]; /* GPU of the last row that had one, or "" */
};

/* Returns a sink that prints rates and rows and adds them to the results; it borrows the
 * console. */
struct bench_sink console_sink(struct console *console);

/* Prints the meaning of the columns in the tables that were printed to this console. */
void console_print_legend(const struct console *console, const struct integrator *integrator);

#endif
