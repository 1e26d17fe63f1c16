/* The files of a benchmark: bench.csv, bench.json and figures. */
#ifndef ORRERY_BENCH_RESULTS_H
#define ORRERY_BENCH_RESULTS_H

#include "base/status.h"
#include "bench/bench.h"
#include "output/directory.h"

struct results;

/* Creates empty results; `law` says in words which bodies and forces are measured.
 * STATUS_MEMORY. */
enum status results_create(const char *law, struct results **results, struct error *error);
void results_destroy(struct results *results); /* accepts NULL */

void results_add_rate(struct results *results, const struct bench_rate *rate);
void results_add_row(struct results *results, const struct bench_row *row);

/* Opens the folder for the files, and makes it if it is missing, so that an error shows before
 * anything is measured. The caller closes it. STATUS_CANT_CREATE, also if a file that was not
 * written by a benchmark has one of the names. */
enum status results_open_folder(const char *path, struct directory **folder, struct error *error);

/* Writes the files and prints their names; without gnuplot it prints that there are no figures.
 * STATUS_CANT_CREATE, STATUS_IO, STATUS_MEMORY. */
enum status results_write(const struct results *results, struct directory *folder,
                          struct error *error);

#endif
