/*
 * The work after a force: the partial sums become accelerations, velocities are kicked and
 * positions drift, and the new positions are packed for the next force. One thread takes one body,
 * in one pass over memory. If there are external fields, another form of the kernel adds them, and
 * drifts in a rotating frame. No multiply-add is fused, as on CPUs: given equal forces, bodies move
 * as they do there, bit by bit.
 */
#include "launch.cuh"
#include "state.cuh"

enum { BLOCK = 128 };

/* Finds the system of this thread's body and the index i of the body in it. Returns false if the
 * thread has no body. */
static __device__ __forceinline__ bool find_body(const struct gpu_shape &shape, unsigned *system,
                                                 unsigned *i)
{
    const unsigned groups = (shape_range(shape) + BLOCK - 1) / BLOCK;
    *system = blockIdx.x / groups;
    *i = shape.first + blockIdx.x % groups * BLOCK + threadIdx.x;
    return *i < min(shape.last, shape.count);
}

template <class source, bool registers, bool fields>
static __global__ void __launch_bounds__(BLOCK) move(const struct gpu_move_call call)
{
    unsigned system, i;
    if (!find_body(call.shape, &system, &i))
        return;
    const size_t n = (size_t)system * call.shape.stride + i;
    const struct gpu_state &state = call.state;
    body_state<registers> body;
    body.load(state, n);
    body.load_registers(state, n);
    if (call.slots > 0) {
        const double *sums = call.partial + shape_index(call.shape, system, i);
        body.accelerate(sums, shape_length(call.shape), call.slots, call.units.factor[system]);
        if (fields)
            body.add_fields(call.fields);
        body.store_acceleration(state, n);
    } else {
        body.load_acceleration(state, n);
    }
    if (fields && !registers && call.turns)
        body.move_turning(call.pass, call.drifts);
    else
        body.move(call.pass);
    body.store_registers(state, n);
    store_moved<source>(call, body, n);
}

template <bool fields> static cudaError_t launch_move(const struct gpu_move_call *call)
{
    return with_source(call->interaction.precision, [&](auto source) {
        typedef decltype(source) packed;
        const size_t blocks = call->shape.systems * groups_of(shape_range(call->shape), BLOCK);
        return call->pass.registers
                   ? launch(call->stream, blocks, BLOCK, 0, move<packed, true, fields>, *call)
                   : launch(call->stream, blocks, BLOCK, 0, move<packed, false, fields>, *call);
    });
}

extern "C" cudaError_t gpu_move(const struct gpu_move_call *call)
{
    return call->fields.count > 0 ? launch_move<true>(call) : launch_move<false>(call);
}

template <class source>
static __global__ void __launch_bounds__(BLOCK)
    pack(const struct gpu_shape shape, const struct gpu_interaction interaction,
         const struct gpu_state state, const struct gpu_units units, source *sources)
{
    const size_t n = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (n >= (size_t)shape.systems * shape.stride)
        return;
    const double unit = units.mass ? units.mass[n / shape.stride] : 1;
    if (n % shape.stride < shape.count)
        pack_body(sources + n, state.x[n], state.y[n], state.z[n], state.m[n] / unit, interaction);
    else
        pack_padding(sources + n, interaction);
}

template <class source>
static cudaError_t launch_pack(const struct gpu_shape *shape,
                               const struct gpu_interaction *interaction,
                               const struct gpu_state *state, const struct gpu_units *units,
                               void *sources, cudaStream_t stream)
{
    const size_t blocks = groups_of((size_t)shape->systems * shape->stride, BLOCK);
    return launch(stream, blocks, BLOCK, 0, pack<source>, *shape, *interaction, *state, *units,
                  (source *)sources);
}

extern "C" cudaError_t gpu_pack(const struct gpu_shape *shape,
                                const struct gpu_interaction *interaction,
                                const struct gpu_state *state, const struct gpu_units *units,
                                void *sources, cudaStream_t stream)
{
    return with_source(interaction->precision, [&](auto source) {
        return launch_pack<decltype(source)>(shape, interaction, state, units, sources, stream);
    });
}

extern "C" cudaError_t gpu_pack_floats(const struct gpu_shape *shape,
                                       const struct gpu_interaction *interaction,
                                       const struct gpu_state *state, const struct gpu_units *units,
                                       void *sources, cudaStream_t stream)
{
    return launch_pack<source_floats>(shape, interaction, state, units, sources, stream);
}

extern "C" const size_t gpu_source_floats_size = sizeof(source_floats);

extern "C" size_t gpu_source_size(enum precision precision)
{
    size_t size = 0;
    with_source(precision, [&](auto source) {
        size = sizeof source;
        return cudaSuccess;
    });
    return size;
}
