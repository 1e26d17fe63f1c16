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

#include "force/force.h"
#include "integrator/integrator.h"
#include "tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GPU_CHUNK = 256,           /* fp32 terms that are summed before a wider sum takes them */
    GPU_GRANULE = 32,          /* bodies: j-loops are unrolled so far, arrays are padded to it */
    GPU_MAX_SEGMENTS = 32,     /* of the sum of one body */
    GPU_SYMMETRIC_TILE = 1024, /* bodies that `symmetric` pads a system to */
    GPU_MOVES = 8,             /* kicks and drifts in one launch */
    GPU_OBSERVER_BLOCK = 256,  /* bodies whose conserved sums a block adds */
    GPU_WARP = 32,             /* threads in lock step */
    GPU_MAX_BLOCK = 1024,      /* threads */
    GPU_MAX_BLOCKED = 256,     /* the same of `blocked`, which needs the registers */
    GPU_MAX_SHARED = 48 << 10, /* bytes of shared memory that every block may have */
    GPU_RESIDENT_BODIES = 512, /* the largest system that one block can keep */
    GPU_RESIDENT_ALONE = 256   /* the largest that it keeps where it is the only one */
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
struct gpu_law_single {
    float eps2, box, inverse_box;
};

/* ... and in those of the config. */
struct gpu_law_double {
    double eps2, box, inverse_box;
};

struct gpu_law {
    enum precision precision;
    enum gpu_space space;
    int equal_masses; /* every system's bodies have one mass, and `single` need not multiply */
    struct gpu_law_single scaled;
    struct gpu_law_double full;
    double inverse_length; /* of the scaled unit, a power of 2: x_scaled = x inverse_length */
    double padding;        /* where bodies without mass stand, scaled */
};

/* fp64, systems x stride each. */
struct gpu_state {
    double *m, *x, *y, *z, *vx, *vy, *vz, *ax, *ay, *az;
};

/* The units of the sums, for every system. */
struct gpu_units {
    const double *mass;   /* m_scaled = m / mass; NULL: 1 */
    const double *factor; /* acceleration = factor x sum */
};

/* A force evaluation: the sums go to `partial`, [slot][component][system][body of the device's],
 * in `*slots` slots that are to be added in order. */
struct gpu_sum_call {
    struct gpu_shape shape;
    struct gpu_law law;
    const void *sources;
    double *partial;
    void *sides;        /* of gpu_symmetric() only, as is ... */
    unsigned distances; /* ... what it has room for */
    struct gpu_tuning tuning;
    cudaStream_t stream;
};

size_t gpu_source_size(enum precision precision);

cudaError_t gpu_simt(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_tiled(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_blocked(const struct gpu_sum_call *call, unsigned *slots);

/* Those of ladder.cu: single, softened, open; the last one has four components. */
cudaError_t gpu_textbook_simt(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_textbook_tiled(const struct gpu_sum_call *call, unsigned *slots);
cudaError_t gpu_with_potential(const struct gpu_sum_call *call, unsigned *slots);

/* phi / -G and psi / -G: two components; law.full and double sources whatever the precision. */
cudaError_t gpu_potentials(const struct gpu_sum_call *call, unsigned *slots);

/*
 * Newton's third law: the tiles of a system meet once. `sides` takes what both tiles get, for
 * `distances` distances at a time; the fewer fit, the more often the sums are collected. The
 * stride must be a multiple of GPU_SYMMETRIC_TILE, and the device's bodies are all of them.
 */
unsigned gpu_symmetric_distances(const struct gpu_shape *shape, enum precision precision);
size_t gpu_symmetric_size(const struct gpu_shape *shape, enum precision precision); /* of one */
cudaError_t gpu_symmetric(const struct gpu_sum_call *call, unsigned *slots);

struct gpu_move {
    enum verb verb; /* kick or drift */
    double h;       /* coefficient x dt */
};

/* What follows a force: accelerations from the partial sums, then kicks and drifts, then the
 * sources for the next force. */
struct gpu_move_call {
    struct gpu_shape shape;
    struct gpu_law law;
    struct gpu_state state;
    struct gpu_units units;
    const double *partial;
    unsigned slots; /* 0: the accelerations of the last call hold */
    unsigned count; /* of moves */
    struct gpu_move moves[GPU_MOVES];
    void *sources;
    unsigned long long *blemish; /* the lowest index whose state is not finite */
    cudaStream_t stream;
};

cudaError_t gpu_move(const struct gpu_move_call *call);

/* Sources of all bodies, padding too, from the state. */
cudaError_t gpu_pack(const struct gpu_shape *shape, const struct gpu_law *law,
                     const struct gpu_state *state, const struct gpu_units *units, void *sources,
                     cudaStream_t stream);

/* Many steps of systems of up to GPU_RESIDENT_BODIES bodies, one block for each; the block keeps
 * its system. */
struct gpu_resident_call {
    struct gpu_shape shape;
    struct gpu_law law;
    struct gpu_state state;
    struct gpu_units units;
    uint64_t steps;
    unsigned count; /* of stages in a step */
    struct gpu_move stages[INTEGRATOR_MAX_STAGES];
    unsigned long long *blemish;
    struct gpu_tuning tuning;
    cudaStream_t stream;
};

cudaError_t gpu_resident(const struct gpu_resident_call *call);

/* phi and psi from the partial sums of gpu_potentials(). */
cudaError_t gpu_finish_potentials(const struct gpu_shape *shape, double G, const double *partial,
                                  unsigned slots, double *phi, double *psi, cudaStream_t stream);

/* The sums of struct conserved, by trees whose shape depends on the count alone. */
enum {
    GPU_SUM_MASS,
    GPU_SUM_KINETIC,
    GPU_SUM_POTENTIAL,
    GPU_SUM_VIRIAL,
    GPU_SUM_MOMENTUM,
    GPU_SUM_ANGULAR_MOMENTUM = GPU_SUM_MOMENTUM + 3,
    GPU_SUM_CENTER = GPU_SUM_ANGULAR_MOMENTUM + 3,
    GPU_SUM_COUNT = GPU_SUM_CENTER + 3
};

size_t gpu_conserved_blocks_count(const struct gpu_shape *shape); /* doubles in `blocks` */
/* Sums of blocks of bodies; every device writes those of its own bodies. */
cudaError_t gpu_conserved_blocks(const struct gpu_shape *shape, const struct gpu_state *state,
                                 const double *phi, const double *psi, double *blocks,
                                 cudaStream_t stream);
/* sums[systems][GPU_SUM_COUNT] from all blocks. */
cudaError_t gpu_conserved_systems(const struct gpu_shape *shape, const double *blocks, double *sums,
                                  cudaStream_t stream);

/* GPU_RATE_OPERATIONS of one kind in every thread of `blocks` blocks of GPU_RATE_THREADS. `out` is
 * not written. */
enum gpu_operation {
    GPU_OPERATION_SINGLE,   /* fp32 multiply-add: what a multiprocessor issues at most */
    GPU_OPERATION_DOUBLE,   /* fp64 multiply-add */
    GPU_OPERATION_ESTIMATE, /* estimate of 1/sqrt(x) in fp32 */
    GPU_OPERATIONS
};

enum { GPU_RATE_OPERATIONS = 8192, GPU_RATE_THREADS = 256 };

cudaError_t gpu_rate(enum gpu_operation operation, unsigned blocks, double *out,
                     cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
