/* A benchmark on the terminal, row by row, and on to its results. */
#ifndef ORRERY_BENCH_CONSOLE_H
#define ORRERY_BENCH_CONSOLE_H

#include <stdbool.h>

#include "bench/bench.h"
#include "bench/results.h"

/* All zero, but for the first two, which are the caller's. */
struct console {
    struct results *results;
    bool terminal;     /* a bar may move on standard error */
    const char *title; /* of the part whose rows stand in the table */
    bool multipoles;   /* so are the rows of that table */
    bool any_multipoles, any_direct;
    char device[256]; /* the GPU of a row, or "" */
};

/* Prints what is measured, and adds it to the results; borrows the console. */
struct bench_sink console_sink(struct console *console);

/* Says what the columns of the rows were that it has printed. */
void console_print_legend(const struct console *console, const struct integrator *integrator);

#endif
