/* The fp64 state of a body, which one thread moves, and the conversion to a source: the body as the
 * force kernels read it. */
#ifndef ORRERY_GPU_STATE_CUH
#define ORRERY_GPU_STATE_CUH

#include "pair.cuh"

/* The position, velocity and acceleration of a body and, if the integrator needs them, its
 * registers: further vectors that the stages of a step leave for later stages. */
template <bool registers> struct body_state {
    double y[registers ? VECTORS : VECTOR_R][3];

    __device__ __forceinline__ void load(const struct gpu_state &state, size_t n)
    {
        y[VECTOR_X][0] = state.x[n];
        y[VECTOR_X][1] = state.y[n];
        y[VECTOR_X][2] = state.z[n];
        y[VECTOR_V][0] = state.vx[n];
        y[VECTOR_V][1] = state.vy[n];
        y[VECTOR_V][2] = state.vz[n];
    }

    __device__ __forceinline__ void store(const struct gpu_state &state, size_t n) const
    {
        state.x[n] = y[VECTOR_X][0];
        state.y[n] = y[VECTOR_X][1];
        state.z[n] = y[VECTOR_X][2];
        state.vx[n] = y[VECTOR_V][0];
        state.vy[n] = y[VECTOR_V][1];
        state.vz[n] = y[VECTOR_V][2];
    }

    __device__ __forceinline__ void load_acceleration(const struct gpu_state &state, size_t n)
    {
        y[VECTOR_A][0] = state.ax[n];
        y[VECTOR_A][1] = state.ay[n];
        y[VECTOR_A][2] = state.az[n];
    }

    __device__ __forceinline__ void store_acceleration(const struct gpu_state &state,
                                                       size_t n) const
    {
        state.ax[n] = y[VECTOR_A][0];
        state.ay[n] = y[VECTOR_A][1];
        state.az[n] = y[VECTOR_A][2];
    }

    /* Loads the registers of stages, which are in memory between two launches of a step. The blocks
     * of gpu_resident() keep them, and do not call this. */
    __device__ __forceinline__ void load_registers(const struct gpu_state &state, size_t n)
    {
        for (int k = VECTOR_R; registers && k < VECTORS; k++)
            for (int c = 0; c < 3; c++)
                y[k][c] = state.registers[k - VECTOR_R][c][n];
    }

    __device__ __forceinline__ void store_registers(const struct gpu_state &state, size_t n) const
    {
        for (int k = VECTOR_R; registers && k < VECTORS; k++)
            for (int c = 0; c < 3; c++)
                state.registers[k - VECTOR_R][c][n] = y[k][c];
    }

    /* Computes the acceleration from `slots` partial sums of three components each, added in order.
     * A read takes as long as hundreds of additions, so BATCH slots are read before any is added;
     * those beyond the last one count as 0, which changes no bit, since no sum is -0. */
    __device__ __forceinline__ void accelerate(const double *sums, size_t length, unsigned slots,
                                               double factor)
    {
        enum { BATCH = 8 };
        double sum[3] = {};
        for (unsigned first = 0; first < slots; first += BATCH) {
            double part[BATCH][3];
#pragma unroll
            for (unsigned k = 0; k < BATCH; k++) {
                const bool any = first + k < slots;
                const double *const at = sums + 3 * (first + k) * length;
#pragma unroll
                for (int c = 0; c < 3; c++)
                    part[k][c] = any ? at[c * length] : 0;
            }
#pragma unroll
            for (unsigned k = 0; k < BATCH; k++)
#pragma unroll
                for (int c = 0; c < 3; c++)
                    sum[c] += part[k][c];
        }
        set_acceleration(sum, factor);
    }

    __device__ __forceinline__ void set_acceleration(const double *sum, double factor)
    {
        for (int c = 0; c < 3; c++)
            y[VECTOR_A][c] = factor * sum[c];
    }

    /* Adds the acceleration by external fields to that by the other bodies, in the order of the
     * host. */
    __device__ __forceinline__ void add_fields(const struct gpu_fields &fields)
    {
        const struct field_motion sum = fields_motion(fields.list, fields.count, y[VECTOR_X], NULL);
        for (int c = 0; c < 3; c++)
            y[VECTOR_A][c] += sum.a[c];
    }

    __device__ __forceinline__ void combine(int to, int from, int rate, const struct stage_move &by)
    {
        for (int c = 0; c < 3; c++) {
            double sum = y[from][c];
            for (unsigned k = 0; k < by.times; k++)
                sum += by.h[k] * y[rate][c];
            y[to][c] = sum;
        }
    }

    /* Does the moves of a pass. Without stage registers these are kicks and drifts, whose vectors
     * are written out, because an index that is not a constant would keep the state out of the
     * device's registers. */
    __device__ __forceinline__ void move(const struct stage_pass &pass)
    {
        for (unsigned k = 0; k < pass.count; k++) {
            const struct stage_move &by = pass.moves[k];
            if (registers)
                combine(by.to, by.from, by.rate, by);
            else if (by.to == VECTOR_V)
                combine(VECTOR_V, VECTOR_V, VECTOR_A, by);
            else
                combine(VECTOR_X, VECTOR_X, VECTOR_V, by);
        }
    }

    /* Does the moves of a pass in a rotating frame. Each is a kick, or a drift that by.times steps
     * make up, drifts[move][step]. */
    __device__ __forceinline__ void move_turning(const struct stage_pass &pass,
                                                 const struct field_drift drifts[][2])
    {
        for (unsigned k = 0; k < pass.count; k++) {
            const struct stage_move &by = pass.moves[k];
            if (by.to == VECTOR_V)
                combine(VECTOR_V, VECTOR_V, VECTOR_A, by);
            else
                for (unsigned n = 0; n < by.times; n++)
                    field_drift(&drifts[k][n], y[VECTOR_X], y[VECTOR_V]);
        }
    }

    /* Tells whether position and velocity are finite: 0 times an infinite number or NaN is NaN. */
    __device__ __forceinline__ bool finite() const
    {
        double sum = 0;
        for (int c = 0; c < 3; c++)
            sum += 0 * y[VECTOR_X][c] + 0 * y[VECTOR_V][c];
        return sum == 0;
    }
};

/* --- sources -----------------------------------------------------------------------------------*/

/* Returns a coordinate in the scaled unit of length. In a periodic box the body is moved into the
 * box first, because far outside of it fp32 has fewer digits; nearest images stay the same. */
static __device__ __forceinline__ double scaled(double x, const struct gpu_interaction &interaction)
{
    if (interaction.space == GPU_SPACE_PERIODIC)
        x = fma(-interaction.full.box, nearest_integer(x, interaction.full.inverse_box), x);
    return x * interaction.inverse_length;
}

static __device__ __forceinline__ void pack_position(source_single *source, double x, double y,
                                                     double z,
                                                     const struct gpu_interaction &interaction)
{
    source->x = (float)scaled(x, interaction);
    source->y = (float)scaled(y, interaction);
    source->z = (float)scaled(z, interaction);
}

static __device__ __forceinline__ void halve(double x, float *high, float *low)
{
    *high = (float)x;
    *low = (float)(x - (double)*high);
}

static __device__ __forceinline__ void pack_position(source_mixed *source, double x, double y,
                                                     double z,
                                                     const struct gpu_interaction &interaction)
{
    halve(scaled(x, interaction), &source->x, &source->x_low);
    halve(scaled(y, interaction), &source->y, &source->y_low);
    halve(scaled(z, interaction), &source->z, &source->z_low);
}

static __device__ __forceinline__ void pack_position(source_double *source, double x, double y,
                                                     double z, const struct gpu_interaction &)
{
    source->x = x;
    source->y = y;
    source->z = z;
}

/* Packs a body of mass m, which is in the system's unit of mass. */
template <class source>
static __device__ __forceinline__ void pack_body(source *to, double x, double y, double z, double m,
                                                 const struct gpu_interaction &interaction)
{
    source packed = {};
    pack_position(&packed, x, y, z, interaction);
    packed.m = (decltype(packed.m))m;
    *to = packed;
}

/* Stores a coordinate as three floats: 24 bits, 14 bits, and the rest. */
static __device__ __forceinline__ void cut(double x, float *high, float *middle, float *low)
{
    const double power = __hiloint2double(__double2hiint(x) & 0x7ff00000, 0); /* 2^e <= |x| */
    const double grid = power * 24576; /* a multiple of 2^(e - 38) is left when it is added */
    *high = (float)x;
    const double rest = x - (double)*high, upper = (rest + grid) - grid;
    *middle = (float)upper;
    *low = (float)(rest - upper);
}

static __device__ __forceinline__ bool fits_floats(double x)
{
    return fabs(x) <= GPU_FLOATS_LARGEST;
}

static __device__ __forceinline__ void pack_body(source_floats *to, double x, double y, double z,
                                                 double m,
                                                 const struct gpu_interaction &interaction)
{
    const double scale = interaction.floats.inverse_length;
    const bool fits = fits_floats(scale * x) && fits_floats(scale * y) && fits_floats(scale * z) &&
                      (m == 0 || m >= GPU_FLOATS_LIGHTEST);
    const two_floats mass = two_floats_of(m);
    source_floats packed = {};
    cut(fits ? scale * x : NAN, &packed.x, &packed.x_middle, &packed.x_low);
    cut(scale * y, &packed.y, &packed.y_middle, &packed.y_low);
    cut(scale * z, &packed.z, &packed.z_middle, &packed.z_low);
    packed.m = mass.high;
    packed.m_low = mass.low;
    *to = packed;
}

/* Packs a body of the padding, which acts on no other: its mass is 0 and, for kernels that do not
 * read masses, its distance is large. */
template <class source>
static __device__ __forceinline__ void pack_padding(source *to,
                                                    const struct gpu_interaction &interaction)
{
    source packed = {};
    packed.x = packed.y = packed.z = (decltype(packed.m))interaction.padding;
    *to = packed;
}

/* Stores the position and the velocity of body n after a move, and reports a body that is not
 * finite. If the move changed positions, it packs the new one. */
template <class source, bool registers>
static __device__ __forceinline__ void store_moved(const struct gpu_move_call &call,
                                                   const body_state<registers> &body, size_t n)
{
    body.store(call.state, n);
    if (!body.finite())
        atomicMin(call.non_finite, (unsigned long long)n);
    if (call.pass.drifts)
        pack_position((source *)call.sources + n, body.y[VECTOR_X][0], body.y[VECTOR_X][1],
                      body.y[VECTOR_X][2], call.interaction);
}

/* Calls visit(source_...()) for a precision. */
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
