/*
 * The force as courses have it: one thread for each body, which adds up what all bodies of its
 * system do to it. Begin to read here. Each kernel differs from the one before in one idea, and is
 * a rung of the ladder that `orrery bench --gpu` climbs; README.md has the rungs above them.
 *
 *   a_i / G = sum over j of m_j (r_j - r_i) / (|r_j - r_i|^2 + eps^2)^(3/2)
 *
 * A body pulls itself with 0, since its separation is 0 and eps is not. All is in fp32, whose
 * products and sums fma() fuses. Sums of many bodies lose digits here, which sum.cuh avoids.
 */
#include <cuda_runtime.h>

#include "kernels.h"

/* A body as others see it, which a thread reads in four pieces: without __align__ the compiler may
 * not assume more than the alignment of a float. */
struct textbook_structure {
    float x, y, z, m;
};

/* A body as others see it, which a thread reads by one instruction, since it begins at a multiple
 * of 16 bytes. CUDA's float4 and source_single of pair.cuh have the same form. */
struct __align__(16) textbook_body
{
    float x, y, z, m;
};

/* Adds the terms of one pair to the sums `a`. If `root` is true, 1/r is 1 / sqrtf(), rounded
 * correctly; else it is rsqrtf(), the device's estimate. */
template <bool root>
static __device__ __forceinline__ void textbook_pull(float dx, float dy, float dz, float m,
                                                     float eps2, float *a)
{
    const float r2 = fma(dx, dx, fma(dy, dy, fma(dz, dz, eps2)));
    const float s = root ? 1 / sqrtf(r2) : rsqrtf(r2); /* 1 / distance */
    const float f = (m * s) * (s * s);
    a[0] = fma(f, dx, a[0]);
    a[1] = fma(f, dy, a[1]);
    a[2] = fma(f, dz, a[2]);
}

/* The system and the index i of a thread's body. A system has `stride` bodies in memory, of which
 * those behind the last have no mass. A device may have only bodies [first, last) of each system to
 * compute. */
struct textbook_place {
    unsigned system, i;
    __device__ explicit textbook_place(const struct gpu_shape &shape)
    {
        const unsigned blocks = (shape.last - shape.first + blockDim.x - 1) / blockDim.x;
        system = blockIdx.x / blocks;
        i = shape.first + blockIdx.x % blocks * blockDim.x + threadIdx.x;
    }
    __device__ bool is_idle(const struct gpu_shape &shape) const
    {
        return i >= shape.last || i >= shape.count;
    }
    __device__ void store(const struct gpu_shape &shape, const float *a, double *sums) const
    {
        const size_t own = shape.last - shape.first, length = shape.systems * own;
        for (int k = 0; k < 3; k++)
            sums[k * length + system * own + (i - shape.first)] = a[k];
    }
};

static __device__ __forceinline__ unsigned textbook_extent(const struct gpu_shape &shape)
{
    return (shape.count + GPU_GRANULE - 1) / GPU_GRANULE * GPU_GRANULE;
}

/* Array of structures: every thread reads all bodies from memory. */
template <class body, bool root>
static __global__ void textbook_simt(struct gpu_shape shape, float eps2,
                                     const body *__restrict__ all_bodies, double *__restrict__ sums)
{
    const struct textbook_place own(shape);
    if (own.is_idle(shape))
        return;
    const body *bodies = all_bodies + (size_t)own.system * shape.stride;
    const body here = bodies[own.i];
    const unsigned extent = textbook_extent(shape);
    float a[3] = { 0, 0, 0 };
#pragma unroll 32
    for (unsigned j = 0; j < extent; j++) {
        const body other = bodies[j];
        textbook_pull<root>(other.x - here.x, other.y - here.y, other.z - here.z, other.m, eps2, a);
    }
    own.store(shape, a, sums);
}

/* Structure of arrays: `arrays` has all x, then all y, z and m. Again every thread reads all
 * bodies. */
static __global__ void textbook_arrays(struct gpu_shape shape, float eps2,
                                       const float *__restrict__ arrays, double *__restrict__ sums)
{
    const struct textbook_place own(shape);
    if (own.is_idle(shape))
        return;
    const size_t length = (size_t)shape.systems * shape.count;
    const float *x = arrays + (size_t)own.system * shape.count;
    const float *y = x + length, *z = y + length, *m = z + length;
    const float hx = x[own.i], hy = y[own.i], hz = z[own.i];
    float a[3] = { 0, 0, 0 };
#pragma unroll 32
    for (unsigned j = 0; j < shape.count; j++)
        textbook_pull<true>(x[j] - hx, y[j] - hy, z[j] - hz, m[j], eps2, a);
    own.store(shape, a, sums);
}

/* Copies the bodies into the arrays that textbook_arrays() reads, a thread for each body. */
static __global__ void textbook_split(struct gpu_shape shape, const struct textbook_body *bodies,
                                      float *arrays)
{
    const size_t length = (size_t)shape.systems * shape.count;
    const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= length)
        return;
    const struct textbook_body body = bodies[k / shape.count * shape.stride + k % shape.count];
    const float values[] = { body.x, body.y, body.z, body.m };
    for (int c = 0; c < 4; c++)
        arrays[c * length + k] = values[c];
}

/* Tiles: each thread of a block loads one body into shared memory, and then reads there the bodies
 * that all threads have loaded. The loop over them is unrolled `times` times. */
template <int times>
static __global__ void textbook_tile(struct gpu_shape shape, float eps2,
                                     const struct textbook_body *__restrict__ all_bodies,
                                     double *__restrict__ sums)
{
    extern __shared__ struct textbook_body tile[];
    const struct textbook_place own(shape);
    const struct textbook_body *bodies = all_bodies + (size_t)own.system * shape.stride;
    const struct textbook_body nothing = { 0, 0, 0, 0 };
    const struct textbook_body here = own.is_idle(shape) ? nothing : bodies[own.i];
    const unsigned size = blockDim.x / GPU_GRANULE * GPU_GRANULE;
    float a[3] = { 0, 0, 0 };
    for (unsigned first = 0; first < shape.stride; first += size) {
        const unsigned j = first + threadIdx.x;
        tile[threadIdx.x] = j < shape.stride ? bodies[j] : nothing;
        __syncthreads(); /* until all bodies of the tile are there */
#pragma unroll times
        for (unsigned k = 0; k < size; k++)
            textbook_pull<false>(tile[k].x - here.x, tile[k].y - here.y, tile[k].z - here.z,
                                 tile[k].m, eps2, a);
        __syncthreads(); /* until all threads have read them */
    }
    if (!own.is_idle(shape))
        own.store(shape, a, sums);
}

/* Launches one of these kernels for a call as kernels.h describes it. The sum of a body is whole,
 * so there is one slot. */
template <class body>
static cudaError_t start(const struct gpu_sum_call *call, unsigned *slots, size_t shared,
                         void (*kernel)(struct gpu_shape, float, const body *, double *),
                         const void *bodies)
{
    const struct gpu_shape *shape = &call->shape;
    const unsigned threads = (unsigned)call->tuning.block;
    const unsigned own = shape->last - shape->first;
    const unsigned blocks = (own + threads - 1) / threads * shape->systems;
    int found = 0;
    *slots = 1;
    if (call->at_once) { /* asks how many blocks a multiprocessor holds; launches nothing */
        const cudaError_t error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, kernel, (int)threads, shared);
        *call->at_once = (unsigned)found;
        return error;
    }
    const float eps2 = call->interaction.scaled.eps2;
    kernel<<<blocks, threads, shared, call->stream>>>(*shape, eps2, (const body *)bodies,
                                                      call->partial);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_textbook_structures(const struct gpu_sum_call *call, unsigned *slots)
{
    return start(call, slots, 0, textbook_simt<struct textbook_structure, true>, call->sources);
}

/* The arrays of textbook_split() stand in `partial` behind the three sums of each body. Their four
 * floats take as much room as two further sums. */
extern "C" cudaError_t gpu_textbook_arrays(const struct gpu_sum_call *call, unsigned *slots)
{
    enum { THREADS = 256 };
    const struct gpu_shape *shape = &call->shape;
    const size_t length = (size_t)shape->systems * shape->count;
    float *arrays = (float *)(call->partial + 3 * length);
    if (shape->last - shape->first != shape->count)
        return cudaErrorInvalidValue;
    if (!call->at_once) {
        const unsigned blocks = (unsigned)((length + THREADS - 1) / THREADS);
        const struct textbook_body *bodies = (const struct textbook_body *)call->sources;
        textbook_split<<<blocks, THREADS, 0, call->stream>>>(*shape, bodies, arrays);
    }
    return start(call, slots, 0, textbook_arrays, arrays);
}

extern "C" cudaError_t gpu_textbook_root(const struct gpu_sum_call *call, unsigned *slots)
{
    return start(call, slots, 0, textbook_simt<struct textbook_body, true>, call->sources);
}

extern "C" cudaError_t gpu_textbook_simt(const struct gpu_sum_call *call, unsigned *slots)
{
    return start(call, slots, 0, textbook_simt<struct textbook_body, false>, call->sources);
}

/* Defines gpu_textbook_tile_1() and so on. The tile in shared memory has a body for each thread of
 * the block. */
#define TEXTBOOK_TILE(times)                                                                       \
    extern "C" cudaError_t gpu_textbook_tile_##times(const struct gpu_sum_call *call,              \
                                                     unsigned *slots)                              \
    {                                                                                              \
        const size_t shared = (size_t)call->tuning.block * sizeof(struct textbook_body);           \
        return start(call, slots, shared, textbook_tile<times>, call->sources);                    \
    }
TEXTBOOK_TILE(1)
TEXTBOOK_TILE(2)
TEXTBOOK_TILE(4)
TEXTBOOK_TILE(8)
TEXTBOOK_TILE(16)
