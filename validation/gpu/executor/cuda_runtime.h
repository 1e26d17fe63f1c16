/* The part of CUDA C++ beside the runtime's functions: the words of the language, the built-in
 * variables and functions of a kernel, and the launch. */
#ifndef ORRERY_EXECUTOR_CUDA_RUNTIME_H
#define ORRERY_EXECUTOR_CUDA_RUNTIME_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include "cuda_runtime_api.h"

#define __global__
#define __grid_constant__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

/* --- inside a kernel ---------------------------------------------------------------------------*/

extern dim3 gridDim, blockDim, blockIdx, threadIdx;

/* A barrier knows where it stands, so that a test can take away what it orders. */
void executor_barrier(const char *file, int line);
#define __syncthreads() executor_barrier(__FILE__, __LINE__)

/* The value of `bits` in lane `source` of the warp, once all lanes of the mask have come. */
uint64_t executor_shuffle(unsigned mask, uint64_t bits, unsigned source);

template <typename T> static inline T __shfl_sync(unsigned mask, T value, int source)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = executor_shuffle(mask, bits, (unsigned)source);
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <typename T> static inline T atomicMin(T *address, T value)
{
    T old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (value < old && !__atomic_compare_exchange_n(address, &old, value, false,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return old;
}

using std::fma;

static inline float rsqrtf(float x)
{
    return 1 / std::sqrt(x);
}

template <typename T> static inline T min(T a, T b)
{
    return b < a ? b : a;
}

template <typename T> static inline T max(T a, T b)
{
    return a < b ? b : a;
}

static inline int __double2hiint(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int)(bits >> 32);
}

static inline double __hiloint2double(int high, int low)
{
    const uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* --- the launch --------------------------------------------------------------------------------*/

enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization };

struct cudaLaunchAttribute {
    enum cudaLaunchAttributeID id;
    struct {
        int programmaticStreamSerializationAllowed;
    } val;
};

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

struct cudaFuncAttributes {
    int ptxVersion;
};

template <typename... Parameters>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                                void (*)(Parameters...))
{
    attributes->ptxVersion = 90;
    return cudaSuccess;
}

/* Remembers how the last launch went. */
void executor_note(cudaError_t code);
cudaError_t executor_launch(const cudaLaunchConfig_t &config, std::function<void()> thread);

template <typename... Parameters, typename... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                             void (*kernel)(Parameters...), Arguments... arguments)
{
    return executor_launch(*config, [=]() { kernel(arguments...); });
}

/* The launch that stands for kernel<<<blocks, threads, shared, stream>>>: a failure is left for
 * cudaGetLastError(), as there. */
template <typename... Parameters> struct executor_start {
    void (*kernel)(Parameters...);
    cudaLaunchConfig_t config;
    executor_start(void (*kernel_)(Parameters...), unsigned blocks, unsigned threads, size_t shared,
                   cudaStream_t stream)
        : kernel(kernel_), config{ dim3(blocks), dim3(threads), shared, stream, nullptr, 0 }
    {
    }
    template <typename... Arguments> void operator()(Arguments... arguments) const
    {
        executor_note(cudaLaunchKernelEx(&config, kernel, arguments...));
    }
};

/* Returns the blocks at once by the threads, the shared memory and the registers of a thread that
 * the settings say. */
unsigned executor_blocks_at_once(unsigned threads, size_t shared);

template <typename... Parameters>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                        void (*)(Parameters...),
                                                                        int threads, size_t shared)
{
    *blocks = (int)executor_blocks_at_once((unsigned)threads, shared);
    return cudaSuccess;
}

#endif
