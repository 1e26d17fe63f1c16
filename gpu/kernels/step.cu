/*
 * The kernel that takes a whole step of a system of some hundreds or thousands of bodies: their
 * forces, kicks and drifts, and the sources of the next force. For such systems two launches, one
 * for the sums and one for the moves, take longer than the pairs. The bodies are divided among the
 * multiprocessors, and a block has enough threads for the whole sums of its bodies; so no block
 * waits for sums of another one, and none goes through memory.
 */
#include "shares.cuh"
#include "state.cuh"

template <class terms>
static __global__ void __launch_bounds__(GPU_STEP_THREADS, 1)
    step(const __grid_constant__ struct gpu_step_call call, const typename terms::settings settings,
         const struct share_grid grid)
{
    typedef typename terms::source source;
    let_next_begin();
    wait_for_kernels();
    const struct gpu_shape &shape = call.move.shape;
    const unsigned groups = (shape.count + grid.threads - 1) / grid.threads;
    const unsigned system = blockIdx.x / groups;
    struct share own;
    own.part = threadIdx.x / grid.threads;
    own.body = threadIdx.x % grid.threads;
    const unsigned i = blockIdx.x % groups * grid.threads + own.body;
    own.used = own.part < grid.parts && i < shape.count;
    own.owner = own.used && own.part == 0;

    const source *const bodies = (const source *)call.sources + (size_t)system * shape.stride;
    const size_t n = (size_t)system * shape.stride + i;
    body_state<false> body = {};
    double factor = 0;
    if (own.owner) {
        body.load(call.move.state, n);
        factor = call.move.units.factor[system];
    }
    source *const tile = (source *)shared_memory();
    double *const shares = (double *)(tile + grid.parts * shape.segment);
    const auto load = [&](unsigned k, unsigned parts) {
        const unsigned begin = k * shape.segment;
        const unsigned end = min(begin + parts * shape.segment, shape_extent(shape));
        for (unsigned j = begin + threadIdx.x; j < end; j += blockDim.x)
            tile[j - begin] = bodies[j];
        __syncthreads();
        return (const source *)tile;
    };
    body_sums<terms, 1> sums;
    sums.body[0] = bodies[min(i, shape.stride - 1)];
    sums.index[0] = i;
    double total[1][3];
    add_shares(total, &sums, shape, grid, own, shares, settings, load);
    if (!own.owner)
        return;
    body.set_acceleration(total[0], factor);
    body.store_acceleration(call.move.state, n);
    body.move(call.move.pass);
    store_moved<source>(call.move, body, n);
}

/* Returns the bytes of shared memory that a part needs: its segment of bodies, and its sums. */
static size_t size_of_part(const struct gpu_shape *shape, unsigned bodies, size_t source)
{
    return shape->segment * source + 3 * bodies * sizeof(double);
}

/* Divides the segments of a sum among as many threads as a block may have and has shared memory
 * for, and no more than it takes for the same number of rounds. */
static struct share_grid choose_grid(const struct gpu_step_call *call, size_t source)
{
    const struct gpu_shape *shape = &call->move.shape;
    const size_t room = GPU_MAX_SHARED / size_of_part(shape, call->bodies, source);
    const size_t most = min(room, (size_t)GPU_STEP_THREADS / call->bodies);
    const size_t rounds = groups_of(shape->segments, max(most, (size_t)1));
    return { call->bodies, (unsigned)groups_of(shape->segments, rounds) };
}

extern "C" cudaError_t gpu_step(const struct gpu_step_call *call)
{
    const struct gpu_interaction &interaction = call->move.interaction;
    return with_gravity_of_masses(interaction, [&](auto gravity) {
        typedef decltype(gravity) terms;
        const struct gpu_shape *shape = &call->move.shape;
        const size_t source = sizeof(typename terms::source);
        const struct share_grid grid = choose_grid(call, source);
        const unsigned used = grid.threads * grid.parts;
        const unsigned threads = (unsigned)groups_of(used, GPU_WARP) * GPU_WARP;
        const size_t blocks = shape->systems * groups_of(shape->count, grid.threads);
        const size_t shared = grid.parts * size_of_part(shape, grid.threads, source);
        return launch_early(call->early, call->move.stream, blocks, { threads, GPU_STEP_THREADS },
                            shared, step<terms>, *call, settings_of<terms>(interaction), grid);
    });
}
