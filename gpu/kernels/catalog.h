/*
 * The table of the GPU's force kernels (catalog.inc): the properties of each, and the launches that
 * it was compiled for. The table is in every build, also in those without CUDA.
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
    int block;   /* threads of a block */
    int tile;    /* bodies in shared memory at a time, a multiple of 32 */
    int bodies;  /* bodies of one thread, a power of 2 */
    int split;   /* blocks that share the sums of the same bodies */
    int at_once; /* the form of the kernel: see struct gpu_limits; 0: the first */
};

struct gpu_range {
    int least, most;
};

/* The number of tiles that a system should have at least in a kernel that computes each pair of
 * tiles once (the third law): a tile is as large as that allows. 32 tiles make 528 pairs, each tile
 * with itself included: four for each of 132 multiprocessors. */
enum { GPU_ENOUGH_TILES = 32 };

/* The limits of gpu_resident(), which keeps small systems in blocks. */
enum {
    GPU_RESIDENT_BODIES = 512, /* bodies of the largest system, and most threads of a block */
    GPU_RESIDENT_ALONE = 128,  /* bodies of the largest system if systems are few */
    GPU_RESIDENT_MOST = 2      /* bodies of a thread, at most */
};

/* Launches that a kernel was built for, in one precision. */
struct gpu_limits {
    struct gpu_range block;  /* threads, in whole warps; the kernel is compiled for the most */
    struct gpu_range tile;   /* bodies; both 0: the kernel has no tile in shared memory */
    struct gpu_range bodies; /* bodies of a thread */
    /* The number of blocks, of the most threads, that share the registers of a multiprocessor. With
     * fewer blocks a thread has registers for more pairs at a time; with more blocks there are more
     * warps to run while others wait. If least and most differ, a form of the kernel is built for
     * each. */
    struct gpu_range at_once;
    double instructions;     /* instructions for an ordered pair, in double fp64 ones only; 0: not
                                counted */
    struct gpu_tuning start; /* the launch if none was measured */
};

struct gpu_kernel_facts {
    const char *name;
    bool third_law;   /* computes each pair once, so all bodies of a system must be on one device,
                         with room for the sums of both bodies */
    bool portable;    /* its forces have the bits of a CPU's: no units of mass, one sum per body */
    bool resident;    /* small systems may use gpu_resident() in its place, with the same bits */
    bool splits;      /* blocks may share the sums of the same bodies */
    uint32_t padding; /* systems start a multiple of this number of bodies apart */
    size_t from; /* number of bodies of a system from which "auto" takes the kernel; 0: never */
    struct gpu_limits limits[PRECISION_SINGLE + 1]; /* in double, mixed, single */
};

extern const struct gpu_kernel_facts gpu_catalog[GPU_KERNELS];

/* Returns the kernel of that name, or GPU_KERNELS if no kernel of GPUs has it. */
enum gpu_kernel_id gpu_catalog_find(const char *name);

/* Returns the kernel that "auto" takes for systems of `count` bodies; `whole`: each system is on
 * one device. The kernel decides the bits of the result, so the choice depends on nothing else. */
enum gpu_kernel_id gpu_catalog_choose(size_t count, bool whole);

/* Tells whether the sizes of a launch are within the limits for which the kernel was compiled. */
bool gpu_limits_allow(const struct gpu_limits *limits, const struct gpu_tuning *tuning);

#ifdef __cplusplus
}
#endif

#endif
