/* The record of a run, for those who report it. */
#ifndef ORRERY_RUN_RECORD_H
#define ORRERY_RUN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/status.h"
#include "estimate/choice.h"
#include "estimate/estimate.h"
#include "estimate/experiment.h"
#include "observation/criteria.h"
#include "observation/observers.h"
#include "run/ensemble.h"
#include "space/time-scales.h"

struct run;

/* --- legs ------------------------------------------------------------------------------------- */

/*
 * The legs of a run: what each start of it computed, up to the checkpoint that the next one took.
 * The checkpoint keeps them, so that what is told of the whole run is the sum over them. Steps that
 * were lost, because a process died after its last checkpoint, are computed again by the next leg
 * and count there alone, as does their time.
 */

struct json_t;
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

/* --- the record ------------------------------------------------------------------------------- */

/* The run as it stands now; the run owns the data that it points at. */
struct run_record {
    const struct experiment *experiment;
    const struct backend_description *backend;
    const struct observers *observers;
    const struct ensemble *ensemble;
    const struct criteria *criteria;
    const struct directory *directory; /* NULL before it is open */
    uint64_t step, last;               /* reached, and where the run ends */
    double time;                       /* t of that step */
    bool written;                      /* run.json is there and is this run's */
    bool done_before;                  /* the run was done already, and stays as it is */
    const char *verdict;               /* what is said of one that failed; "" */
    const char *proportions;           /* what does not fit in its numbers; "" */
    bool holds;                        /* the watch does, for the systems that are not left out */
    double wall;                     /* seconds of the leg at work, or of the one that has ended */
    double steps_per_second, rate;   /* of that leg, own ones if it chooses them; pair interactions
                                        per second */
    struct legs_sum legs;            /* all of them */
    struct time_scales time_scales;  /* of the first system at the start */
    const struct choice *choice;     /* what was chosen for it; NULL for nothing */
    char dearer[CHOICE_DEARER_SIZE]; /* that it costs far more than was expected, see
                                       attempt_cost_text(); "" */
    struct accuracy_target target;   /* what it was asked for */
    struct finding asked;            /* how it stands to that, if anything was asked for */
    bool chooses_steps;              /* the integrator does: */
    struct work_done own_steps;      /* of all systems */
    size_t smallest_system;          /* whose step was the smallest */
};

struct run_record run_record(const struct run *run);

/* Returns all that decides the cost of the run, which owns it. */
struct estimated run_estimated(const struct run *run);

/* Returns the word for a run, or a study, of that config that has ended so: "held", "failed",
 * "stopped", "error", or "none" if nothing was asked for or expected of it. See run/verdict.c. */
const char *run_verdict(const struct config *config, enum status status);

#endif
