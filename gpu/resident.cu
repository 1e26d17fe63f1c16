/*
 * Small systems: each stays in one block for many steps, its state in registers and its sources in
 * shared memory, so that a step costs neither a launch nor a trip to memory. A block holds several
 * systems, a body a thread; or one, and several threads share the segments of a body's sum.
 */
#include "launch.cuh"
#include "state.cuh"
#include "sum.cuh"

/* How the threads of a block are dealt out. */
struct resident_grid {
    unsigned packed; /* systems in a block */
    unsigned split;  /* threads for each body */
};

/* One thread's place: part `part` of the sum for body `body` of system `system`. */
struct resident_place {
    unsigned slot, system, part, body;
    bool used, owner; /* is there such a system; does the thread move the body */
};

static __device__ resident_place find_place(const struct gpu_shape &shape,
                                            const struct resident_grid &grid)
{
    const unsigned threads = shape.count * grid.split;
    resident_place place;
    place.slot = threadIdx.x / threads;
    place.system = blockIdx.x * grid.packed + place.slot;
    place.part = threadIdx.x % threads / shape.count;
    place.body = threadIdx.x % shape.count;
    place.used = place.slot < grid.packed && place.system < shape.systems;
    place.owner = place.used && place.part == 0;
    return place;
}

/* The sum of one segment of one body. */
template <class law>
static __device__ __forceinline__ void
add_segment(gathering<law, 1> *sums, const struct gpu_shape &shape, unsigned segment,
            const typename law::source *sources, const typename law::settings &settings)
{
    const unsigned begin = segment * shape.segment;
    sums->start_segment();
    sums->add_chunks(sources + begin, begin, min(shape.segment, shape_extent(shape) - begin), 0,
                     true, settings);
}

/* The whole sum of a body, in the order of segments; valid in its owner. `shares` takes the
 * other threads' parts, [component][part][body]. */
template <class law>
static __device__ __forceinline__ void
add_all(double total[3], const struct gpu_shape &shape, const struct resident_grid &grid,
        const resident_place &place, const typename law::source *sources, double *shares,
        const typename law::settings &settings)
{
    const unsigned pitch = grid.split * shape.count;
    gathering<law, 1> sums;
    sums.body[0] = sources[place.body];
    sums.index[0] = place.body;
    for (unsigned round = 0; round < shape.segments; round += grid.split) {
        const unsigned parts = min(grid.split, shape.segments - round);
        if (place.used && place.part < parts)
            add_segment(&sums, shape, round + place.part, sources, settings);
        if (grid.split == 1) {
            for (int c = 0; c < 3; c++)
                total[c] =
                    round == 0 ? sums.segment[0][c].value() : total[c] + sums.segment[0][c].value();
            continue;
        }
        for (int c = 0; c < 3 && place.used && place.part < parts; c++)
            shares[c * pitch + place.part * shape.count + place.body] = sums.segment[0][c].value();
        __syncthreads();
        for (unsigned k = 0; k < parts && place.owner; k++)
            for (int c = 0; c < 3; c++) {
                const double share = shares[c * pitch + k * shape.count + place.body];
                total[c] = round + k == 0 ? share : total[c] + share;
            }
        __syncthreads();
    }
}

template <class law>
static __global__ void __launch_bounds__(GPU_RESIDENT_BODIES, 1)
    resident(const struct gpu_resident_call call, const typename law::settings settings,
             const struct resident_grid grid)
{
    typedef typename law::source source;
    const struct gpu_shape &shape = call.shape;
    const resident_place place = find_place(shape, grid);
    const unsigned extent = shape_extent(shape);
    const size_t n = (size_t)place.system * shape.stride + place.body;
    source *sources = (source *)shared_memory();
    double *shares = (double *)(sources + grid.packed * extent);
    sources += min(place.slot, grid.packed - 1) * extent;

    body_state body = {};
    double mass = 0, factor = 0;
    if (place.owner) {
        body.load(call.state, n);
        body.load_acceleration(call.state, n);
        mass = call.state.m[n] / call.units.mass[place.system];
        factor = call.units.factor[place.system];
    }
    if (place.slot < grid.packed && place.part == 0)
        for (unsigned k = place.body; k < extent; k += shape.count)
            pack_padding(sources + k, call.law);

    for (uint64_t step = 0; step < call.steps; step++)
        for (unsigned k = 0; k < call.count; k++) {
            if (call.stages[k].verb != VERB_FORCE) {
                body.move(call.stages[k]);
                continue;
            }
            __syncthreads();
            if (place.owner)
                pack_body(sources + place.body, body.x, body.y, body.z, mass, call.law);
            __syncthreads();
            double total[3];
            add_all<law>(total, shape, grid, place, sources, shares, settings);
            body.set_acceleration(total, factor);
        }

    if (place.owner) {
        body.store(call.state, n);
        body.store_acceleration(call.state, n);
        if (!body.finite())
            atomicMin(call.blemish, (unsigned long long)n);
    }
}

/* One system alone spreads over as many threads as there are segments; many share blocks, as many
 * as their sources leave room for: those of each are padded, and so are large for few bodies. */
static struct resident_grid deal(const struct gpu_resident_call *call, size_t sources)
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

extern "C" cudaError_t gpu_resident(const struct gpu_resident_call *call)
{
    const unsigned count = call->shape.count;
    if (count > GPU_RESIDENT_BODIES)
        return cudaErrorInvalidConfiguration;
    return with_gravity(call->law, [&](auto gravity, auto) {
        typedef decltype(gravity) law;
        const size_t sources = shape_extent(call->shape) * sizeof(typename law::source);
        const struct resident_grid grid = deal(call, sources);
        const unsigned used = grid.packed * grid.split * count;
        const unsigned threads = (unsigned)groups_of(used, GPU_WARP) * GPU_WARP;
        const size_t shares = grid.split > 1 ? 3 * grid.split * count * sizeof(double) : 0;
        return launch(call->stream, groups_of(call->shape.systems, grid.packed),
                      { threads, GPU_RESIDENT_BODIES }, grid.packed * sources + shares,
                      resident<law>, *call, settings_of<law>(call->law), grid);
    });
}
