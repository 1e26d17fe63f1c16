/*
 * The kernels, as the host calls them. A launch queues work on a stream and returns at once, with
 * the error of the launch alone. All pointers but those to the arguments are the device's.
 *
 * The order of a body's sum over j depends on the number of bodies and on nothing else. j goes up
 * through segments of gpu_shape.segment bodies, whose sums are added in fp64 in ascending order;
 * within a segment, fp32 terms are summed by chunks of GPU_CHUNK bodies, and the chunks' sums in a
 * pair of floats. So the bits are the same for every kernel but `symmetric`, for every block, tile
 * and split, for one system or many, on one device or several.
 */
#ifndef ORRERY_GPU_KERNELS_H
#define ORRERY_GPU_KERNELS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog.h"
#include "force/force-options.h"
#include "integrator/stage-program.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GPU_CHUNK = 256,           /* fp32 terms that are summed before a wider sum takes them */
    GPU_GRANULE = 32,          /* bodies: j-loops are unrolled so far, arrays are padded to it */
    GPU_MAX_SEGMENTS = 32,     /* of the sum of one body */
    GPU_OBSERVER_BLOCK = 256,  /* bodies whose conserved sums a block adds */
    GPU_WARP = 32,             /* threads in lock step */
    GPU_MAX_BLOCK = 1024,      /* threads */
    GPU_MAX_SHARED = 48 << 10, /* bytes of shared memory that every block may have */
    GPU_RESIDENT_BODIES = 512, /* the largest system that one block can keep */
    GPU_RESIDENT_ALONE = 128   /* the largest that it keeps where it is the only one */
};

enum gpu_space {
    GPU_SPACE_SOFT,  /* open; eps keeps 1/r within range */
    GPU_SPACE_SHARP, /* open; r^2 + eps^2 may be 0 */
    GPU_SPACE_PERIODIC,
    GPU_SPACE_COUNT
};

/* The bodies on a device: `systems` systems that start `stride` apart. Bodies from `count` on have
 * no mass. The device computes and moves bodies [first, last) of every system. */
struct gpu_shape {
    uint32_t systems, count, stride;
    uint32_t first, last;
    uint32_t segment, segments;
};

/* Constants of the pair terms, in the units of source_single and source_mixed ... */
struct gpu_interaction_single {
    float eps2, box, inverse_box;
};

/* ... and in those of the config. */
struct gpu_interaction_double {
    double eps2, box, inverse_box;
};

struct gpu_interaction {
    enum precision precision;
    enum gpu_space space;
    int equal_masses; /* every system's bodies have one mass: nothing to multiply by */
    struct gpu_interaction_single scaled;
    struct gpu_interaction_double full;
    double inverse_length; /* of the scaled unit, a power of 2: x_scaled = x inverse_length */
    double padding;        /* where bodies without mass stand, scaled */
};

/* fp64, systems x stride each. */
struct gpu_state {
    double *m, *x, *y, *z, *vx, *vy, *vz, *ax, *ay, *az;
    double *registers[STAGE_REGISTERS][3]; /* of stages; NULL where no integrator may need them */
};

/* The units of the sums, for every system. */
struct gpu_units {
    const double *mass;   /* m_scaled = m / mass; NULL: 1 */
    const double *factor; /* acceleration = factor x sum */
};

/* Slots that `split` blocks fill that share the segments of a sum: the first of them adds up its
 * own, as their order has it, and the others leave every segment for the next kernel. */
static inline unsigned gpu_slot_count(unsigned segments, unsigned split)
{
    return segments - segments / split + 1;
}

/* A force evaluation: the sums go to `partial`, [slot][component][system][body of the device's],
 * in `*slots` slots that are to be added in order. */
struct gpu_sum_call {
    struct gpu_shape shape;
    struct gpu_interaction interaction;
    const void *sources;
    double *partial;
    void *sides;        /* of gpu_symmetric() only, as is ... */
    unsigned distances; /* ... what it has room for */
    struct gpu_tuning tuning;
    cudaStream_t stream;
    /* Unless NULL, nothing is launched: it takes the blocks of this launch that a multiprocessor
     * would run at once. */
    unsigned *at_once;
};

size_t gpu_source_size(enum precision precision);

/* gpu_simt(), gpu_tiled(), ...: the kernels of the catalog. */
#define GPU_KERNEL(id, name, ...)                                                                  \
    cudaError_t gpu_##name(const struct gpu_sum_call *call, unsigned *slots);
#include "catalog.inc"

/* Those of textbook.cu and ladder.cu: single, softened, open. gpu_textbook_arrays() has five
 * components, of which the last two are room for its arrays, and needs all bodies of a system; the
 * last one has four. A tile's loop is unrolled 1, 2, 4, 8 or 16 times. */
cudaError_t gpu_textbook_structures(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_textbook_arrays(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_textbook_root(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_textbook_simt(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_textbook_tile_1(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_textbook_tile_2(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_textbook_tile_4(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_textbook_tile_8(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_textbook_tile_16(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_textbook_tiled(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_with_potential(const struct gpu_sum_call *call, unsigned *slots);

/* phi / -G and psi / -G: two components; interaction.full and double sources whatever the
 * precision. */
cudaError_t gpu_potentials(const struct gpu_sum_call *call, unsigned *slots);

/*
 * gpu_symmetric(), by Newton's third law: each pair of tiles is taken once. `sides` takes what both
 * tiles get, for `distances` distances at a time; the fewer fit, the more often the sums are
 * collected. The stride must be a multiple of the catalog's padding, and the device's bodies are
 * all of them.
 */
unsigned gpu_symmetric_distances(const struct gpu_shape *shape, const struct gpu_tuning *tuning);
size_t gpu_symmetric_size(const struct gpu_shape *shape, enum precision precision); /* of one */

/* The work after a force: accelerations from the partial sums, then the moves of a pass, then the
 * sources for the next force. */
struct gpu_move_call {
    struct gpu_shape shape;
    struct gpu_interaction interaction;
    struct gpu_state state;
    struct gpu_units units;
    const double *partial;
    unsigned slots;         /* 0: the accelerations of the last call hold */
    struct stage_pass pass; /* but for its force */
    void *sources;
    unsigned long long *non_finite; /* the lowest index whose state is not finite */
    cudaStream_t stream;
};

cudaError_t gpu_move(const struct gpu_move_call *call);

/* Sources of all bodies, padding too, from the state. */
cudaError_t gpu_pack(const struct gpu_shape *shape, const struct gpu_interaction *interaction,
                     const struct gpu_state *state, const struct gpu_units *units, void *sources,
                     cudaStream_t stream);

/* Many steps of systems of up to GPU_RESIDENT_BODIES bodies, one block for each; the block keeps
 * its system. */
struct gpu_resident_call {
    struct gpu_shape shape;
    struct gpu_interaction interaction;
    struct gpu_state state;
    struct gpu_units units;
    uint64_t steps;
    bool current; /* the accelerations are a(x) */
    struct stage_program program;
    unsigned long long *non_finite;
    struct gpu_tuning tuning;
    cudaStream_t stream;
};

cudaError_t gpu_resident(const struct gpu_resident_call *call);

/* phi and psi from the partial sums of gpu_potentials(), whose sources had masses in units of
 * unit_mass[systems]; NULL: 1. */
cudaError_t gpu_finish_potentials(const struct gpu_shape *shape, double G, const double *unit_mass,
                                  const double *partial, unsigned slots, double *phi, double *psi,
                                  cudaStream_t stream);

/* The sums of struct conserved, by trees whose shape depends on the count alone. */
enum {
    GPU_SUM_MASS,
    GPU_SUM_KINETIC,
    GPU_SUM_POTENTIAL,
    GPU_SUM_VIRIAL,
    GPU_SUM_MOMENTUM,
    GPU_SUM_ANGULAR_MOMENTUM = GPU_SUM_MOMENTUM + 3,
    GPU_SUM_CENTER = GPU_SUM_ANGULAR_MOMENTUM + 3,
    GPU_SUM_INTERNAL = GPU_SUM_CENTER + 3, /* 1/2 sum m |v - V|^2, V that of these bodies */
    GPU_SUM_COUNT
};

size_t gpu_conserved_blocks_count(const struct gpu_shape *shape); /* doubles in `blocks` */
/* Sums of blocks of bodies; every device writes those of its own bodies. */
cudaError_t gpu_conserved_blocks(const struct gpu_shape *shape, const struct gpu_state *state,
                                 const double *phi, const double *psi, double *blocks,
                                 cudaStream_t stream);
/* sums[systems][GPU_SUM_COUNT] from all blocks. */
cudaError_t gpu_conserved_systems(const struct gpu_shape *shape, const double *blocks, double *sums,
                                  cudaStream_t stream);

/* Runs a number of operations of one kind, a multiple of GPU_RATE_OPERATIONS, in every thread of
 * `blocks` blocks of GPU_RATE_THREADS. `out` is not written. */
enum gpu_operation {
    GPU_OPERATION_SINGLE,   /* fp32 multiply-add: what a multiprocessor issues at most */
    GPU_OPERATION_DOUBLE,   /* fp64 multiply-add */
    GPU_OPERATION_ESTIMATE, /* estimate of 1/sqrt(x) in fp32 */
    GPU_OPERATIONS
};

enum { GPU_RATE_OPERATIONS = 8192, GPU_RATE_THREADS = 256 };

cudaError_t gpu_rate(enum gpu_operation operation, unsigned blocks, unsigned operations,
                     double *out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
