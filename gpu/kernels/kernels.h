/*
 * The kernels, as the host calls them. A launch queues work on a stream and returns at once, with
 * the error of the launch alone. Pointers within the arguments point into the device's memory.
 *
 * The order of a body's sum over j depends on the number of bodies and on nothing else. j goes up
 * through segments of gpu_shape.segment bodies, whose sums are added in fp64 in ascending order;
 * within a segment, fp32 terms are summed by chunks of GPU_CHUNK bodies, and the chunks' sums in a
 * pair of floats. So the bits are the same for every kernel but `symmetric`, for every block, tile
 * and split, for one system or many, on one device or several. `portable` has one sum for each
 * body, as CPUs have it.
 */
#ifndef ORRERY_GPU_KERNELS_H
#define ORRERY_GPU_KERNELS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog.h"
#include "external/field.h"
#include "force/force-options.h"
#include "integrator/stage-program.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GPU_CHUNK = 256,       /* bodies j whose terms are summed before a wider sum takes the result */
    GPU_DUE_SEGMENT = 128, /* bodies of a segment in gpu_due_sum() */
    GPU_GRANULE = 32, /* sums go over a multiple of this number of bodies, for unrolled loops */
    GPU_MAX_SEGMENTS = 32,     /* segments of the sum of one body, at most */
    GPU_OBSERVER_BLOCK = 256,  /* bodies whose mass, energies and momenta one block adds up */
    GPU_WARP = 32,             /* threads that run in lock step */
    GPU_MAX_BLOCK = 1024,      /* threads */
    GPU_MAX_SHARED = 48 << 10, /* bytes of shared memory that every block may have */
    GPU_STEP_THREADS = 512,    /* threads of a block of gpu_step(), at most */
    GPU_FLOATS_FROM = 33       /* bodies of a system from which gpu_potentials_in_floats() pays */
};

enum gpu_space {
    GPU_SPACE_SOFT,  /* open space; eps is so large that 1/sqrt(r^2 + eps^2) is always finite */
    GPU_SPACE_SHARP, /* open space; r^2 + eps^2 may be 0 */
    GPU_SPACE_PERIODIC,
    GPU_SPACE_COUNT
};

/* The bodies on a device: `systems` systems, which start `stride` bodies apart. A system has
 * `count` bodies and, behind them, padding without mass. The device computes and moves bodies
 * [first, last) of every system. The sum over j has `segments` segments of `segment` bodies. */
struct gpu_shape {
    uint32_t systems, count, stride;
    uint32_t first, last;
    uint32_t segment, segments;
};

/* Constants of the pair terms in fp32, in the units of source_single and source_mixed. */
struct gpu_interaction_single {
    float eps2, box, inverse_box;
};

/* Constants of the pair terms in fp64, in the units of the config. */
struct gpu_interaction_double {
    double eps2, box, inverse_box;
};

/*
 * Constants of the terms of gpu_potentials_in_floats(). The unit of mass is the largest of the
 * system; that of length makes coordinates 2^20, at most, when the run begins. Within the limits
 * below the low parts of all products are in the range of floats.
 */
struct gpu_interaction_floats {
    float eps2, eps2_low;
    double inverse_length; /* a power of 2; 0: these terms cannot be used */
};

#define GPU_FLOATS_LARGEST 0x1p40   /* coordinate, and eps */
#define GPU_FLOATS_LIGHTEST 0x1p-50 /* mass that is not 0 */
#define GPU_FLOATS_LEAST 0x1p-100f  /* r^2 + eps^2 */

struct gpu_interaction {
    enum precision precision;
    enum gpu_space space;
    int equal_masses; /* all bodies of a system have one mass: terms are not multiplied by it, since
                         it is 1 in the system's unit */
    struct gpu_interaction_single scaled;
    struct gpu_interaction_double full;
    struct gpu_interaction_floats floats;
    double inverse_length; /* scaled x = x inverse_length; a power of 2, or 1 / box */
    double padding; /* x, y and z of the padding's bodies, in scaled units (fp64: in those of the
                       config) */
};

/* The state of the bodies in fp64: arrays of systems x stride. */
struct gpu_state {
    double *m, *x, *y, *z, *vx, *vy, *vz, *ax, *ay, *az;
    double *registers[STAGE_REGISTERS][3]; /* vectors between the stages of a step; NULL: none */
};

/* The units of the masses in a force kernel and of its sums: arrays with an element for each
 * system. */
struct gpu_units {
    const double *mass;   /* mass in a sum = mass of the body / this; NULL: 1 */
    const double *factor; /* acceleration = factor x sum */
};

/* External fields, whose list is on the device. */
struct gpu_fields {
    struct field *list;
    size_t count;     /* 0: none */
    double center[3]; /* the point that the virial of the fields is taken about */
};

/* Returns the number of slots (partial sums of a body) that are filled if `split` blocks share its
 * segments. The first block adds up its segments in order, in one slot; each of the others leaves
 * every segment in a slot of its own, for the next kernel to add. */
static inline unsigned gpu_slot_count(unsigned segments, unsigned split)
{
    return segments - segments / split + 1;
}

/* A force evaluation. The sums go to `partial`, an array [slot][component][system][body of the
 * device]. The slots, whose number the call puts into *slots, are to be added in order. */
struct gpu_sum_call {
    struct gpu_shape shape;
    struct gpu_interaction interaction;
    const void *sources;
    double *partial;
    void *sides;        /* array for gpu_symmetric() only: the sums of pairs of tiles */
    unsigned distances; /* the number of distances between tiles for which `sides` has room */
    struct gpu_tuning tuning;
    cudaStream_t stream;
    /* Tells between launches whether the launches that are left are not wanted any more; NULL: all
     * are. */
    bool (*stopped)(void *context);
    void *context;
    /* If `at_once` is not NULL, nothing is launched; it takes the number of blocks of the launch
     * that a multiprocessor would run at once. */
    unsigned *at_once;
};

size_t gpu_source_size(enum precision precision);

/* gpu_simt(), gpu_tiled() and so on launch the kernels of the catalog for one force evaluation. */
#define GPU_KERNEL(id, name, ...)                                                                  \
    cudaError_t gpu_##name(const struct gpu_sum_call *call, unsigned *slots);
#include "catalog.inc"

/* The kernels of textbook.cu and ladder.cu, for fp32 and softened open space. Their sums have three
 * components, but four for gpu_with_potential() and five for gpu_textbook_arrays(), which uses the
 * last two as room for its arrays and needs all bodies of a system. The loop over a tile is
 * unrolled 1, 2, 4, 8 or 16 times, as the name says. */
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

/* Sums, as two components, phi / -G = sum_j m_j / h and psi / -G = sum_j m_j r^2 / h^3 with h^2 =
 * r^2 + eps^2: the potential, and the part of a body in the virial. Whatever the precision of the
 * run, it takes interaction.full and sources in double. */
cudaError_t gpu_potentials(const struct gpu_sum_call *call, unsigned *slots);
/* Does the work of gpu_potentials() in open space with pairs of floats, from the sources of
 * gpu_pack_floats(). Sums with a pair or a body outside the range of its terms are NaN. */
cudaError_t gpu_potentials_in_floats(const struct gpu_sum_call *call, unsigned *slots);
/* Does the work of gpu_potentials() with the bits of the CPU's kernel `portable`. */
cudaError_t gpu_portable_potentials(const struct gpu_sum_call *call, unsigned *slots);

/*
 * gpu_symmetric() takes each pair of tiles once, by Newton's third law. `sides` takes the sums of
 * both tiles, for `distances` distances between tiles at a time; the fewer it has room for, the
 * more often they are reduced. The stride must be a multiple of the catalog's padding, and the
 * device must compute all bodies. The functions below return the number of distances of a system,
 * and the bytes that `sides` needs for one of them.
 */
unsigned gpu_symmetric_distances(const struct gpu_shape *shape, const struct gpu_tuning *tuning);
size_t gpu_symmetric_size(const struct gpu_shape *shape, enum precision precision);

/* The work after a force: accelerations from the partial sums, then the moves of a pass, then the
 * sources for the next force. */
struct gpu_move_call {
    struct gpu_shape shape;
    struct gpu_interaction interaction;
    struct gpu_state state;
    struct gpu_units units;
    const double *partial;
    unsigned slots;           /* slots of `partial`; 0: the accelerations in the state hold */
    struct gpu_fields fields; /* their accelerations are added */
    struct stage_pass pass;   /* its kicks and drifts; its force is not computed */
    bool turns;               /* the frame rotates: `drifts` replace the pass's drifts */
    struct field_drift drifts[STAGE_PASS_MOVES][2];
    void *sources;
    unsigned long long *non_finite; /* takes the lowest index of a body that is not finite */
    cudaStream_t stream;
};

cudaError_t gpu_move(const struct gpu_move_call *call);

/* A force and the work after it in one launch. A block has whole sums: it computes those of
 * `bodies` bodies, with several threads for each, and moves these bodies. Other blocks still read
 * the sources meanwhile, so move.sources, the new ones, must be another array. */
struct gpu_step_call {
    struct gpu_move_call move; /* without fields; its pass has no registers; no partial sums */
    const void *sources;
    unsigned bodies; /* of a block, up to GPU_STEP_THREADS */
    bool early;      /* the kernel may begin before the one before it in the stream ends */
};

cudaError_t gpu_step(const struct gpu_step_call *call);

/* Makes the sources (bodies as the force kernels read them) of all bodies, padding too, from the
 * state. */
cudaError_t gpu_pack(const struct gpu_shape *shape, const struct gpu_interaction *interaction,
                     const struct gpu_state *state, const struct gpu_units *units, void *sources,
                     cudaStream_t stream);

/* Makes the sources of gpu_potentials_in_floats(). */
extern const size_t gpu_source_floats_size;
cudaError_t gpu_pack_floats(const struct gpu_shape *shape,
                            const struct gpu_interaction *interaction,
                            const struct gpu_state *state, const struct gpu_units *units,
                            void *sources, cudaStream_t stream);

/* Many steps of systems of up to GPU_RESIDENT_BODIES bodies. Each system stays in one block, which
 * may hold several. A thread has one body, or two if tuning.bodies is more than 1: with the same
 * bits. */
struct gpu_resident_call {
    struct gpu_shape shape;
    struct gpu_interaction interaction;
    struct gpu_state state;
    struct gpu_units units;
    uint64_t steps;
    bool current; /* the accelerations in `state` are those of its positions at the start */
    struct gpu_fields fields; /* their accelerations are added; the frame does not turn */
    struct stage_program program;
    unsigned long long *non_finite;
    struct gpu_tuning tuning;
    cudaStream_t stream;
};

cudaError_t gpu_resident(const struct gpu_resident_call *call);

/* Computes the potential phi and psi, for the virial, from the partial sums of gpu_potentials(),
 * whose sources had masses in units of unit_mass[system] (NULL: of 1), and lengths in units of 1 /
 * inverse_length. */
cudaError_t gpu_finish_potentials(const struct gpu_shape *shape, double G, const double *unit_mass,
                                  double inverse_length, const double *partial, unsigned slots,
                                  double *phi, double *psi, cudaStream_t stream);

/* Computes phi and psi in double for each body whose phi or psi is not finite. */
cudaError_t gpu_repeat_potentials(const struct gpu_shape *shape,
                                  const struct gpu_interaction *interaction,
                                  const struct gpu_state *state, double G, double *phi, double *psi,
                                  cudaStream_t stream);

/* Adds the potentials of external fields to phi, and (x - center) . a of their accelerations a to
 * psi, for the device's bodies. */
cudaError_t gpu_add_potentials(const struct gpu_shape *shape, const struct gpu_fields *fields,
                               const struct gpu_state *state, double *phi, double *psi,
                               cudaStream_t stream);

/* The indices of the sums from which energies, momenta and the virial of a system are made. They
 * are added in trees whose shape depends on the number of bodies alone. */
enum {
    GPU_SUM_MASS,
    GPU_SUM_KINETIC,
    GPU_SUM_POTENTIAL,
    GPU_SUM_VIRIAL,
    GPU_SUM_MOMENTUM,
    GPU_SUM_ANGULAR_MOMENTUM = GPU_SUM_MOMENTUM + 3,
    GPU_SUM_CENTER = GPU_SUM_ANGULAR_MOMENTUM + 3,
    GPU_SUM_INTERNAL = GPU_SUM_CENTER + 3, /* 1/2 sum m |v - V|^2, V their mean velocity */
    GPU_SUM_COUNT
};

size_t gpu_conserved_blocks_count(const struct gpu_shape *shape); /* doubles in `blocks` */
/* Sums mass, energies and momenta over blocks of GPU_OBSERVER_BLOCK bodies; every device writes the
 * sums of its own bodies. */
cudaError_t gpu_conserved_blocks(const struct gpu_shape *shape, const struct gpu_state *state,
                                 const double *phi, const double *psi, double *blocks,
                                 cudaStream_t stream);
/* Adds the sums of all blocks, into sums[systems][GPU_SUM_COUNT]. */
cudaError_t gpu_conserved_systems(const struct gpu_shape *shape, const double *blocks, double *sums,
                                  cudaStream_t stream);

/* The sums for some bodies of one system, by all its bodies: their accelerations and, if
 * `inverse_speed` is not 0, the jerks, which are for open space and not for single precision. */
struct gpu_due_call {
    struct gpu_shape shape; /* one system, with segments of GPU_DUE_SEGMENT bodies */
    struct gpu_interaction interaction;
    struct gpu_state state; /* masses in the system's unit, positions, and velocities for jerks */
    double inverse_speed;   /* scaled velocity = velocity x inverse_speed; 0: no jerks */
    double acceleration, jerk; /* factors that make accelerations and jerks of the sums */
    void *sources;             /* [stride] bodies of gpu_moving_size() bytes with jerks, else of
                                  gpu_source_size() */
    const uint32_t *due;       /* [count] indices of the bodies that are due */
    uint32_t count;
    uint32_t room; /* bodies that are due for which `partial` has room: [room][6 or 3][segments] */
    double *partial;
    double *results; /* takes the sums, [6 or 3][count] */
    cudaStream_t stream;
};

size_t gpu_moving_size(void);
/* gpu_due_pack() makes the sources of all bodies, padding too, from the state; gpu_due_sum()
 * computes the sums for the bodies that are due. */
cudaError_t gpu_due_pack(const struct gpu_due_call *call);
cudaError_t gpu_due_sum(const struct gpu_due_call *call);

/* The prediction of the bodies of one system, by force/jerk.h or, without jerks, by x +
 * h v, from the state of each body at a time of its own, which the device keeps. */
struct gpu_predict_call {
    uint32_t count, stride;
    bool jerks;
    double *kept; /* [13 or 7][stride]: times, positions, velocities and, with jerks, accelerations
                     and jerks */
    /* Before the prediction, new states are taken of `changes` bodies, all at the time `then`:
     * positions and velocities moved[6][changes] and, with jerks, accelerations and jerks
     * forces[6][changes]. */
    const uint32_t *changed; /* [changes] indices of these bodies; NULL: 0, 1, ... */
    uint32_t changes;
    const double *moved, *forces;
    double then, now, tick; /* h = (now - time) tick */
    double *at; /* [6 or 3][stride]: takes the positions and, with jerks, the velocities at `now` */
    cudaStream_t stream;
};

cudaError_t gpu_predict(const struct gpu_predict_call *call);

/* gpu_rate() runs `operations` operations of one kind, a multiple of GPU_RATE_OPERATIONS, in every
 * thread of `blocks` blocks of GPU_RATE_THREADS threads. Nothing is ever written to `out`. */
enum gpu_operation {
    GPU_OPERATION_SINGLE,   /* fp32 multiply-add, of which a multiprocessor issues the most */
    GPU_OPERATION_DOUBLE,   /* fp64 multiply-add */
    GPU_OPERATION_ESTIMATE, /* estimate of 1/sqrt(x) in fp32 */
    GPU_OPERATIONS
};

enum { GPU_RATE_OPERATIONS = 1024, GPU_RATE_THREADS = 256 };

cudaError_t gpu_rate(enum gpu_operation operation, unsigned blocks, unsigned operations,
                     double *out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
