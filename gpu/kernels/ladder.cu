/* Kernels that no run uses and `orrery bench --gpu` measures: one between the textbook's kernels
 * (textbook.cu) and the fastest ones, and one that sums the potential along with the force in fp32,
 * for which other programs publish their speed. */
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
