/*
 * What a checkpoint of a run holds: the names and shapes of its sections, which saving and loading
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
#include "run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The files of an output that has one for each event, and the last row of the statistics over
 * members; checkpoints of older versions lack them. */
extern const char content_files[];         /* "files" */
extern const char content_aggregate_row[]; /* "aggregate-row" */
/* Of which systems a criterion has its values; likewise. */
extern const char content_systems[]; /* "systems" */

/* What each start of the run has computed, as JSON (run/legs.h); older versions lack it too. */
extern const char content_legs[]; /* "legs" */

enum {
    CRITERION_MEMORY = 4, /* numbers in the section of a criterion */
    CRITERION_SYSTEMS = 2,
    CONSERVED_REALS = sizeof(struct conserved) / sizeof(double),
    CONTENT_BUILD_SIZE = 1024
};

/* The section `counts`. */
enum { COUNT_SYSTEMS, COUNT_BODIES, COUNT_STEP, COUNT_EVENTS, COUNT_BITWISE, COUNT_EARLY, COUNTS };

/* The arrays of bodies that make the state; accelerations follow from them. */
enum { CONTENT_ARRAYS = 8 };
struct content_array {
    const char *name; /* of its section */
    void *values;     /* borrowed from the bodies */
};
void content_arrays(const struct bodies *bodies, struct content_array arrays[CONTENT_ARRAYS]);

/* The prefix of what was remembered before the last step made its events off their cadence. */
extern const char content_early[];

/* "output:2", "early:row:0": by the index in the config, since names have no bound. */
const char *content_name(const char *prefix, const char *kind, size_t index,
                         char buffer[CHECKPOINT_NAME_SIZE]);

/* Everything that decides bits beside the config: if it is the same, a restart is exact. */
const char *content_build(const struct run *run, char buffer[CONTENT_BUILD_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
