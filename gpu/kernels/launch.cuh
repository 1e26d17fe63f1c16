/* Functions that choose a kernel's pair terms, launch it, and find a body's index. */
#ifndef ORRERY_GPU_LAUNCH_CUH
#define ORRERY_GPU_LAUNCH_CUH

#include <cuda_runtime.h>

#include "kernels.h"
#include "pair.cuh"

/* The table of the force kernels (catalog.inc) once more, as a constant that the compiler can
 * evaluate, for launch bounds. */
static constexpr struct gpu_kernel_facts kernel_facts[] = {
#define GPU_KERNEL(id, name_, help, ...) { #name_, __VA_ARGS__ },
#include "catalog.inc"
};

/* The limits of a kernel for the precision of its terms. */
template <class terms> static constexpr struct gpu_limits limits_of(enum gpu_kernel_id kernel)
{
    return kernel_facts[kernel].limits[terms::source::PRECISION];
}

template <class terms> static constexpr unsigned most_threads(enum gpu_kernel_id kernel)
{
    return (unsigned)limits_of<terms>(kernel).block.most;
}

/* The threads of a block, and the most that the kernel was built for: its __launch_bounds__. A
 * device refuses a launch of more; launch() does, too, because the executor of validation/gpu,
 * which runs kernels on a CPU, has no registers to run out of. */
struct block_size {
    unsigned threads, most;
    block_size(unsigned threads_, unsigned most_ = GPU_MAX_BLOCK) : threads(threads_), most(most_)
    {
    }
};

/* Launches a kernel with attributes (NULL: none). */
template <typename... Parameters, typename... Arguments>
static cudaError_t launch_as(cudaLaunchAttribute *attributes, unsigned count, cudaStream_t stream,
                             size_t blocks, struct block_size block, size_t shared,
                             void (*kernel)(Parameters...), Arguments... arguments)
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
    config.attrs = attributes;
    config.numAttrs = count;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <typename... Parameters, typename... Arguments>
static cudaError_t launch(cudaStream_t stream, size_t blocks, struct block_size block,
                          size_t shared, void (*kernel)(Parameters...), Arguments... arguments)
{
    return launch_as(NULL, 0, stream, blocks, block, shared, kernel, arguments...);
}

/* Launches a kernel that, with `early`, may begin before the one before it in the stream ends
 * (programmatic dependent launch), if its code for the device waits in wait_for_kernels(). */
template <typename... Parameters, typename... Arguments>
static cudaError_t launch_early(bool early, cudaStream_t stream, size_t blocks,
                                struct block_size block, size_t shared,
                                void (*kernel)(Parameters...), Arguments... arguments)
{
    cudaFuncAttributes code;
    cudaLaunchAttribute attribute = {};
    const cudaError_t error = cudaFuncGetAttributes(&code, kernel);
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return error ? error
                 : launch_as(&attribute, early && code.ptxVersion >= WAITING_CODE, stream, blocks,
                             block, shared, kernel, arguments...);
}

/* Launches a force kernel or, if call->at_once is not NULL, asks how many of its blocks a
 * multiprocessor runs at once. */
template <typename... Parameters, typename... Arguments>
static cudaError_t launch_sums(const struct gpu_sum_call *call, size_t blocks,
                               struct block_size block, size_t shared,
                               void (*kernel)(Parameters...), Arguments... arguments)
{
    if (!call->at_once)
        return launch(call->stream, blocks, block, shared, kernel, arguments...);
    int found = 0;
    const cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, kernel, (int)block.threads, shared);
    *call->at_once = (unsigned)found;
    return error;
}

template <int number> struct constant {
    static constexpr int value = number;
};

/* Calls visit(constant<...>()) for the form of a kernel that a launch asks for. Each form is
 * compiled for a number of blocks that a multiprocessor runs at once: `least` or `most`. */
template <int least, int most, class Visitor>
static cudaError_t with_form(const struct gpu_tuning &tuning, const Visitor &visit)
{
    if (tuning.at_once == most)
        return visit(constant<most>());
    return visit(constant<least>());
}

static inline size_t groups_of(size_t count, size_t size)
{
    return (count + size - 1) / size;
}

/* --- the interaction of a call -----------------------------------------------------------------*/

static inline const struct gpu_interaction_single &
constants(const struct gpu_interaction &interaction, const struct gpu_interaction_single *)
{
    return interaction.scaled;
}

static inline const struct gpu_interaction_double &
constants(const struct gpu_interaction &interaction, const struct gpu_interaction_double *)
{
    return interaction.full;
}

static inline const struct gpu_interaction_floats &
constants(const struct gpu_interaction &interaction, const struct gpu_interaction_floats *)
{
    return interaction.floats;
}

template <class terms>
static const typename terms::settings &settings_of(const struct gpu_interaction &of)
{
    return constants(of, (const typename terms::settings *)NULL);
}

template <enum gpu_space space> struct in_space {
    static constexpr enum gpu_space value = space;
};

/* Calls visit(in_space<...>()) for the space of an interaction, which so becomes a constant for the
 * compiler. */
template <class Visitor>
static cudaError_t with_space(const struct gpu_interaction &interaction, const Visitor &visit)
{
    switch (interaction.space) {
    case GPU_SPACE_SOFT:
        return visit(in_space<GPU_SPACE_SOFT>());
    case GPU_SPACE_SHARP:
        return visit(in_space<GPU_SPACE_SHARP>());
    default:
        return visit(in_space<GPU_SPACE_PERIODIC>());
    }
}

/* Calls visit(gravity_...<...>(), in_space<...>()) for the precision and the space of an
 * interaction. */
template <class Visitor>
static cudaError_t with_gravity(const struct gpu_interaction &interaction, const Visitor &visit)
{
    return with_space(interaction, [&](auto space) {
        switch (interaction.precision) {
        case PRECISION_SINGLE:
            return visit(gravity_single<space.value>(), space);
        case PRECISION_MIXED:
            return visit(gravity_mixed<space.value>(), space);
        default:
            return visit(gravity_double<space.value>(), space);
        }
    });
}

/* Calls visit() with gravity_equal if all masses of a system are equal, else as with_gravity()
 * does. gravity_equal is compiled for softened open space alone, since it makes every kernel one
 * more. */
template <class Visitor>
static cudaError_t with_gravity_of_masses(const struct gpu_interaction &interaction,
                                          const Visitor &visit)
{
    return with_gravity(interaction, [&](auto gravity, auto space) {
        if constexpr (space.value == GPU_SPACE_SOFT)
            if (interaction.equal_masses)
                return visit(gravity_equal<GPU_SPACE_SOFT, decltype(gravity)>());
        return visit(gravity);
    });
}

/* --- bodies and their indices ------------------------------------------------------------------*/

/* shape_range() returns the number of bodies of each system that this device computes;
 * shape_extent() the number of all bodies of a system, rounded up to a multiple of GPU_GRANULE; and
 * shape_length() the number of sums of one component: those of this device's bodies of all
 * systems. */
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

/* Returns the index of the sum for body i of a system among the sums of one component. */
static __device__ __forceinline__ size_t shape_index(const struct gpu_shape &shape, unsigned system,
                                                     unsigned i)
{
    return (size_t)system * shape_range(shape) + (i - shape.first);
}

#endif
