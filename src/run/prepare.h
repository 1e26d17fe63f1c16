/* Preparing a run: everything that can be opened and checked without writing. */
#ifndef ORRERY_RUN_PREPARE_H
#define ORRERY_RUN_PREPARE_H

#include "run/parts.h"

/* Prepares a run that has its options alone; see run_prepare(). The parts that exist after an
 * error are for run_destroy(). */
enum status prepare_whole(struct run *run, const struct config *config, bool measure,
                          struct error *error);

/* Only the experiment and the directory of a run that is there, locked, with its run.json: for a
 * replay. */
enum status prepare_bare(struct run *run, const struct config *config, struct error *error);

#endif
