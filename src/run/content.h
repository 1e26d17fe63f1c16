/*
 * The content of a run's checkpoint: the names and shapes of its sections, which saving and loading
 * share. Some sections have names of their own: `config`, `build`, `ended_by` and `legs` are text,
 * `first` is the conserved quantities of every system at step 0. content_name() names those of
 * diagnostics, outputs and criteria.
 */
#ifndef ORRERY_RUN_CONTENT_H
#define ORRERY_RUN_CONTENT_H

#include <stddef.h>

#include "model/conserved.h"
#include "output/saved.h"
#include "run/parts.h"

struct json_t;

/* The kind of the sections with the marks of an output's files, if it has one for each event. */
extern const char content_files[]; /* "files" */
/* The section with the work of each start of the run, as JSON (run/record.h). */
extern const char content_legs[]; /* "legs" */

enum { CONSERVED_REALS = sizeof(struct conserved) / sizeof(double), CONTENT_BUILD_SIZE = 1024 };

/* The indices of the numbers in the section `counts`. */
enum { COUNT_SYSTEMS, COUNT_BODIES, COUNT_STEP, COUNT_EVENTS, COUNT_BITWISE, COUNT_EARLY, COUNTS };

/* Calls `visit` for each array of numbers besides the bodies that must survive a restart: the state
 * of diagnostics, criteria, watch and ensemble, borrowed from the run. */
void content_visit_state(const struct run *run,
                         void (*visit)(void *context, const char *kind, size_t index,
                                       double *numbers, size_t count),
                         void *context);

/* The prefix of the sections with the state from before the events that the last step made off
 * their cadence: "early:". */
extern const char content_early[];

/* Writes the name of a section: "output:2", "early:row:0". It has the index in the config, since
 * names in the config may be of any length. */
const char *content_name(const char *prefix, const char *kind, size_t index,
                         char buffer[CHECKPOINT_NAME_SIZE]);

/* Reads a section of JSON into *json, a new reference; NULL if the section is not JSON. STATUS_DATA
 * if there is no such section, STATUS_IO, STATUS_MEMORY. */
enum status content_get_json(const struct checkpoint *checkpoint, const char *name,
                             struct json_t **json, struct error *error);

/* Writes all that decides the bits of results besides the config: build, backend, kernel,
 * instruction set and device. If they are the same, a restart is exact. */
const char *content_build(const struct run *run, char buffer[CONTENT_BUILD_SIZE]);

#endif
