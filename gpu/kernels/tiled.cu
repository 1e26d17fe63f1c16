#include "tiled.cuh"

extern "C" cudaError_t gpu_tiled(const struct gpu_sum_call *call, unsigned *slots)
{
    return with_gravity(call->interaction, [&](auto gravity, auto) {
        return start_tiled<decltype(gravity)>(call, slots);
    });
}
