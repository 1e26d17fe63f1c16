/*
 * The kernels of small.h for one instruction set; compiled once for each, with the flags of the set
 * and with KERNELS, its name, like force/kernel.c.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "backend/small.h"
#include "base/memory.h"
#include "force/vector.h"

#define CONCAT_EXPANDED(a, b) a##b
#define CONCAT(a, b) CONCAT_EXPANDED(a, b)
#define STRING_EXPANDED(a) #a
#define STRING(a) STRING_EXPANDED(a)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

enum {
    LANES = sizeof(vdouble) / sizeof(double),
    FEW = 4 /* bodies up to which going pair by pair is the faster way */
};

struct law {
    double G, eps2;
    double box; /* 0 in open space */
};

struct few {
    double m[FEW];
    double x[3][FEW], v[3][FEW], a[3][FEW];
};

struct many {
    double m[SMALL_COUNT];
    double x[3][SMALL_COUNT], v[3][SMALL_COUNT], a[3][SMALL_COUNT];
} __attribute__((aligned(64)));

/* The verbs of an integrator on a state of either kind. */
struct verbs {
    void (*force)(const struct law *law, void *state, size_t count);
    void (*kick)(void *state, double h, size_t count);
    void (*drift)(void *state, double h, size_t count);
};

/* Everything is known to the compiler but the law and the stages. */
ALWAYS_INLINE bool take_steps(struct verbs verbs, const struct law *law, void *state, size_t count,
                              const struct integrator *integrator, double dt, uint64_t steps,
                              bool current)
{
    if (integrator_needs_initial_force(integrator) && steps > 0 && !current) {
        verbs.force(law, state, count);
        current = true;
    }
    for (uint64_t step = 0; step < steps; step++)
        for (size_t k = 0; k < integrator->stage_count; k++) {
            const struct stage *const stage = &integrator->stages[k];
            if (stage->verb == VERB_KICK) {
                verbs.kick(state, stage->coefficient * dt, count);
            } else if (stage->verb == VERB_DRIFT) {
                verbs.drift(state, stage->coefficient * dt, count);
                current = false;
            } else if (!current) {
                verbs.force(law, state, count);
                current = true;
            }
        }
    return current;
}

/* --- two to four bodies: pair by pair, in registers --------------------------------------------
 */

/* a b + c, fused where that is one instruction. */
ALWAYS_INLINE double fused(double a, double b, double c)
{
    return VECTOR_HAS_FMA ? __builtin_fma(a, b, c) : a * b + c;
}

/* Newton's third law, with a root and a division for each pair. */
ALWAYS_INLINE void few_force(const struct law *law, void *state, size_t count)
{
    struct few *const s = state;
    UNROLL
    for (size_t i = 0; i < count; i++)
        s->a[0][i] = s->a[1][i] = s->a[2][i] = 0;
    UNROLL
    for (size_t i = 0; i < count; i++)
        UNROLL
    for (size_t j = i + 1; j < count; j++) {
        double d[3];
        UNROLL
        for (int axis = 0; axis < 3; axis++) {
            d[axis] = s->x[axis][j] - s->x[axis][i];
            if (law->box > 0)
                d[axis] = physics_nearest_image(d[axis], law->box);
        }
        const double r2 = fused(d[0], d[0], law->eps2) + fused(d[1], d[1], d[2] * d[2]);
        const double g = r2 > 0 ? law->G / (r2 * sqrt(r2)) : 0;
        UNROLL
        for (int axis = 0; axis < 3; axis++) {
            s->a[axis][i] = fused(s->m[j], g * d[axis], s->a[axis][i]);
            s->a[axis][j] = fused(-s->m[i], g * d[axis], s->a[axis][j]);
        }
    }
}

ALWAYS_INLINE void few_add(double (*sum)[FEW], double h, double (*rate)[FEW], size_t count)
{
    UNROLL
    for (int axis = 0; axis < 3; axis++)
        UNROLL
    for (size_t i = 0; i < count; i++)
        sum[axis][i] = fused(h, rate[axis][i], sum[axis][i]);
}

ALWAYS_INLINE void few_kick(void *state, double h, size_t count)
{
    struct few *const s = state;
    few_add(s->v, h, s->a, count);
}

ALWAYS_INLINE void few_drift(void *state, double h, size_t count)
{
    struct few *const s = state;
    few_add(s->x, h, s->v, count);
}

static const struct verbs few_verbs = { few_force, few_kick, few_drift };

/* `count` is a constant where this is inlined, so that all loops over bodies become straight code.
 */
ALWAYS_INLINE bool few_advance(const struct law *law, struct few *state, size_t count,
                               const struct integrator *integrator, double dt, uint64_t steps,
                               bool current)
{
    struct few s;
    UNROLL
    for (size_t i = 0; i < count; i++) {
        s.m[i] = state->m[i];
        UNROLL
        for (int axis = 0; axis < 3; axis++) {
            s.x[axis][i] = state->x[axis][i];
            s.v[axis][i] = state->v[axis][i];
            s.a[axis][i] = state->a[axis][i];
        }
    }
    current = take_steps(few_verbs, law, &s, count, integrator, dt, steps, current);
    UNROLL
    for (size_t i = 0; i < count; i++)
        UNROLL
    for (int axis = 0; axis < 3; axis++) {
        state->x[axis][i] = s.x[axis][i];
        state->v[axis][i] = s.v[axis][i];
        state->a[axis][i] = s.a[axis][i];
    }
    return current;
}

/* --- more bodies: vectors of bodies i, pulled by one body j after the other --------------------
 */

/* 1/r^3, and 0 at r = 0 and where r^2 overflows. The estimate of AVX-512 has the whole range of
 * double (for the series, see force/pair.inc); the others would need scaled lengths, and take a
 * root instead. */
ALWAYS_INLINE vdouble inverse_cube(vdouble r2)
{
#if VECTOR_BYTES == 64
    const vdouble s = estimate_double(r2), s2 = s * s;
    const vdouble e = nmadd_double(r2, s2, splat_double(1));
    vdouble p = madd_double(splat_double(35.0 / 16), e, splat_double(15.0 / 8));
    p = madd_double(p, e, splat_double(3.0 / 2));
    p = madd_double(p, e, splat_double(1));
    const vdouble g = s * s2 * p;
#else
    vdouble root;
    for (size_t lane = 0; lane < LANES; lane++)
        root[lane] = sqrt(r2[lane]);
    const vdouble g = 1 / (r2 * root);
#endif
    return (vdouble)((mask_double)g & (r2 > 0) & (r2 <= DBL_MAX));
}

ALWAYS_INLINE vdouble separation(const struct law *law, vdouble from, double to)
{
    const vdouble d = splat_double(to) - from;
    if (law->box == 0)
        return d;
    const vdouble shift = splat_double(0x1.8p52); /* rounds to whole boxes, as in force/pair.inc */
    return d - splat_double(law->box) * ((d * splat_double(1 / law->box) + shift) - shift);
}

static void many_force(const struct law *law, void *state, size_t count)
{
    struct many *const s = state;
    const vdouble eps2 = splat_double(law->eps2), G = splat_double(law->G);
    for (size_t i = 0; i < count; i += LANES) {
        const vdouble x = load_double(&s->x[0][i]), y = load_double(&s->x[1][i]);
        const vdouble z = load_double(&s->x[2][i]);
        vdouble ax = { 0 }, ay = { 0 }, az = { 0 };
        for (size_t j = 0; j < count; j++) {
            const vdouble dx = separation(law, x, s->x[0][j]);
            const vdouble dy = separation(law, y, s->x[1][j]);
            const vdouble dz = separation(law, z, s->x[2][j]);
            const vdouble r2 = madd_double(dz, dz, madd_double(dy, dy, madd_double(dx, dx, eps2)));
            const vdouble g = splat_double(s->m[j]) * inverse_cube(r2);
            ax = madd_double(g, dx, ax);
            ay = madd_double(g, dy, ay);
            az = madd_double(g, dz, az);
        }
        store_double(&s->a[0][i], G * ax);
        store_double(&s->a[1][i], G * ay);
        store_double(&s->a[2][i], G * az);
    }
}

ALWAYS_INLINE void many_add(double (*sum)[SMALL_COUNT], double h, double (*rate)[SMALL_COUNT],
                            size_t count)
{
    for (int axis = 0; axis < 3; axis++)
        for (size_t i = 0; i < count; i += LANES)
            store_double(&sum[axis][i], madd_double(splat_double(h), load_double(&rate[axis][i]),
                                                    load_double(&sum[axis][i])));
}

static void many_kick(void *state, double h, size_t count)
{
    struct many *const s = state;
    many_add(s->v, h, s->a, count);
}

static void many_drift(void *state, double h, size_t count)
{
    struct many *const s = state;
    many_add(s->x, h, s->v, count);
}

static const struct verbs many_verbs = { many_force, many_kick, many_drift };

/* --- one system ---------------------------------------------------------------------------------
 */

enum { ARRAYS = 10 }; /* of a state: m, x, v, a */

static void copy(double *const to[ARRAYS], double *const from[ARRAYS], size_t first_array,
                 size_t count)
{
    for (size_t k = first_array; k < ARRAYS; k++)
        memcpy(to[k], from[k], count * sizeof(double));
}

static bool few_system(const struct law *law, double *const arrays[ARRAYS], size_t count,
                       const struct integrator *integrator, double dt, uint64_t steps, bool current)
{
    struct few s;
    double *const own[ARRAYS] = { s.m,    s.x[0], s.x[1], s.x[2], s.v[0],
                                  s.v[1], s.v[2], s.a[0], s.a[1], s.a[2] };
    copy(own, arrays, 0, count);
    if (count == 1)
        current = few_advance(law, &s, 1, integrator, dt, steps, current);
    else if (count == 2)
        current = few_advance(law, &s, 2, integrator, dt, steps, current);
    else if (count == 3)
        current = few_advance(law, &s, 3, integrator, dt, steps, current);
    else
        current = few_advance(law, &s, 4, integrator, dt, steps, current);
    copy(arrays, own, 1, count);
    return current;
}

static bool many_system(const struct law *law, double *const arrays[ARRAYS], size_t count,
                        const struct integrator *integrator, double dt, uint64_t steps,
                        bool current)
{
    struct many s = { 0 };
    double *const own[ARRAYS] = { s.m,    s.x[0], s.x[1], s.x[2], s.v[0],
                                  s.v[1], s.v[2], s.a[0], s.a[1], s.a[2] };
    copy(own, arrays, 0, count);
    current = take_steps(many_verbs, law, &s, count, integrator, dt, steps, current);
    copy(arrays, own, 1, count);
    return current;
}

static bool advance(const struct physics *physics, const struct bodies *b, size_t system,
                    const struct integrator *integrator, double dt, uint64_t steps, bool current)
{
    const struct law law = {
        .G = physics->gravitational_constant,
        .eps2 = physics->softening * physics->softening,
        .box = physics->boundary == BOUNDARY_PERIODIC ? physics->box_length : 0,
    };
    const size_t first = system * b->stride;
    double *const arrays[ARRAYS] = { b->m + first,  b->x + first,  b->y + first,  b->z + first,
                                     b->vx + first, b->vy + first, b->vz + first, b->ax + first,
                                     b->ay + first, b->az + first };
    return (b->count <= FEW ? few_system : many_system)(&law, arrays, b->count, integrator, dt,
                                                        steps, current);
}

/* One step of an integrator that only looks. */
static void accelerations(const struct physics *physics, const struct bodies *bodies, size_t system)
{
    static const struct integrator look = { .stage_count = 1, .stages = { { VERB_FORCE, 0 } } };
    advance(physics, bodies, system, &look, 0, 1, false);
}

const struct small_kernels CONCAT(small_, KERNELS) = {
    .isa = STRING(KERNELS),
    .advance = advance,
    .accelerations = accelerations,
};
