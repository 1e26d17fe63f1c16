/*
 * The kernels for systems of few bodies (gauss-radau.h) for one instruction set. This file is
 * compiled once for each set, with the flags of the set and its name in the macro KERNELS, like
 * force/direct/kernel.c.
 *
 * If each lane of a vector has a system of its own, a pass of the predictor and corrector is made
 * for all lanes at once. When the steps of half of the lanes have converged, these steps are
 * finished, and their lanes begin the next step, or another system, while the other lanes go on
 * with their steps. A lane that waits for others to converge is masked: its numbers keep their
 * bits.
 */
#include "integrator/gauss-radau.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "force/direct/reference.h"
#include "force/vector.h"

enum { LANES = sizeof(vdouble) / sizeof(double) };

/* A system that is being moved, in one lane or in all lanes. `on_copy`: a copy of its state takes
 * the last step, to the grid point at `target`. */
struct slot {
    bool active, on_copy;
    size_t system;
    double target;
    struct adaptive_clock clock;
    double step; /* length of the step that is being tried */
    int pass;
    double before; /* change of the coefficient b_6 in the pass before */
    bool waits;    /* the step has converged, and the slot waits for others; `size` is the largest
                      acceleration in it */
    double size;
};

/* The numbers of the arrays in a workspace that follow those of the state (enum radau_array) and of
 * the terms of the step (gauss-radau-step.inc). */
enum {
    WORK_PATH = RADAU_SCRATCH_ARRAYS, /* positions relative to the start of the step */
    WORK_A,                           /* accelerations at the positions of WORK_PATH */
    WORK_AXES,                        /* arrays of a single axis begin here, with own numbers: */
    WORK_M = 0,                       /* masses */
    WORK_REAL,                        /* all bits set for numbers of bodies, none for padding */
    WORK_SCALE /* square of the time scale of each body, in units of the step */
};

/* The systems being moved, and the sizes of the loops over their numbers. If a function is inlined
 * with constants for the sizes, its loops become straight code. */
struct kernel {
    bool lanes; /* each lane has a system; otherwise all lanes have bodies of one system */
    size_t count;
    size_t pitch;   /* length of one axis of an array, in numbers */
    size_t vectors; /* number of vectors of an axis that have bodies */
    double *work;
    double G, eps2;
    struct slot *slots; /* [LANES] if each lane has a system, otherwise one */
    struct radau_batch *batch;
};

ALWAYS_INLINE size_t axis_at(const struct kernel *k, size_t axis)
{
    return axis * k->pitch;
}

/* Returns array number `array` of the state (enum radau_array): [3][pitch]. */
ALWAYS_INLINE double *state_of(const struct kernel *k, size_t array)
{
    return k->work + axis_at(k, 3 * array);
}

/* Returns array number `array` of a step that is being tried (WORK_...): [3][pitch]. */
ALWAYS_INLINE double *work_of(const struct kernel *k, size_t array)
{
    return state_of(k, RADAU_ARRAYS + array);
}

/* Returns one of the arrays of a single axis (WORK_M, WORK_REAL, WORK_SCALE): [pitch]. */
ALWAYS_INLINE double *axis_of(const struct kernel *k, size_t axis)
{
    return work_of(k, WORK_AXES) + axis_at(k, axis);
}

ALWAYS_INLINE vdouble select_double(mask_double mask, vdouble yes, vdouble no)
{
    return (vdouble)((mask & (mask_double)yes) | (~mask & (mask_double)no));
}

ALWAYS_INLINE vdouble masked(vdouble a, mask_double mask)
{
    return (vdouble)((mask_double)a & mask);
}

ALWAYS_INLINE vdouble magnitude(vdouble a)
{
    return (vdouble)((mask_double)a & INT64_MAX);
}

/* Stores a vector in the lanes for which the mask is set; in all lanes if they have one system,
 * whose bodies take the same steps. */
ALWAYS_INLINE void update(const struct kernel *k, double *array, mask_double mask, vdouble value)
{
    store_double(array, k->lanes ? select_double(mask, value, load_double(array)) : value);
}

ALWAYS_INLINE size_t first_of(const struct kernel *k)
{
    (void)k;
    return 0;
}

ALWAYS_INLINE size_t last_of(const struct kernel *k)
{
    return k->vectors;
}

ALWAYS_INLINE void put_shift(const struct kernel *k, size_t axis, size_t v, vdouble shift)
{
    store_double(work_of(k, WORK_PATH) + axis_at(k, axis) + v * LANES, shift);
}

ALWAYS_INLINE vdouble acceleration(const struct kernel *k, size_t axis, size_t v)
{
    return load_double(work_of(k, WORK_A) + axis_at(k, axis) + v * LANES);
}

ALWAYS_INLINE void put_scale(const struct kernel *k, size_t v, vdouble scale)
{
    store_double(axis_of(k, WORK_SCALE) + v * LANES, scale);
}

/* Returns a vector that has the number of each slot in the slot's lane; if there is one slot, its
 * number in all lanes. */
ALWAYS_INLINE vdouble of_slots(const struct kernel *k, const double *numbers)
{
    double all[LANES] __attribute__((aligned(64)));
    for (size_t lane = 0; lane < LANES; lane++)
        all[lane] = numbers[k->lanes ? lane : 0];
    return load_double(all);
}

ALWAYS_INLINE mask_double mask_of_slots(const struct kernel *k, const bool *slots)
{
    mask_double mask;
    for (size_t lane = 0; lane < LANES; lane++)
        mask[lane] = slots[k->lanes ? lane : 0] ? -1 : 0;
    return mask;
}

static size_t slot_count(const struct kernel *k)
{
    return k->lanes ? LANES : 1;
}

/* Returns the largest of the numbers in the lanes of a slot; NaN if one of them is NaN. */
static double largest_of(const struct kernel *k, vdouble numbers, size_t slot)
{
    double most = numbers[slot];
    for (size_t lane = 0; lane < LANES && !k->lanes; lane++)
        if (!(numbers[lane] <= most) && !isnan(most)) /* a NaN stays */
            most = numbers[lane];
    return most;
}

#define STEP(type) ALWAYS_INLINE type
#define SIMD(words)
#include "integrator/gauss-radau-step.inc"

/* --- forces ----------------------------------------------------------------------------------- */

/* Returns 1/r^3, and 0 at r = 0 and where r2 overflows. With AVX-512, 1/r is estimated and
 * corrected by a series of five terms, whose error is below the rounding. */
ALWAYS_INLINE vdouble inverse_cube(vdouble r2)
{
#if VECTOR_BYTES == 64
    const vdouble s = estimate_double(r2), s2 = s * s;
    const vdouble e = nmadd_double(r2, s2, splat_double(1));
    vdouble p = madd_double(splat_double(315.0 / 128), e, splat_double(35.0 / 16));
    p = madd_double(p, e, splat_double(15.0 / 8));
    p = madd_double(p, e, splat_double(3.0 / 2));
    const vdouble s3 = s * s2;
    const vdouble g = madd_double(s3 * e, p, s3);
#else
    const vdouble g = 1 / (r2 * root(r2));
#endif
    return (vdouble)((mask_double)g & (r2 > 0) & (r2 <= DBL_MAX));
}

/* Positions in two parts: x at the start of the step, and the path since then. Separations of near
 * bodies are computed part by part, so that they keep the digits that x + path would lose. */
struct position {
    vdouble x[3], path[3];
};

ALWAYS_INLINE struct position load_position(const struct kernel *k, size_t at)
{
    const double *const x = state_of(k, RADAU_X), *const path = work_of(k, WORK_PATH);
    struct position position;
    UNROLL
    for (size_t axis = 0; axis < 3; axis++) {
        position.x[axis] = load_double(x + axis * k->pitch + at);
        position.path[axis] = load_double(path + axis * k->pitch + at);
    }
    return position;
}

ALWAYS_INLINE struct position splat_position(const struct kernel *k, size_t j)
{
    const double *const x = state_of(k, RADAU_X), *const path = work_of(k, WORK_PATH);
    struct position position;
    UNROLL
    for (size_t axis = 0; axis < 3; axis++) {
        position.x[axis] = splat_double(x[axis * k->pitch + j]);
        position.path[axis] = splat_double(path[axis * k->pitch + j]);
    }
    return position;
}

/* Computes the separation d from i to j; returns 1/r^3 with the softened distance r. */
ALWAYS_INLINE vdouble separate(const struct position *i, const struct position *j, vdouble eps2,
                               vdouble d[3])
{
    UNROLL
    for (size_t axis = 0; axis < 3; axis++)
        d[axis] = (j->x[axis] - i->x[axis]) + (j->path[axis] - i->path[axis]);
    return inverse_cube(
        madd_double(d[2], d[2], madd_double(d[1], d[1], madd_double(d[0], d[0], eps2))));
}

/* Sums the accelerations if each lane has a system: each pair is computed once, for both bodies.
 * The pulls on a body are added in the order of the other bodies' indices. */
ALWAYS_INLINE void sum_pairs(const struct kernel *k)
{
    const vdouble eps2 = splat_double(k->eps2), G = splat_double(k->G);
    memset(work_of(k, WORK_A), 0, 3 * k->pitch * sizeof(double));
    for (size_t i = 0; i < k->count; i++) {
        const struct position here = load_position(k, i * LANES);
        const vdouble m = load_double(axis_of(k, WORK_M) + i * LANES);
        vdouble d[3], a[3];
        UNROLL
        for (size_t axis = 0; axis < 3; axis++)
            a[axis] = load_double(work_of(k, WORK_A) + axis * k->pitch + i * LANES);
        for (size_t j = i + 1; j < k->count; j++) {
            const struct position there = load_position(k, j * LANES);
            const vdouble g = separate(&here, &there, eps2, d);
            const vdouble on_i = load_double(axis_of(k, WORK_M) + j * LANES) * g, on_j = m * g;
            UNROLL
            for (size_t axis = 0; axis < 3; axis++) {
                double *const other = work_of(k, WORK_A) + axis * k->pitch + j * LANES;
                a[axis] = madd_double(on_i, d[axis], a[axis]);
                store_double(other, nmadd_double(on_j, d[axis], load_double(other)));
            }
        }
        UNROLL
        for (size_t axis = 0; axis < 3; axis++)
            store_double(work_of(k, WORK_A) + axis * k->pitch + i * LANES, G * a[axis]);
    }
}

/* Sums the accelerations of one system whose bodies fill the lanes. The pulls on a body are added
 * in the same order as in sum_pairs(), so that the bits agree. Padding stays 0. */
ALWAYS_INLINE void sum_bodies(const struct kernel *k)
{
    const vdouble eps2 = splat_double(k->eps2), G = splat_double(k->G);
    for (size_t v = 0; v < k->vectors; v++) {
        const struct position here = load_position(k, v * LANES);
        vdouble d[3], a[3] = { { 0 }, { 0 }, { 0 } };
        for (size_t j = 0; j < k->count; j++) {
            const struct position there = splat_position(k, j);
            const vdouble g =
                splat_double(axis_of(k, WORK_M)[j]) * separate(&here, &there, eps2, d);
            UNROLL
            for (size_t axis = 0; axis < 3; axis++)
                a[axis] = madd_double(g, d[axis], a[axis]);
        }
        const mask_double real = (mask_double)load_double(axis_of(k, WORK_REAL) + v * LANES);
        UNROLL
        for (size_t axis = 0; axis < 3; axis++)
            store_double(work_of(k, WORK_A) + axis * k->pitch + v * LANES,
                         (vdouble)((mask_double)(G * a[axis]) & real));
    }
}

ALWAYS_INLINE void sum_forces(const struct kernel *k)
{
    if (k->lanes)
        sum_pairs(k);
    else
        sum_bodies(k);
}

/* --- the step of every slot ------------------------------------------------------------------- */

ALWAYS_INLINE vdouble steps_of(const struct kernel *k)
{
    double steps[LANES] = { 0 };
    for (size_t s = 0; s < slot_count(k); s++)
        steps[s] = k->slots[s].step;
    return of_slots(k, steps);
}

/* Begins the steps of the slots for which begins[slot] is set: predicts their terms from the step
 * before. */
ALWAYS_INLINE void begin_steps(const struct kernel *k, const bool *begins)
{
    double ratios[LANES] = { 0 };
    for (size_t s = 0; s < slot_count(k); s++)
        ratios[s] = k->slots[s].clock.last > 0 ? k->slots[s].step / k->slots[s].clock.last : 0;
    predict_terms(k, of_slots(k, ratios), mask_of_slots(k, begins));
}

/* Makes one pass of the predictor and corrector over all nodes. The terms of slots that wait do not
 * change. */
ALWAYS_INLINE struct found pass(const struct kernel *k)
{
    bool moving[LANES] = { false };
    struct found found = { { 0 }, { 0 }, { 0 } };
    for (size_t s = 0; s < slot_count(k); s++)
        moving[s] = !k->slots[s].waits;
    const vdouble dt = steps_of(k);
    const mask_double moves = mask_of_slots(k, moving);
    UNROLL
    for (size_t n = 0; n < RADAU_NODES; n++) {
        predict(k, n, dt);
        sum_forces(k);
        correct(k, n, moves, &found);
    }
    found.change = change_of(&found);
    return found;
}

ALWAYS_INLINE void scale_steps(const struct kernel *k)
{
    double sizes[LANES] = { 0 };
    for (size_t s = 0; s < slot_count(k); s++)
        sizes[s] = k->slots[s].size;
    find_time_scales(k, of_slots(k, sizes));
}

ALWAYS_INLINE void finish_steps(const struct kernel *k, const bool *taken)
{
    bool later[LANES] = { false };
    for (size_t s = 0; s < slot_count(k); s++)
        later[s] = k->slots[s].clock.last > 0;
    finish(k, steps_of(k), mask_of_slots(k, taken), mask_of_slots(k, later));
}

#include "integrator/gauss-radau-slots.inc"

/* Tells whether the run is to be interrupted; really asks only once in INTERRUPTION_WORK, which is
 * some 400 steps of 2 bodies or 10 of 32. */
static bool is_interrupted(const struct kernel *k, double *done)
{
    enum { STEP_WORK = 2000 }; /* work of a step without its pairs; the unit is that of a pair */
    struct interruption *const interruption = k->batch->systems->physics->interruption;
    return interruption_after(interruption, done,
                              STEP_WORK + 100.0 * reference_pairs(1.0, (double)k->count));
}

/* Moves systems of the batch until none is left. `c` is a copy of *k in which sizes are constants,
 * for functions that loop over numbers; functions that go over the slots use `k`. */
ALWAYS_INLINE void take_all(const struct kernel *k, const struct kernel c)
{
    bool begins[LANES], taken[LANES];
    struct found found;
    double done = 0;
    for (size_t s = 0; s < LANES; s++)
        begins[s] = true;
    for (go_on(k, begins); is_active(k) && !is_interrupted(k, &done); go_on(k, begins)) {
        begin_steps(&c, begins);
        do
            found = pass(&c);
        while (!find_converged(k, &found, begins));
        scale_steps(&c);
        judge_steps(k, begins, taken);
        if (c.lanes || taken[0]) /* with one system in all lanes update() ignores the mask */
            finish_steps(&c, taken);
        note_steps(k, taken);
    }
}

/* Calls take_all() with constants for the sizes; count = 0: the number of bodies is no constant but
 * k->count. */
ALWAYS_INLINE void take_as(const struct kernel *k, bool lanes, size_t count, size_t vectors)
{
    struct kernel c = *k;
    c.lanes = lanes;
    c.count = count > 0 ? count : k->count;
    c.pitch = lanes ? count * LANES : BODIES_PADDING;
    c.vectors = vectors;
    take_all(k, c);
}

/* Calls take_all() with constants that fit the sizes of *k, if there is such a variant, otherwise
 * without. */
static void dispatch(const struct kernel *k)
{
    if (k->lanes && k->count == 2)
        take_as(k, true, 2, 2);
    else if (k->lanes && k->count == 3)
        take_as(k, true, 3, 3);
    else if (!k->lanes && k->count == 3 && k->vectors == 1)
        take_as(k, false, 3, 1);
    else if (!k->lanes && k->vectors == 1)
        take_as(k, false, 0, 1);
    else
        take_all(k, *k);
}

static void advance(struct radau_batch *batch, double *work, bool lanes)
{
    const struct bodies *const b = batch->systems->bodies;
    const size_t pitch = lanes ? b->count * LANES : b->stride;
    struct slot slots[LANES] = { { .active = false } };
    const struct kernel k = {
        .lanes = lanes,
        .count = b->count,
        .pitch = pitch,
        .vectors = lanes ? b->count : (b->count + LANES - 1) / LANES,
        .work = work,
        .G = batch->systems->physics->gravitational_constant,
        .eps2 = batch->systems->physics->softening * batch->systems->physics->softening,
        .slots = slots,
        .batch = batch,
    };
    memset(work, 0, radau_workspace(b->count, b->stride) * sizeof *work);
    for (size_t i = 0; i < pitch; i++)
        ((mask_double *)axis_of(&k, WORK_REAL))[i / LANES][i % LANES] =
            lanes || i < b->count ? -1 : 0;
    dispatch(&k);
}

const struct radau_kernels CONCAT(radau_, KERNELS) = {
    .isa = STRING(KERNELS),
    .advance = advance,
};
