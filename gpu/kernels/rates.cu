/* Kernels that measure the greatest rates of a device, in operations per second, for the three
 * instructions that cost the force kernels most of their time. */
#include "launch.cuh"

enum { BLOCK = GPU_RATE_THREADS, CHAINS = 8 };

struct multiply_add_single {
    typedef float real;

    static __device__ __forceinline__ float operate(float a, float b)
    {
        return fma(a, b, b);
    }
};

struct multiply_add_double {
    typedef double real;

    static __device__ __forceinline__ double operate(double a, double b)
    {
        return fma(a, b, b);
    }
};

struct estimate {
    typedef float real;

    static __device__ __forceinline__ float operate(float a, float)
    {
        return approximate_rsqrt(a);
    }
};

/* Runs CHAINS chains of operations in every thread. A chain does not wait for another, so the
 * device always has an operation to begin. The result is stored under a condition that never holds,
 * which the compiler does not know; otherwise it would leave the operations out. */
template <class Operation>
static __global__ void __launch_bounds__(BLOCK)
    operate(typename Operation::real seed, unsigned rounds, double *out)
{
    typename Operation::real chain[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        chain[c] = seed + (typename Operation::real)(threadIdx.x + c);
#pragma unroll 32
    for (unsigned k = 0; k < rounds; k++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            chain[c] = Operation::operate(chain[c], seed);
    typename Operation::real sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        sum += chain[c];
    if (sum == (typename Operation::real) - 1)
        *out = (double)sum;
}

template <class Operation>
static cudaError_t start(unsigned blocks, unsigned operations, double *out, cudaStream_t stream)
{
    return launch(stream, blocks, BLOCK, 0, operate<Operation>, (typename Operation::real)0.5,
                  operations / CHAINS, out);
}

extern "C" cudaError_t gpu_rate(enum gpu_operation operation, unsigned blocks, unsigned operations,
                                double *out, cudaStream_t stream)
{
    switch (operation) {
    case GPU_OPERATION_SINGLE:
        return start<multiply_add_single>(blocks, operations, out, stream);
    case GPU_OPERATION_DOUBLE:
        return start<multiply_add_double>(blocks, operations, out, stream);
    default:
        return start<estimate>(blocks, operations, out, stream);
    }
}
