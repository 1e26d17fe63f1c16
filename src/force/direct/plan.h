/* What force.c chooses, and the sums of a step carry out. */
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

#endif
