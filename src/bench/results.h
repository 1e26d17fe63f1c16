/* What a benchmark leaves behind: bench.csv, bench.json and figures. */
#ifndef ORRERY_BENCH_RESULTS_H
#define ORRERY_BENCH_RESULTS_H

#include "base/status.h"
#include "bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

struct results; /* rates and rows, in the order in which they came */

/* `law` says in words what was computed. STATUS_MEMORY. */
enum status results_create(const char *law, struct results **results, struct error *error);
void results_destroy(struct results *results); /* accepts NULL */

void results_add_rate(struct results *results, const struct bench_rate *rate);
void results_add_row(struct results *results, const struct bench_row *row);

/* Writes the files into `folder`, which is made if need be, and prints their names. Without
 * gnuplot there are no figures, and it says so. STATUS_CANT_CREATE, STATUS_IO, STATUS_MEMORY. */
enum status results_write(const struct results *results, const char *folder, struct error *error);

#ifdef __cplusplus
}
#endif

#endif
