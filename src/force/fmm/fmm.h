/*
 * The system that a team of threads works on by the fast multipole method, phase by phase: fmm.c
 * grows its tree and sums, fmm-tolerance.c finds how coarse the sums may be.
 */
#ifndef ORRERY_FORCE_FMM_FMM_H
#define ORRERY_FORCE_FMM_FMM_H

#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/barrier.h"
#include "base/interruption.h"
#include "force/fmm/fmm-kernel.h"
#include "force/method.h"

/* The order and the arithmetic that an accuracy wants. */
struct fmm_setting {
    double accuracy; /* the smallest accuracy that it is for */
    int order;
    size_t leaf; /* bodies of a leaf at most */
    bool refine; /* 1/r by a step of Newton's after the estimate */
    enum precision precision;
    double pairs_per_body;
};

/* Samples of bodies whose errors are measured: the first one before all sums, to find the
 * tolerance; the audit after them. */
enum fmm_sample { FMM_FIRST, FMM_AUDIT, FMM_SAMPLES };

enum { FMM_SAMPLED = 512 /* bodies of a sample at most */ };

struct fmm_sampled {
    size_t wanted;              /* number of marks, some of which may fall on one body */
    size_t count;               /* bodies */
    double expected2;           /* mean square of the errors that are expected of all bodies */
    uint32_t body[FMM_SAMPLED]; /* their numbers in the order of the tree */
    uint32_t leaf[FMM_SAMPLED]; /* the leaf of each body */
    double times[FMM_SAMPLED];  /* how often each was chosen: choose_bodies() in fmm-tolerance.c */
    double exact[FMM_SAMPLED][3]; /* direct sums */
};

/* The parts of a force that are timed one after another. */
enum fmm_part { FMM_TREE, FMM_CONTROL, FMM_SUMS, FMM_PARTS };

/* The range of the coordinates that one thread has looked at. */
struct fmm_extent {
    double low[3], high[3];
};

struct fmm {
    struct force base;
    bool lone; /* one thread calls, whatever team it belongs to; else every thread of a team */
    const struct fmm_setting *setting;
    const struct fmm_kernels *kernels;
    struct expansion *expansion;
    struct body_tree *tree;
    struct fmm_field field;
    struct fmm_walk *walks;     /* one of each thread */
    struct fmm_extent *extents; /* one of each thread */
    uint32_t *parents;          /* the parent of each cell of the trunk */
    double *squares; /* of each branch: the sum of the squares of its scales, later accelerations */
    double origin[3], scale, mass; /* units of the tree: (x - origin) scale, m / mass */
    struct fmm_sampled samples[FMM_SAMPLES];
    int rounds;      /* rounds of the search for the tolerance */
    int repeats;     /* sums whose error was too large */
    size_t next;     /* the next work item of the phase */
    size_t level[2]; /* the cells [first, last) of the trunk that are being cut */
    bool done;
    int team;                         /* threads of the last force */
    double since, seconds[FMM_PARTS]; /* when the present part began, and how long each took */
};

/* --- a team ----------------------------------------------------------------------------------- */

static inline size_t fmm_thread(const struct fmm *fmm)
{
    return fmm->lone ? 0 : (size_t)omp_get_thread_num();
}

static inline size_t fmm_threads(const struct fmm *fmm)
{
    return fmm->lone ? 1 : (size_t)omp_get_num_threads();
}

/* Waits for the other threads of the team. */
static inline void fmm_wait(struct fmm *fmm)
{
    if (!fmm->lone)
        barrier_wait(&fmm->base.barrier);
}

/* Returns the end of this thread's share of the bodies, in the order of the tree; with `part` 0 its
 * beginning. */
static inline size_t fmm_share(const struct fmm *fmm, size_t part)
{
    return share_start(fmm->tree->count, fmm_threads(fmm), fmm_thread(fmm) + part);
}

/* Takes the next of `count` work items, or false. Items do not depend on each other, so it does not
 * matter who takes which. */
static inline bool fmm_take_item(struct fmm *fmm, size_t count, size_t *item)
{
    *item = __atomic_fetch_add(&fmm->next, 1, __ATOMIC_RELAXED);
    return *item < count;
}

/* Takes a work item like fmm_take_item(), but none once the run is interrupted: the sums then mean
 * nothing. */
static inline bool fmm_take_sum(struct fmm *fmm, size_t count, size_t *item)
{
    return !interruption_raised(fmm->base.physics.interruption) && fmm_take_item(fmm, count, item);
}

/* Waits for all threads of the team and begins the next phase, whose items begin at 0; what walks
 * know is of no use to it. */
static inline void fmm_next_phase(struct fmm *fmm)
{
    fmm_wait(fmm);
    if (fmm_thread(fmm) == 0)
        fmm->next = 0;
    fmm->walks[fmm_thread(fmm)].known = 0;
    fmm_wait(fmm);
}

/* Empties the sums of bodies [first, last) of the tree. */
static inline void fmm_clear_sums(const struct fmm *fmm, size_t first, size_t last)
{
    for (int d = 0; d < 4; d++)
        memset(fmm->field.sums[d] + first, 0, (last - first) * sizeof(double));
}

/* --- phases of a force; every thread of the team calls ---------------------------------------- */

/* Grows the tree of a system with its multipoles and scales. Returns false if the run is
 * interrupted. */
bool fmm_grow(struct fmm *fmm, const struct bodies *bodies, size_t system);

/* Sums the accelerations and potentials of all bodies, with the accuracy that was asked for. */
void fmm_sum_all(struct fmm *fmm);

/* Sums the accelerations and potentials of the bodies that are due, with the tolerance of the
 * field. */
void fmm_sum_due(struct fmm *fmm);

/* Tells whether the sums for an accuracy are in double. */
bool fmm_in_double(const struct force_options *options);

/* Returns the unit of accelerations of the field. */
double fmm_unit(const struct fmm *fmm);

/* The accelerations of bodies that are due, by fmm.c or by the plain form: see force/jerk.h. */
extern const struct jerk_class fmm_due;

/* Finds the cells from the root (first) to the parent of a cell of the trunk; returns their
 * number. */
size_t fmm_path_to(const struct fmm *fmm, uint32_t cell, uint32_t path[FMM_DEPTH]);

/* --- the tolerance ---------------------------------------------------------------------------- */

/* Finds the scales of all leaves (fmm_set_allowed_error()), and from these what is allowed of every
 * cell's error. */
void fmm_find_scales(struct fmm *fmm);

/* Finds the tolerance with which the error of the sums is what was asked for. The tree must be
 * grown and the scales known. Every thread of the team calls. */
void fmm_find_tolerance(struct fmm *fmm);

/* Adds up the squares of the accelerations of one branch, which the audit needs. */
void fmm_tally_branch(struct fmm *fmm, size_t branch);

/* Audits finished sums. Returns true if their error, by direct sums for other bodies, is too large;
 * then the tolerance has become less, and the sums are to be done again. Every thread of the team
 * calls. */
bool fmm_misses_accuracy(struct fmm *fmm);

#endif
