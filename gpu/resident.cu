/*
 * The kernel for small systems: each stays in one block for many steps, its state in registers and
 * its bodies, as others read them, in shared memory, so that a step costs neither a launch nor a
 * trip to memory. A block holds several systems, with a thread for each body; or one system, with
 * several threads for each body, which share the segments of its sum.
 */
#include "shares.cuh"
#include "state.cuh"

/* The task of a thread: its share in the sum for a body of system `system`, which is number `slot`
 * of the systems in its block. */
struct resident_index {
    unsigned slot, system;
    struct share share;
};

/* Finds the task of this thread in a block that holds `packed` systems. */
static __device__ resident_index find_index(const struct gpu_shape &shape,
                                            const struct share_grid &grid, unsigned packed)
{
    const unsigned threads = grid.bodies * grid.parts;
    resident_index index;
    index.slot = threadIdx.x / threads;
    index.system = blockIdx.x * packed + index.slot;
    index.share.part = threadIdx.x % threads / grid.bodies;
    index.share.body = threadIdx.x % grid.bodies;
    index.share.used = index.slot < packed && index.system < shape.systems;
    index.share.owner = index.share.used && index.share.part == 0;
    return index;
}

/* Takes the steps of a call. Its program, the kicks, drifts and forces of a step, is read where the
 * launch has put it: without __grid_constant__ every thread would copy it. */
template <class terms, bool registers, bool fields>
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
    source *sources = (source *)shared_memory();
    double *const shares = grid.parts > 1 ? (double *)(sources + packed * extent) : NULL;
    sources += min(index.slot, packed - 1) * extent;
    const auto load = [&](unsigned k, unsigned) { return sources + k * shape.segment; };

    body_state<registers> body = {};
    double mass = 0, factor = 0;
    if (own.owner) {
        body.load(call.state, n);
        body.load_acceleration(call.state, n);
        mass = call.state.m[n] / call.units.mass[index.system];
        factor = call.units.factor[index.system];
    }
    if (index.slot < packed && own.part == 0)
        for (unsigned k = own.body; k < extent; k += shape.count)
            pack_padding(sources + k, call.interaction);

    struct stage_walk walk = stage_walk_begin(&call.program, call.steps);
    const struct stage_pass *pass;
    bool force = call.program.needs_forces && !call.current;
    do {
        if (force) {
            __syncthreads();
            if (own.owner)
                pack_body(sources + own.body, body.y[VECTOR_X][0], body.y[VECTOR_X][1],
                          body.y[VECTOR_X][2], mass, call.interaction);
            __syncthreads();
            double total[3];
            body_sums<terms, 1> sums;
            sums.body[0] = sources[own.body];
            sums.index[0] = own.body;
            add_shares(total, &sums, shape, grid, own, shares, settings, load);
            body.set_acceleration(total, factor);
            if (fields && own.owner)
                body.add_fields(call.fields);
        }
        pass = stage_walk_next(&call.program, &walk);
        if (pass)
            body.move(*pass);
        force = pass && pass->force;
    } while (pass);

    if (own.owner) {
        body.store(call.state, n);
        body.store_acceleration(call.state, n);
        if (!body.finite())
            atomicMin(call.non_finite, (unsigned long long)n);
    }
}

/* Divides the threads of a block, and finds the number of systems in it. If a body has several
 * threads, a block has one system. Else several systems share a block, as many as there is shared
 * memory for: `sources` is the number of bytes that one system takes there, padding included, which
 * is much even for few bodies. */
static struct share_grid choose_grid(const struct gpu_resident_call *call, size_t sources,
                                     unsigned *packed)
{
    const unsigned count = call->shape.count;
    struct share_grid grid = { count, 1 };
    *packed = 1;
    grid.parts =
        min(min((unsigned)call->tuning.split, call->shape.segments), GPU_RESIDENT_BODIES / count);
    if (grid.parts <= 1) {
        grid.parts = 1;
        const unsigned block = min((unsigned)call->tuning.block, (unsigned)GPU_RESIDENT_BODIES);
        *packed = max(1u, min(block / count, (unsigned)(GPU_MAX_SHARED / sources)));
    }
    return grid;
}

template <bool fields> static cudaError_t launch_resident(const struct gpu_resident_call *call)
{
    const unsigned count = call->shape.count;
    if (count > GPU_RESIDENT_BODIES)
        return cudaErrorInvalidConfiguration;
    return with_gravity(call->interaction, [&](auto gravity, auto) {
        typedef decltype(gravity) terms;
        const size_t sources = shape_extent(call->shape) * sizeof(typename terms::source);
        unsigned packed;
        const struct share_grid grid = choose_grid(call, sources, &packed);
        const unsigned used = packed * grid.parts * count;
        const unsigned threads = (unsigned)groups_of(used, GPU_WARP) * GPU_WARP;
        const size_t shares = grid.parts > 1 ? 3 * grid.parts * count * sizeof(double) : 0;
        const auto kernel = call->program.registers ? resident<terms, true, fields>
                                                    : resident<terms, false, fields>;
        return launch(call->stream, groups_of(call->shape.systems, packed),
                      { threads, GPU_RESIDENT_BODIES }, packed * sources + shares, kernel, *call,
                      settings_of<terms>(call->interaction), grid, packed);
    });
}

extern "C" cudaError_t gpu_resident(const struct gpu_resident_call *call)
{
    return call->fields.count > 0 ? launch_resident<true>(call) : launch_resident<false>(call);
}
