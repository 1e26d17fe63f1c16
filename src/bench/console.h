/* The terminal output of a benchmark, row by row; the rows also go to its results. */
#ifndef ORRERY_BENCH_CONSOLE_H
#define ORRERY_BENCH_CONSOLE_H

#include <stdbool.h>

#include "bench/bench.h"
#include "bench/results.h"

/* The state of the output. The caller sets the first two members; the others are zero at first. */
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
