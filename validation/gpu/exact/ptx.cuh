/* gpu/ptx/ptx.cuh for hashes-on-gpu: the executor's estimates on a device. */
#ifndef ORRERY_GPU_PTX_CUH
#define ORRERY_GPU_PTX_CUH

#include "../executor/estimates.cuh"

/* The block's shared memory: as many bytes as the launch asked for, aligned to 16. */
static __device__ __forceinline__ void *shared_memory()
{
    extern __shared__ float4 bytes[];
    return bytes;
}

#endif
