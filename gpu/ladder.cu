/* Kernels that are only measured: rungs of the ladder from a textbook's kernel (textbook.cu) to
 * ours, and force with potential in fp32, as others publish it. */
#include "blocked.cuh"
#include "tiled.cuh"

extern "C" cudaError_t gpu_textbook_tiled(const struct gpu_sum_call *call, unsigned *slots)
{
    return start_tiled<gravity_textbook<GPU_SPACE_SOFT>>(call, slots);
}

extern "C" cudaError_t gpu_with_potential(const struct gpu_sum_call *call, unsigned *slots)
{
    return start_bodies<gravity_and_potential<GPU_SPACE_SOFT>>(call, slots);
}
