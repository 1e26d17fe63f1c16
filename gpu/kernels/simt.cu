#include "simt.cuh"

extern "C" cudaError_t gpu_simt(const struct gpu_sum_call *call, unsigned *slots)
{
    return with_gravity(call->interaction, [&](auto gravity, auto) {
        return start_simt<decltype(gravity)>(call, slots);
    });
}
