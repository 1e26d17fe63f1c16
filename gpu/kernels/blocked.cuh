/*
 * The kernel with several bodies per thread, all of which a body j serves when it has been read
 * from shared memory. Where there are too few bodies to fill the device, `split` blocks share the
 * segments of the same sums and leave them in several slots (gpu_slot_count()), which the next
 * kernel adds.
 */
#ifndef ORRERY_GPU_BLOCKED_CUH
#define ORRERY_GPU_BLOCKED_CUH

#include "launch.cuh"
#include "sum.cuh"

template <class terms, int BODIES, int AT_ONCE>
static __global__ void __launch_bounds__(most_threads<terms>(GPU_BLOCKED), AT_ONCE)
    blocked(const struct gpu_shape shape, const typename terms::settings settings,
            const typename terms::source *__restrict__ sources, double *__restrict__ partial,
            const unsigned tile_size, const unsigned split)
{
    const unsigned size = blockDim.x * BODIES;
    const unsigned groups = (shape_range(shape) + size - 1) / size;
    const unsigned part = blockIdx.x / groups % split;
    const unsigned system = blockIdx.x / groups / split;
    const unsigned i = shape.first + blockIdx.x % groups * size + threadIdx.x;
    const typename terms::source *bodies = sources + (size_t)system * shape.stride;
    typename terms::source *tile = (typename terms::source *)shared_memory();
    body_sums<terms, BODIES> sums;
#pragma unroll
    for (int b = 0; b < BODIES; b++) {
        sums.body[b] = bodies[min(i + b * blockDim.x, shape.stride - 1)];
        sums.index[b] = i + b * blockDim.x;
    }
    const unsigned from = part * shape.segments / split, to = (part + 1) * shape.segments / split;
    const unsigned summed = shape.segments / split; /* segments added up in the first slot */
    for (unsigned k = from; k < to; k++) {
        sums.start_segment();
        sums.add_tiles(bodies, k * shape.segment, min((k + 1) * shape.segment, shape_extent(shape)),
                       tile, tile_size, settings);
        const size_t index = part > 0 ? k - summed + 1 : 0;
        double *slot = partial + index * terms::SUMS * shape_length(shape);
#pragma unroll
        for (int b = 0; b < BODIES; b++)
            if (sums.index[b] < min(shape.last, shape.count))
                sums.end_segment(b, slot + shape_index(shape, system, sums.index[b]),
                                 shape_length(shape), part == 0 && k > 0);
    }
}

template <class terms, int BODIES>
static cudaError_t start_blocked(const struct gpu_sum_call *call, unsigned *slots)
{
    constexpr struct gpu_range at_once = limits_of<terms>(GPU_BLOCKED).at_once;
    const unsigned block = (unsigned)call->tuning.block, tile = (unsigned)call->tuning.tile;
    const unsigned split = min((unsigned)call->tuning.split, call->shape.segments);
    const size_t groups = groups_of(shape_range(call->shape), block * BODIES);
    *slots = gpu_slot_count(call->shape.segments, split);
    /* If potentials are summed, too, three blocks at once have too few registers. */
    constexpr int most_at_once = terms::SUMS > 3 ? at_once.least : at_once.most;
    return with_form<at_once.least, most_at_once>(call->tuning, [&](auto form) {
        return launch_sums(
            call, call->shape.systems * groups * split, { block, most_threads<terms>(GPU_BLOCKED) },
            tile * sizeof(typename terms::source), blocked<terms, BODIES, decltype(form)::value>,
            call->shape, settings_of<terms>(call->interaction),
            (const typename terms::source *)call->sources, call->partial, tile, split);
    });
}

/* Calls start_blocked() with the number of bodies per thread as a constant: arrays with an index
 * that the compiler does not know cannot stay in registers. */
template <class terms>
static cudaError_t start_bodies(const struct gpu_sum_call *call, unsigned *slots)
{
    constexpr int most = limits_of<terms>(GPU_BLOCKED).bodies.most;
    switch (call->tuning.bodies) {
    case 1:
        return start_blocked<terms, 1>(call, slots);
    case 2:
        return start_blocked<terms, 2>(call, slots);
    default:
        return start_blocked<terms, most>(call, slots);
    }
}

#endif
