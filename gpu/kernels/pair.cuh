/*
 * The interaction of two bodies. Terms of a pair are a class that has
 *   real       the type of its arithmetic,
 *   settings   its constants,
 *   source     a body as the device stores it: body j, and body i whose sums are computed,
 *   SUMS       how many sums a pair adds to,
 *   pair()     the terms of j acting on i, added to the sums of i; its argument of type bool tells
 *              whether j is i,
 *   mutual()   the terms of j acting on i and those of i acting on j; only gravity has this.
 * Multiply-adds are fused where fma() says so and nowhere else (-fmad=false), so pair() has the
 * same bits in all kernels; mutual() rounds otherwise unless all masses are 1.
 */
#ifndef ORRERY_GPU_PAIR_CUH
#define ORRERY_GPU_PAIR_CUH

#include <ptx.cuh>

#include "floats.cuh"
#include "kernels.h"

/* A body in fp32. Its coordinates are in units of the ensemble's size
 * (gpu_interaction.inverse_length) and its mass in units of the system's largest mass
 * (gpu_units.mass), so that r^-3 stays within the range of fp32. */
struct __align__(16) source_single
{
    static constexpr enum precision PRECISION = PRECISION_SINGLE;
    float x, y, z, m;
};

/* A body in the units of source_single, with each coordinate as a sum of two floats: 48 bits. */
struct __align__(16) source_mixed
{
    static constexpr enum precision PRECISION = PRECISION_MIXED;
    float x, y, z, m;
    float x_low, y_low, z_low, unused;
};

/* A body in fp64. Its coordinates are in the units of the config, and its mass is in those of
 * gpu_units.mass: 1, unless all masses of a system are equal, which makes each mass 1. */
struct __align__(16) source_double
{
    static constexpr enum precision PRECISION = PRECISION_DOUBLE;
    double x, y, z, m;
};

/*
 * A body for potentials_in_floats, in units of gpu_interaction_floats.inverse_length and of its
 * system's largest mass. A coordinate is the sum of three floats, exactly: 24 bits, 14 bits, and
 * the rest, so that the middle and the last parts of two bodies near each other have exact
 * differences. The coordinates of a body outside the range of the terms are NaN.
 */
struct __align__(16) source_floats
{
    static constexpr enum precision PRECISION = PRECISION_DOUBLE; /* as gpu_limits has it */
    float x, y, z, m;
    float x_middle, y_middle, z_middle, m_low;
    float x_low, y_low, z_low, unused;
};

/* --- separations -------------------------------------------------------------------------------*/

template <typename real> struct separation {
    real x, y, z;
};

/* Returns the integer nearest to the product of d and `scale`; ties go to even. Adding 1.5 x 2^23,
 * or 1.5 x 2^52 in fp64, leaves no bits for a fraction. */
static __device__ __forceinline__ float nearest_integer(float d, float scale)
{
    return fma(d, scale, 12582912.0f) - 12582912.0f;
}

static __device__ __forceinline__ double nearest_integer(double d, double scale)
{
    return fma(d, scale, 6755399441055744.0) - 6755399441055744.0;
}

/* Returns a component d of a separation or, in a periodic box, that of the separation to the
 * nearest image. */
template <enum gpu_space space, typename real, typename settings>
static __device__ __forceinline__ real image(real d, const settings &interaction)
{
    return space == GPU_SPACE_PERIODIC
               ? fma(-interaction.box, nearest_integer(d, interaction.inverse_box), d)
               : d;
}

/* Returns r_j - r_i. */
template <enum gpu_space space>
static __device__ __forceinline__ separation<float>
separate(const source_single &i, const source_single &j,
         const struct gpu_interaction_single &interaction)
{
    return { image<space>(j.x - i.x, interaction), image<space>(j.y - i.y, interaction),
             image<space>(j.z - i.z, interaction) };
}

/* Returns r_j - r_i. The difference of the high parts is rounded to its own size, and exact if the
 * bodies are near each other; the low parts add the digits that the high parts lack far from the
 * origin. */
template <enum gpu_space space>
static __device__ __forceinline__ separation<float>
separate(const source_mixed &i, const source_mixed &j,
         const struct gpu_interaction_single &interaction)
{
    return { image<space>(j.x - i.x, interaction) + (j.x_low - i.x_low),
             image<space>(j.y - i.y, interaction) + (j.y_low - i.y_low),
             image<space>(j.z - i.z, interaction) + (j.z_low - i.z_low) };
}

template <enum gpu_space space>
static __device__ __forceinline__ separation<double>
separate(const source_double &i, const source_double &j,
         const struct gpu_interaction_double &interaction)
{
    return { image<space>(j.x - i.x, interaction), image<space>(j.y - i.y, interaction),
             image<space>(j.z - i.z, interaction) };
}

/* Returns r^2 + eps^2, with the softening inside the first fused multiply-add. */
template <typename real>
static __device__ __forceinline__ real distance2(const separation<real> &d, real eps2)
{
    return fma(d.x, d.x, fma(d.y, d.y, fma(d.z, d.z, eps2)));
}

/* --- 1/r ---------------------------------------------------------------------------------------*/

/*
 * Limits s, an estimate of 1/r, to 2^40 (in fp64 to 2^300), in case r is 0: a finite force times a
 * separation of 0 is 0, and such a pair must contribute nothing. In fp32, 2^-40 is a distance of
 * 1e-12 of the ensemble's size.
 */
static __device__ __forceinline__ float limited(float s)
{
    return fminf(s, 0x1p40f);
}

/* Limits s in fp64 by its upper half: positive doubles are in the order of their upper halves, and
 * the lower half of s is 0. */
static __device__ __forceinline__ double limited(double s)
{
    return __hiloint2double(min(__double2hiint(s), (1023 + 300) << 20), 0);
}

/* Tells whether r2 is 0, or so near 0 that the estimate takes it for 0. */
static __device__ __forceinline__ bool vanishes(double r2)
{
    return __double2hiint(r2) == 0;
}

template <enum gpu_space space, typename real>
static __device__ __forceinline__ real inverse_root(real r2)
{
    const real s = approximate_rsqrt(r2);
    return space == GPU_SPACE_SOFT ? s : limited(s);
}

/* Returns m r^-3 in fp32, for which the estimate of 1/r is good enough. */
template <enum gpu_space space>
static __device__ __forceinline__ float inverse_cube(float r2, float m)
{
    const float s = inverse_root<space>(r2);
    return (m * s) * (s * s);
}

/*
 * Returns m r^-3 in fp64 from the estimate s of 1/r. With e = 1 - r^2 s^2,
 * r^-3 = s^3 (1 - e)^(-3/2) = s^3 (1 + 3/2 e + 15/8 e^2 + ...);
 * |e| < 3e-6 leaves 35/16 e^3 < 1e-16.
 */
template <enum gpu_space space>
static __device__ __forceinline__ double inverse_cube(double r2, double m)
{
    const double s = inverse_root<space>(r2);
    const double s2 = s * s;
    const double e = fma(-r2, s2, 1.0);
    const double q = fma(e, 1.875, 1.5) * e;
    const double f = (m * s) * s2;
    return fma(q, f, f);
}

/* --- terms -------------------------------------------------------------------------------------*/

template <typename real>
static __device__ __forceinline__ void pull(real f, const separation<real> &d, real *sums)
{
    sums[0] = fma(f, d.x, sums[0]);
    sums[1] = fma(f, d.y, sums[1]);
    sums[2] = fma(f, d.z, sums[2]);
}

/* The terms of gravity: sum_j m_j r_ij / (r_ij^2 + eps^2)^(3/2). */
template <class source_, class settings_, typename real_, gpu_space space> struct gravity {
    typedef source_ source;
    typedef settings_ settings;
    typedef real_ real;
    enum { SUMS = 3 };

    static __device__ __forceinline__ void pair(const source &i, const source &j, bool,
                                                const settings &interaction, real *sums)
    {
        const separation<real> d = separate<space>(i, j, interaction);
        pull(inverse_cube<space>(distance2(d, interaction.eps2), j.m), d, sums);
    }

    /* Adds, by Newton's third law, the term of j acting on i and that of i acting on j. */
    static __device__ __forceinline__ void mutual(const source &i, const source &j,
                                                  const settings &interaction, real *sums_i,
                                                  real *sums_j)
    {
        const separation<real> d = separate<space>(i, j, interaction);
        const real f = inverse_cube<space>(distance2(d, interaction.eps2), (real)1);
        pull(f * j.m, d, sums_i);
        pull(-(f * i.m), d, sums_j);
    }
};

template <enum gpu_space space>
using gravity_single = gravity<source_single, struct gpu_interaction_single, float, space>;
template <enum gpu_space space>
using gravity_mixed = gravity<source_mixed, struct gpu_interaction_single, float, space>;
template <enum gpu_space space>
using gravity_double = gravity<source_double, struct gpu_interaction_double, double, space>;

/* The terms of gravity if all masses are 1. The results have the bits of those by `terms`, and each
 * sum of a pair takes one multiplication less. */
template <enum gpu_space space, class terms> struct gravity_equal : terms {
    typedef typename terms::source source;
    typedef typename terms::real real;

    static __device__ __forceinline__ void pair(const source &i, const source &j, bool,
                                                const typename terms::settings &settings,
                                                real *sums)
    {
        const separation<real> d = separate<space>(i, j, settings);
        pull(inverse_cube<space>(distance2(d, settings.eps2), (real)1), d, sums);
    }

    static __device__ __forceinline__ void mutual(const source &i, const source &j,
                                                  const typename terms::settings &settings,
                                                  real *sums_i, real *sums_j)
    {
        const separation<real> d = separate<space>(i, j, settings);
        const real f = inverse_cube<space>(distance2(d, settings.eps2), (real)1);
        pull(f, d, sums_i);
        pull(-f, d, sums_j);
    }
};

/* gravity_single with rsqrtf(), as textbooks have it, in place of the device's bare instruction: it
 * is right for denormal numbers, and takes more instructions for that. */
template <enum gpu_space space> struct gravity_textbook : gravity_single<space> {
    static __device__ __forceinline__ void pair(const source_single &i, const source_single &j,
                                                bool,
                                                const struct gpu_interaction_single &interaction,
                                                float *sums)
    {
        const separation<float> d = separate<space>(i, j, interaction);
        const float s = rsqrtf(distance2(d, interaction.eps2));
        pull((j.m * s) * (s * s), d, sums);
    }
};

/* gravity_single with the potential: also sum_j m_j / (r_ij^2 + eps^2)^(1/2), the body's own term
 * included. */
template <enum gpu_space space> struct gravity_and_potential : gravity_single<space> {
    enum { SUMS = 4 };

    static __device__ __forceinline__ void pair(const source_single &i, const source_single &j,
                                                bool,
                                                const struct gpu_interaction_single &interaction,
                                                float *sums)
    {
        const separation<float> d = separate<space>(i, j, interaction);
        const float s = inverse_root<space>(distance2(d, interaction.eps2));
        const float phi = j.m * s;
        sums[3] += phi;
        pull(phi * (s * s), d, sums);
    }
};

/*
 * The terms of the potential phi and of psi, which makes up the virial; a body's own term is left
 * out:
 * phi / -G = sum_j m_j / (r_ij^2 + eps^2)^(1/2) and
 * psi / -G = sum_j m_j r_ij^2 / (r_ij^2 + eps^2)^(3/2).
 * From an estimate s of 1/r, 1/r = s (1 + 1/2 e + 3/8 e^2 + ...), with e = 1 - r^2 s^2.
 */
template <enum gpu_space space> struct potentials {
    typedef source_double source;
    typedef struct gpu_interaction_double settings;
    typedef double real;
    enum { SUMS = 2 };

    static __device__ __forceinline__ void pair(const source &i, const source &j, bool same,
                                                const settings &interaction, real *sums)
    {
        const separation<real> d = separate<space>(i, j, interaction);
        const real r2 = distance2(d, 0.0);
        const real h2 = r2 + interaction.eps2;
        const real estimate = inverse_root<space>(h2);
        const real e = fma(-h2, estimate * estimate, 1.0);
        const real s = fma(fma(e, 0.375, 0.5) * e, estimate, estimate);
        const real phi = same || (space != GPU_SPACE_SOFT && vanishes(h2)) ? 0.0 : j.m * s;
        sums[0] += phi;
        sums[1] = fma(phi, r2 * (s * s), sums[1]);
    }
};

/* Returns b - a, where each is a sum of the three parts of a coordinate of source_floats. It is
 * exact where bodies are near each other, else the relative error is about 2^-47. */
static __device__ __forceinline__ two_floats difference(float b, float b_middle, float b_low,
                                                        float a, float a_middle, float a_low)
{
    const two_floats first = exact_sum(b, -a);
    const two_floats second = ordered_sum(first.high, (b_middle - a_middle) + first.low);
    return ordered_sum(second.high, second.low + (b_low - a_low));
}

/* Returns x^2 + y^2 + z^2. */
static __device__ __forceinline__ two_floats square(two_floats x, two_floats y, two_floats z)
{
    const two_floats x2 = exact_product(x.high, x.high), y2 = exact_product(y.high, y.high);
    const two_floats z2 = exact_product(z.high, z.high);
    const two_floats xy = exact_sum(x2.high, y2.high), sum = exact_sum(xy.high, z2.high);
    const float mixed = fma(x.high, x.low, fma(y.high, y.low, z.high * z.low));
    const float low = ((x2.low + y2.low) + (z2.low + xy.low)) + sum.low;
    return ordered_sum(sum.high, fma(2.0f, mixed, low));
}

/* Returns 1/sqrt(h), from the estimate s of it: s (1 + 1/2 e + 3/8 e^2) with e = 1 - h s^2. */
static __device__ __forceinline__ two_floats inverse_root(two_floats h, float s)
{
    const two_floats root = exact_product(h.high, s);
    const float e = fma(-fma(h.low, s, root.low), s, fma(-root.high, s, 1.0f));
    return { s, s * (fma(e, 0.375f, 0.5f) * e) };
}

/*
 * The terms of `potentials` in pairs of floats, in open space, with a relative error of 2^-44 of
 * phi and 2^-42 of psi at most (tested). With unsoftened bodies too near each other for the range
 * of floats, and with coordinates that are NaN, they are NaN; gpu_repeat_potentials() then replaces
 * the sums.
 */
template <enum gpu_space space> struct potentials_in_floats {
    typedef source_floats source;
    typedef struct gpu_interaction_floats settings;
    typedef two_floats real;
    enum { SUMS = 2 };

    static __device__ __forceinline__ void pair(const source &i, const source &j, bool same,
                                                const settings &interaction, real *sums)
    {
        const two_floats r2 =
            square(difference(j.x, j.x_middle, j.x_low, i.x, i.x_middle, i.x_low),
                   difference(j.y, j.y_middle, j.y_low, i.y, i.y_middle, i.y_low),
                   difference(j.z, j.z_middle, j.z_low, i.z, i.z_middle, i.z_low));
        two_floats h2 = exact_sum(r2.high, interaction.eps2);
        h2.low += r2.low + interaction.eps2_low;
        h2.high = same ? 1.0f : h2.high;
        if (space != GPU_SPACE_SOFT)
            h2.high = h2.high < GPU_FLOATS_LEAST ? NAN : h2.high;
        const two_floats s = inverse_root(h2, approximate_rsqrt(h2.high));
        const two_floats m = { same ? 0.0f : j.m, same ? 0.0f : j.m_low };
        const two_floats phi = product(s, m);
        sums[0].add(phi);
        sums[1].add(product(phi, product(product(r2, s), s)));
    }
};

#endif
