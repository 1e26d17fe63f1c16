/* The record of a run, for those who report it. */
#ifndef ORRERY_RUN_RECORD_H
#define ORRERY_RUN_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/backend.h"
#include "estimate/estimate.h"
#include "estimate/experiment.h"
#include "estimate/selection.h"
#include "observation/criteria.h"
#include "observation/observers.h"
#include "run/ensemble.h"
#include "run/legs.h"
#include "space/time-scales.h"

struct run;

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
    double wall;                    /* seconds of the leg at work, or of the one that has ended */
    double steps_per_second, rate;  /* of that leg, own ones if it chooses them; pair interactions
                                       per second */
    struct legs_sum legs;           /* all of them */
    struct time_scales time_scales; /* of the first system at the start */
    const struct selection *selection; /* what was chosen for it; NULL for nothing */
    double asked, reached; /* the energy error that it was asked for, or NaN, and that of the system
                              which counts */
    bool chooses_steps;    /* the integrator does: */
    struct work_done own_steps; /* of all systems */
    size_t smallest_system;     /* whose step was the smallest */
};

struct run_record run_record(const struct run *run);

/* Returns all that decides the cost of the run, which owns it. */
struct estimated run_estimated(const struct run *run);

#endif
