#include "blocked.cuh"

extern "C" cudaError_t gpu_blocked(const struct gpu_sum_call *call, unsigned *slots)
{
    return with_gravity_of_masses(call->interaction, [&](auto gravity) {
        return start_bodies<decltype(gravity)>(call, slots);
    });
}

extern "C" cudaError_t gpu_potentials(const struct gpu_sum_call *call, unsigned *slots)
{
    return with_space(call->interaction, [&](auto space) {
        return start_blocked<potentials<space.value>, 1>(call, slots);
    });
}

extern "C" cudaError_t gpu_potentials_in_floats(const struct gpu_sum_call *call, unsigned *slots)
{
    return call->interaction.space == GPU_SPACE_SOFT
               ? start_blocked<potentials_in_floats<GPU_SPACE_SOFT>, 1>(call, slots)
               : start_blocked<potentials_in_floats<GPU_SPACE_SHARP>, 1>(call, slots);
}
