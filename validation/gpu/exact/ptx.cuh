/* gpu/kernels/ptx/ptx.cuh for hashes-on-gpu: the executor's estimates in place of the device's. */
#ifndef ORRERY_GPU_EXACT_PTX_CUH
#define ORRERY_GPU_EXACT_PTX_CUH

#define approximate_rsqrt estimate_of_the_device
#include "../../../gpu/kernels/ptx/ptx.cuh"
#undef approximate_rsqrt

#include "../executor/estimates.cuh"

#endif
