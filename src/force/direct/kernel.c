/*
 * The kernels of one instruction set. This file is compiled once for each, with the flags of the
 * set and with KERNELS, the name of the table (see Makefile.am); vector.h follows the flags. With
 * AVX2 and AVX-512 there are two tables, which differ in how the third law is applied.
 * Products and sums contract to fused ones only where the source says so.
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
 *    (tiles.c), in which no tile appears twice, so that threads never write the same sums and the
 *    order of additions is that of the rounds.
 *
 * jerk-kernel.inc sums for bodies that are due at a time of their own, with the rates of change.
 * batch-kernel.inc puts systems of few bodies into the lanes instead of the bodies of one system.
 */
#include "force/direct/kernel.h"

#include <string.h>

#include "force/direct/packing.h"
#include "force/origin.h"
#include "force/vector.h"

#define CONCAT_EXPANDED(a, b) a##b
#define CONCAT(a, b) CONCAT_EXPANDED(a, b)
#define STRING_EXPANDED(a) #a
#define STRING(a) STRING_EXPANDED(a)
#define KERNEL_INLINE static inline __attribute__((always_inline))

enum { SERIES_float = FLOAT_SERIES, SERIES_double = DOUBLE_SERIES };

enum {
    GROUP = 8,                              /* vectors whose sums stay at hand */
    LOT = 2,                                /* of these go through the pipeline together */
    PLAIN_LOT = VECTOR_BYTES == 32 ? 1 : 2, /* the same without the third law */
    FEW = VECTOR_REGISTERS == 32 ? 3 : 2,   /* vectors that are enough without a pipeline */
    SELF_BLOCK = 32,                        /* bodies for which the third law does not pay */
    /* Vectors of pairs that go side by side, by fused sums and by others: AMD's Zen 4 is half as
     * fast again with two as with the four that Intel's cores want. */
    JERK_LOT = VECTOR_REGISTERS == 32 ? 4 : 1,
    JERK_LOT_SUMMED = VECTOR_REGISTERS == 32 ? 2 : 1,
    JERK_MOST = 4
};

#define ROOT_3 1.7320508075688772935

/* The ways in which the third law adds to the sums of both bodies; see update() in
 * third-law.inc. */
enum {
    UPDATE_FUSED,        /* m_i m_j r / r^3, by a fused product and sum on either side */
    UPDATE_SUMMED,       /* the same, worked out once and then added and taken */
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

/* The root of 3 in the precision of the kernels. */
#define ROOT_double ROOT_3
#define ROOT_mixed ((double)(float)ROOT_3)
#define ROOT_single ROOT_mixed

#include "force/direct/interleave.inc"
#include "force/direct/potential.inc"

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
