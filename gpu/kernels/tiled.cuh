/*
 * The kernel with bodies in shared memory: the threads of a block, each with a body of its own,
 * load a tile of other bodies there together, and then each thread reads all of it (Nyland, Harris
 * & Prins 2007, GPU Gems 3, chapter 31).
 */
#ifndef ORRERY_GPU_TILED_CUH
#define ORRERY_GPU_TILED_CUH

#include "launch.cuh"
#include "sum.cuh"

template <class terms>
static __global__ void __launch_bounds__(most_threads<terms>(GPU_TILED))
    tiled(const struct gpu_shape shape, const typename terms::settings settings,
          const typename terms::source *__restrict__ sources, double *__restrict__ partial,
          const unsigned tile_size)
{
    const unsigned groups = (shape_range(shape) + blockDim.x - 1) / blockDim.x;
    const unsigned system = blockIdx.x / groups;
    const unsigned i = shape.first + blockIdx.x % groups * blockDim.x + threadIdx.x;
    const typename terms::source *bodies = sources + (size_t)system * shape.stride;
    typename terms::source *tile = (typename terms::source *)shared_memory();
    body_sums<terms, 1> sums;
    sums.body[0] = bodies[min(i, shape.stride - 1)];
    sums.index[0] = i;
    for (unsigned k = 0; k < shape.segments; k++) {
        sums.start_segment();
        sums.add_tiles(bodies, k * shape.segment, min((k + 1) * shape.segment, shape_extent(shape)),
                       tile, tile_size, settings);
        if (i < min(shape.last, shape.count))
            sums.end_segment(0, partial + shape_index(shape, system, i), shape_length(shape),
                             k > 0);
    }
}

template <class terms>
static cudaError_t start_tiled(const struct gpu_sum_call *call, unsigned *slots)
{
    const unsigned block = (unsigned)call->tuning.block;
    const unsigned tile = (unsigned)call->tuning.tile;
    const size_t groups = groups_of(shape_range(call->shape), block);
    *slots = 1;
    return launch_sums(call, call->shape.systems * groups,
                       { block, most_threads<terms>(GPU_TILED) },
                       tile * sizeof(typename terms::source), tiled<terms>, call->shape,
                       settings_of<terms>(call->interaction),
                       (const typename terms::source *)call->sources, call->partial, tile);
}

#endif
