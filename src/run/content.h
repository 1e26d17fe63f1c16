/*
 * The content of a run's checkpoint: the names and shapes of its sections, which saving and loading
 * share. Some sections have names of their own: `config`, `build`, `ended_by` and `legs` are text,
 * `counts` has the numbers of the enum below, `first` the conserved quantities of every system at
 * step 0. content_name() names those of diagnostics, outputs and criteria.
 */
#ifndef ORRERY_RUN_CONTENT_H
#define ORRERY_RUN_CONTENT_H

#include <stddef.h>

#include "model/conserved.h"
#include "output/saved.h"
#include "run/parts.h"

struct json_t;

/* The `kind` (see content_name()) of the sections with the marks (length and hash) of all files of
 * an output that writes a file at each event. */
extern const char content_files[]; /* "files" */
/* The name of the section with the legs of the run (run/record.h), as JSON. */
extern const char content_legs[]; /* "legs" */

enum { CONSERVED_REALS = sizeof(struct conserved) / sizeof(double), CONTENT_BUILD_SIZE = 1024 };

/* The indices of the numbers in the section `counts` of a checkpoint. The last three are 0 or 1:
 * the events of the step have happened; no other build or machine has computed a part of the run;
 * sections with the prefix content_early exist. */
enum { COUNT_SYSTEMS, COUNT_BODIES, COUNT_STEP, COUNT_EVENTS, COUNT_BITWISE, COUNT_EARLY, COUNTS };

/* Calls `visit` for each array of numbers besides the bodies that must survive a restart, which the
 * run keeps: the state of diagnostics, criteria, accuracy watch and ensemble. `kind` and `index`
 * name the section of the array, see content_name(). */
void content_visit_state(const struct run *run,
                         void (*visit)(void *context, const char *kind, size_t index,
                                       double *numbers, size_t count),
                         void *context);

/* The prefix of the sections with the state before the events of the last step, "early:". They
 * exist if some of these events were not due by their `every`, but because it was the last step: a
 * restart with a later end takes the events back. */
extern const char content_early[];

/* Writes the name of a section, "output:2" or "early:row:0", and returns `buffer`. It has the index
 * of a diagnostic or output instead of its name, which may be of any length. */
const char *content_name(const char *prefix, const char *kind, size_t index,
                         char buffer[CHECKPOINT_NAME_SIZE]);

/* Reads a section of JSON into *json, a new reference; NULL if the section is not JSON. STATUS_DATA
 * if there is no such section, STATUS_IO, STATUS_MEMORY. */
enum status content_get_json(const struct checkpoint *checkpoint, const char *name,
                             struct json_t **json, struct error *error);

/* Writes all that decides the bits of results besides the config: build, backend, kernel,
 * instruction set and device; returns `buffer`. A restart is exact if this text equals that in the
 * checkpoint. */
const char *content_build(const struct run *run, char buffer[CONTENT_BUILD_SIZE]);

#endif
