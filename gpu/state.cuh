/* The fp64 state of a body, and its form as a source. */
#ifndef ORRERY_GPU_STATE_CUH
#define ORRERY_GPU_STATE_CUH

#include "pair.cuh"

struct body_state {
    double x, y, z, vx, vy, vz, ax, ay, az;

    __device__ __forceinline__ void load(const struct gpu_state &state, size_t n)
    {
        x = state.x[n];
        y = state.y[n];
        z = state.z[n];
        vx = state.vx[n];
        vy = state.vy[n];
        vz = state.vz[n];
    }

    __device__ __forceinline__ void store(const struct gpu_state &state, size_t n) const
    {
        state.x[n] = x;
        state.y[n] = y;
        state.z[n] = z;
        state.vx[n] = vx;
        state.vy[n] = vy;
        state.vz[n] = vz;
    }

    __device__ __forceinline__ void load_acceleration(const struct gpu_state &state, size_t n)
    {
        ax = state.ax[n];
        ay = state.ay[n];
        az = state.az[n];
    }

    __device__ __forceinline__ void store_acceleration(const struct gpu_state &state,
                                                       size_t n) const
    {
        state.ax[n] = ax;
        state.ay[n] = ay;
        state.az[n] = az;
    }

    /* From `slots` partial sums of three components each, in order. */
    __device__ __forceinline__ void accelerate(const double *sums, size_t length, unsigned slots,
                                               double factor)
    {
        double sum[3] = { sums[0], sums[length], sums[2 * length] };
        for (unsigned k = 1; k < slots; k++) {
            sums += 3 * length;
            sum[0] += sums[0];
            sum[1] += sums[length];
            sum[2] += sums[2 * length];
        }
        set_acceleration(sum, factor);
    }

    __device__ __forceinline__ void set_acceleration(const double *sum, double factor)
    {
        ax = factor * sum[0];
        ay = factor * sum[1];
        az = factor * sum[2];
    }

    __device__ __forceinline__ void move(const struct gpu_move &by)
    {
        if (by.verb == VERB_KICK) {
            vx += by.h * ax;
            vy += by.h * ay;
            vz += by.h * az;
        } else {
            x += by.h * vx;
            y += by.h * vy;
            z += by.h * vz;
        }
    }

    /* 0 x is NaN where x is infinite or NaN. */
    __device__ __forceinline__ bool finite() const
    {
        return 0 * x + 0 * y + 0 * z + 0 * vx + 0 * vy + 0 * vz == 0;
    }
};

/* --- sources -----------------------------------------------------------------------------------*/

/* A coordinate in the unit of length, inside the box where there is one: fp32 has no digits to
 * lose. Its nearest images stay what they were. */
static __device__ __forceinline__ double scaled(double x, const struct gpu_law &law)
{
    if (law.space == GPU_SPACE_PERIODIC)
        x = fma(-law.full.box, nearest_integer(x, law.full.inverse_box), x);
    return x * law.inverse_length;
}

static __device__ __forceinline__ void pack_position(source_single *source, double x, double y,
                                                     double z, const struct gpu_law &law)
{
    source->x = (float)scaled(x, law);
    source->y = (float)scaled(y, law);
    source->z = (float)scaled(z, law);
}

static __device__ __forceinline__ void halve(double x, float *high, float *low)
{
    *high = (float)x;
    *low = (float)(x - (double)*high);
}

static __device__ __forceinline__ void pack_position(source_mixed *source, double x, double y,
                                                     double z, const struct gpu_law &law)
{
    halve(scaled(x, law), &source->x, &source->x_low);
    halve(scaled(y, law), &source->y, &source->y_low);
    halve(scaled(z, law), &source->z, &source->z_low);
}

static __device__ __forceinline__ void pack_position(source_double *source, double x, double y,
                                                     double z, const struct gpu_law &)
{
    source->x = x;
    source->y = y;
    source->z = z;
}

/* A body of mass m, in the system's unit of mass. */
template <class source>
static __device__ __forceinline__ void pack_body(source *to, double x, double y, double z, double m,
                                                 const struct gpu_law &law)
{
    source packed = {};
    pack_position(&packed, x, y, z, law);
    packed.m = (decltype(packed.m))m;
    *to = packed;
}

/* A body that acts on none. */
template <class source>
static __device__ __forceinline__ void pack_padding(source *to, const struct gpu_law &law)
{
    source packed = {};
    packed.x = packed.y = packed.z = (decltype(packed.m))law.padding;
    *to = packed;
}

/* visit(source_...()) for a precision */
template <class Visitor>
static cudaError_t with_source(enum precision precision, const Visitor &visit)
{
    switch (precision) {
    case PRECISION_SINGLE:
        return visit(source_single());
    case PRECISION_MIXED:
        return visit(source_mixed());
    default:
        return visit(source_double());
    }
}

#endif
