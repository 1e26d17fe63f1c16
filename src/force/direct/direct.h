/*
 * Direct summation, the force method that adds up all pairs. A force is computed on three levels:
 * force_find_item() and its callers distribute the systems over threads; sums.c converts the bodies
 * of a system into the units of the kernels (packs it), goes over pairs of tiles (ranges of its
 * bodies) and converts the sums back; the kernels (kernel.h) sum pairs. This header has the data of
 * the second level: the choices for the bodies, and the sums of one system while a team of threads
 * makes them.
 */
#ifndef ORRERY_FORCE_DIRECT_DIRECT_H
#define ORRERY_FORCE_DIRECT_DIRECT_H

#include "force/direct/kernel.h"
#include "force/direct/packing.h"
#include "force/method.h"

/* --- batches ---------------------------------------------------------------------------------- */

/* A batch: systems of few bodies, interleaved so that each system fills one lane of the vectors,
 * and kept interleaved for as long as one thread works on them. */

struct batch {
    /* The interleaved bodies: element i x lanes + k of an array belongs to body i of system k of
     * the batch; the ids are not set. */
    struct bodies *bodies;
    const struct kernels *kernels;
    const struct force_kernels *sums; /* the functions of `kernels` for the precision in use */
    int masses;
    struct packing packing[BATCH_SYSTEMS];
    struct packed_batch packed;
};

/* Computes batch->bodies->ax, ay, az from the positions. */
void batch_accelerations(struct batch *batch, const struct physics *physics);

/* --- direct sums ------------------------------------------------------------------------------ */

enum { TILE_MOST = 1024 }; /* bodies */

/* The scratch memory for the sums of one system. */
struct scratch {
    struct packed packed; /* its arrays are lent to a struct packing */
    struct sums *rounds;  /* [wave] sums of each round; NULL: sums are made in bodies->ax, ay, az */
    struct batch batch;   /* used if a thread sums several systems at once */
};

struct direct {
    struct force base;
    const struct kernels *kernels;
    enum precision precision;
    enum force_kernel_id kernel; /* the kernel that was chosen, never FORCE_AUTO */
    size_t tile, tiles;          /* number of bodies in a tile, number of tiles in a system */
    size_t wave;      /* the most rounds of the tournament (sums.c) between two barriers */
    size_t laps;      /* with several processes: how often totals go through all */
    size_t scratches; /* number of systems that are summed at the same time */
    struct scratch *scratch;
};

/* Finds the kernels of the instruction set that the options ask for. STATUS_CONFIG,
 * STATUS_UNAVAILABLE: as check() of struct force_method. */
enum status direct_find_kernels(const struct force_options *options, const struct kernels **kernels,
                                struct error *error);

/* Refuses the kernel `portable`, which computes in double, in mixed and single precision.
 * STATUS_CONFIG. */
enum status direct_check_precision(const struct force_options *options, struct error *error);

/* Returns a hash of this CPU's estimates of 1/sqrt(a) by the instruction set `isa`. On two CPUs
 * with different hashes the results of all kernels of that set differ in the last bits. 0 if `isa`
 * names no set of this build. */
uint32_t direct_estimates(const char *isa);

/* The functions of the method that compute accelerations and potentials (sums.c), and those for
 * bodies that are due, with or without jerks (jerk.c). */
void direct_accelerations(struct force *force, const struct bodies *bodies,
                          const struct force_item *item);
void direct_potentials(struct force *force, const struct bodies *bodies,
                       const struct force_item *item, double *phi, double *psi);
extern const struct jerk_class direct_jerk;

/* The threads that work together on one system, and the calling thread's number among them. */
struct team {
    size_t rank, size;       /* threads of rank >= size only wait */
    struct barrier *barrier; /* NULL: the thread works alone */
};

static inline void team_wait(const struct team *team)
{
    if (team->barrier)
        barrier_wait(team->barrier);
}

/* The data with which one thread of a team computes its part of the sums of one system. */
struct system_sum {
    struct direct *direct;
    const struct bodies *bodies;
    struct scratch *scratch;
    struct team team;
    struct packing packing;
    struct range all;  /* this thread's part of all bodies */
    struct range mine; /* this thread's part of the bodies whose sums this process makes */
    double *total[3];  /* the system's accelerations, along each axis: sums are made there */
    const struct force_kernels *kernels;
    double factor; /* by which sums are multiplied: force_kernels.factor, or 1 */
    int form, masses;
};

#endif
