/*
 * Numbers with some 48 bits as unevaluated sums of two floats, for devices that have few units for
 * fp64 (Dekker 1971, Numerische Mathematik 18, 224; Thall 2006, Extended-Precision Floating-Point
 * Numbers for GPU Computation). All operations are those of IEEE 754, so CPUs and GPUs find the
 * same bits.
 */
#ifndef ORRERY_GPU_FLOATS_CUH
#define ORRERY_GPU_FLOATS_CUH

#include <cuda_runtime.h>

/* The number high + low; |low| is about 2^-24 |high| or less. */
struct two_floats {
    float high, low;

    __device__ __forceinline__ void add(float term);
    __device__ __forceinline__ void add(two_floats term);

    __device__ __forceinline__ double value() const
    {
        return (double)high + (double)low;
    }
};

/* Returns a + b exactly (Knuth 1998, TAOCP 2, 4.2.2, Theorem B). */
static __device__ __forceinline__ two_floats exact_sum(float a, float b)
{
    const float sum = a + b;
    const float part = sum - a;
    return { sum, (a - (sum - part)) + (b - part) };
}

/* Returns a + b exactly if a is 0 or a multiple of the last bit of b, as it is if |a| >= |b|
 * (Dekker 1971). */
static __device__ __forceinline__ two_floats ordered_sum(float a, float b)
{
    const float sum = a + b;
    return { sum, b - (sum - a) };
}

static __device__ __forceinline__ two_floats exact_product(float a, float b)
{
    const float product = a * b;
    return { product, fma(a, b, -product) };
}

/* Returns a b with a relative error of about 2^-46. */
static __device__ __forceinline__ two_floats product(two_floats a, two_floats b)
{
    const two_floats p = exact_product(a.high, b.high);
    return { p.high, fma(a.low, b.high, fma(a.high, b.low, p.low)) };
}

__device__ __forceinline__ void two_floats::add(float term)
{
    const two_floats sum = exact_sum(high, term);
    high = sum.high;
    low += sum.low;
}

__device__ __forceinline__ void two_floats::add(two_floats term)
{
    const two_floats sum = exact_sum(high, term.high);
    *this = ordered_sum(sum.high, low + (sum.low + term.low));
}

/* Returns x to 2^-48. */
static __host__ __device__ __forceinline__ two_floats two_floats_of(double x)
{
    const float high = (float)x;
    return { high, (float)(x - (double)high) };
}

#endif
