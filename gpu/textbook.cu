/*
 * The force as a first program in CUDA has it: one thread for each body, which adds up what all
 * bodies of its system do to it. Begin to read here. It is also the first rung of the ladder that
 * `orrery bench --gpu` climbs; what the other kernels do otherwise is in README.md.
 *
 *   a_i / G = sum over j of m_j (r_j - r_i) / (|r_j - r_i|^2 + eps^2)^(3/2)
 *
 * A body pulls itself with 0, since its separation is 0 and eps is not. All is in fp32, whose
 * products and sums fma() fuses. Sums of many bodies lose digits here, which sum.cuh avoids.
 */
#include <cuda_runtime.h>

#include "kernels.h"

/* A body as others see it: 16 bytes, which a thread reads at once. It is what source_single of
 * pair.cuh is. */
struct __align__(16) textbook_body
{
    float x, y, z, m;
};

/* A system has `stride` bodies in memory, of which those behind the last have no mass. A device may
 * have only the bodies [first, last) of each to compute. */
static __global__ void textbook_simt(struct gpu_shape shape, float eps2,
                                     const struct textbook_body *__restrict__ all_bodies,
                                     double *__restrict__ sums)
{
    const unsigned own = shape.last - shape.first;
    const unsigned blocks = (own + blockDim.x - 1) / blockDim.x; /* for each system */
    const unsigned system = blockIdx.x / blocks;
    const unsigned i = shape.first + blockIdx.x % blocks * blockDim.x + threadIdx.x;
    if (i >= shape.last || i >= shape.count)
        return;
    const struct textbook_body *bodies = all_bodies + (size_t)system * shape.stride;
    const struct textbook_body here = bodies[i];
    const unsigned count = (shape.count + GPU_GRANULE - 1) / GPU_GRANULE * GPU_GRANULE;
    float ax = 0, ay = 0, az = 0;
#pragma unroll 32
    for (unsigned j = 0; j < count; j++) {
        const struct textbook_body other = bodies[j];
        const float dx = other.x - here.x, dy = other.y - here.y, dz = other.z - here.z;
        const float s = rsqrtf(fma(dx, dx, fma(dy, dy, fma(dz, dz, eps2)))); /* 1 / distance */
        const float f = (other.m * s) * (s * s);
        ax = fma(f, dx, ax);
        ay = fma(f, dy, ay);
        az = fma(f, dz, az);
    }
    const size_t length = (size_t)shape.systems * own; /* numbers of one component */
    const size_t at = (size_t)system * own + (i - shape.first);
    sums[at] = ax;
    sums[at + length] = ay;
    sums[at + 2 * length] = az;
}

/* Launches it as kernels.h has it; the sums are whole, in one slot. */
extern "C" cudaError_t gpu_textbook_simt(const struct gpu_sum_call *call, unsigned *slots)
{
    const struct gpu_shape *shape = &call->shape;
    const unsigned threads = (unsigned)call->tuning.block;
    const unsigned own = shape->last - shape->first;
    const unsigned blocks = (own + threads - 1) / threads * shape->systems;
    int found = 0;
    *slots = 1;
    if (call->at_once) { /* launches nothing: how many blocks does a multiprocessor hold? */
        const cudaError_t error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, textbook_simt, (int)threads, 0);
        *call->at_once = (unsigned)found;
        return error;
    }
    textbook_simt<<<blocks, threads, 0, call->stream>>>(*shape, call->interaction.scaled.eps2,
                                                        (const struct textbook_body *)call->sources,
                                                        call->partial);
    return cudaGetLastError();
}
