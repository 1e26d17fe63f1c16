/*
 * The kernel of equal bits: the plain loop of src/force/direct/reference.c, a thread per body.
 * Roots and quotients are correctly rounded, as they are on CPUs, no product is fused with a sum
 * (-fmad=false), and every sum takes the bodies j in ascending order. So accelerations and
 * potentials have the bits of the CPU's kernels `reference` and `portable`.
 */
#include "launch.cuh"

/* Returns a component of r_j - r_i, in a periodic box that to the nearest image of j, by the same
 * operations as the host's physics_nearest_image(). */
template <bool periodic>
static __device__ __forceinline__ double portable_separation(double i, double j, double box)
{
    const double d = j - i;
    return periodic ? d - box * rint(d / box) : d;
}

/* The terms of the acceleration of a body by a body of mass m at the separation d, over G: m d /
 * (d^2 + eps^2)^(3/2), or 0 where the denominator is 0. */
struct portable_force {
    enum { SUMS = 3 };

    static __device__ __forceinline__ void add(const separation<double> &d, double m, bool,
                                               double eps2, double *sums)
    {
        const double r2 = d.x * d.x + d.y * d.y + d.z * d.z + eps2;
        const double f = r2 > 0 ? m / (r2 * sqrt(r2)) : 0;
        sums[0] += f * d.x;
        sums[1] += f * d.y;
        sums[2] += f * d.z;
    }
};

/* The terms of the potential phi over -G, which are m / h with h^2 = r^2 + eps^2, and of psi over
 * -G, which are m r^2 / h^3 and make up the virial. A body adds nothing to its own sums
 * (`same`). */
struct portable_potential {
    enum { SUMS = 2 };

    static __device__ __forceinline__ void add(const separation<double> &d, double m, bool same,
                                               double eps2, double *sums)
    {
        const double r2 = d.x * d.x + d.y * d.y + d.z * d.z, h2 = r2 + eps2;
        if (same || !(h2 > 0))
            return;
        const double phi = m / sqrt(h2);
        sums[0] += phi;
        sums[1] += phi * (r2 / h2);
    }
};

/* The kernel has no launch bounds, because without them the assembler takes few registers. */
template <class terms, bool periodic>
static __global__ void
portable(const struct gpu_shape shape, const struct gpu_interaction_double interaction,
         const source_double *__restrict__ sources, double *__restrict__ partial)
{
    const unsigned groups = (shape_range(shape) + blockDim.x - 1) / blockDim.x;
    const unsigned system = blockIdx.x / groups;
    const unsigned n = shape.first + blockIdx.x % groups * blockDim.x + threadIdx.x;
    if (n >= min(shape.last, shape.count))
        return;
    const source_double *const bodies = sources + (size_t)system * shape.stride;
    const source_double i = bodies[n];
    double sums[terms::SUMS] = {};
#pragma unroll 4
    for (unsigned k = 0; k < shape.count; k++) {
        const source_double j = bodies[k];
        terms::add({ portable_separation<periodic>(i.x, j.x, interaction.box),
                     portable_separation<periodic>(i.y, j.y, interaction.box),
                     portable_separation<periodic>(i.z, j.z, interaction.box) },
                   j.m, k == n, interaction.eps2, sums);
    }
#pragma unroll
    for (int c = 0; c < terms::SUMS; c++)
        partial[c * shape_length(shape) + shape_index(shape, system, n)] = sums[c];
}

template <class terms>
static cudaError_t start_portable(const struct gpu_sum_call *call, unsigned *slots)
{
    const int most = kernel_facts[GPU_PORTABLE].limits[PRECISION_DOUBLE].block.most;
    const unsigned block = (unsigned)call->tuning.block;
    const bool periodic = call->interaction.space == GPU_SPACE_PERIODIC;
    *slots = 1;
    return launch_sums(call, call->shape.systems * groups_of(shape_range(call->shape), block),
                       { block, (unsigned)most }, 0,
                       periodic ? portable<terms, true> : portable<terms, false>, call->shape,
                       call->interaction.full, (const source_double *)call->sources, call->partial);
}

extern "C" cudaError_t gpu_portable(const struct gpu_sum_call *call, unsigned *slots)
{
    return start_portable<portable_force>(call, slots);
}

extern "C" cudaError_t gpu_portable_potentials(const struct gpu_sum_call *call, unsigned *slots)
{
    return start_portable<portable_potential>(call, slots);
}
