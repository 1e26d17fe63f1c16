/*
 * The kernels of one instruction set. This file is compiled once for each, with the flags of the
 * set and with KERNELS, the name of the table (see Makefile.am); vector.h follows the flags. With
 * AVX2 and AVX-512 there are two tables, for CPUs of two makers, which differ in the operations
 * that add the terms of a pair (UPDATE_FUSED and UPDATE_SUMMED below). Products and sums contract
 * to fused ones only where the source says so.
 *
 * What they compute is the plain loop of reference.c:
 *
 *     for (size_t i = 0; i < count; i++) {
 *         double ax = 0, ay = 0, az = 0;
 *         for (size_t j = 0; j < count; j++) {
 *             const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
 *             const double r2 = dx * dx + dy * dy + dz * dz + eps2;
 *             const double g = m[j] / (r2 * sqrt(r2));
 *             ax += g * dx;
 *             ay += g * dy;
 *             az += g * dz;
 *         }
 *         a[i] = (ax, ay, az);
 *     }
 *
 * Four ideas make it fast, one file each:
 *
 * 1. pair.inc: no root and no division. The CPU estimates 1/r, and a short series corrects 1/r^3.
 * 2. plain.inc: vectors. Bodies i fill the lanes, a body j is the same in all of them, so that no
 *    sum crosses lanes. A group of GROUP vectors of i keeps its sums while the bodies j pass, so
 *    that a body j is loaded once for all of them.
 * 3. pipeline.inc: software pipelining. A pair is one long chain of operations, each of which waits
 *    for the one before, and a CPU looks ahead no farther than one such chain. So three lots of
 *    pairs are under way at one time:
 *
 *        step of the loop       1          2          3          4          5
 *        lot 1               estimate   1/r^3      sums
 *        lot 2                          estimate   1/r^3      sums
 *        lot 3                                     estimate   1/r^3      sums
 *
 * 4. third-law.inc: each pair once, for both bodies. A tile of bodies i streams past a group of
 *    bodies j, with the sums of either side. Tiles are paired off in the rounds of a tournament
 *    (sums.c), in which no tile appears twice, so that threads never write the same sums and the
 *    order of additions is that of the rounds. A system of 256 bodies and more takes this loop, the
 *    kernel `symmetric`, a smaller one that of plain.inc: see choose_kernel() in direct.c.
 *
 * jerk-kernel.inc sums the accelerations of a few bodies, those that are due, with or without the
 * rates of change of these accelerations. batch-kernel.inc puts systems of few bodies into the
 * lanes instead of the bodies of one system. portable.inc is the plain loop itself, with the second
 * idea alone.
 */
#include "force/direct/kernel.h"

#include <string.h>

#include "force/direct/packing.h"
#include "force/origin.h"
#include "force/vector.h"

#define KERNEL_INLINE static inline __attribute__((always_inline))

enum { SERIES_float = FLOAT_SERIES, SERIES_double = DOUBLE_SERIES };

enum {
    GROUP = 8, /* vectors of bodies that keep their sums while others pass */
    LOT = 2,   /* vectors of pairs that go through the pipeline together */
    PLAIN_LOT = VECTOR_BYTES == 32 ? 1 : 2, /* LOT for the kernels without the third law */
    FEW = VECTOR_REGISTERS == 32 ? 3 : 2,   /* vectors that keep the CPU busy without a pipeline */
    SELF_BLOCK = 32, /* bodies of a block within which the third law does not pay */
    /* Vectors of pairs that the jerk kernels take side by side, by fused sums and by others: AMD's
     * Zen 4 is 1.5 times as fast with two as with the four that suit Intel's cores. */
    JERK_LOT = VECTOR_REGISTERS == 32 ? 4 : 1,
    JERK_LOT_SUMMED = VECTOR_REGISTERS == 32 ? 2 : 1,
    JERK_MOST = 4
};

#define ROOT_3 1.7320508075688772935

/* The ways in which the kernels add the term of a pair to the sums of both its bodies. */
enum {
    UPDATE_FUSED,  /* m_i m_j r / r^3, by a fused product and sum on either side */
    UPDATE_SUMMED, /* this term computed once, added on one side and subtracted on the other */
    UPDATE_ACCELERATIONS /* m_j r / r^3 and m_i r / r^3, fused */
};

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

#define REAL double
#define LOW 0
#define NAME(word) CONCAT(word, _double)
#include "force/direct/precision.inc"

#define REAL float
#define LOW 1
#define NAME(word) CONCAT(word, _mixed)
#include "force/direct/precision.inc"

#define REAL float
#define LOW 0
#define NAME(word) CONCAT(word, _single)
#include "force/direct/precision.inc"

enum {
    LANES = sizeof(vdouble) / sizeof(double),
    LANES_double = LANES,
    LANES_single = sizeof(vfloat) / sizeof(float),
    LANES_mixed = LANES_single
};

/* The root of 3 as the kernels of each precision have it. */
#define ROOT_double ROOT_3
#define ROOT_mixed ((double)(float)ROOT_3)
#define ROOT_single ROOT_mixed

/* --- batches ---------------------------------------------------------------------------------- */

/* Batches of systems: functions that interleave their arrays and copy them back, and find bounds
 * and origins, which packing needs. */

KERNEL_INLINE void transpose(vdouble rows[LANES])
{
    for (size_t done = 1; done < LANES; done *= 2) {
        vdouble next[LANES];
        UNROLL
        for (size_t k = 0; k < LANES / 2; k++) {
            next[2 * k] = zip_low(rows[k], rows[k + LANES / 2]);
            next[2 * k + 1] = zip_high(rows[k], rows[k + LANES / 2]);
        }
        memcpy(rows, next, sizeof next);
    }
}

/* Transposes a block of LANES by LANES numbers between arrays whose rows are `near` and `far`
 * numbers long: to[i far + k] = from[k near + i]. */
KERNEL_INLINE void transpose_block(const double *from, size_t near, double *to, size_t far)
{
    vdouble rows[LANES];
    UNROLL
    for (size_t k = 0; k < LANES; k++)
        rows[k] = load_double(from + k * near);
    transpose(rows);
    UNROLL
    for (size_t i = 0; i < LANES; i++)
        store_double(to + i * far, rows[i]);
}

static void interleave(const double *systems, size_t stride, size_t lanes, double *batch)
{
    for (size_t k = 0; k < lanes; k += LANES)
        for (size_t i = 0; i < stride; i += LANES)
            transpose_block(systems + k * stride + i, stride, batch + i * lanes + k, lanes);
}

static void deinterleave(const double *batch, size_t stride, size_t lanes, double *systems)
{
    for (size_t k = 0; k < lanes; k += LANES)
        for (size_t i = 0; i < stride; i += LANES)
            transpose_block(batch + i * lanes + k, lanes, systems + k * stride + i, stride);
}

static void bounds(const double *batch, size_t count, size_t lanes, struct bounds *bounds)
{
    for (size_t k = 0; k < lanes; k += LANES) {
        vdouble least = load_double(batch + k), greatest = least;
        for (size_t i = 1; i < count; i++) {
            const vdouble x = load_double(batch + i * lanes + k);
            least = lesser(x, least);
            greatest = greater(x, greatest);
        }
        for (size_t lane = 0; lane < LANES; lane++)
            bounds[k + lane] = (struct bounds){ least[lane], greatest[lane] };
    }
}

/* Finds the origin (force/origin.h) of each system of a batch along one axis, by the comparators of
 * origin_find(), so that it has the same bits. */
static void origins(const double *batch, size_t count, size_t lanes, double *origins)
{
    const struct origin_network *const network = origin_network(count);
    for (size_t k = 0; k < lanes; k += LANES) {
        vdouble sample[ORIGIN_SAMPLE];
        for (size_t n = 0; n < network->size; n++)
            sample[n] = load_double(batch + origin_body(count, network->size, n) * lanes + k);
        for (size_t n = 0; n < network->comparators; n++) {
            vdouble *const low = &sample[network->comparator[n].low];
            vdouble *const high = &sample[network->comparator[n].high];
            const vdouble a = *low, b = *high;
            *low = lesser(a, b);
            *high = greater(a, b);
        }
        memcpy(origins + k, &sample[network->size / 2], sizeof(vdouble));
    }
}

static void estimates(double of_float[KERNEL_ESTIMATES], double of_double[KERNEL_ESTIMATES])
{
    for (size_t k = 0; k < KERNEL_ESTIMATES; k++) {
        const double a = 1 + 3.0 * (double)k / KERNEL_ESTIMATES;
        of_float[k] = estimate_float(splat_float((float)a))[0];
        of_double[k] = estimate_double(splat_double(a))[0];
    }
}

/* --- potentials ------------------------------------------------------------------------------- */

/* Potentials are computed in double precision, whatever the precision of the force. */

/*
 * Returns 1/r, by a series as inverse_cube() does 1/r^3:
 *   1/r = s (1 + 1/2 e + 3/8 e^2 + 5/16 e^3 + 35/128 e^4 + ...).
 */
KERNEL_INLINE vdouble inverse(vdouble r2)
{
    const vdouble s = estimate_double(r2);
    const vdouble e = nmadd_double(r2, s * s, splat_double(1));
    vdouble p = splat_double(35.0 / 128);
    p = madd_double(p, e, splat_double(5.0 / 16));
    p = madd_double(p, e, splat_double(3.0 / 8));
    p = madd_double(p, e, splat_double(1.0 / 2));
    return madd_double(s * e, p, s);
}

/* Sums m_j / s into phi and m_j r^2 / s^3 into psi over all bodies j at the distance r, with s^2 =
 * r^2 + eps^2, for the bodies i of a range. If packed->touching, all pairs at r = 0 are left out;
 * otherwise only j = i. */
KERNEL_INLINE void potential(const struct packed *packed, struct range range, double *phi,
                             double *psi, int form)
{
    const double *const m = packed->m;
    const struct interaction_double interaction = interaction_of_double(packed);
    for (size_t i = range.first; i < range.last; i += LANES) {
        const struct position_double here = load_position_double(packed, i);
        vdouble sum = { 0 }, virial = { 0 };
        for (size_t j = 0; j < packed->count; j++) {
            const struct position_double there = splat_position_double(packed, j);
            const struct vector3_double d = separation_double(&here, &there, &interaction, form);
            const vdouble r2 = square_double(d, splat_double(0));
            const vdouble y1 = inverse(r2 + interaction.eps2);
            vdouble my = y1;
            if (!packed->equal)
                my *= splat_double(m[j]);
            if (packed->touching)
                my = (vdouble)((mask_double)my & (r2 > 0));
            else if (j - i < LANES)
                my[j - i] = 0;
            sum += my;
            virial = madd_double(my * r2, y1 * y1, virial);
        }
        store_double(phi + i, sum);
        store_double(psi + i, virial);
    }
}

static void potential_open(const struct packed *packed, struct range i, double *phi, double *psi)
{
    potential(packed, i, phi, psi, FORM_OPEN);
}

static void potential_periodic(const struct packed *packed, struct range i, double *phi,
                               double *psi)
{
    potential(packed, i, phi, psi, FORM_PERIODIC);
}

/* --- equal bits everywhere -------------------------------------------------------------------- */

#include "force/direct/portable.inc"

/* --- the table -------------------------------------------------------------------------------- */

#define TABLE(name, precision)                                                                     \
    {                                                                                              \
        { name##_open_##precision, name##_open_equal_##precision },                                \
        {                                                                                          \
            name##_periodic_##precision, name##_periodic_equal_##precision                         \
        }                                                                                          \
    }
#define KERNELS_OF(precision, series, update)                                                      \
    {                                                                                              \
        .factor = (series) == 0   ? 1                                                              \
                  : (series) == 1 ? 3.0 / 2                                                        \
                  : (series) == 2 ? 15.0 / 8                                                       \
                  : (series) == 3 ? 35.0 / 16                                                      \
                                  : 315.0 / 128,                                                   \
        .sum[FORCE_PLAIN] = TABLE(plain, precision),                                               \
        .tile_pair = TABLE(tile_pair_##update, precision),                                         \
        .tile_self = TABLE(tile_self_##update, precision), .reduce = reduce_##precision,           \
        .lanes = LANES_##precision,                                                                \
        .jerk_factor = 1 / (ROOT_##precision * ROOT_##precision * ROOT_##precision),               \
        .jerk = { jerk_##update##_open_##precision, jerk_##update##_periodic_##precision },        \
        .due = { due_##update##_open_##precision, due_##update##_periodic_##precision },           \
        .batch = {                                                                                 \
            batch_any_##precision,                                                                 \
            batch_equal_##precision                                                                \
        }                                                                                          \
    }
#define KERNELS_WITH(update, name)                                                                 \
    {                                                                                              \
        .isa = name,                                                                               \
        .force = { [PRECISION_DOUBLE] = KERNELS_OF(double, DOUBLE_SERIES, update),                 \
                   [PRECISION_MIXED] = KERNELS_OF(mixed, FLOAT_SERIES, update),                    \
                   [PRECISION_SINGLE] = KERNELS_OF(single, FLOAT_SERIES, update) },                \
        .interleave = interleave, .deinterleave = deinterleave, .bounds = bounds,                  \
        .origins = origins, .potential = { potential_open, potential_periodic },                   \
        .portable = { portable_sum_open, portable_sum_periodic },                                  \
        .portable_potential = { portable_potential_open, portable_potential_periodic },            \
        .estimates = estimates,                                                                    \
    }

#if VECTOR_HAS_FMA
const struct kernels CONCAT(kernels_, KERNELS) = KERNELS_WITH(fused, STRING(KERNELS));
#else
const struct kernels CONCAT(kernels_, KERNELS) = KERNELS_WITH(summed, STRING(KERNELS));
#endif
#if VECTOR_HAS_ZEN
const struct kernels CONCAT(CONCAT(kernels_, KERNELS), _zen) = KERNELS_WITH(summed,
                                                                            STRING(KERNELS) "-zen");
#endif
