/*
 * Several bodies per thread: each body read from shared memory serves them all. Where there are too
 * few bodies for the device, blocks also share the segments of a sum; the next kernel adds them.
 */
#ifndef ORRERY_GPU_BLOCKED_CUH
#define ORRERY_GPU_BLOCKED_CUH

#include "launch.cuh"
#include "sum.cuh"

/* Blocks that a multiprocessor's registers are to hold, so that some warps can hide the latencies
 * of others: as many as a thread's bodies leave room for. */
template <class law, int BODIES> static constexpr unsigned blocks_at_once()
{
    return sizeof(typename law::source) > 16 || law::SUMS * BODIES > 12 ? 2 : BODIES < 4 ? 4 : 3;
}

template <class law, int BODIES>
static __global__ void __launch_bounds__(GPU_MAX_BLOCKED, blocks_at_once<law, BODIES>())
    blocked(const struct gpu_shape shape, const typename law::settings settings,
            const typename law::source *__restrict__ sources, double *__restrict__ partial,
            const unsigned tile_size, const unsigned split)
{
    const unsigned size = blockDim.x * BODIES;
    const unsigned groups = (shape_range(shape) + size - 1) / size;
    const unsigned part = blockIdx.x / groups % split;
    const unsigned system = blockIdx.x / groups / split;
    const unsigned i = shape.first + blockIdx.x % groups * size + threadIdx.x;
    const typename law::source *bodies = sources + (size_t)system * shape.stride;
    typename law::source *tile = (typename law::source *)shared_memory();
    gathering<law, BODIES> sums;
#pragma unroll
    for (int b = 0; b < BODIES; b++) {
        sums.body[b] = bodies[min(i + b * blockDim.x, shape.stride - 1)];
        sums.index[b] = i + b * blockDim.x;
    }
    const unsigned from = part * shape.segments / split, to = (part + 1) * shape.segments / split;
    for (unsigned k = from; k < to; k++) {
        sums.start_segment();
        sums.add_tiles(bodies, k * shape.segment, min((k + 1) * shape.segment, shape_extent(shape)),
                       tile, tile_size, settings);
        double *slot = split > 1 ? partial + k * law::SUMS * shape_length(shape) : partial;
#pragma unroll
        for (int b = 0; b < BODIES; b++)
            if (sums.index[b] < min(shape.last, shape.count))
                sums.end_segment(b, slot + shape_index(shape, system, sums.index[b]),
                                 shape_length(shape), split == 1 && k > 0);
    }
}

template <class law, int BODIES>
static cudaError_t start_blocked(const struct gpu_sum_call *call, unsigned *slots)
{
    const unsigned block = (unsigned)call->tuning.block, tile = (unsigned)call->tuning.tile;
    const unsigned split = min((unsigned)call->tuning.split, call->shape.segments);
    const size_t groups = groups_of(shape_range(call->shape), block * BODIES);
    *slots = split > 1 ? call->shape.segments : 1;
    return launch(call->stream, call->shape.systems * groups * split, { block, GPU_MAX_BLOCKED },
                  tile * sizeof(typename law::source), blocked<law, BODIES>, call->shape,
                  settings_of<law>(call->law), (const typename law::source *)call->sources,
                  call->partial, tile, split);
}

/* BODIES is a compile-time number: registers have no index. */
template <class law>
static cudaError_t start_bodies(const struct gpu_sum_call *call, unsigned *slots)
{
    enum { MOST = sizeof(typename law::real) == 8 ? 2 : 4 };
    switch (call->tuning.bodies) {
    case 1:
        return start_blocked<law, 1>(call, slots);
    case 2:
        return start_blocked<law, 2>(call, slots);
    default:
        return start_blocked<law, MOST>(call, slots);
    }
}

#endif
