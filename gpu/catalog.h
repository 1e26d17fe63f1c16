/*
 * The table of the force kernels (catalog.inc): what each is, and which launches it was built for.
 * Whoever launches, tunes, measures or tests kernels reads it here; it is in every build.
 */
#ifndef ORRERY_GPU_CATALOG_H
#define ORRERY_GPU_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "force/force-options.h"
#include "instructions.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gpu_kernel_id {
#define GPU_KERNEL(id, ...) GPU_##id,
#include "catalog.inc"
    GPU_KERNELS
};

/* The sizes of one launch. */
struct gpu_tuning {
    int block;   /* threads */
    int tile;    /* bodies staged in shared memory, a multiple of 32 */
    int bodies;  /* of one thread, a power of 2 */
    int split;   /* blocks that share the sums of the same bodies */
    int at_once; /* which of the kernel's two forms; 0: the first */
};

struct gpu_range {
    int least, most;
};

/* Tiles of a system from which a larger tile is taken in a kernel of the third law: these make 528
 * pairs of tiles, four for each of 132 multiprocessors. */
enum { GPU_ENOUGH_TILES = 32 };

/* Launches that a kernel was built for, in one precision. */
struct gpu_limits {
    struct gpu_range block;  /* threads, whole warps; for the most it has registers */
    struct gpu_range tile;   /* both 0: it stages none, or none of a size to choose */
    struct gpu_range bodies; /* of a thread */
    /* Blocks of the most threads that share the registers of a multiprocessor. Fewer leave a thread
     * the registers to have more pairs under way; more leave more warps to wait for each other.
     * Both forms are built where they differ. */
    struct gpu_range at_once;
    double instructions;     /* instructions of an ordered pair; 0: not counted */
    struct gpu_tuning start; /* where nothing was measured */
};

struct gpu_kernel_facts {
    const char *name;
    bool third_law;   /* needs all bodies of a system on one device, and room for both sides */
    bool resident;    /* small systems may stay in a block: the bits are the same */
    bool splits;      /* blocks may share the sums of the same bodies */
    uint32_t padding; /* the stride of systems is a multiple of it */
    size_t from;      /* bodies of a system from which "auto" takes it; 0: never */
    struct gpu_limits limits[PRECISION_SINGLE + 1]; /* by precision */
};

extern const struct gpu_kernel_facts gpu_catalog[GPU_KERNELS];

/* The kernel of a name; GPU_KERNELS where it is none of a GPU. */
enum gpu_kernel_id gpu_catalog_find(const char *name);

/* Returns the kernel of "auto" for systems of `count` bodies; `whole`: each is on one device. The
 * choice is part of the result's bits, and so it depends on nothing else. */
enum gpu_kernel_id gpu_catalog_choose(size_t count, bool whole);

/* Tells whether the kernel was built for such a launch. */
bool gpu_limits_allow(const struct gpu_limits *limits, const struct gpu_tuning *tuning);

#ifdef __cplusplus
}
#endif

#endif
