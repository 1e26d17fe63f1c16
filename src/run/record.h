/* The record of a run, from which summaries and reports are made; and its legs. */
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
#include "space/time-scales.h"

struct run;

/* --- legs ------------------------------------------------------------------------------------- */

/*
 * The legs of a run. A leg is what one start of the program has computed, up to the checkpoint from
 * which the next start went on. Checkpoints keep the list of legs, so that totals are sums over all
 * legs. Steps lost because a process died after its last checkpoint are computed again by the next
 * leg; they and their time count only there.
 */

struct json_t;
/* Sums over the legs. Times are in seconds; `advance` is the part of `wall` that the backend spent
 * in steps, `cpu` the time of all threads of the process (under MPI of rank 0). */
struct legs_sum {
    size_t count;
    double steps; /* steps of the run, or those of an integrator that chooses its own */
    double wall, advance, cpu;
    double interactions; /* ordered pairs that were summed */
};

/* Loads the earlier legs into run->continuation.legs: from the checkpoint or, if run.json was
 * written after the checkpoint, from run.json. STATUS_DATA, STATUS_MEMORY. */
enum status legs_load(struct run *run, struct error *error);

/* Returns a list of the earlier legs and, unless the run was done before, the present leg so far.
 * Each is {"started", "host", "backend", "threads", "first_step", "last_step", "wall_seconds",
 * "advance_seconds", "cpu_seconds"}. The caller owns the list; NULL without memory. */
struct json_t *legs_json(const struct run *run);

/* Returns the sums over a list of legs_json(); zeros for NULL. */
struct legs_sum legs_sum(const struct run *run, const struct json_t *legs);

/* Returns the pair interactions per second of time spent in steps; 0 before any. */
double legs_rate(const struct legs_sum *sum);

/* --- the record ------------------------------------------------------------------------------- */

/* The state of a run, as it is now; the run owns all that the pointers point at. */
struct run_record {
    const struct experiment *experiment;
    const struct backend_description *backend;
    const struct observers *observers;
    const struct ensemble *ensemble;
    const struct criteria *criteria;
    const struct directory *directory; /* the run's directory; NULL before it is open */
    uint64_t step, last;               /* the step reached, and the one at which the run ends */
    double time;                       /* t of that step */
    bool written;     /* run.json is in the directory, and was written by this run */
    bool done_before; /* the run had ended before this process began; its files stay as they are */
    const char *verdict;     /* sentence about a run that failed; "" for others */
    const char *proportions; /* warnings about numbers that look like slips, or "" */
    bool holds;              /* the accuracy watch accepts the systems that are not left out */
    double wall;             /* seconds of the present leg: up to now, or to its end */
    /* In the leg of `wall`, per second spent in steps: steps (the integrator's own if it chooses
     * them), and pair interactions. */
    double steps_per_second, rate;
    struct legs_sum legs;            /* sums over all legs */
    struct time_scales time_scales;  /* time scales of the first system at the start */
    const struct choice *choice;     /* choice of integrator and step; NULL: none */
    char dearer[CHOICE_DEARER_SIZE]; /* why the run has cost far more than expected
                                        (attempt_cost_text()), or "" */
    struct accuracy_target target;
    struct finding asked; /* finding about `target`; its bound is NaN if nothing was asked for */
    bool chooses_steps;   /* the integrator chooses its own steps */
    struct work_done own_steps; /* sums of steps and pair interactions over all systems; the
                                   smallest step of any */
    size_t smallest_system; /* index of the system that had the smallest step, if chooses_steps */
};

struct run_record run_record(const struct run *run);

/* Returns the parts of the run from which its cost is estimated; the run owns them. */
struct estimated run_estimated(const struct run *run);

/* Returns the word for a run or a study of `config` that has ended with `status`: "held", "failed",
 * "stopped", "error", or "none" if nothing was asked for or expected. See run/verdict.c. */
const char *run_verdict(const struct config *config, enum status status);

#endif
