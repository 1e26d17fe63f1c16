/*
 * The kernels of one instruction set. This file is compiled once for each, with the flags of the
 * set and with KERNELS, the name of the table (see Makefile.am); vector.h follows the flags. With
 * fused products and sums there are two tables, which differ in how the third law is applied.
 * Products and sums contract to fused ones only where the source says so.
 */
#include "force/kernel.h"

#include <string.h>

#include "force/origin.h"
#include "force/packing.h"
#include "force/vector.h"

#define CONCAT_EXPANDED(a, b) a##b
#define CONCAT(a, b) CONCAT_EXPANDED(a, b)
#define STRING_EXPANDED(a) #a
#define STRING(a) STRING_EXPANDED(a)
#define KERNEL_INLINE static inline __attribute__((always_inline))
#if defined __SANITIZE_ADDRESS__
#define UNROLL /* loops are checked as well, and compile sooner */
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

enum { SERIES_float = FLOAT_SERIES, SERIES_double = DOUBLE_SERIES };

enum {
    GROUP = 8,                               /* vectors whose sums stay at hand */
    STAGE = 2,                               /* of these, side by side */
    PULL_STAGE = VECTOR_BYTES == 32 ? 1 : 2, /* the same without the third law */
    FEW = VECTOR_REGISTERS == 32 ? 3 : 2,    /* that are side by side without a pipeline */
    WITHIN = 32                              /* bodies for which the third law does not pay */
};

/* What the third law adds and takes; see exchange() in third-law.inc. */
enum {
    EXCHANGE_FUSED,        /* m_i m_j r / r^3, by a fused product and sum on either side */
    EXCHANGE_SUMMED,       /* the same, worked out once and then added and taken */
    EXCHANGE_ACCELERATIONS /* m_j r / r^3 and m_i r / r^3, fused */
};

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

#define REAL double
#define LOW 0
#define NAME(word) CONCAT(word, _double)
#include "force/precision.inc"

#define REAL float
#define LOW 1
#define NAME(word) CONCAT(word, _mixed)
#include "force/precision.inc"

#define REAL float
#define LOW 0
#define NAME(word) CONCAT(word, _single)
#include "force/precision.inc"

enum {
    LANES = sizeof(vdouble) / sizeof(double),
    LANES_double = LANES,
    LANES_single = sizeof(vfloat) / sizeof(float),
    LANES_mixed = LANES_single
};

/* Takes row k of LANES rows of LANES numbers to column k, and back. */
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

/* Rows of rows to columns of columns: number i `far` + k from number k `near` + i, a block of LANES
 * by LANES at a time. */
KERNEL_INLINE void turn(const double *from, size_t near, double *to, size_t far)
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

static void deal(const double *systems, size_t stride, size_t lanes, double *across)
{
    for (size_t k = 0; k < lanes; k += LANES)
        for (size_t i = 0; i < stride; i += LANES)
            turn(systems + k * stride + i, stride, across + i * lanes + k, lanes);
}

static void collect(const double *across, size_t stride, size_t lanes, double *systems)
{
    for (size_t k = 0; k < lanes; k += LANES)
        for (size_t i = 0; i < stride; i += LANES)
            turn(across + i * lanes + k, lanes, systems + k * stride + i, stride);
}

static void bounds(const double *across, size_t count, size_t lanes, struct bounds *bounds)
{
    for (size_t k = 0; k < lanes; k += LANES) {
        vdouble least = load_double(across + k), greatest = least;
        for (size_t i = 1; i < count; i++) {
            const vdouble x = load_double(across + i * lanes + k);
            least = lesser(x, least);
            greatest = greater(x, greatest);
        }
        for (size_t lane = 0; lane < LANES; lane++)
            bounds[k + lane] = (struct bounds){ least[lane], greatest[lane] };
    }
}

/* By the exchanges of origin_find(), so that no bit differs. */
static void origins(const double *across, size_t count, size_t lanes, double *origins)
{
    const struct origin_network *const network = origin_network(count);
    for (size_t k = 0; k < lanes; k += LANES) {
        vdouble sample[ORIGIN_SAMPLE];
        for (size_t n = 0; n < network->size; n++)
            sample[n] = load_double(across + origin_body(count, network->size, n) * lanes + k);
        for (size_t n = 0; n < network->exchanges; n++) {
            vdouble *const low = &sample[network->exchange[n].low];
            vdouble *const high = &sample[network->exchange[n].high];
            const vdouble a = *low, b = *high;
            *low = lesser(a, b);
            *high = greater(a, b);
        }
        memcpy(origins + k, &sample[network->size / 2], sizeof(vdouble));
    }
}

/* 1/r, as inverse_cube() does it: s (1 + 1/2 e + 3/8 e^2 + 5/16 e^3 + 35/128 e^4 + ...). */
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

/* Where `touching`, pairs at r = 0 are left out, whichever they are; else only j = i. */
KERNEL_INLINE void potential(const struct packed *packed, struct range range, double *phi,
                             double *psi, int form)
{
    const double *const m = packed->m;
    const struct law_double law = law_of_double(packed);
    for (size_t i = range.first; i < range.last; i += LANES) {
        const struct place_double here = load_place_double(packed, i);
        vdouble sum = { 0 }, virial = { 0 };
        for (size_t j = 0; j < packed->count; j++) {
            const struct place_double there = splat_place_double(packed, j);
            const struct vector3_double d = separation_double(&here, &there, &law, form);
            const vdouble r2 = square_double(d, splat_double(0));
            const vdouble y1 = inverse(r2 + law.eps2);
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

#define TABLE(name, precision)                                                                     \
    {                                                                                              \
        { name##_open_##precision, name##_open_equal_##precision },                                \
        {                                                                                          \
            name##_periodic_##precision, name##_periodic_equal_##precision                         \
        }                                                                                          \
    }
#define FORCE_KERNELS(precision, series, exchange)                                                 \
    {                                                                                              \
        .factor = (series) == 0   ? 1                                                              \
                  : (series) == 1 ? 3.0 / 2                                                        \
                  : (series) == 2 ? 15.0 / 8                                                       \
                  : (series) == 3 ? 35.0 / 16                                                      \
                                  : 315.0 / 128,                                                   \
        .plain = TABLE(plain, precision), .meet = TABLE(meet_##exchange, precision),               \
        .within = TABLE(within_##exchange, precision), .gather = gather_##precision,               \
        .lanes = LANES_##precision, .abreast = {                                                   \
            abreast_any_##precision,                                                               \
            abreast_equal_##precision                                                              \
        }                                                                                          \
    }
#define KERNELS_WITH(exchange, name)                                                               \
    {                                                                                              \
        .isa = name,                                                                               \
        .force = { [PRECISION_DOUBLE] = FORCE_KERNELS(double, DOUBLE_SERIES, exchange),            \
                   [PRECISION_MIXED] = FORCE_KERNELS(mixed, FLOAT_SERIES, exchange),               \
                   [PRECISION_SINGLE] = FORCE_KERNELS(single, FLOAT_SERIES, exchange) },           \
        .deal = deal, .collect = collect, .bounds = bounds, .origins = origins,                    \
        .potential = { potential_open, potential_periodic },                                       \
    }

#if VECTOR_HAS_FMA
const struct kernels CONCAT(kernels_, KERNELS) = KERNELS_WITH(fused, STRING(KERNELS));
const struct kernels CONCAT(CONCAT(kernels_, KERNELS), _zen) = KERNELS_WITH(summed,
                                                                            STRING(KERNELS) "-zen");
#else
const struct kernels CONCAT(kernels_, KERNELS) = KERNELS_WITH(summed, STRING(KERNELS));
#endif
