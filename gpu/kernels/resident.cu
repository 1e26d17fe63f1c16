/*
 * The kernel for small systems: each stays in one block for many steps, its state in registers and
 * its bodies, as others read them, in shared memory, so that a step costs neither a launch nor a
 * trip to memory. A block holds several systems; or one system, whose bodies have several threads
 * each, which share the segments of a sum. A thread has one body, or two: then each body that it
 * reads from shared memory serves two pairs, and that memory is busy for half the time.
 */
#include "shares.cuh"
#include "state.cuh"

/* The task of a thread: its share in the sums for its bodies of system `system`, which is number
 * `slot` of the systems in its block. */
struct resident_index {
    unsigned slot, system;
    struct share share;
};

/* Finds the task of this thread in a block that holds `packed` systems. */
static __device__ resident_index find_index(const struct gpu_shape &shape,
                                            const struct share_grid &grid, unsigned packed)
{
    const unsigned threads = grid.threads * grid.parts;
    resident_index index;
    index.slot = threadIdx.x / threads;
    index.system = blockIdx.x * packed + index.slot;
    index.share.part = threadIdx.x % threads / grid.threads;
    index.share.body = threadIdx.x % grid.threads;
    index.share.used = index.slot < packed && index.system < shape.systems;
    index.share.owner = index.share.used && index.share.part == 0;
    return index;
}

/* Takes the steps of a call. Its program, the kicks, drifts and forces of a step, is read where the
 * launch has put it: without __grid_constant__ every thread would copy it. */
template <class terms, bool registers, bool fields, int BODIES>
static __global__ void __launch_bounds__(GPU_RESIDENT_BODIES, 1)
    resident(const __grid_constant__ struct gpu_resident_call call,
             const typename terms::settings settings, const struct share_grid grid,
             const unsigned packed)
{
    typedef typename terms::source source;
    const struct gpu_shape &shape = call.shape;
    const resident_index index = find_index(shape, grid, packed);
    const struct share &own = index.share;
    const unsigned extent = shape_extent(shape);
    const size_t n = (size_t)index.system * shape.stride + own.body;
    /* If the number of bodies is odd, the last thread has one less. */
    const bool full = own.body + (BODIES - 1) * grid.threads < shape.count;
    const int owned = !own.owner ? 0 : full ? BODIES : BODIES - 1;
    source *sources = (source *)shared_memory();
    double *const shares = grid.parts > 1 ? (double *)(sources + packed * extent) : NULL;
    sources += min(index.slot, packed - 1) * extent;
    const auto load = [&](unsigned k, unsigned) { return sources + k * shape.segment; };

    body_state<registers> body[BODIES] = {};
    double factor = 0;
#pragma unroll
    for (int b = 0; b < BODIES; b++)
        if (b < owned) {
            const size_t at = n + b * grid.threads;
            body[b].load(call.state, at);
            body[b].load_acceleration(call.state, at);
            factor = call.units.factor[index.system];
            pack_body(sources + own.body + b * grid.threads, 0, 0, 0,
                      call.state.m[at] / call.units.mass[index.system], call.interaction);
        }
    if (own.owner)
        for (unsigned k = shape.count + own.body; k < extent; k += grid.threads)
            pack_padding(sources + k, call.interaction);

    struct stage_walk walk = stage_walk_begin(&call.program, call.steps);
    const struct stage_pass *pass;
    bool force = call.program.needs_forces && !call.current;
    do {
        if (force) {
            __syncthreads();
#pragma unroll
            for (int b = 0; b < BODIES; b++)
                if (b < owned)
                    pack_position(sources + own.body + b * grid.threads, body[b].y[VECTOR_X][0],
                                  body[b].y[VECTOR_X][1], body[b].y[VECTOR_X][2], call.interaction);
            __syncthreads();
            double total[BODIES][3];
            body_sums<terms, BODIES> sums;
#pragma unroll
            for (int b = 0; b < BODIES; b++) {
                sums.index[b] = own.body + b * grid.threads;
                sums.body[b] = sources[sums.index[b]];
            }
            add_shares(total, &sums, shape, grid, own, shares, settings, load);
#pragma unroll
            for (int b = 0; b < BODIES; b++)
                body[b].set_acceleration(total[b], factor);
#pragma unroll
            for (int b = 0; b < BODIES; b++)
                if (fields && b < owned)
                    body[b].add_fields(call.fields);
        }
        pass = stage_walk_next(&call.program, &walk);
#pragma unroll
        for (int b = 0; b < BODIES && pass; b++)
            body[b].move(*pass);
        force = pass && pass->force;
    } while (pass);

#pragma unroll
    for (int b = 0; b < BODIES; b++)
        if (b < owned) {
            const size_t at = n + b * grid.threads;
            body[b].store(call.state, at);
            body[b].store_acceleration(call.state, at);
            if (!body[b].finite())
                atomicMin(call.non_finite, (unsigned long long)at);
        }
}

/* Divides the threads of a block, and finds the number of systems in it. If a body has several
 * threads, a block has one system. Else several systems share a block, as many as there is shared
 * memory for: `sources` is the number of bytes that one system takes there, padding included, which
 * is much even for few bodies. */
static struct share_grid choose_grid(const struct gpu_resident_call *call, unsigned bodies,
                                     size_t sources, unsigned *packed)
{
    struct share_grid grid = { (unsigned)groups_of(call->shape.count, bodies), 1 };
    *packed = 1;
    grid.parts = min(min((unsigned)call->tuning.split, call->shape.segments),
                     GPU_RESIDENT_BODIES / grid.threads);
    if (grid.parts <= 1) {
        grid.parts = 1;
        const unsigned block = min((unsigned)call->tuning.block, (unsigned)GPU_RESIDENT_BODIES);
        *packed = max(1u, min(block / grid.threads, (unsigned)(GPU_MAX_SHARED / sources)));
    }
    return grid;
}

template <class terms, bool fields, int BODIES>
static cudaError_t start_resident(const struct gpu_resident_call *call)
{
    const size_t sources = shape_extent(call->shape) * sizeof(typename terms::source);
    unsigned packed;
    const struct share_grid grid = choose_grid(call, BODIES, sources, &packed);
    const unsigned used = packed * grid.parts * grid.threads;
    const unsigned threads = (unsigned)groups_of(used, GPU_WARP) * GPU_WARP;
    const size_t shares =
        grid.parts > 1 ? 3 * BODIES * grid.parts * grid.threads * sizeof(double) : 0;
    const auto kernel = call->program.registers ? resident<terms, true, fields, BODIES>
                                                : resident<terms, false, fields, BODIES>;
    return launch(call->stream, groups_of(call->shape.systems, packed),
                  { threads, GPU_RESIDENT_BODIES }, packed * sources + shares, kernel, *call,
                  settings_of<terms>(call->interaction), grid, packed);
}

template <bool fields> static cudaError_t launch_resident(const struct gpu_resident_call *call)
{
    if (call->shape.count > GPU_RESIDENT_BODIES)
        return cudaErrorInvalidConfiguration;
    return with_gravity(call->interaction, [&](auto gravity, auto) {
        typedef decltype(gravity) terms;
        return call->tuning.bodies > 1 ? start_resident<terms, fields, 2>(call)
                                       : start_resident<terms, fields, 1>(call);
    });
}

extern "C" cudaError_t gpu_resident(const struct gpu_resident_call *call)
{
    return call->fields.count > 0 ? launch_resident<true>(call) : launch_resident<false>(call);
}
