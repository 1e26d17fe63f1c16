/* Choosing a kernel's law, launching it, and finding one's place in its grid. */
#ifndef ORRERY_GPU_LAUNCH_CUH
#define ORRERY_GPU_LAUNCH_CUH

#include <cuda_runtime.h>

#include "kernels.h"
#include "pair.cuh"

/* The threads of a block, and the most that the kernel was built for: its __launch_bounds__. Beyond
 * them a device refuses the launch, and so does the executor's, which knows no registers. */
struct block_size {
    unsigned threads, most;
    block_size(unsigned threads_, unsigned most_ = GPU_MAX_BLOCK) : threads(threads_), most(most_)
    {
    }
};

template <typename... Parameters, typename... Arguments>
static cudaError_t launch(cudaStream_t stream, size_t blocks, struct block_size block,
                          size_t shared, void (*kernel)(Parameters...), Arguments... arguments)
{
    if (blocks == 0)
        return cudaSuccess;
    if (blocks > INT32_MAX || block.threads > block.most || shared > GPU_MAX_SHARED)
        return cudaErrorInvalidConfiguration;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(block.threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

static inline size_t groups_of(size_t count, size_t size)
{
    return (count + size - 1) / size;
}

/* --- the law of a call -------------------------------------------------------------------------*/

static inline const struct gpu_law_single &constants(const struct gpu_law &law,
                                                     const struct gpu_law_single *)
{
    return law.scaled;
}

static inline const struct gpu_law_double &constants(const struct gpu_law &law,
                                                     const struct gpu_law_double *)
{
    return law.full;
}

template <class law> static const typename law::settings &settings_of(const struct gpu_law &of)
{
    return constants(of, (const typename law::settings *)NULL);
}

template <enum gpu_space space> struct in_space {
    static constexpr enum gpu_space value = space;
};

/* visit(in_space<...>()) for the space of a law */
template <class Visitor>
static cudaError_t with_space(const struct gpu_law &law, const Visitor &visit)
{
    switch (law.space) {
    case GPU_SPACE_SOFT:
        return visit(in_space<GPU_SPACE_SOFT>());
    case GPU_SPACE_SHARP:
        return visit(in_space<GPU_SPACE_SHARP>());
    default:
        return visit(in_space<GPU_SPACE_PERIODIC>());
    }
}

/* visit(gravity_...<...>(), in_space<...>()) for the precision and the space of a law */
template <class Visitor>
static cudaError_t with_gravity(const struct gpu_law &law, const Visitor &visit)
{
    return with_space(law, [&](auto space) {
        switch (law.precision) {
        case PRECISION_SINGLE:
            return visit(gravity_single<space.value>(), space);
        case PRECISION_MIXED:
            return visit(gravity_mixed<space.value>(), space);
        default:
            return visit(gravity_double<space.value>(), space);
        }
    });
}

/* --- the place of a thread ---------------------------------------------------------------------*/

/* Bodies of each system that the device computes; those that it has with their padding; sums of
 * one component. */
static __host__ __device__ __forceinline__ unsigned shape_range(const struct gpu_shape &shape)
{
    return shape.last - shape.first;
}

static __host__ __device__ __forceinline__ unsigned shape_extent(const struct gpu_shape &shape)
{
    return (shape.count + GPU_GRANULE - 1) / GPU_GRANULE * GPU_GRANULE;
}

static __host__ __device__ __forceinline__ size_t shape_length(const struct gpu_shape &shape)
{
    return (size_t)shape.systems * shape_range(shape);
}

/* The sums' index of body i of a system. */
static __device__ __forceinline__ size_t shape_index(const struct gpu_shape &shape, unsigned system,
                                                     unsigned i)
{
    return (size_t)system * shape_range(shape) + (i - shape.first);
}

#endif
