/*
 * The legs of a run: what each start of it computed, up to the checkpoint that the next one took.
 * The checkpoint keeps them, so that what is told of the whole run is the sum over them. Steps that
 * were lost, because a process died after its last checkpoint, are computed again by the next leg
 * and count there alone, as does their time.
 */
#ifndef ORRERY_RUN_LEGS_H
#define ORRERY_RUN_LEGS_H

#include <stddef.h>

#include "base/status.h"

struct json_t;
struct run;

/* Times in seconds; `advance` is the part of `wall` that the backend spent in its steps, `cpu` that
 * of all threads of the process (of rank 0 in a job of several). */
struct legs_sum {
    size_t count;
    double steps; /* of the grid, or own ones where the integrator chooses them */
    double wall, advance, cpu;
    double interactions; /* of pairs, both ways */
};

/* Loads the earlier legs, from run->continuation.checkpoint, or from run->continuation.before
 * where that was written after it. STATUS_DATA, STATUS_MEMORY. */
enum status legs_load(struct run *run, struct error *error);

/* All of them and the one at work, as it stands now, unless the run was done before: {"started",
 * "host", "backend", "threads", "first_step", "last_step", "wall_seconds", "advance_seconds",
 * "cpu_seconds"} each. The caller owns it; NULL without memory. */
struct json_t *legs_json(const struct run *run);

/* The sums over such a list; zeros for NULL. */
struct legs_sum legs_sum(const struct run *run, const struct json_t *legs);

/* Pair interactions per second of time spent in steps; 0 before any. */
double legs_rate(const struct legs_sum *sum);

#endif
