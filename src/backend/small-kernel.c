/*
 * The kernels of small.h for one instruction set. This file is compiled once for each set, with the
 * flags of the compiler for the set and the name of the set in the macro KERNELS.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "backend/small.h"
#include "force/vector.h"

enum {
    LANES = sizeof(vdouble) / sizeof(double),
    FEW = 4 /* most bodies for which sums pair by pair are faster than vectors */
};

/* The constants of the force between two bodies. */
struct interaction {
    double G, eps2; /* gravitational constant; square of the softening length */
    double box;     /* side of the periodic box; 0 in open space */
};

/* The state of up to FEW bodies: masses, and the vectors that stages read and write by
 * [vector][axis][body]; y[VECTOR_X] are the positions. */
struct few {
    double m[FEW];
    double y[VECTORS][3][FEW];
};

/* The state of up to SMALL_COUNT bodies: masses, and vectors by [vector][axis][body]. */
struct many {
    double m[SMALL_COUNT];
    double y[VECTORS][3][SMALL_COUNT];
} __attribute__((aligned(64)));

/* The operations of an integrator on a state of one of the two kinds (struct few, struct many):
 * force() computes its accelerations, move() makes a kick or a drift. */
struct verbs {
    void (*force)(const struct interaction *pair, void *state, size_t count);
    void (*move)(void *state, const struct stage_move *move, size_t count);
};

/* Makes all steps of an advance. It is inlined, so that the compiler knows the verbs and the number
 * of bodies as constants. */
ALWAYS_INLINE void take_steps(struct verbs verbs, const struct interaction *pair, void *state,
                              size_t count, const struct stage_program *program, uint64_t steps,
                              bool current)
{
    if (program->needs_forces && steps > 0 && !current)
        verbs.force(pair, state, count);
    struct stage_walk walk = stage_walk_begin(program, steps);
    const struct stage_pass *pass;
    while ((pass = stage_walk_next(program, &walk))) {
        for (size_t k = 0; k < pass->count; k++)
            verbs.move(state, &pass->moves[k], count);
        if (pass->force)
            verbs.force(pair, state, count);
    }
}

/* --- two to four bodies: pair by pair, in registers ------------------------------------------- */

/* Returns a b + c, rounded once if the instruction set has fused multiply-adds. */
ALWAYS_INLINE double fused(double a, double b, double c)
{
    return VECTOR_HAS_FMA ? __builtin_fma(a, b, c) : a * b + c;
}

/* Computes the accelerations pair by pair, each pair once by the third law: one root and one
 * division for both bodies. */
ALWAYS_INLINE void few_force(const struct interaction *pair, void *state, size_t count)
{
    struct few *const s = state;
    double(*const x)[FEW] = s->y[VECTOR_X], (*const a)[FEW] = s->y[VECTOR_A];
    UNROLL
    for (size_t i = 0; i < count; i++)
        a[0][i] = a[1][i] = a[2][i] = 0;
    UNROLL
    for (size_t i = 0; i < count; i++)
        UNROLL
    for (size_t j = i + 1; j < count; j++) {
        double d[3];
        UNROLL
        for (int axis = 0; axis < 3; axis++) {
            d[axis] = x[axis][j] - x[axis][i];
            if (pair->box > 0)
                d[axis] = physics_nearest_image(d[axis], pair->box);
        }
        const double r2 = fused(d[0], d[0], pair->eps2) + fused(d[1], d[1], d[2] * d[2]);
        const double g = r2 > 0 ? pair->G / (r2 * sqrt(r2)) : 0;
        UNROLL
        for (int axis = 0; axis < 3; axis++) {
            a[axis][i] = fused(s->m[j], g * d[axis], a[axis][i]);
            a[axis][j] = fused(-s->m[i], g * d[axis], a[axis][j]);
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

/* Makes a kick or a drift. The vectors are chosen by constants: an index that is read from the
 * program would keep the state out of the registers of the CPU. */
ALWAYS_INLINE void few_move(void *state, const struct stage_move *move, size_t count)
{
    struct few *const s = state;
    const bool kick = move->to == VECTOR_V;
    if (kick)
        few_add(s->y[VECTOR_V], move->h[0], s->y[VECTOR_A], count);
    else
        few_add(s->y[VECTOR_X], move->h[0], s->y[VECTOR_V], count);
    if (move->times == 1)
        return;
    if (kick)
        few_add(s->y[VECTOR_V], move->h[1], s->y[VECTOR_A], count);
    else
        few_add(s->y[VECTOR_X], move->h[1], s->y[VECTOR_V], count);
}

static const struct verbs few_verbs = { few_force, few_move };

/* Makes a move of an integrator whose stages have registers; its state stays in the cache, since
 * the registers of the CPU do not hold it. */
static void few_combine(void *state, const struct stage_move *move, size_t count)
{
    struct few *const s = state;
    for (int axis = 0; axis < 3; axis++)
        for (size_t i = 0; i < count; i++) {
            double sum = s->y[move->from][axis][i];
            for (unsigned k = 0; k < move->times; k++)
                sum = fused(move->h[k], s->y[move->rate][axis][i], sum);
            s->y[move->to][axis][i] = sum;
        }
}

static const struct verbs few_register_verbs = { few_force, few_combine };

/* Takes `count` bodies through all steps. Every caller passes a constant as `count`, and the
 * function is inlined, so that loops over bodies become code without loops. */
ALWAYS_INLINE void few_advance(const struct interaction *pair, struct few *state, size_t count,
                               const struct stage_program *program, uint64_t steps, bool current)
{
    struct few s;
    if (program->registers) {
        take_steps(few_register_verbs, pair, state, count, program, steps, current);
        return;
    }
    UNROLL
    for (size_t i = 0; i < count; i++) {
        s.m[i] = state->m[i];
        UNROLL
        for (int k = 0; k < VECTOR_R; k++)
            UNROLL
        for (int axis = 0; axis < 3; axis++)
            s.y[k][axis][i] = state->y[k][axis][i];
    }
    take_steps(few_verbs, pair, &s, count, program, steps, current);
    UNROLL
    for (size_t i = 0; i < count; i++)
        UNROLL
    for (int k = 0; k < VECTOR_R; k++)
        UNROLL
    for (int axis = 0; axis < 3; axis++)
        state->y[k][axis][i] = s.y[k][axis][i];
}

/* --- more bodies: vectors of bodies i, pulled by one body j after the other ------------------- */

/* Returns 1/r^3, and 0 at r = 0 and where r^2 overflows. With AVX-512 it improves the estimate of
 * 1/r by a series (see force/direct/pair.inc); that estimate has the whole range of double. The
 * estimates of other instruction sets would need scaled lengths, so these take a root instead. */
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

ALWAYS_INLINE vdouble separation(const struct interaction *pair, vdouble from, double to)
{
    const vdouble d = splat_double(to) - from;
    if (pair->box == 0)
        return d;
    const vdouble shift =
        splat_double(0x1.8p52); /* adding and subtracting it rounds to whole numbers */
    return d - splat_double(pair->box) * ((d * splat_double(1 / pair->box) + shift) - shift);
}

static void many_force(const struct interaction *pair, void *state, size_t count)
{
    struct many *const s = state;
    double(*const x)[SMALL_COUNT] = s->y[VECTOR_X], (*const a)[SMALL_COUNT] = s->y[VECTOR_A];
    const vdouble eps2 = splat_double(pair->eps2), G = splat_double(pair->G);
    for (size_t i = 0; i < count; i += LANES) {
        const vdouble xi = load_double(&x[0][i]), yi = load_double(&x[1][i]);
        const vdouble zi = load_double(&x[2][i]);
        vdouble ax = { 0 }, ay = { 0 }, az = { 0 };
        for (size_t j = 0; j < count; j++) {
            const vdouble dx = separation(pair, xi, x[0][j]);
            const vdouble dy = separation(pair, yi, x[1][j]);
            const vdouble dz = separation(pair, zi, x[2][j]);
            const vdouble r2 = madd_double(dz, dz, madd_double(dy, dy, madd_double(dx, dx, eps2)));
            const vdouble g = splat_double(s->m[j]) * inverse_cube(r2);
            ax = madd_double(g, dx, ax);
            ay = madd_double(g, dy, ay);
            az = madd_double(g, dz, az);
        }
        store_double(&a[0][i], G * ax);
        store_double(&a[1][i], G * ay);
        store_double(&a[2][i], G * az);
    }
}

static void many_move(void *state, const struct stage_move *move, size_t count)
{
    struct many *const s = state;
    for (int axis = 0; axis < 3; axis++) {
        double *const to = s->y[move->to][axis];
        const double *const from = s->y[move->from][axis], *const rate = s->y[move->rate][axis];
        for (size_t i = 0; i < count; i += LANES) {
            vdouble sum = load_double(&from[i]);
            for (unsigned k = 0; k < move->times; k++)
                sum = madd_double(splat_double(move->h[k]), load_double(&rate[i]), sum);
            store_double(&to[i], sum);
        }
    }
}

static const struct verbs many_verbs = { many_force, many_move };

/* --- one system ------------------------------------------------------------------------------- */

enum { ARRAYS = 10 }; /* arrays of a state: m, and x, v, a with three axes each */

/* Lists the arrays of a state, each of `length` values: the masses, then the vectors in the order
 * of y. */
static void list(double *m, double *y, size_t length, double *arrays[ARRAYS])
{
    arrays[0] = m;
    for (size_t k = 1; k < ARRAYS; k++)
        arrays[k] = y + (k - 1) * length;
}

static void copy(double *const to[ARRAYS], double *const from[ARRAYS], size_t first_array,
                 size_t count)
{
    for (size_t k = first_array; k < ARRAYS; k++)
        memcpy(to[k], from[k], count * sizeof(double));
}

static void few_system(const struct interaction *pair, double *const arrays[ARRAYS], size_t count,
                       const struct stage_program *program, uint64_t steps, bool current)
{
    struct few s;
    double *own[ARRAYS];
    list(s.m, s.y[0][0], FEW, own);
    copy(own, arrays, 0, count);
    if (count == 1)
        few_advance(pair, &s, 1, program, steps, current);
    else if (count == 2)
        few_advance(pair, &s, 2, program, steps, current);
    else if (count == 3)
        few_advance(pair, &s, 3, program, steps, current);
    else
        few_advance(pair, &s, 4, program, steps, current);
    copy(arrays, own, 1, count);
}

static void many_system(const struct interaction *pair, double *const arrays[ARRAYS], size_t count,
                        const struct stage_program *program, uint64_t steps, bool current)
{
    struct many s;
    memset(&s, 0, offsetof(struct many, y[VECTOR_R])); /* stages write registers before they read */
    double *own[ARRAYS];
    list(s.m, s.y[0][0], SMALL_COUNT, own);
    copy(own, arrays, 0, count);
    take_steps(many_verbs, pair, &s, count, program, steps, current);
    copy(arrays, own, 1, count);
}

static void advance(const struct physics *physics, const struct bodies *b, size_t system,
                    const struct stage_program *program, uint64_t steps, bool current)
{
    const struct interaction pair = {
        .G = physics->gravitational_constant,
        .eps2 = physics->softening * physics->softening,
        .box = physics->boundary == BOUNDARY_PERIODIC ? physics->box_length : 0,
    };
    const size_t first = system * b->stride;
    double *const arrays[ARRAYS] = { b->m + first,  b->x + first,  b->y + first,  b->z + first,
                                     b->vx + first, b->vy + first, b->vz + first, b->ax + first,
                                     b->ay + first, b->az + first };
    (b->count <= FEW ? few_system : many_system)(&pair, arrays, b->count, program, steps, current);
}

static void accelerations(const struct physics *physics, const struct bodies *bodies, size_t system)
{
    static const struct stage_program only_force = { .needs_forces = true };
    advance(physics, bodies, system, &only_force, 1, false);
}

const struct small_kernels CONCAT(small_, KERNELS) = {
    .isa = STRING(KERNELS),
    .advance = advance,
    .accelerations = accelerations,
};
