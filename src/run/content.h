/*
 * The content of a run's checkpoint: the names and shapes of its sections, which saving and loading
 * share. Beside these: `config`, `build`, `ended_by` and `legs` are text, `first` the conserved
 * quantities of every system at step 0, and content_name() those of diagnostics, outputs and
 * criteria.
 */
#ifndef ORRERY_RUN_CONTENT_H
#define ORRERY_RUN_CONTENT_H

#include <stddef.h>

#include "model/conserved.h"
#include "output/saved.h"
#include "run/parts.h"

struct json_t;

/* The marks of the files of an output that has one for each event. */
extern const char content_files[]; /* "files" */
/* The section of the work of each start of the run, as JSON (run/record.h). */
extern const char content_legs[]; /* "legs" */

enum { CONSERVED_REALS = sizeof(struct conserved) / sizeof(double), CONTENT_BUILD_SIZE = 1024 };

/* The section `counts`. */
enum { COUNT_SYSTEMS, COUNT_BODIES, COUNT_STEP, COUNT_EVENTS, COUNT_BITWISE, COUNT_EARLY, COUNTS };

/* Calls `visit` for each array of numbers that must survive a restart beside the bodies, borrowed
 * from the run: what diagnostics, criteria, the watch and the ensemble have seen. */
void content_visit_state(const struct run *run,
                         void (*visit)(void *context, const char *kind, size_t index,
                                       double *numbers, size_t count),
                         void *context);

/* The prefix of what was kept before the last step made its events off their cadence. */
extern const char content_early[];

/* "output:2", "early:row:0": by the index in the config, since names have no bound. */
const char *content_name(const char *prefix, const char *kind, size_t index,
                         char buffer[CHECKPOINT_NAME_SIZE]);

/* A section of JSON, a new reference; NULL where it is none. STATUS_DATA where there is no such
 * section, STATUS_IO, STATUS_MEMORY. */
enum status content_get_json(const struct checkpoint *checkpoint, const char *name,
                             struct json_t **json, struct error *error);

/* Everything that decides bits beside the config: if it is the same, a restart is exact. */
const char *content_build(const struct run *run, char buffer[CONTENT_BUILD_SIZE]);

#endif
