#include "blocked.cuh"

extern "C" cudaError_t gpu_blocked(const struct gpu_sum_call *call, unsigned *slots)
{
    return with_gravity(call->interaction, [&](auto gravity, auto space) {
        typedef decltype(gravity) terms;
        if constexpr (space.value == GPU_SPACE_SOFT)
            if (call->interaction.equal_masses)
                return start_bodies<gravity_equal<GPU_SPACE_SOFT, terms>>(call, slots);
        return start_bodies<terms>(call, slots);
    });
}

extern "C" cudaError_t gpu_potentials(const struct gpu_sum_call *call, unsigned *slots)
{
    return with_space(call->interaction, [&](auto space) {
        return start_blocked<potentials<space.value>, 1>(call, slots);
    });
}
