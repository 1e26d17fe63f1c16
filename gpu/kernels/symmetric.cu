/*
 * The kernel that computes each pair of bodies once, for both bodies, by Newton's third law. A
 * system is cut into T tiles of bodies, numbered around a ring. A block takes tile I and tile I +
 * d, a tile pair; together the blocks take all I and the distances d = 0 ... T/2. The sums of
 * either tile go to an array of their own for each distance, and a second kernel adds these arrays
 * in the order of distances: that needs no atomics, and gives the same bits whichever block ran
 * first.
 *
 * A warp keeps some bodies of tile I in the registers of every lane, and takes tile I + d by groups
 * of 32 bodies in 32 rotations. In rotation k lane l has body l + k of the group, whose position
 * and mass it reads from shared memory, where a group stands twice so that l + k needs no wrapping;
 * the sum for that body travels on from lane to lane and is home after the last rotation. The warps
 * of a block start at different groups, so that two never add to one body at once.
 */
#include "launch.cuh"
#include "sum.cuh"

enum {
    WARPS = 4,
    THREADS = WARPS * GPU_WARP,
    GROUPS = 8, /* groups of GPU_WARP bodies that are in shared memory at a time */
    STAGE = GROUPS * GPU_WARP,
    UNROLL = 4 /* rotations that are unrolled in the inner loop */
};
static_assert((int)STAGE == (int)GPU_CHUNK, "a stage is a chunk of the sums of tile I");

/* A tile: the bodies that the threads of a block keep, BODIES for each thread. */
template <class terms, int BODIES> struct tile_of {
    static constexpr struct gpu_limits limits = limits_of<terms>(GPU_SYMMETRIC);
    enum { SIZE = THREADS * BODIES };
    static_assert(limits.block.least == THREADS && limits.block.most == THREADS &&
                      limits.tile.most == STAGE && SIZE % STAGE == 0 &&
                      kernel_facts[GPU_SYMMETRIC].padding % SIZE == 0,
                  "the catalog has the kernel as it is");
};

/* Returns how many blocks at once the registers of a multiprocessor must suffice for, which limits
 * those of a thread. If a thread has the most bodies, this is `form`, the number that the launch
 * asks for (gpu_tuning.at_once); if it has fewer, four, or two if its bodies take more than 64
 * bytes. */
template <class terms, int BODIES> static constexpr int blocks_at_once(int form)
{
    return BODIES == limits_of<terms>(GPU_SYMMETRIC).bodies.most ? form
           : BODIES * sizeof(typename terms::source) <= 64       ? 4
                                                                 : 2;
}

/* Tells whether the pair of `tile` and the tile at `distance` from it is computed. At half the way
 * around a ring of an even number of tiles only half of the pairs are: the others are these again,
 * seen from their second tile. */
static __host__ __device__ __forceinline__ bool is_tile_pair(unsigned tiles, unsigned tile,
                                                             unsigned distance)
{
    return 2 * distance < tiles || (2 * distance == tiles && tile < distance);
}

/* Returns the index at which the sums of a distance d begin, for a side of its tile pairs (0: the
 * sums of tiles I, 1: those of tiles I + d). There are three components for every body. */
static __host__ __device__ __forceinline__ size_t side_start(const struct gpu_shape &shape,
                                                             unsigned distance, unsigned side)
{
    return (2 * (size_t)distance + side) * 3 * shape.systems * shape.stride;
}

/*
 * A group of 32 bodies in shared memory, which stands there twice in a row. The lanes of a warp
 * read 32 neighbouring words of 16 bytes at once. If a body has 32 bytes, its first and second
 * words stand in separate arrays; otherwise two lanes would ask one bank of the memory for
 * different words, and wait for each other.
 */
template <class source> struct source_group {
    struct __align__(16) word
    {
        float bits[4];
    };
    enum { WORDS = sizeof(source) / sizeof(word) };
    word words[WORDS][2 * GPU_WARP];

    __device__ __forceinline__ void put(unsigned lane, const source &body)
    {
        word parts[WORDS];
        memcpy(parts, &body, sizeof body);
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            words[k][lane] = words[k][lane + GPU_WARP] = parts[k];
    }

    /* Returns the body whose first word is at `first`. */
    static __device__ __forceinline__ source get(const word *first)
    {
        word parts[WORDS];
        source body;
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            parts[k] = first[k * 2 * GPU_WARP];
        memcpy(&body, parts, sizeof body);
        return body;
    }
};

/* The groups of tile I + d that are in shared memory at a time (a stage), and the sums for their
 * bodies. */
template <class terms> struct group_stage {
    source_group<typename terms::source> groups[GROUPS];
    wide_sum<typename terms::real> sums[GROUPS][GPU_WARP][3];

    __device__ __forceinline__ void load(const typename terms::source *__restrict__ bodies)
    {
        for (unsigned k = threadIdx.x; k < STAGE; k += THREADS) {
            const unsigned group = k / GPU_WARP, lane = k % GPU_WARP;
            groups[group].put(lane, bodies[k]);
            for (int c = 0; c < 3; c++)
                sums[group][lane][c] = {};
        }
    }

    __device__ __forceinline__ void store(typename terms::real *to, size_t length) const
    {
        for (unsigned k = threadIdx.x; k < STAGE; k += THREADS)
            for (int c = 0; c < 3; c++)
                to[c * length + k] =
                    (typename terms::real)sums[k / GPU_WARP][k % GPU_WARP][c].value();
    }
};

/* The bodies of tile I that one thread keeps, and their sums: over the present stage of tile I + d
 * (`chunk`) and over the stages before it (`sum`). */
template <class terms, int BODIES> struct lane {
    typedef typename terms::real real;
    typename terms::source body[BODIES];
    real chunk[BODIES][3], sum[BODIES][3];

    __device__ __forceinline__ void load(const typename terms::source *__restrict__ bodies)
    {
#pragma unroll
        for (int b = 0; b < BODIES; b++) {
            body[b] = bodies[b * GPU_WARP];
#pragma unroll
            for (int c = 0; c < 3; c++)
                chunk[b][c] = sum[b][c] = 0;
        }
    }

    /* Adds the pairs of this thread's bodies with all bodies of a group, in 32 rotations.
     * Afterwards `back` is the sum, over the bodies of the whole warp, for body `own_lane` of the
     * group. */
    __device__ __forceinline__ void add_group(const source_group<typename terms::source> &group,
                                              unsigned own_lane,
                                              const typename terms::settings &settings, real *back)
    {
        typedef source_group<typename terms::source> others;
        const unsigned next = (own_lane + 1) % GPU_WARP;
        const typename others::word *other = group.words[0] + own_lane;
#pragma unroll 1
        for (unsigned rotation = 0; rotation < GPU_WARP; rotation += UNROLL, other += UNROLL) {
#pragma unroll
            for (unsigned u = 0; u < UNROLL; u++) {
                const typename terms::source j = others::get(other + u);
#pragma unroll
                for (int b = 0; b < BODIES; b++)
                    terms::mutual(body[b], j, settings, chunk[b], back);
#pragma unroll
                for (int c = 0; c < 3; c++)
                    back[c] = __shfl_sync(0xffffffff, back[c], next);
            }
        }
    }

    __device__ __forceinline__ void end_chunk()
    {
#pragma unroll
        for (int b = 0; b < BODIES; b++)
#pragma unroll
            for (int c = 0; c < 3; c++) {
                sum[b][c] += chunk[b][c];
                chunk[b][c] = 0;
            }
    }

    __device__ __forceinline__ void store(real *to, size_t length) const
    {
#pragma unroll
        for (int b = 0; b < BODIES; b++)
#pragma unroll
            for (int c = 0; c < 3; c++)
                to[c * length + b * GPU_WARP] = sum[b][c];
    }
};

template <class terms, int BODIES, int AT_ONCE>
static __global__ void __launch_bounds__(THREADS, AT_ONCE)
    add_tile_pairs(const struct gpu_shape shape, const typename terms::settings settings,
                   const typename terms::source *__restrict__ sources,
                   typename terms::real *__restrict__ sides, const unsigned from,
                   const unsigned distances)
{
    enum { TILE = tile_of<terms, BODIES>::SIZE };
    const unsigned tiles = shape.stride / TILE;
    const unsigned tile = blockIdx.x % tiles;
    const unsigned distance = from + blockIdx.x / tiles % distances;
    const size_t start = (size_t)(blockIdx.x / tiles / distances) * shape.stride;
    if (!is_tile_pair(tiles, tile, distance))
        return;
    const size_t length = (size_t)shape.systems * shape.stride;
    const unsigned warp = threadIdx.x / GPU_WARP, own_lane = threadIdx.x % GPU_WARP;
    const size_t own = start + tile * TILE + warp * (TILE / WARPS) + own_lane;
    const size_t others = start + (tile + distance) % tiles * TILE;
    group_stage<terms> &shared = *(group_stage<terms> *)shared_memory();
    lane<terms, BODIES> mine;
    mine.load(sources + own);
    for (unsigned first = 0; first < TILE; first += STAGE) {
        shared.load(sources + others + first);
        for (unsigned step = 0; step < GROUPS; step++) {
            const unsigned group = (warp * (GROUPS / WARPS) + step) % GROUPS;
            typename terms::real back[3] = {};
            __syncthreads();
            mine.add_group(shared.groups[group], own_lane, settings, back);
#pragma unroll
            for (int c = 0; c < 3; c++)
                shared.sums[group][own_lane][c].add(back[c]);
        }
        mine.end_chunk();
        __syncthreads();
        if (distance > 0)
            shared.store(sides + side_start(shape, distance - from, 1) + others + first, length);
    }
    mine.store(sides + side_start(shape, distance - from, 0) + own, length);
}

/* Adds to the sum of every body its sums at the distances [from, from + distances), from both
 * sides. BATCH distances are read before any is added, because a read takes as long as many
 * additions. */
template <class terms>
static __global__ void __launch_bounds__(THREADS)
    reduce_sides(const struct gpu_shape shape, const typename terms::real *__restrict__ sides,
                 double *__restrict__ partial, const unsigned tile_size, const unsigned from,
                 const unsigned distances)
{
    enum { BATCH = 4 };
    typedef typename terms::real real;
    const size_t n = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (n >= shape_length(shape))
        return;
    const unsigned body = n % shape_range(shape);
    const unsigned tiles = shape.stride / tile_size, tile = body / tile_size;
    const size_t length = (size_t)shape.systems * shape.stride;
    const size_t index = n / shape_range(shape) * shape.stride + body;
    double sum[3];
    for (int c = 0; c < 3; c++)
        sum[c] = from == 0 ? 0 : partial[c * shape_length(shape) + n];
    for (unsigned first = from; first < from + distances; first += BATCH) {
        real part[BATCH][2][3];
#pragma unroll
        for (unsigned k = 0; k < BATCH; k++)
#pragma unroll
            for (unsigned side = 0; side < 2; side++) {
                const unsigned d = first + k;
                const unsigned left = side == 0 ? tile : (tile + tiles - d) % tiles;
                const bool any =
                    d < from + distances && (side == 0 || d > 0) && is_tile_pair(tiles, left, d);
                const real *const at = sides + side_start(shape, d - from, side) + index;
#pragma unroll
                for (int c = 0; c < 3; c++)
                    part[k][side][c] = any ? at[c * length] : 0;
            }
#pragma unroll
        for (unsigned k = 0; k < BATCH; k++)
#pragma unroll
            for (int c = 0; c < 3; c++) {
                sum[c] += (double)part[k][0][c];
                sum[c] += (double)part[k][1][c];
            }
    }
    for (int c = 0; c < 3; c++)
        partial[c * shape_length(shape) + n] = sum[c];
}

extern "C" unsigned gpu_symmetric_distances(const struct gpu_shape *shape,
                                            const struct gpu_tuning *tuning)
{
    return shape->stride / (THREADS * (unsigned)tuning->bodies) / 2 + 1;
}

extern "C" size_t gpu_symmetric_size(const struct gpu_shape *shape, enum precision precision)
{
    return 6 * (size_t)shape->systems * shape->stride *
           (precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float));
}

template <class terms, int BODIES>
static cudaError_t sum_and_reduce(const struct gpu_sum_call *call, unsigned from,
                                  unsigned distances)
{
    typedef typename terms::real real;
    constexpr struct gpu_range at_once = limits_of<terms>(GPU_SYMMETRIC).at_once;
    constexpr unsigned size = tile_of<terms, BODIES>::SIZE;
    const struct gpu_shape &shape = call->shape;
    const size_t blocks = (size_t)shape.systems * distances * (shape.stride / size);
    const cudaError_t error = with_form<at_once.least, at_once.most>(call->tuning, [&](auto form) {
        constexpr int together = blocks_at_once<terms, BODIES>(decltype(form)::value);
        return launch_sums(
            call, blocks, THREADS, sizeof(group_stage<terms>),
            add_tile_pairs<terms, BODIES, together>, shape, settings_of<terms>(call->interaction),
            (const typename terms::source *)call->sources, (real *)call->sides, from, distances);
    });
    if (error != cudaSuccess || call->at_once)
        return error;
    return launch(call->stream, groups_of(shape_length(shape), THREADS), THREADS, 0,
                  reduce_sides<terms>, shape, (const real *)call->sides, call->partial, size, from,
                  distances);
}

/* Calls sum_and_reduce() with the number of bodies per thread as a constant: arrays with an index
 * that the compiler does not know cannot stay in registers. */
template <class terms>
static cudaError_t start(const struct gpu_sum_call *call, unsigned from, unsigned distances)
{
    constexpr struct gpu_range bodies = limits_of<terms>(GPU_SYMMETRIC).bodies;
    static_assert(bodies.least == 2 && (bodies.most == 4 || bodies.most == 8),
                  "a case for each number of bodies");
    switch (call->tuning.bodies) {
    case 2:
        return sum_and_reduce<terms, 2>(call, from, distances);
    case 4:
        return sum_and_reduce<terms, 4>(call, from, distances);
    default:
        return sum_and_reduce<terms, bodies.most>(call, from, distances);
    }
}

extern "C" cudaError_t gpu_symmetric(const struct gpu_sum_call *call, unsigned *slots)
{
    *slots = 1;
    return with_gravity_of_masses(call->interaction, [&](auto gravity) {
        const unsigned all = gpu_symmetric_distances(&call->shape, &call->tuning);
        cudaError_t error = cudaSuccess;
        for (unsigned from = 0; from < all && error == cudaSuccess; from += call->distances) {
            if (from > 0 && call->stopped && call->stopped(call->context))
                break;
            error = start<decltype(gravity)>(call, from, min(call->distances, all - from));
        }
        return error;
    });
}
