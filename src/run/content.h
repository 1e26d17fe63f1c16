/*
 * The content of a run's checkpoint: the names and shapes of its sections, which saving and loading
 * share. Beside these: `config`, `build`, `ended_by` and `legs` are text, `first` the conserved
 * quantities of every system at step 0, and content_name() those of diagnostics, outputs and
 * criteria.
 */
#ifndef ORRERY_RUN_CONTENT_H
#define ORRERY_RUN_CONTENT_H

#include <stddef.h>

#include "model/bodies.h"
#include "model/conserved.h"
#include "output/checkpoint.h"
#include "run/parts.h"

struct json_t;

/* The marks of the files of an output that has one for each event. */
extern const char content_files[]; /* "files" */
/* The section of the work of each start of the run, as JSON (run/legs.h). */
extern const char content_legs[]; /* "legs" */

enum { CONSERVED_REALS = sizeof(struct conserved) / sizeof(double), CONTENT_BUILD_SIZE = 1024 };

/* The section `counts`. */
enum { COUNT_SYSTEMS, COUNT_BODIES, COUNT_STEP, COUNT_EVENTS, COUNT_BITWISE, COUNT_EARLY, COUNTS };

/* The arrays of bodies that make the state; accelerations follow from them. */
enum { CONTENT_ARRAYS = 8 };
struct content_array {
    const char *name; /* of its section */
    void *values;     /* borrowed from the bodies */
};
void content_arrays(const struct bodies *bodies, struct content_array arrays[CONTENT_ARRAYS]);

/* Calls `visit` for each array of numbers that must survive a restart beside the bodies, borrowed
 * from the run: what diagnostics, criteria, the watch and the ensemble have seen. */
void content_visit_state(const struct run *run,
                         void (*visit)(void *context, const char *kind, size_t index,
                                       double *numbers, size_t count),
                         void *context);

/* The state of an integrator that chooses its own steps, in sections "PREFIXadaptive:NAME"; nothing
 * with another integrator. STATUS_DATA, STATUS_IO. */
void content_put_adaptive(struct checkpoint_writer *writer, const char *prefix,
                          const struct backend *backend);
enum status content_get_adaptive(const struct checkpoint *checkpoint, const char *prefix,
                                 struct backend *backend, struct error *error);
/* Counts the words of the state that are not those of the checkpoint. STATUS_DATA, STATUS_IO,
 * STATUS_MEMORY. */
enum status content_compare_adaptive(const struct checkpoint *checkpoint, const char *prefix,
                                     const struct backend *backend, size_t *different,
                                     struct error *error);

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
