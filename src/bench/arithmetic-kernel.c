/*
 * The streams of operations (bench/arithmetic.h) for one instruction set, compiled with the options
 * of the force kernels, force/direct/kernel.c. The counts of operations are those of the kernels'
 * inner loops in plain.inc and third-law.inc; validation/cli/bench.py compares them with the
 * compiled kernels.
 */
#include "bench/arithmetic.h"

#include "force/vector.h"

/* The number of operations in one round of a stream that has a single kind of operation: enough to
 * use all chains. */
enum { ALONE = 6 };

/* The number of chains of operations that are under way together: enough for two units and a wait
 * of four or five cycles, and few enough to leave some of 16 registers for their operands. */
enum { CHAINS = ARITHMETIC_UNROLLED };

/* The factor 1 and the term 0 of the operations, with which no number changes. They are volatile,
 * so that the compiler does not know their values and leaves no operation out. */
static volatile double one = 1, zero = 0;
static volatile double sink;

/* The numbers of operations for one vector of pairs. A fused multiply-add is a product and a sum if
 * the instruction set has no instruction for it. */
struct mix {
    int fused, products, sums;
    int estimates; /* number of estimates of 1/sqrt(x) */
};

/* The numbers of operations for the inverse cube of the distance, whose estimate is corrected by
 * `series` terms, for the separation of positions, which have two parts each (high and low) if
 * `low`, and for the square of the distance. */
#define CUBE_FUSED(series) (series)
#define CUBE_PRODUCTS(series) (2 + ((series) > 0))
#define CUBE_SUMS(series) ((series) > 1)
#define SEPARATION_SUMS(low) ((low) ? 9 : 3)
#define SQUARE_FUSED 3

/* The inner loop of a kernel: distances and inverse cubes, which all kernels have, and the
 * operations that this kernel adds to them. */
#define MIX_KERNEL(series, low, more_fused, more_products, more_sums)                              \
    {                                                                                              \
        .fused = SQUARE_FUSED + CUBE_FUSED(series) + (more_fused),                                 \
        .products = CUBE_PRODUCTS(series) + (more_products),                                       \
        .sums = SEPARATION_SUMS(low) + CUBE_SUMS(series) + (more_sums), .estimates = 1             \
    }
/* The kernel that adds the acceleration of body i by body j; if the masses are equal, one product
 * less. */
#define MIX_PLAIN(series, low, equal) MIX_KERNEL(series, low, 3, !(equal), 0)
/* The third-law kernel with fused multiply-adds for the forces on both bodies of a pair. */
#define MIX_THIRD_FUSED(series, low, equal) MIX_KERNEL(series, low, 6, 2 * !(equal), 0)
/* The third-law kernel with separate products and sums: three products for a pair, one for each
 * axis, are added to the force on one body and subtracted from that on the other. */
#define MIX_THIRD_SUMMED(series, low, equal) MIX_KERNEL(series, low, 0, 2 * !(equal) + 3, 6)
#define MIX_FUSED(series, low, equal)                                                              \
    {                                                                                              \
        .fused = ALONE                                                                             \
    }
#define MIX_ESTIMATE(series, low, equal)                                                           \
    {                                                                                              \
        .estimates = ALONE                                                                         \
    }

#define REAL double
#include "bench/stream.inc"
#undef REAL
#define REAL float
#include "bench/stream.inc"
#undef REAL

/* --- instances ---------------------------------------------------------------------------------*/

#define INSTANCE(name, real, low, equal, MIX)                                                      \
    static void name(size_t vectors)                                                               \
    {                                                                                              \
        static const struct mix mix = MIX(SERIES_##real, low, equal);                              \
        stream_##real(mix, vectors);                                                               \
    }
#define SERIES_float FLOAT_SERIES
#define SERIES_double DOUBLE_SERIES
#define INSTANCES(form, MIX, precision, real, low)                                                 \
    INSTANCE(form##_##precision, real, low, 0, MIX)                                                \
    INSTANCE(form##_equal_##precision, real, low, 1, MIX)
#define ALL_INSTANCES(form, MIX)                                                                   \
    INSTANCES(form, MIX, double, double, 0)                                                        \
    INSTANCES(form, MIX, mixed, float, 1)                                                          \
    INSTANCES(form, MIX, single, float, 0)

ALL_INSTANCES(plain, MIX_PLAIN)
#if VECTOR_HAS_ZEN || !VECTOR_HAS_FMA
ALL_INSTANCES(third_summed, MIX_THIRD_SUMMED)
#endif
#if VECTOR_HAS_FMA
ALL_INSTANCES(third_fused, MIX_THIRD_FUSED)
#endif
INSTANCE(fused_double, double, 0, 0, MIX_FUSED)
INSTANCE(fused_float, float, 0, 0, MIX_FUSED)
INSTANCE(estimate_double_alone, double, 0, 0, MIX_ESTIMATE)
INSTANCE(estimate_float_alone, float, 0, 0, MIX_ESTIMATE)

#define STREAM(name, real)                                                                         \
    {                                                                                              \
        sizeof(v##real) / sizeof(real), name                                                       \
    }
#define STREAM_ALONE(name, real)                                                                   \
    {                                                                                              \
        ALONE * sizeof(v##real) / sizeof(real), name                                               \
    }
#define STREAMS(precision, real, third)                                                            \
    {                                                                                              \
        { STREAM(plain_##precision, real), STREAM(plain_equal_##precision, real) },                \
        {                                                                                          \
            STREAM(third##_##precision, real), STREAM(third##_equal_##precision, real)             \
        }                                                                                          \
    }
#define ARITHMETIC(name, third)                                                                    \
    {                                                                                              \
        .isa = name, .fused_double = STREAM_ALONE(fused_double, double),                           \
        .fused_float = STREAM_ALONE(fused_float, float),                                           \
        .estimate_double = STREAM_ALONE(estimate_double_alone, double),                            \
        .estimate_float = STREAM_ALONE(estimate_float_alone, float),                               \
        .kernels = { [PRECISION_DOUBLE] = STREAMS(double, double, third),                          \
                     [PRECISION_MIXED] = STREAMS(mixed, float, third),                             \
                     [PRECISION_SINGLE] = STREAMS(single, float, third) },                         \
    }

#if VECTOR_HAS_FMA
const struct arithmetic CONCAT(arithmetic_, KERNELS) = ARITHMETIC(STRING(KERNELS), third_fused);
#else
const struct arithmetic CONCAT(arithmetic_, KERNELS) = ARITHMETIC(STRING(KERNELS), third_summed);
#endif
#if VECTOR_HAS_ZEN
const struct arithmetic CONCAT(CONCAT(arithmetic_, KERNELS),
                               _zen) = ARITHMETIC(STRING(KERNELS) "-zen", third_summed);
#endif
