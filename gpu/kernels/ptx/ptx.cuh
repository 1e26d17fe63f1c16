/*
 * The few things that are written as a GPU's own instructions. The executor of validation/gpu has a
 * file of the same name with the same functions for a CPU.
 */
#ifndef ORRERY_GPU_PTX_CUH
#define ORRERY_GPU_PTX_CUH

/*
 * Returns 1/sqrt(x) to 2^-22.9 in one instruction; a denormal x counts as 0 (PTX ISA,
 * rsqrt.approx). rsqrtf() takes three more instructions, which scale denormals.
 */
static __device__ __forceinline__ float approximate_rsqrt(float x)
{
    float s;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(s) : "f"(x));
    return s;
}

/* Returns 1/sqrt(x) to about 2^-20: only the upper halves of x and of the result take part. */
static __device__ __forceinline__ double approximate_rsqrt(double x)
{
    double s;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(s) : "d"(x));
    return s;
}

/* The least architecture, 10 x its compute capability, for which the next two functions do
 * anything. */
enum { WAITING_CODE = 90 };

/* Waits until the kernel before this one in the stream has ended and its writes can be read; a
 * launch may let a kernel begin earlier (launch_early()). */
static __device__ __forceinline__ void wait_for_kernels()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}

/* Lets the kernel after this one begin, if its launch allows that, once all blocks have come
 * here. */
static __device__ __forceinline__ void let_next_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Returns the block's shared memory: as many bytes as the launch asked for, aligned to 16. */
static __device__ __forceinline__ void *shared_memory()
{
    extern __shared__ float4 bytes[];
    return bytes;
}

#endif
