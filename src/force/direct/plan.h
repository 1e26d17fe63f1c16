/*
 * What direct summation keeps: what was chosen for the bodies when it was created, and the sums of
 * one system while a team of threads makes them.
 */
#ifndef ORRERY_FORCE_DIRECT_PLAN_H
#define ORRERY_FORCE_DIRECT_PLAN_H

#include "base/barrier.h"
#include "force/direct/batch.h"
#include "force/direct/kernel.h"
#include "force/force-options.h"

enum { TILE_MOST = 1024 }; /* bodies */

/* What the sums of one system need while they are made. */
struct scratch {
    struct packed packed; /* lends its arrays */
    struct sums *rounds;  /* of a wave; NULL: they are made in the arrays of the totals */
    struct batch batch;   /* where one thread sums several systems at once */
};

struct force {
    struct physics physics;
    struct force_share share; /* the whole is part 0 of 1 */
    const struct kernels *kernels;
    enum precision precision;
    enum force_kernel_id kernel; /* no longer FORCE_AUTO */
    size_t tile, tiles;          /* bodies in a tile, tiles in a system */
    size_t wave;                 /* rounds of the tournament between two barriers, at most */
    size_t laps;                 /* of the sums from part to part */
    size_t batch_systems; /* in a batch; 0: there are none, systems are summed one after another */
    size_t scratches;     /* systems, or so many of them, that are worked on at one time */
    struct scratch *scratch;
    struct barrier barrier;
};

/* The kernels that the options ask for; errors as force_create() has them. */
enum status force_find_kernels(const struct force_options *options, const struct kernels **kernels,
                               struct error *error);

/* The threads that work together on one system, and this one among them. */
struct team {
    size_t rank, size;       /* ranks from size on only wait */
    struct barrier *barrier; /* NULL: there are no others to wait for */
};

static inline void team_wait(const struct team *team)
{
    if (team->barrier)
        barrier_wait(team->barrier);
}

/* The sums of one system, as one thread of the team sees them. */
struct system_sum {
    struct force *force;
    const struct bodies *bodies;
    struct scratch *scratch;
    struct team team;
    struct packing packing;
    struct range all;  /* this thread's part of all bodies */
    struct range mine; /* and of those whose sums this process makes */
    double *total[3];  /* the system's accelerations, where their sums are made */
    const struct force_kernels *kernels;
    int form, masses;
};

#endif
