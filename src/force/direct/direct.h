/*
 * Direct summation, the force method that adds up all pairs. Three levels find a force: who does
 * which systems (force_find_item() and whoever calls it); a system packed, its tiles gone over and
 * its sums unpacked (sums.c); the kernels (kernel.h). This is what the second level knows:
 * what was chosen for the bodies, and the sums of one system while a team of threads makes them.
 */
#ifndef ORRERY_FORCE_DIRECT_DIRECT_H
#define ORRERY_FORCE_DIRECT_DIRECT_H

#include "force/direct/kernel.h"
#include "force/direct/packing.h"
#include "force/method.h"

/* --- batches ---------------------------------------------------------------------------------- */

/*
 * A batch: systems of few bodies, interleaved so that each fills a lane of the vectors, and kept so
 * for as long as one thread works on them.
 */

struct batch {
    /* Number i lanes + k of an array belongs to body i of system k of the batch; without ids. */
    struct bodies *bodies;
    const struct kernels *kernels;
    const struct force_kernels *sums; /* of the precision */
    int masses;
    struct packing packing[BATCH_SYSTEMS];
    struct packed_batch packed;
};

/* batch->bodies->ax, ay, az from the positions. */
void batch_accelerations(struct batch *batch, const struct physics *physics);

/* --- direct sums ------------------------------------------------------------------------------ */

enum { TILE_MOST = 1024 }; /* bodies */

/* The scratch of the sums of one system. */
struct scratch {
    struct packed packed; /* lends its arrays */
    struct sums *rounds;  /* of a wave; NULL: they are made in the arrays of the totals */
    struct batch batch;   /* where one thread sums several systems at once */
};

struct direct {
    struct force base;
    const struct kernels *kernels;
    enum precision precision;
    enum force_kernel_id kernel; /* no longer FORCE_AUTO */
    size_t tile, tiles;          /* bodies in a tile, tiles in a system */
    size_t wave;                 /* rounds of the tournament between two barriers, at most */
    size_t laps;                 /* of the sums from part to part */
    size_t scratches;            /* systems that are worked on at one time */
    struct scratch *scratch;
};

/* The kernels that the options ask for; STATUS_CONFIG, STATUS_UNAVAILABLE as check() has them. */
enum status direct_find_kernels(const struct force_options *options, const struct kernels **kernels,
                                struct error *error);

/* The verbs of the method that are called in a step (sums.c), and those of jerks (jerk.c). */
void direct_accelerations(struct force *force, const struct bodies *bodies,
                          const struct force_item *item);
void direct_potentials(struct force *force, const struct bodies *bodies,
                       const struct force_item *item, double *phi, double *psi);
extern const struct jerk_class direct_jerk;

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
    struct direct *direct;
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
