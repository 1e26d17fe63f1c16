/* Kernels that sum the energies, momenta and other conserved quantities of the bodies on a device,
 * in fp64. Terms are added in trees whose shape depends on the number of bodies alone. */
#include "launch.cuh"

enum { BLOCK = GPU_OBSERVER_BLOCK };

static __global__ void __launch_bounds__(BLOCK)
    finish_potentials(const struct gpu_shape shape, const double G,
                      const double *__restrict__ unit_mass, const double inverse_length,
                      const double *__restrict__ partial, const unsigned slots,
                      double *__restrict__ phi, double *__restrict__ psi)
{
    const size_t length = shape_length(shape);
    const size_t n = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    const unsigned i = shape.first + n % shape_range(shape);
    if (n >= length || i >= shape.count)
        return;
    double sum[2] = { partial[n], partial[n + length] };
    for (unsigned k = 1; k < slots; k++) {
        sum[0] += partial[n + 2 * k * length];
        sum[1] += partial[n + (2 * k + 1) * length];
    }
    const size_t to = n / shape_range(shape) * shape.stride + i;
    const double strength = unit_mass ? G * unit_mass[n / shape_range(shape)] : G;
    phi[to] = -strength * (inverse_length * sum[0]);
    psi[to] = -strength * (inverse_length * sum[1]);
}

extern "C" cudaError_t gpu_finish_potentials(const struct gpu_shape *shape, double G,
                                             const double *unit_mass, double inverse_length,
                                             const double *partial, unsigned slots, double *phi,
                                             double *psi, cudaStream_t stream)
{
    return launch(stream, groups_of(shape_length(*shape), BLOCK), BLOCK, 0, finish_potentials,
                  *shape, G, unit_mass, inverse_length, partial, slots, phi, psi);
}

template <enum gpu_space space>
static __global__ void __launch_bounds__(BLOCK)
    repeat_potentials(const struct gpu_shape shape, const struct gpu_interaction_double interaction,
                      const struct gpu_state state, const double G, double *phi, double *psi)
{
    const size_t n = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    const unsigned i = shape.first + n % shape_range(shape);
    if (n >= shape_length(shape) || i >= shape.count)
        return;
    const size_t first = n / shape_range(shape) * shape.stride, at = first + i;
    if (0 * phi[at] == 0 && 0 * psi[at] == 0)
        return;
    const source_double own = { state.x[at], state.y[at], state.z[at], 0 };
    double sums[2] = { 0, 0 };
    for (unsigned j = 0; j < shape.count; j++) {
        const size_t k = first + j;
        const source_double other = { state.x[k], state.y[k], state.z[k], state.m[k] };
        potentials<space>::pair(own, other, j == i, interaction, sums);
    }
    phi[at] = -G * sums[0];
    psi[at] = -G * sums[1];
}

extern "C" cudaError_t gpu_repeat_potentials(const struct gpu_shape *shape,
                                             const struct gpu_interaction *interaction,
                                             const struct gpu_state *state, double G, double *phi,
                                             double *psi, cudaStream_t stream)
{
    return with_space(*interaction, [&](auto space) {
        return launch(stream, groups_of(shape_length(*shape), BLOCK), BLOCK, 0,
                      repeat_potentials<space.value>, *shape, interaction->full, *state, G, phi,
                      psi);
    });
}

static __global__ void __launch_bounds__(BLOCK)
    add_potentials(const struct gpu_shape shape, const struct gpu_fields fields,
                   const struct gpu_state state, double *phi, double *psi)
{
    const size_t n = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    const unsigned i = shape.first + n % shape_range(shape);
    if (n >= shape_length(shape) || i >= shape.count)
        return;
    const size_t at = n / shape_range(shape) * shape.stride + i;
    const double x[3] = { state.x[at], state.y[at], state.z[at] };
    const struct field_motion sum = fields_motion(fields.list, fields.count, x, NULL);
    double d[3];
    field_from_center(fields.center, x, d);
    phi[at] += fields_potential(fields.list, fields.count, x);
    psi[at] += vec3_dot(d, sum.a);
}

extern "C" cudaError_t gpu_add_potentials(const struct gpu_shape *shape,
                                          const struct gpu_fields *fields,
                                          const struct gpu_state *state, double *phi, double *psi,
                                          cudaStream_t stream)
{
    if (fields->count == 0)
        return cudaSuccess;
    return launch(stream, groups_of(shape_length(*shape), BLOCK), BLOCK, 0, add_potentials, *shape,
                  *fields, *state, phi, psi);
}

/* Computes the terms that body n, with the potential phi[n] and psi[n] for the virial, adds to each
 * of the sums but GPU_SUM_INTERNAL. */
static __device__ void body_terms(const struct gpu_state &state, const double *phi,
                                  const double *psi, size_t n, double terms[GPU_SUM_COUNT])
{
    const double m = state.m[n];
    const double x = state.x[n], y = state.y[n], z = state.z[n];
    const double vx = state.vx[n], vy = state.vy[n], vz = state.vz[n];
    terms[GPU_SUM_MASS] = m;
    terms[GPU_SUM_KINETIC] = 0.5 * m * (vx * vx + vy * vy + vz * vz);
    terms[GPU_SUM_POTENTIAL] = 0.5 * m * phi[n];
    terms[GPU_SUM_VIRIAL] = 0.5 * m * psi[n];
    terms[GPU_SUM_MOMENTUM + 0] = m * vx;
    terms[GPU_SUM_MOMENTUM + 1] = m * vy;
    terms[GPU_SUM_MOMENTUM + 2] = m * vz;
    terms[GPU_SUM_ANGULAR_MOMENTUM + 0] = m * (y * vz - z * vy);
    terms[GPU_SUM_ANGULAR_MOMENTUM + 1] = m * (z * vx - x * vz);
    terms[GPU_SUM_ANGULAR_MOMENTUM + 2] = m * (x * vy - y * vx);
    terms[GPU_SUM_CENTER + 0] = m * x;
    terms[GPU_SUM_CENTER + 1] = m * y;
    terms[GPU_SUM_CENTER + 2] = m * z;
}

/* Returns 1/2 m |v - V|^2, the kinetic energy relative to the velocity V = P / M, where `sums` has
 * the mass M and the momentum P of some bodies; 0 if M is 0. */
static __device__ double energy_about(const double *sums, double m, double vx, double vy, double vz)
{
    const double M = sums[GPU_SUM_MASS];
    if (!(M > 0))
        return 0;
    const double x = vx - sums[GPU_SUM_MOMENTUM + 0] / M, y = vy - sums[GPU_SUM_MOMENTUM + 1] / M;
    const double z = vz - sums[GPU_SUM_MOMENTUM + 2] / M;
    return 0.5 * m * (x * x + y * y + z * z);
}

/* Returns, in thread 0, the sum of the terms that all threads of the block pass; 0 in the
 * others. */
static __device__ double block_sum(double term)
{
    double *terms = (double *)shared_memory();
    __syncthreads();
    terms[threadIdx.x] = term;
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            terms[threadIdx.x] += terms[threadIdx.x + half];
    }
    return threadIdx.x == 0 ? terms[0] : 0;
}

/* Sums the terms of BLOCK bodies in every block of threads, into blocks[system][block][sum]. The
 * array has room for all blocks of a system; only those of this device's own bodies are written. */
static __global__ void __launch_bounds__(BLOCK)
    conserved_blocks(const struct gpu_shape shape, const struct gpu_state state,
                     const double *__restrict__ phi, const double *__restrict__ psi,
                     double *__restrict__ blocks)
{
    const unsigned all = (shape.count + BLOCK - 1) / BLOCK;
    const unsigned own = (min(shape.last, shape.count) - shape.first + BLOCK - 1) / BLOCK;
    const unsigned system = blockIdx.x / own;
    const unsigned block = shape.first / BLOCK + blockIdx.x % own;
    const unsigned i = block * BLOCK + threadIdx.x;
    const size_t n = (size_t)system * shape.stride + i;
    double *const sums = blocks + ((size_t)system * all + block) * GPU_SUM_COUNT;
    double terms[GPU_SUM_COUNT] = {};
    if (i < shape.count)
        body_terms(state, phi, psi, n, terms);
#pragma unroll
    for (int k = 0; k < GPU_SUM_INTERNAL; k++) {
        const double sum = block_sum(terms[k]);
        if (threadIdx.x == 0)
            sums[k] = sum;
    }
    __syncthreads();
    const double term =
        i < shape.count ? energy_about(sums, state.m[n], state.vx[n], state.vy[n], state.vz[n]) : 0;
    const double internal = block_sum(term);
    if (threadIdx.x == 0)
        sums[GPU_SUM_INTERNAL] = internal;
}

extern "C" size_t gpu_conserved_blocks_count(const struct gpu_shape *shape)
{
    return shape->systems * groups_of(shape->count, BLOCK) * GPU_SUM_COUNT;
}

extern "C" cudaError_t gpu_conserved_blocks(const struct gpu_shape *shape,
                                            const struct gpu_state *state, const double *phi,
                                            const double *psi, double *blocks, cudaStream_t stream)
{
    if (shape->first >= shape->count)
        return cudaSuccess;
    const unsigned last = shape->last < shape->count ? shape->last : shape->count;
    return launch(stream, shape->systems * groups_of(last - shape->first, BLOCK), BLOCK,
                  BLOCK * sizeof(double), conserved_blocks, *shape, *state, phi, psi, blocks);
}

/* Returns the kinetic energy of a block of bodies relative to the mean velocity of their system:
 * the energy relative to the block's own mean velocity, plus that of its whole mass moving at its
 * mean velocity (Koenig's theorem). */
static __device__ double block_energy_about(const double *system, const double *block)
{
    const double M = block[GPU_SUM_MASS];
    if (!(M > 0))
        return 0;
    return block[GPU_SUM_INTERNAL] + energy_about(system, M, block[GPU_SUM_MOMENTUM + 0] / M,
                                                  block[GPU_SUM_MOMENTUM + 1] / M,
                                                  block[GPU_SUM_MOMENTUM + 2] / M);
}

/* Adds up the sums of all blocks of bodies of a system; each block of threads takes one system. */
static __global__ void __launch_bounds__(BLOCK)
    conserved_systems(const struct gpu_shape shape, const double *__restrict__ blocks,
                      double *__restrict__ sums)
{
    const unsigned all = (shape.count + BLOCK - 1) / BLOCK;
    const double *own = blocks + (size_t)blockIdx.x * all * GPU_SUM_COUNT;
    double *const result = sums + (size_t)blockIdx.x * GPU_SUM_COUNT;
    for (int k = 0; k < GPU_SUM_INTERNAL; k++) {
        double term = 0;
        for (unsigned block = threadIdx.x; block < all; block += BLOCK)
            term += own[(size_t)block * GPU_SUM_COUNT + k];
        const double sum = block_sum(term);
        if (threadIdx.x == 0)
            result[k] = sum;
    }
    __syncthreads();
    double term = 0;
    for (unsigned block = threadIdx.x; block < all; block += BLOCK)
        term += block_energy_about(result, own + (size_t)block * GPU_SUM_COUNT);
    const double internal = block_sum(term);
    if (threadIdx.x == 0)
        result[GPU_SUM_INTERNAL] = internal;
}

extern "C" cudaError_t gpu_conserved_systems(const struct gpu_shape *shape, const double *blocks,
                                             double *sums, cudaStream_t stream)
{
    return launch(stream, shape->systems, BLOCK, BLOCK * sizeof(double), conserved_systems, *shape,
                  blocks, sums);
}
