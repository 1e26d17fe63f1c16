/*
 * The few vector operations that the force kernels need, on the widest registers of the instruction
 * set that a file is compiled for: AVX-512, AVX2 with FMA, SSE2, NEON of 64-bit ARM, or plain
 * arrays of 16 bytes that any compiler and CPU can handle (VECTOR_PORTABLE asks for these where the
 * compiler has NEON by default). + - * are the compiler's own on all of them.
 *
 * For float and double each:
 *   load, store   LANES numbers at an aligned address
 *   splat         one number in every lane
 *   madd(a,b,c)   a b + c; nmadd(a,b,c) = c - a b: one instruction and one rounding with FMA
 *   estimate(a)   1/sqrt(a) for 2^-126 < a < 2^127, with a relative error below 2^-14 (AVX-512)
 *                 or 1.5 x 2^-12; to the last digit where there is no such instruction. Its bits
 *                 are the CPU maker's choice, so that results differ between makers by less than
 *                 the error of the kernel. ARM's architecture defines them, with an error below
 *                 2^-8: a longer series makes up for it, in double a step of Newton's method.
 *   sum           of the lanes, in a fixed order
 *   add_sums      total[k] += sum of the lanes of a[k], for k < count, four at a time (AVX-512)
 *   bits          the result of a comparison: bit k is set if it holds in lane k
 *   widen         numbers of the type from floats: for double those of the first half of the lanes
 * For float alone:
 *   load_fours(p, n, k)  the numbers k to k + 3 of each of the arrays p[0], p[n], p[2 n], ...
 *   transpose_fours(a)   exchanges the rows and columns of the 4 x 4 numbers that stand in the same
 *                        16 bytes of a[0], ..., a[3]
 * For double alone:
 *   root(a)             the correctly rounded square root
 *   lesser, greater     of two numbers; b if one of them is NaN
 *   zip_low, zip_high   lanes of a and b alternating, from their first halves and their last
 */
#ifndef ORRERY_FORCE_VECTOR_H
#define ORRERY_FORCE_VECTOR_H

#include <stdint.h>

#if defined __SSE2__
#include <immintrin.h>
#elif defined __aarch64__ && defined __ARM_NEON && !defined VECTOR_PORTABLE
#include <arm_neon.h>
#define VECTOR_HAS_NEON 1
#else
#include <math.h>
#endif
#ifndef VECTOR_HAS_NEON
#define VECTOR_HAS_NEON 0
#endif

#define VECTOR_INLINE(type) static inline __attribute__((always_inline, unused)) type
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Join two words, and make a string of one, after macros in them are expanded; the names of kernels
 * are made so. */
#define CONCAT_EXPANDED(a, b) a##b
#define CONCAT(a, b) CONCAT_EXPANDED(a, b)
#define STRING_EXPANDED(a) #a
#define STRING(a) STRING_EXPANDED(a)

/*
 * UNROLL stands before a loop of few rounds, whose number the compiler knows, that is to become
 * straight code: the arrays that the loop goes over can then stay in registers. UNROLL_TO(n) is for
 * up to n rounds. gcc unrolls soon enough in any case; clang unrolls fully only the loops that are
 * marked so, and leaves the arrays of other loops in memory.
 */
#define VECTOR_PRAGMA(words) _Pragma(#words)
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define VECTOR_SANITIZED 1 /* clang's way to tell that AddressSanitizer is on */
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined VECTOR_SANITIZED
#define UNROLL_TO(n) /* sanitizers check loops as well, and loops compile sooner */
#elif defined __clang__
#define UNROLL_TO(n) VECTOR_PRAGMA(clang loop unroll(full))
#else
#define UNROLL_TO(n) VECTOR_PRAGMA(GCC unroll n)
#endif
#define UNROLL UNROLL_TO(8)

/*
 * IN_MEMORY(x) makes the compiler keep x in memory, and not in registers, from one round of the
 * loop around it to the next. If there are more sums than registers, the sums may as well wait in
 * the first-level cache. gcc does that by itself; clang keeps the sums in registers, has to store
 * the pairs that it works on instead, and so moves twice as many vectors.
 */
#if defined __clang__
#define IN_MEMORY(x) __asm__("" : "+m"(x))
#else
#define IN_MEMORY(x) (void)0
#endif

/* FLOAT_SERIES, DOUBLE_SERIES: the number of terms that the series for 1/r^3 needs after the CPU's
 * estimate of 1/r. VECTOR_HAS_ZEN: the kernels exist in a second form, for CPUs that have units of
 * their own for additions (AMD's). */
#if defined __AVX512F__ && defined __AVX512DQ__
#define VECTOR_BYTES 64
enum { FLOAT_SERIES = 1, DOUBLE_SERIES = 3, VECTOR_REGISTERS = 32 };
#define VECTOR_HAS_FMA 1
#elif defined __AVX2__ && defined __FMA__
#define VECTOR_BYTES 32
enum { FLOAT_SERIES = 2, DOUBLE_SERIES = 4, VECTOR_REGISTERS = 16 };
#define VECTOR_HAS_FMA 1
#elif defined __SSE2__
#define VECTOR_BYTES 16
enum { FLOAT_SERIES = 2, DOUBLE_SERIES = 4, VECTOR_REGISTERS = 16 };
#define VECTOR_HAS_FMA 0
#elif VECTOR_HAS_NEON
#define VECTOR_BYTES 16
enum { FLOAT_SERIES = 3, DOUBLE_SERIES = 3, VECTOR_REGISTERS = 32 };
#define VECTOR_HAS_FMA 1
#else
#define VECTOR_BYTES 16
enum { FLOAT_SERIES = 0, DOUBLE_SERIES = 0, VECTOR_REGISTERS = 32 };
#define VECTOR_HAS_FMA 0
#endif

#define VECTOR_HAS_ZEN (VECTOR_HAS_FMA && !VECTOR_HAS_NEON)

typedef float vfloat __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef double vdouble __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int32_t mask_float __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int64_t mask_double __attribute__((vector_size(VECTOR_BYTES), may_alias));

/* clang-format off */
VECTOR_INLINE(vfloat) load_float(const float *p) { return *(const vfloat *)p; }
VECTOR_INLINE(vdouble) load_double(const double *p) { return *(const vdouble *)p; }
VECTOR_INLINE(void) store_float(float *p, vfloat a) { *(vfloat *)p = a; }
VECTOR_INLINE(void) store_double(double *p, vdouble a) { *(vdouble *)p = a; }

#if VECTOR_BYTES > 16

#if VECTOR_BYTES == 64
#define MM(name) _mm512_##name
#else
#define MM(name) _mm256_##name
#endif

VECTOR_INLINE(vfloat) splat_float(float a) { return MM(set1_ps)(a); }
VECTOR_INLINE(vdouble) splat_double(double a) { return MM(set1_pd)(a); }
VECTOR_INLINE(vfloat) madd_float(vfloat a, vfloat b, vfloat c) { return MM(fmadd_ps)(a, b, c); }
VECTOR_INLINE(vdouble) madd_double(vdouble a, vdouble b, vdouble c)
{
    return MM(fmadd_pd)(a, b, c);
}
VECTOR_INLINE(vdouble) lesser(vdouble a, vdouble b) { return MM(min_pd)(a, b); }
VECTOR_INLINE(vdouble) greater(vdouble a, vdouble b) { return MM(max_pd)(a, b); }
VECTOR_INLINE(vfloat) nmadd_float(vfloat a, vfloat b, vfloat c) { return MM(fnmadd_ps)(a, b, c); }
VECTOR_INLINE(vdouble) nmadd_double(vdouble a, vdouble b, vdouble c)
{
    return MM(fnmadd_pd)(a, b, c);
}

VECTOR_INLINE(vdouble) root(vdouble a) { return MM(sqrt_pd)(a); }

VECTOR_INLINE(void) transpose_fours(vfloat a[4])
{
    const vfloat ab = MM(unpacklo_ps)(a[0], a[1]), cd = MM(unpacklo_ps)(a[2], a[3]);
    const vfloat AB = MM(unpackhi_ps)(a[0], a[1]), CD = MM(unpackhi_ps)(a[2], a[3]);
    a[0] = MM(shuffle_ps)(ab, cd, 0x44);
    a[1] = MM(shuffle_ps)(ab, cd, 0xee);
    a[2] = MM(shuffle_ps)(AB, CD, 0x44);
    a[3] = MM(shuffle_ps)(AB, CD, 0xee);
}

#if VECTOR_BYTES == 64
VECTOR_INLINE(vfloat) load_fours(const float *const *p, size_t n, size_t k)
{
    const __m512 a = _mm512_castps128_ps512(_mm_loadu_ps(p[0] + k));
    const __m512 ab = _mm512_insertf32x4(a, _mm_loadu_ps(p[n] + k), 1);
    const __m512 abc = _mm512_insertf32x4(ab, _mm_loadu_ps(p[2 * n] + k), 2);
    return _mm512_insertf32x4(abc, _mm_loadu_ps(p[3 * n] + k), 3);
}
VECTOR_INLINE(vfloat) estimate_float(vfloat a) { return _mm512_rsqrt14_ps(a); }
VECTOR_INLINE(vdouble) estimate_double(vdouble a) { return _mm512_rsqrt14_pd(a); }
VECTOR_INLINE(float) sum_float(vfloat a) { return _mm512_reduce_add_ps(a); }
VECTOR_INLINE(double) sum_double(vdouble a) { return _mm512_reduce_add_pd(a); }
/* Adds pairs of lanes, one step of the sums over the lanes of a and of b: in each 128 bits the
 * lanes of one half are added to those of the other, and sums of a and of b alternate. The caller
 * adds up the lanes that remain. */
#define FOLD(type, a, b) (_mm512_unpacklo_##type(a, b) + _mm512_unpackhi_##type(a, b))
VECTOR_INLINE(void) add_sums_float(float *total, const vfloat *a, int count)
{
    for (int k = 0; k < count; k += 4) {
        const vfloat ab = FOLD(ps, a[k], a[k + 1]), cd = FOLD(ps, a[k + 2], a[k + 3]);
        const vfloat all = _mm512_shuffle_ps(ab, cd, 0x44) + _mm512_shuffle_ps(ab, cd, 0xee);
        const __m256 half = _mm512_castps512_ps256(all) + _mm512_extractf32x8_ps(all, 1);
        const __m128 sums = _mm256_castps256_ps128(half) + _mm256_extractf128_ps(half, 1);
        _mm_storeu_ps(total + k, _mm_loadu_ps(total + k) + sums);
    }
}
VECTOR_INLINE(void) add_sums_double(double *total, const vdouble *a, int count)
{
    for (int k = 0; k < count; k += 4) {
        const vdouble ab = FOLD(pd, a[k], a[k + 1]), cd = FOLD(pd, a[k + 2], a[k + 3]);
        const vdouble all = _mm512_shuffle_f64x2(ab, cd, 0x44) + _mm512_shuffle_f64x2(ab, cd, 0xee);
        const vdouble sums =
            _mm512_shuffle_f64x2(all, all, 0x88) + _mm512_shuffle_f64x2(all, all, 0xdd);
        _mm256_storeu_pd(total + k, _mm256_loadu_pd(total + k) + _mm512_castpd512_pd256(sums));
    }
}
#undef FOLD
#define ZIP(k) k, k + 8, k + 1, k + 9, k + 2, k + 10, k + 3, k + 11
VECTOR_INLINE(vdouble) zip_low(vdouble a, vdouble b)
{
    return _mm512_permutex2var_pd(a, (__m512i)(mask_double){ ZIP(0) }, b);
}
VECTOR_INLINE(vdouble) zip_high(vdouble a, vdouble b)
{
    return _mm512_permutex2var_pd(a, (__m512i)(mask_double){ ZIP(4) }, b);
}
#undef ZIP
#else
VECTOR_INLINE(vfloat) load_fours(const float *const *p, size_t n, size_t k)
{
    const __m256 a = _mm256_castps128_ps256(_mm_loadu_ps(p[0] + k));
    return _mm256_insertf128_ps(a, _mm_loadu_ps(p[n] + k), 1);
}
VECTOR_INLINE(vfloat) estimate_float(vfloat a) { return _mm256_rsqrt_ps(a); }
VECTOR_INLINE(vdouble) estimate_double(vdouble a)
{
    return _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(a)));
}
VECTOR_INLINE(float) sum_float(vfloat a)
{
    __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}
VECTOR_INLINE(double) sum_double(vdouble a)
{
    const __m128d b = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(b, _mm_unpackhi_pd(b, b)));
}
/* The unpack instructions zip each half of a register by itself, so the halves are then put
 * together. */
VECTOR_INLINE(vdouble) zip_low(vdouble a, vdouble b)
{
    return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x20);
}
VECTOR_INLINE(vdouble) zip_high(vdouble a, vdouble b)
{
    return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x31);
}
#endif
#undef MM

#else

VECTOR_INLINE(vfloat) load_fours(const float *const *p, size_t n, size_t k)
{
    typedef float loose __attribute__((vector_size(16), aligned(4), may_alias));
    (void)n;
    return *(const loose *)(p[0] + k);
}
VECTOR_INLINE(void) transpose_fours(vfloat a[4])
{
    const vfloat ab = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5);
    const vfloat cd = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5);
    const vfloat AB = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7);
    const vfloat CD = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
    a[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    a[1] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    a[2] = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
    a[3] = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
}
VECTOR_INLINE(vfloat) splat_float(float a) { return (vfloat){ a, a, a, a }; }
VECTOR_INLINE(vdouble) splat_double(double a) { return (vdouble){ a, a }; }
#if VECTOR_HAS_NEON
#define F(a) (float32x4_t)(a)
#define D(a) (float64x2_t)(a)
VECTOR_INLINE(vfloat) madd_float(vfloat a, vfloat b, vfloat c)
{
    return (vfloat)vfmaq_f32(F(c), F(a), F(b));
}
VECTOR_INLINE(vdouble) madd_double(vdouble a, vdouble b, vdouble c)
{
    return (vdouble)vfmaq_f64(D(c), D(a), D(b));
}
VECTOR_INLINE(vfloat) nmadd_float(vfloat a, vfloat b, vfloat c)
{
    return (vfloat)vfmsq_f32(F(c), F(a), F(b));
}
VECTOR_INLINE(vdouble) nmadd_double(vdouble a, vdouble b, vdouble c)
{
    return (vdouble)vfmsq_f64(D(c), D(a), D(b));
}
VECTOR_INLINE(vdouble) root(vdouble a) { return (vdouble)vsqrtq_f64(D(a)); }
VECTOR_INLINE(vfloat) estimate_float(vfloat a) { return (vfloat)vrsqrteq_f32(F(a)); }
/* Improves the estimate s of 1/sqrt(a) by a step of Newton's method: vrsqrtsq(p, q) is (3 - p q) /
 * 2. */
VECTOR_INLINE(vdouble) estimate_double(vdouble a)
{
    const vdouble s = (vdouble)vrsqrteq_f64(D(a));
    return s * (vdouble)vrsqrtsq_f64(D(a * s), D(s));
}
#undef D
#undef F
#else
VECTOR_INLINE(vfloat) madd_float(vfloat a, vfloat b, vfloat c) { return a * b + c; }
VECTOR_INLINE(vdouble) madd_double(vdouble a, vdouble b, vdouble c) { return a * b + c; }
VECTOR_INLINE(vfloat) nmadd_float(vfloat a, vfloat b, vfloat c) { return c - a * b; }
VECTOR_INLINE(vdouble) nmadd_double(vdouble a, vdouble b, vdouble c) { return c - a * b; }
#endif
VECTOR_INLINE(vdouble) lesser(vdouble a, vdouble b)
{
    return (vdouble){ a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1] };
}
VECTOR_INLINE(vdouble) greater(vdouble a, vdouble b)
{
    return (vdouble){ a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1] };
}
VECTOR_INLINE(float) sum_float(vfloat a) { return (a[0] + a[2]) + (a[1] + a[3]); }
VECTOR_INLINE(double) sum_double(vdouble a) { return a[0] + a[1]; }
VECTOR_INLINE(vdouble) zip_low(vdouble a, vdouble b) { return (vdouble){ a[0], b[0] }; }
VECTOR_INLINE(vdouble) zip_high(vdouble a, vdouble b) { return (vdouble){ a[1], b[1] }; }
#if defined __SSE2__
VECTOR_INLINE(vdouble) root(vdouble a) { return _mm_sqrt_pd(a); }
VECTOR_INLINE(vfloat) estimate_float(vfloat a) { return _mm_rsqrt_ps(a); }
VECTOR_INLINE(vdouble) estimate_double(vdouble a)
{
    return _mm_cvtps_pd(_mm_rsqrt_ps(_mm_cvtpd_ps(a)));
}
#elif !VECTOR_HAS_NEON
VECTOR_INLINE(vdouble) root(vdouble a) { return (vdouble){ sqrt(a[0]), sqrt(a[1]) }; }
VECTOR_INLINE(vfloat) estimate_float(vfloat a)
{
    return 1.0f / (vfloat){ sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3]) };
}
VECTOR_INLINE(vdouble) estimate_double(vdouble a) { return 1.0 / root(a); }
#endif

#endif

#if VECTOR_BYTES == 64
VECTOR_INLINE(unsigned) bits_float(mask_float a) { return _mm512_movepi32_mask((__m512i)a); }
VECTOR_INLINE(unsigned) bits_double(mask_double a) { return _mm512_movepi64_mask((__m512i)a); }
#elif VECTOR_BYTES == 32
VECTOR_INLINE(unsigned) bits_float(mask_float a) { return (unsigned)_mm256_movemask_ps((__m256)a); }
VECTOR_INLINE(unsigned) bits_double(mask_double a)
{
    return (unsigned)_mm256_movemask_pd((__m256d)a);
}
#elif defined __SSE2__
VECTOR_INLINE(unsigned) bits_float(mask_float a) { return (unsigned)_mm_movemask_ps((__m128)a); }
VECTOR_INLINE(unsigned) bits_double(mask_double a) { return (unsigned)_mm_movemask_pd((__m128d)a); }
#else
VECTOR_INLINE(unsigned) bits_float(mask_float a)
{
    return (unsigned)((a[0] & 1) | (a[1] & 2) | (a[2] & 4) | (a[3] & 8));
}
VECTOR_INLINE(unsigned) bits_double(mask_double a) { return (unsigned)((a[0] & 1) | (a[1] & 2)); }
#endif

VECTOR_INLINE(vfloat) widen_float(vfloat a) { return a; }
VECTOR_INLINE(vdouble) widen_double(vfloat a)
{
    union {
        vfloat all;
        float half __attribute__((vector_size(VECTOR_BYTES / 2)));
    } parts = { a };
    return __builtin_convertvector(parts.half, vdouble);
}

#if VECTOR_BYTES < 64
VECTOR_INLINE(void) add_sums_float(float *total, const vfloat *a, int count)
{
    for (int k = 0; k < count; k++)
        total[k] += sum_float(a[k]);
}
VECTOR_INLINE(void) add_sums_double(double *total, const vdouble *a, int count)
{
    for (int k = 0; k < count; k++)
        total[k] += sum_double(a[k]);
}
#endif
/* clang-format on */

#endif
