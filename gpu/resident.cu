/*
 * The kernel for small systems: each stays in one block for many steps, its state in registers and
 * its bodies, as others read them, in shared memory, so that a step costs neither a launch nor a
 * trip to memory. A block holds several systems, with a thread for each body; or one system, with
 * several threads for each body, which share the segments of its sum.
 */
#include "launch.cuh"
#include "state.cuh"
#include "sum.cuh"

/* The division of a block of threads among systems and bodies. */
struct resident_grid {
    unsigned packed; /* systems in a block */
    unsigned split;  /* threads for each body */
};

/* The task of a thread: part `part` of the sum for body `body` of system `system`, which is number
 * `slot` of the systems in its block. */
struct resident_index {
    unsigned slot, system, part, body;
    bool used, owner; /* there is such a system; and this thread, of part 0, moves the body */
};

static __device__ resident_index find_index(const struct gpu_shape &shape,
                                            const struct resident_grid &grid)
{
    const unsigned threads = shape.count * grid.split;
    resident_index index;
    index.slot = threadIdx.x / threads;
    index.system = blockIdx.x * grid.packed + index.slot;
    index.part = threadIdx.x % threads / shape.count;
    index.body = threadIdx.x % shape.count;
    index.used = index.slot < grid.packed && index.system < shape.systems;
    index.owner = index.used && index.part == 0;
    return index;
}

/* Adds up what the bodies of one segment do to the body of this thread. */
template <class terms>
static __device__ __forceinline__ void
add_segment(body_sums<terms, 1> *sums, const struct gpu_shape &shape, unsigned segment,
            const typename terms::source *sources, const typename terms::settings &settings)
{
    const unsigned begin = segment * shape.segment;
    sums->start_segment();
    sums->add_chunks(sources + begin, begin, min(shape.segment, shape_extent(shape) - begin), 0,
                     true, settings);
}

/* Computes the whole sum of a body, in the order of segments; `total` is valid in the thread that
 * owns the body. `shares`, in shared memory, takes the sums of the several threads of each body,
 * [component][part][body]. */
template <class terms>
static __device__ __forceinline__ void
add_all(double total[3], const struct gpu_shape &shape, const struct resident_grid &grid,
        const resident_index &index, const typename terms::source *sources, double *shares,
        const typename terms::settings &settings)
{
    const unsigned pitch = grid.split * shape.count;
    body_sums<terms, 1> sums;
    sums.body[0] = sources[index.body];
    sums.index[0] = index.body;
    for (unsigned round = 0; round < shape.segments; round += grid.split) {
        const unsigned parts = min(grid.split, shape.segments - round);
        if (index.used && index.part < parts)
            add_segment(&sums, shape, round + index.part, sources, settings);
        if (grid.split == 1) {
            for (int c = 0; c < 3; c++)
                total[c] =
                    round == 0 ? sums.segment[0][c].value() : total[c] + sums.segment[0][c].value();
            continue;
        }
        for (int c = 0; c < 3 && index.used && index.part < parts; c++)
            shares[c * pitch + index.part * shape.count + index.body] = sums.segment[0][c].value();
        __syncthreads();
        for (unsigned k = 0; k < parts && index.owner; k++)
            for (int c = 0; c < 3; c++) {
                const double share = shares[c * pitch + k * shape.count + index.body];
                total[c] = round + k == 0 ? share : total[c] + share;
            }
        __syncthreads();
    }
}

/* Takes the steps of a call. Its program, the kicks, drifts and forces of a step, is read where the
 * launch has put it: without __grid_constant__ every thread would copy it. */
template <class terms, bool registers, bool fields>
static __global__ void __launch_bounds__(GPU_RESIDENT_BODIES, 1)
    resident(const __grid_constant__ struct gpu_resident_call call,
             const typename terms::settings settings, const struct resident_grid grid)
{
    typedef typename terms::source source;
    const struct gpu_shape &shape = call.shape;
    const resident_index index = find_index(shape, grid);
    const unsigned extent = shape_extent(shape);
    const size_t n = (size_t)index.system * shape.stride + index.body;
    source *sources = (source *)shared_memory();
    double *shares = (double *)(sources + grid.packed * extent);
    sources += min(index.slot, grid.packed - 1) * extent;

    body_state<registers> body = {};
    double mass = 0, factor = 0;
    if (index.owner) {
        body.load(call.state, n);
        body.load_acceleration(call.state, n);
        mass = call.state.m[n] / call.units.mass[index.system];
        factor = call.units.factor[index.system];
    }
    if (index.slot < grid.packed && index.part == 0)
        for (unsigned k = index.body; k < extent; k += shape.count)
            pack_padding(sources + k, call.interaction);

    struct stage_walk walk = stage_walk_begin(&call.program, call.steps);
    const struct stage_pass *pass;
    bool force = call.program.needs_forces && !call.current;
    do {
        if (force) {
            __syncthreads();
            if (index.owner)
                pack_body(sources + index.body, body.y[VECTOR_X][0], body.y[VECTOR_X][1],
                          body.y[VECTOR_X][2], mass, call.interaction);
            __syncthreads();
            double total[3];
            add_all<terms>(total, shape, grid, index, sources, shares, settings);
            body.set_acceleration(total, factor);
            if (fields && index.owner)
                body.add_fields(call.fields);
        }
        pass = stage_walk_next(&call.program, &walk);
        if (pass)
            body.move(*pass);
        force = pass && pass->force;
    } while (pass);

    if (index.owner) {
        body.store(call.state, n);
        body.store_acceleration(call.state, n);
        if (!body.finite())
            atomicMin(call.non_finite, (unsigned long long)n);
    }
}

/* Divides the threads of a block. If a body has several threads, a block has one system. Else
 * several systems share a block, as many as there is shared memory for: `sources` is the number of
 * bytes that one system takes there, padding included, which is much even for few bodies. */
static struct resident_grid choose_grid(const struct gpu_resident_call *call, size_t sources)
{
    const unsigned count = call->shape.count;
    struct resident_grid grid = { 1, 1 };
    grid.split =
        min(min((unsigned)call->tuning.split, call->shape.segments), GPU_RESIDENT_BODIES / count);
    if (grid.split <= 1) {
        grid.split = 1;
        const unsigned block = min((unsigned)call->tuning.block, (unsigned)GPU_RESIDENT_BODIES);
        grid.packed = max(1u, min(block / count, (unsigned)(GPU_MAX_SHARED / sources)));
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
        const struct resident_grid grid = choose_grid(call, sources);
        const unsigned used = grid.packed * grid.split * count;
        const unsigned threads = (unsigned)groups_of(used, GPU_WARP) * GPU_WARP;
        const size_t shares = grid.split > 1 ? 3 * grid.split * count * sizeof(double) : 0;
        const auto kernel = call->program.registers ? resident<terms, true, fields>
                                                    : resident<terms, false, fields>;
        return launch(call->stream, groups_of(call->shape.systems, grid.packed),
                      { threads, GPU_RESIDENT_BODIES }, grid.packed * sources + shares, kernel,
                      *call, settings_of<terms>(call->interaction), grid);
    });
}

extern "C" cudaError_t gpu_resident(const struct gpu_resident_call *call)
{
    return call->fields.count > 0 ? launch_resident<true>(call) : launch_resident<false>(call);
}
