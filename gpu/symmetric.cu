/*
 * Newton's third law. A system is cut into T tiles in a ring; a block lets tile I meet tile I + d,
 * for the distances d = 0 ... T/2. What either tile gets goes to a place of its own, and a second
 * kernel adds these in the order of distances: no atomics, and the same bits whatever ran first.
 *
 * A warp keeps some bodies of tile I in the registers of every lane, and meets tile I + d by groups
 * of 32 bodies in 32 turns. In turn k lane l meets body l + k of the group, whose place and mass it
 * reads from shared memory, where a group stands twice so that l + k needs no wrapping; the sum for
 * that body travels on from lane to lane and is home after the last turn. The warps of a block take
 * the groups in turn, so that two never add to one body at once.
 */
#include "launch.cuh"
#include "sum.cuh"

enum {
    WARPS = 4,
    THREADS = WARPS * GPU_WARP,
    GROUPS = 8, /* of a tile in shared memory at a time */
    STAGE = GROUPS * GPU_WARP,
    UNROLL = 4 /* turns */
};
static_assert((int)STAGE == (int)GPU_CHUNK, "a stage is a chunk of the sums of tile I");

/* As many bodies a lane as the registers hold. */
template <class law> struct tile_of {
    enum { LANE_BODIES = sizeof(typename law::real) == 8 ? 4 : 8, SIZE = THREADS * LANE_BODIES };
};
static_assert((int)tile_of<gravity_single<GPU_SPACE_SOFT>>::SIZE <= (int)GPU_SYMMETRIC_TILE, "");

/* At distance T/2 of an even T every pair would meet twice. */
static __host__ __device__ __forceinline__ bool tiles_meet(unsigned tiles, unsigned tile,
                                                           unsigned distance)
{
    return 2 * distance < tiles || (2 * distance == tiles && tile < distance);
}

/* Where the sums of a distance and a side (0: tile I, 1: tile I + d) start. */
static __host__ __device__ __forceinline__ size_t side_start(const struct gpu_shape &shape,
                                                             unsigned distance, unsigned side)
{
    return (2 * (size_t)distance + side) * 3 * shape.systems * shape.stride;
}

/* A stage of the other tile: its groups, each twice, and what its bodies get. */
template <class law> struct group_stage {
    typename law::source groups[GROUPS][2 * GPU_WARP];
    wide_sum<typename law::real> sums[GROUPS][GPU_WARP][3];

    __device__ __forceinline__ void load(const typename law::source *__restrict__ bodies)
    {
        for (unsigned k = threadIdx.x; k < STAGE; k += THREADS) {
            const unsigned group = k / GPU_WARP, lane = k % GPU_WARP;
            groups[group][lane] = groups[group][lane + GPU_WARP] = bodies[k];
            for (int c = 0; c < 3; c++)
                sums[group][lane][c] = {};
        }
    }

    __device__ __forceinline__ void store(typename law::real *to, size_t length) const
    {
        for (unsigned k = threadIdx.x; k < STAGE; k += THREADS)
            for (int c = 0; c < 3; c++)
                to[c * length + k] =
                    (typename law::real)sums[k / GPU_WARP][k % GPU_WARP][c].value();
    }
};

/* The bodies of one lane and what they get: in this stage, in this tile. */
template <class law, enum gpu_space space>
struct lane {
    enum { BODIES = tile_of<law>::LANE_BODIES }; typedef typename law::real real;
    typename law::source body[BODIES]; real chunk[BODIES][3], sum[BODIES][3];

    __device__ __forceinline__ void load(const typename law::source *__restrict__ bodies){
#pragma unroll
        for (int b = 0; b < BODIES; b++){ body[b] = bodies[b * GPU_WARP];
#pragma unroll
                                          for (int c = 0; c < 3; c++) chunk[b][c] = sum[b][c] = 0; }
}

/* 32 turns with a group; `back` is what this lane's body of the group gets. */
__device__ __forceinline__ void meet(const typename law::source *group, unsigned own_lane,
                                     const typename law::settings &settings, real *back)
{
    const unsigned next = (own_lane + 1) % GPU_WARP;
    const typename law::source *other = group + own_lane;
#pragma unroll 1
    for (unsigned turn = 0; turn < GPU_WARP; turn += UNROLL, other += UNROLL) {
#pragma unroll
        for (unsigned u = 0; u < UNROLL; u++) {
            const typename law::source j = other[u];
#pragma unroll
            for (int b = 0; b < BODIES; b++)
                mutual<law, space>(body[b], j, settings, chunk[b], back);
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
}
;

template <class law, enum gpu_space space>
static __global__ void __launch_bounds__(THREADS, sizeof(typename law::source) == 16 ? 4 : 3)
    meet_tiles(const struct gpu_shape shape, const typename law::settings settings,
               const typename law::source *__restrict__ sources,
               typename law::real *__restrict__ sides, const unsigned from,
               const unsigned distances)
{
    enum { TILE = tile_of<law>::SIZE };
    const unsigned tiles = shape.stride / TILE;
    const unsigned tile = blockIdx.x % tiles;
    const unsigned distance = from + blockIdx.x / tiles % distances;
    const size_t start = (size_t)(blockIdx.x / tiles / distances) * shape.stride;
    if (!tiles_meet(tiles, tile, distance))
        return;
    const size_t length = (size_t)shape.systems * shape.stride;
    const unsigned warp = threadIdx.x / GPU_WARP, own_lane = threadIdx.x % GPU_WARP;
    const size_t own = start + tile * TILE + warp * (TILE / WARPS) + own_lane;
    const size_t others = start + (tile + distance) % tiles * TILE;
    group_stage<law> &shared = *(group_stage<law> *)shared_memory();
    lane<law, space> mine;
    mine.load(sources + own);
    for (unsigned first = 0; first < TILE; first += STAGE) {
        __syncthreads();
        shared.load(sources + others + first);
        for (unsigned turn = 0; turn < GROUPS; turn++) {
            const unsigned group = (warp * (GROUPS / WARPS) + turn) % GROUPS;
            typename law::real back[3] = {};
            __syncthreads();
            mine.meet(shared.groups[group], own_lane, settings, back);
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

/* Adds distances [from, from + distances) to the sums of every body. */
template <class law>
static __global__ void __launch_bounds__(THREADS)
    collect(const struct gpu_shape shape, const typename law::real *__restrict__ sides,
            double *__restrict__ partial, const unsigned from, const unsigned distances)
{
    enum { TILE = tile_of<law>::SIZE };
    const size_t n = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (n >= shape_length(shape))
        return;
    const unsigned body = n % shape_range(shape);
    const unsigned tiles = shape.stride / TILE, tile = body / TILE;
    const size_t length = (size_t)shape.systems * shape.stride;
    const size_t place = n / shape_range(shape) * shape.stride + body;
    double sum[3];
    for (int c = 0; c < 3; c++)
        sum[c] = from == 0 ? 0 : partial[c * shape_length(shape) + n];
    for (unsigned d = from; d < from + distances; d++)
        for (unsigned side = 0; side < 2; side++) {
            const unsigned first = side == 0 ? tile : (tile + tiles - d) % tiles;
            if ((side == 1 && d == 0) || !tiles_meet(tiles, first, d))
                continue;
            const typename law::real *part = sides + side_start(shape, d - from, side) + place;
            for (int c = 0; c < 3; c++)
                sum[c] += (double)part[c * length];
        }
    for (int c = 0; c < 3; c++)
        partial[c * shape_length(shape) + n] = sum[c];
}

extern "C" unsigned gpu_symmetric_distances(const struct gpu_shape *shape, enum precision precision)
{
    unsigned tile = tile_of<gravity_single<GPU_SPACE_SOFT>>::SIZE;
    if (precision == PRECISION_DOUBLE)
        tile = tile_of<gravity_double<GPU_SPACE_SOFT>>::SIZE;
    return shape->stride / tile / 2 + 1;
}

extern "C" size_t gpu_symmetric_size(const struct gpu_shape *shape, enum precision precision)
{
    return 6 * (size_t)shape->systems * shape->stride *
           (precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float));
}

template <class law, enum gpu_space space>
static cudaError_t meet_and_collect(const struct gpu_sum_call *call, unsigned from,
                                    unsigned distances)
{
    typedef typename law::real real;
    const struct gpu_shape &shape = call->shape;
    const size_t tiles = shape.stride / tile_of<law>::SIZE;
    cudaError_t error =
        launch(call->stream, shape.systems * distances * tiles, THREADS, sizeof(group_stage<law>),
               meet_tiles<law, space>, shape, settings_of<law>(call->law),
               (const typename law::source *)call->sources, (real *)call->sides, from, distances);
    if (error != cudaSuccess)
        return error;
    return launch(call->stream, groups_of(shape_length(shape), THREADS), THREADS, 0, collect<law>,
                  shape, (const real *)call->sides, call->partial, from, distances);
}

extern "C" cudaError_t gpu_symmetric(const struct gpu_sum_call *call, unsigned *slots)
{
    *slots = 1;
    return with_gravity(call->law, [&](auto gravity, auto space) {
        const unsigned all = gpu_symmetric_distances(&call->shape, call->law.precision);
        cudaError_t error = cudaSuccess;
        for (unsigned from = 0; from < all && error == cudaSuccess; from += call->distances)
            error = meet_and_collect<decltype(gravity), space.value>(
                call, from, min(call->distances, all - from));
        return error;
    });
}
