/*
 * A batch: systems of few bodies, interleaved so that each fills a lane of the vectors, and kept so
 * for as long as one thread works on them.
 */
#ifndef ORRERY_FORCE_DIRECT_BATCH_H
#define ORRERY_FORCE_DIRECT_BATCH_H

#include "force/direct/kernel.h"
#include "force/direct/packing.h"

struct batch {
    /* Number i lanes + k of an array belongs to body i of system k of the batch; without ids. */
    struct bodies *bodies;
    const struct kernels *kernels;
    const struct force_kernels *sums; /* of the precision */
    int masses;
    struct packing packing[BATCH_SYSTEMS];
    struct packed_batch packed;
};

/* For systems like those of `bodies`. STATUS_MEMORY; to be destroyed in any case. */
enum status batch_create(struct batch *batch, const struct kernels *kernels,
                         enum precision precision, const struct bodies *bodies,
                         struct error *error);
void batch_destroy(struct batch *batch);

/* Takes as many systems as there are lanes, from `first` on, and brings them back. */
void batch_open(struct batch *batch, const struct bodies *bodies, size_t first);
void batch_close(const struct batch *batch, const struct bodies *bodies, size_t first);

/* batch->bodies->ax, ay, az from the positions. */
void batch_accelerations(struct batch *batch, const struct physics *physics);

#endif
