/*
 * Gauss-Radau for systems of few bodies, with the widest vectors of an instruction set: a system in
 * each lane, with its own steps, or the bodies of one system in the lanes. Both do the same
 * operations in the same order, so that a system has the same bits alone and among others, and may
 * change from a lane to all of them between any two steps.
 */
#ifndef ORRERY_INTEGRATOR_GAUSS_RADAU_KERNEL_H
#define ORRERY_INTEGRATOR_GAUSS_RADAU_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "integrator/gauss-radau.h"
#include "model/bodies.h"
#include "model/physics.h"

/* Bodies up to which a system is small, and lanes that an instruction set has at most. */
enum { RADAU_SMALL = 32, RADAU_LANES = 8 };

/* What all threads share: systems of a run, to be taken one after the other. */
struct radau_batch {
    struct adaptive_systems *systems;
    double length, dt;   /* of steps, see struct radau_worker; the grid step */
    const size_t *which; /* [count] systems to take; NULL: the first `count` */
    size_t count, next;  /* next: of them that nobody has taken */
    /* [threads * RADAU_LANES] Systems that were still on their way when nothing was left to take
     * and few lanes were busy: they are moved alone faster. Used with `lanes` only. */
    size_t *late;
    size_t late_count;
};

struct radau_kernels {
    const char *isa; /* as force->isa names it */
    /*
     * To be called by every thread, each with radau_workspace() reals: takes systems until
     * there are no more, each to its grid point, and shows it there, but for those that are left
     * late. `lanes`: a system to each; otherwise one at a time. clocks->stuck says whether it has
     * failed.
     */
    void (*advance)(struct radau_batch *batch, double *work, bool lanes);
};

/* Numbers in a thread's workspace, aligned as memory_array() does it. */
size_t radau_workspace(size_t count, size_t stride);

extern const struct radau_kernels radau_avx512, radau_avx2, radau_neon, radau_baseline;

#endif
