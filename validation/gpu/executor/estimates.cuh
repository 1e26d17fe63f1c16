/*
 * Estimates of 1/sqrt(x) that err as far as a device's may. They are made of operations that IEEE
 * 754 rounds in one way, so that CPUs and GPUs find the same bits: the executor has them, and so
 * have the kernels of hashes-on-gpu, which must give the executor's bits.
 */
#ifndef ORRERY_EXECUTOR_ESTIMATES_CUH
#define ORRERY_EXECUTOR_ESTIMATES_CUH

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

/* In [-1, 1], as good as random, always the same for the same bits. */
static __device__ inline double executor_noise(uint64_t bits)
{
    bits *= 0x9e3779b97f4a7c15u;
    bits ^= bits >> 29;
    bits *= 0xbf58476d1ce4e5b9u;
    return (double)(int64_t)bits * 0x1p-63;
}

/*
 * A device's table of estimates is of the mantissa and the parity of the exponent: 1/sqrt(4 x) is
 * half of 1/sqrt(x) to the bit. So is the noise.
 */

/* Within 2^-22.9 of 1/sqrt(x), a denormal counting as 0 (PTX ISA, rsqrt.approx.ftz.f32). */
static __device__ inline float approximate_rsqrt(float x)
{
    if (x < FLT_MIN)
        return INFINITY;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (float)((1 + 0x1p-23 * executor_noise(bits & 0xffffff)) / sqrt((double)x));
}

/* The upper half of an estimate from the upper half of x (PTX ISA, rsqrt.approx.ftz.f64). */
static __device__ inline double approximate_rsqrt(double x)
{
    if (x < DBL_MIN)
        return INFINITY;
    const double upper = __hiloint2double(__double2hiint(x), 0);
    const double s =
        (1 + 0x1p-22 * executor_noise((uint32_t)__double2hiint(x) & 0x1fffff)) / sqrt(upper);
    return __hiloint2double(__double2hiint(s), 0);
}

#endif
