/*
 * The kernel that the others are compared with: one thread for each body, and every thread reads
 * all bodies from global memory. The kernels `tiled` and `blocked` must give the same bits.
 */
#ifndef ORRERY_GPU_SIMT_CUH
#define ORRERY_GPU_SIMT_CUH

#include "launch.cuh"
#include "sum.cuh"

/* The kernel has no launch bounds: without them the assembler takes few registers; with them, as
 * many as they allow, or too few. */
template <class terms>
static __global__ void simt(const struct gpu_shape shape, const typename terms::settings settings,
                            const typename terms::source *__restrict__ sources,
                            double *__restrict__ partial)
{
    const unsigned groups = (shape_range(shape) + blockDim.x - 1) / blockDim.x;
    const unsigned system = blockIdx.x / groups;
    const unsigned i = shape.first + blockIdx.x % groups * blockDim.x + threadIdx.x;
    if (i >= min(shape.last, shape.count))
        return;
    const typename terms::source *bodies = sources + (size_t)system * shape.stride;
    body_sums<terms, 1> sums;
    sums.body[0] = bodies[i];
    sums.index[0] = i;
    for (unsigned k = 0; k < shape.segments; k++) {
        const unsigned begin = k * shape.segment;
        const unsigned length = min(shape.segment, shape_extent(shape) - begin);
        sums.start_segment();
        sums.add_chunks(bodies + begin, begin, length, 0, true, settings);
        sums.end_segment(0, partial + shape_index(shape, system, i), shape_length(shape), k > 0);
    }
}

template <class terms>
static cudaError_t start_simt(const struct gpu_sum_call *call, unsigned *slots)
{
    const unsigned block = (unsigned)call->tuning.block;
    const size_t groups = groups_of(shape_range(call->shape), block);
    *slots = 1;
    return launch_sums(call, call->shape.systems * groups, { block, most_threads<terms>(GPU_SIMT) },
                       0, simt<terms>, call->shape, settings_of<terms>(call->interaction),
                       (const typename terms::source *)call->sources, call->partial);
}

#endif
