#include "blocked.cuh"

extern "C" cudaError_t gpu_blocked(const struct gpu_sum_call *call, unsigned *slots)
{
    if (call->law.equal_masses)
        return start_bodies<gravity_equal<GPU_SPACE_SOFT>>(call, slots);
    return with_gravity(call->law, [&](auto gravity, auto) {
        return start_bodies<decltype(gravity)>(call, slots);
    });
}

extern "C" cudaError_t gpu_potentials(const struct gpu_sum_call *call, unsigned *slots)
{
    return with_space(call->law, [&](auto space) {
        return start_blocked<potentials<space.value>, 1>(call, slots);
    });
}
