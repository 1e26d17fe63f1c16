/* What force.c chooses and sums.c carries out; only these two include this. */
#ifndef ORRERY_FORCE_PLAN_H
#define ORRERY_FORCE_PLAN_H

#include "base/barrier.h"
#include "force/batch.h"
#include "force/force.h"
#include "force/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TILE_MOST = 1024 }; /* bodies */

/* What the sums of one system need while they are made. */
struct scratch {
    struct packed packed; /* lends its arrays */
    struct sums *rounds;  /* of a wave; NULL: the totals lend their place */
    struct batch batch;   /* where systems are summed abreast */
};

struct force {
    struct physics physics;
    struct force_share share; /* the whole is part 0 of 1 */
    const struct kernels *kernels;
    enum precision precision;
    bool reference, symmetric;
    size_t tile, tiles; /* bodies in a tile, tiles in a system */
    size_t wave;        /* rounds of the tournament between two barriers, at most */
    size_t laps;        /* of the sums from part to part */
    size_t abreast;     /* systems that one thread sums at once; 0: one after another */
    size_t scratches;   /* systems, or so many of them, that are worked on at one time */
    struct scratch *scratch;
    struct barrier barrier;
};

#ifdef __cplusplus
}
#endif

#endif
