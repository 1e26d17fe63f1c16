/*
 * The sums over all bodies for the bodies that are due, which are those whose step ends now if each
 * body has a step of its own: accelerations, and for Hermite's method their rates of change, the
 * jerks. Few bodies may be due, so a thread takes one of them and one segment of the bodies j; a
 * second kernel adds the segments. The number of bodies alone fixes the order: a segment's bodies
 * follow one another, lane l of a warp adds segments l, l + 32, ..., and the lanes are added in a
 * tree. So the bits depend neither on the launch nor on which bodies are due. The bodies that are
 * not due have to be predicted first, which the device does, too.
 */
#include "force/jerk.h"
#include "launch.cuh"
#include "state.cuh"
#include "sum.cuh"

enum { BLOCK = 128, SEGMENT = GPU_DUE_SEGMENT };

/* --- prediction --------------------------------------------------------------------------------*/

/* Indices of arrays of gpu_predict_call.kept. */
enum { TIME, POSITION, VELOCITY = POSITION + 3, ACCELERATION = VELOCITY + 3 };

static __global__ void __launch_bounds__(BLOCK) take_changes(const struct gpu_predict_call call)
{
    const size_t k = blockIdx.x * BLOCK + threadIdx.x, stride = call.stride;
    if (k >= call.changes)
        return;
    double *const kept = call.kept + (call.changed ? call.changed[k] : k);
    kept[TIME * stride] = call.then;
    for (unsigned n = 0; n < 6; n++) {
        kept[(POSITION + n) * stride] = call.moved[n * call.changes + k];
        if (call.jerks)
            kept[(ACCELERATION + n) * stride] = call.forces[n * call.changes + k];
    }
}

static __global__ void __launch_bounds__(BLOCK) predict(const struct gpu_predict_call call)
{
    const size_t i = blockIdx.x * BLOCK + threadIdx.x, stride = call.stride;
    if (i >= call.count)
        return;
    const double *kept = call.kept + i;
    const double h = (call.now - kept[TIME * stride]) * call.tick;
    double *at = call.at + i;
    for (int axis = 0; axis < 3; axis++, kept += stride, at += stride) {
        const double x = kept[POSITION * stride], v = kept[VELOCITY * stride];
        if (call.jerks) {
            const double a = kept[ACCELERATION * stride], jerk = kept[(ACCELERATION + 3) * stride];
            at[0] = predicted_position(x, v, a, jerk, h);
            at[3 * stride] = predicted_velocity(v, a, jerk, h);
        } else {
            at[0] = x + h * v;
        }
    }
}

extern "C" cudaError_t gpu_predict(const struct gpu_predict_call *call)
{
    const cudaError_t code =
        launch(call->stream, groups_of(call->changes, BLOCK), BLOCK, 0, take_changes, *call);
    return code ? code
                : launch(call->stream, groups_of(call->count, BLOCK), BLOCK, 0, predict, *call);
}

/* --- terms with the jerk -----------------------------------------------------------------------*/

/* A body with its velocity. The velocity is stored like a position (in mixed precision as two
 * floats for each component), so that differences of velocities are as exact as separations. */
template <class position> struct __align__(16) moving
{
    position at, v;
};

/* Returns 1/r from the device's estimate s of it. In fp32 the estimate is exact enough and stays as
 * it is. In fp64 the result is s (1 + 1/2 e + 3/8 e^2) with e = 1 - r^2 s^2; the next term of this
 * series is 5/16 e^3 < 1e-17, since |e| < 3e-6. */
static __device__ __forceinline__ float corrected(float, float s)
{
    return s;
}

static __device__ __forceinline__ double corrected(double r2, double s)
{
    const double e = fma(-r2, s * s, 1.0);
    return fma(fma(e, 0.375, 0.5) * e, s, s);
}

static __device__ __forceinline__ bool vanishes(float r2)
{
    return r2 == 0;
}

/* The terms of acceleration and jerk, with d = r_ij, w = v_ij and r^2 = d^2 + eps^2:
 * sum_j m_j d / r^3 and sum_j m_j (w - 3 (d . w) / r^2 d) / r^3. */
template <class position, class settings_, typename real_, gpu_space space> struct motion {
    typedef moving<position> source;
    typedef settings_ settings;
    typedef real_ real;
    enum { SUMS = 6 };

    static __device__ __forceinline__ void pair(const source &i, const source &j, bool,
                                                const settings &interaction, real *sums)
    {
        const separation<real> d = separate<space>(i.at, j.at, interaction);
        const separation<real> w = separate<GPU_SPACE_SOFT>(i.v, j.v, interaction);
        const real r2 = distance2(d, interaction.eps2);
        const real rv = fma(d.x, w.x, fma(d.y, w.y, d.z * w.z));
        const real estimate = inverse_root<space>(r2);
        const bool apart = space == GPU_SPACE_SOFT || !vanishes(r2);
        const real s = apart ? corrected(r2, estimate) : (real)0;
        const real s2 = s * s;
        const real f = (j.at.m * s) * s2;
        const real q = (rv * s2) * (real)-3;
        pull(f, d, sums);
        pull(f, { fma(q, d.x, w.x), fma(q, d.y, w.y), fma(q, d.z, w.z) }, sums + 3);
    }
};

/* Calls visit(motion<...>()) with the terms for the precision of an interaction in open space, and
 * for its softening: soft, or so small that 1/r must be checked. */
template <class Visitor>
static cudaError_t with_motion(const struct gpu_interaction &interaction, const Visitor &visit)
{
    if (interaction.precision != PRECISION_DOUBLE)
        return visit(motion<source_mixed, struct gpu_interaction_single, float, GPU_SPACE_SOFT>());
    if (interaction.space == GPU_SPACE_SOFT)
        return visit(
            motion<source_double, struct gpu_interaction_double, double, GPU_SPACE_SOFT>());
    return visit(motion<source_double, struct gpu_interaction_double, double, GPU_SPACE_SHARP>());
}

/* Calls visit() with the terms of a call: motion<...>() if it asks for jerks, else
 * gravity<...>(). */
template <class Visitor>
static cudaError_t with_terms(const struct gpu_due_call *call, const Visitor &visit)
{
    if (call->inverse_speed > 0)
        return with_motion(call->interaction, visit);
    return with_gravity(call->interaction, [&](auto gravity, auto) { return visit(gravity); });
}

extern "C" size_t gpu_moving_size(void)
{
    static_assert(sizeof(moving<source_double>) == sizeof(moving<source_mixed>), "");
    return sizeof(moving<source_double>);
}

/* --- sources -----------------------------------------------------------------------------------*/

template <class position>
static __global__ void __launch_bounds__(BLOCK)
    pack_moving(const struct gpu_shape shape, const struct gpu_interaction interaction,
                const struct gpu_interaction speed, const struct gpu_state state,
                moving<position> *sources)
{
    const unsigned n = blockIdx.x * BLOCK + threadIdx.x;
    moving<position> packed = {};
    if (n >= shape.stride)
        return;
    if (n < shape.count) {
        pack_body(&packed.at, state.x[n], state.y[n], state.z[n], state.m[n], interaction);
        pack_position(&packed.v, state.vx[n], state.vy[n], state.vz[n], speed);
    } else {
        pack_padding(&packed.at, interaction);
    }
    sources[n] = packed;
}

template <class position> static cudaError_t start_pack(const struct gpu_due_call *call)
{
    struct gpu_interaction speed = call->interaction;
    speed.inverse_length = call->inverse_speed;
    return launch(call->stream, groups_of(call->shape.stride, BLOCK), BLOCK, 0,
                  pack_moving<position>, call->shape, call->interaction, speed, call->state,
                  (moving<position> *)call->sources);
}

extern "C" cudaError_t gpu_due_pack(const struct gpu_due_call *call)
{
    const struct gpu_units units = {};
    if (call->inverse_speed == 0)
        return gpu_pack(&call->shape, &call->interaction, &call->state, &units, call->sources,
                        call->stream);
    return call->interaction.precision == PRECISION_DOUBLE ? start_pack<source_double>(call)
                                                           : start_pack<source_mixed>(call);
}

/* --- sums --------------------------------------------------------------------------------------*/

/* Adds up what the bodies j of one segment do to blockDim.x of the `count` bodies whose indices are
 * in `due`, a thread for each of these, into partial[due body][component][segment]. */
template <class terms>
static __global__ void __launch_bounds__(BLOCK)
    add_segments(const struct gpu_shape shape, const typename terms::settings settings,
                 const typename terms::source *__restrict__ sources,
                 const uint32_t *__restrict__ due, const unsigned count,
                 double *__restrict__ partial)
{
    const unsigned segment = blockIdx.x % shape.segments, begin = segment * SEGMENT;
    const unsigned k = blockIdx.x / shape.segments * blockDim.x + threadIdx.x;
    body_sums<terms, 1> sums;
    sums.index[0] = due[min(k, count - 1)]; /* threads beyond the last body help to load tiles */
    sums.body[0] = sources[sums.index[0]];
    sums.start_segment();
    sums.add_tiles(sources, begin, min(begin + SEGMENT, shape_extent(shape)),
                   (typename terms::source *)shared_memory(), SEGMENT, settings);
    if (k < count)
        sums.end_segment(0, partial + (size_t)k * terms::SUMS * shape.segments + segment,
                         shape.segments, false);
}

/* Adds the segments of each sum; a warp takes one component of one body. Multiplies the sum by its
 * factor, `acceleration` or `jerk`, and puts it into results[component * stride + body]. */
static __global__ void __launch_bounds__(BLOCK)
    add_parts(const double *__restrict__ partial, const unsigned segments, const unsigned sums,
              const unsigned count, const double acceleration, const double jerk,
              double *__restrict__ results, const unsigned stride)
{
    const unsigned lane = threadIdx.x % GPU_WARP;
    const size_t n = ((size_t)blockIdx.x * BLOCK + threadIdx.x) / GPU_WARP;
    const bool any = n < (size_t)count * sums;
    const double *const parts = partial + n * segments;
    double sum = 0;
    for (unsigned k = lane; any && k < segments; k += GPU_WARP)
        sum += parts[k];
    for (unsigned half = GPU_WARP / 2; half > 0; half /= 2)
        sum += __shfl_sync(~0u, sum, (int)((lane + half) % GPU_WARP));
    if (any && lane == 0)
        results[n % sums * stride + n / sums] = (n % sums < 3 ? acceleration : jerk) * sum;
}

extern "C" cudaError_t gpu_due_sum(const struct gpu_due_call *call)
{
    return with_terms(call, [&](auto chosen) {
        typedef decltype(chosen) terms;
        const unsigned segments = call->shape.segments;
        cudaError_t code = cudaSuccess;
        for (unsigned first = 0; first < call->count && !code; first += call->room) {
            const unsigned count = min(call->room, call->count - first);
            const unsigned block =
                min((unsigned)BLOCK, (unsigned)groups_of(count, GPU_WARP) * GPU_WARP);
            code = launch(call->stream, groups_of(count, block) * segments, block,
                          SEGMENT * sizeof(typename terms::source), add_segments<terms>,
                          call->shape, settings_of<terms>(call->interaction),
                          (const typename terms::source *)call->sources, call->due + first, count,
                          call->partial);
            if (!code)
                code = launch(
                    call->stream, groups_of((size_t)count * terms::SUMS * GPU_WARP, BLOCK), BLOCK,
                    0, add_parts, (const double *)call->partial, segments, (unsigned)terms::SUMS,
                    count, call->acceleration, call->jerk, call->results + first, call->count);
        }
        return code;
    });
}
