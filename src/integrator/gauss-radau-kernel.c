/*
 * The kernels of gauss-radau-kernel.h for one instruction set; compiled once for each, with the
 * flags of the set and with KERNELS, its name, like force/direct/kernel.c.
 *
 * A pass of the predictor and corrector is the same for all lanes. When the steps of half of them
 * have converged, these are finished, and begin their next one, or another system, while the others
 * go on with theirs. A lane that waits keeps what it has: the others change no bit of it.
 *
 * The forces, the arithmetic of a step and the choice of the next one stand in the included files.
 */
#include "integrator/gauss-radau-kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "force/direct/reference.h"
#include "force/vector.h"

#define CONCAT_EXPANDED(a, b) a##b
#define CONCAT(a, b) CONCAT_EXPANDED(a, b)
#define STRING_EXPANDED(a) #a
#define STRING(a) STRING_EXPANDED(a)
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { LANES = sizeof(vdouble) / sizeof(double) };

/* One system on its way. */
struct slot {
    bool active, aside;
    size_t system;
    double target;
    struct adaptive_clock clock;
    double step; /* that is being tried */
    int pass;
    double before; /* change of b_6 in the pass before */
    bool waits;    /* the step has converged, with accelerations of this size: */
    double size;
};

/* What comes behind the arrays of the state in a workspace: terms of the step, then single axes. */
enum {
    WORK_Q = RADAU_ARRAYS,
    WORK_F = WORK_Q + RADAU_TERMS,
    WORK_E = WORK_F + RADAU_TERMS,
    WORK_PATH = WORK_E + RADAU_TERMS, /* positions, from where the step began */
    WORK_A,                           /* accelerations there */
    WORK_AXES,                        /* from here on there is one axis to each: */
    WORK_M = 0,                       /* masses */
    WORK_REAL,                        /* all bits where a number belongs to a body */
    WORK_SCALE                        /* the time scale of each body, squared */
};

/* What the loops over numbers need. Where these are constants the loops become straight code. */
struct kernel {
    bool lanes;     /* a system in each lane; else all of them have one */
    size_t count;   /* bodies of a system */
    size_t pitch;   /* numbers of an axis */
    size_t vectors; /* of them in use */
    double *work;
    double G, eps2;
    struct slot *slots; /* [LANES], or one */
    struct radau_batch *batch;
};

/* [3][pitch] */
ALWAYS_INLINE double *array_of(const struct kernel *k, size_t array)
{
    return k->work + array * 3 * k->pitch;
}

/* [pitch] */
ALWAYS_INLINE double *axis_of(const struct kernel *k, size_t axis)
{
    return array_of(k, WORK_AXES) + axis * k->pitch;
}

ALWAYS_INLINE vdouble select_double(mask_double mask, vdouble yes, vdouble no)
{
    return (vdouble)((mask & (mask_double)yes) | (~mask & (mask_double)no));
}

ALWAYS_INLINE vdouble magnitude(vdouble a)
{
    return (vdouble)((mask_double)a & INT64_MAX);
}

ALWAYS_INLINE vdouble root(vdouble a)
{
    vdouble result;
    for (size_t lane = 0; lane < LANES; lane++)
        result[lane] = sqrt(a[lane]);
    return result;
}

/* Where the mask is set; of one system it is set everywhere. */
ALWAYS_INLINE void update(const struct kernel *k, double *array, mask_double mask, vdouble value)
{
    store_double(array, k->lanes ? select_double(mask, value, load_double(array)) : value);
}

/* A number of each slot, to its lane, or to all. */
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

/* The largest number of a slot. */
static double largest_of(const struct kernel *k, vdouble numbers, size_t slot)
{
    double most = numbers[slot];
    for (size_t lane = 0; lane < LANES && !k->lanes; lane++)
        if (!(numbers[lane] <= most) && !isnan(most)) /* NaN stays */
            most = numbers[lane];
    return most;
}

#include "integrator/gauss-radau-forces.inc"

#include "integrator/gauss-radau-step.inc"

#include "integrator/gauss-radau-slots.inc"

static void remember_smallest(const struct kernel *k, size_t slot)
{
    struct slot *const s = &k->slots[slot];
    const struct bodies *const b = k->batch->systems->bodies;
    double x[3][RADAU_SMALL];
    if (s->step >= s->clock.smallest)
        return;
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = 0; i < k->count; i++)
            x[axis][i] = array_of(k, RADAU_X)[index_of(k, slot, axis, i)];
    const struct reference_motion motion = {
        .m = b->m + s->system * b->stride,
        .x = { x[0], x[1], x[2] },
        .count = k->count,
    };
    const size_t asker = (size_t)s->clock.asker;
    s->clock.smallest = s->step;
    s->clock.pair[0] = (double)asker;
    s->clock.pair[1] = (double)reference_strongest(k->batch->systems->physics, &motion, asker);
}

/* Is the step short enough to be taken? Chooses the next one in any case. */
static bool judge_step(const struct kernel *k, size_t slot)
{
    struct slot *const s = &k->slots[slot];
    size_t asker = (size_t)s->clock.asker;
    double least = INFINITY;
    for (size_t i = 0; i < k->count; i++) {
        const double scale = axis_of(k, WORK_SCALE)[index_of(k, slot, 0, i)];
        if (scale < least) {
            least = scale;
            asker = i;
        }
    }
    const bool takes = !radau_rejects(s->step, radau_next(s->step, least, k->batch->length));
    if (takes)
        remember_smallest(k, slot);
    else
        s->clock.rejections += 1;
    s->clock.step = radau_next(s->step, least, k->batch->length);
    s->clock.asker = (double)asker;
    return takes;
}

/* Which slots have converged, if it is time to finish their steps? */
static bool find_converged(const struct kernel *k, const struct found *found, bool *done)
{
    size_t active = 0, waiting = 0;
    for (size_t i = 0; i < slot_count(k); i++) {
        struct slot *const s = &k->slots[i];
        done[i] = s->active;
        if (!s->active)
            continue;
        if (!s->waits) {
            const double change = largest_of(k, found->change, i);
            s->size = largest_of(k, found->size, i);
            s->pass++;
            s->clock.sums += (double)(RADAU_NODES * k->count);
            s->waits =
                !isfinite(change + s->size) || radau_converged(s->pass, change, s->before, s->size);
            s->before = change;
        }
        done[i] = s->waits;
        active++;
        waiting += s->waits;
    }
    return 2 * waiting >= active;
}

/* Which of the steps that are done are taken? */
static void judge_steps(const struct kernel *k, const bool *done, bool *taken)
{
    for (size_t i = 0; i < slot_count(k); i++) {
        struct slot *const s = &k->slots[i];
        taken[i] = false;
        if (!done[i])
            continue;
        if (isfinite(s->before + s->size))
            taken[i] = judge_step(k, i);
        else
            give_up(k, i, ADAPTIVE_NOT_FINITE);
    }
}

/* Those that were taken are done; a step aside has come to the grid point. */
static void note_steps(const struct kernel *k, const bool *taken)
{
    for (size_t i = 0; i < slot_count(k); i++) {
        struct slot *const s = &k->slots[i];
        if (!taken[i])
            continue;
        const bool lands = s->aside && s->step == radau_left(&s->clock, s->target);
        radau_tick(&s->clock, s->step);
        if (!lands)
            continue;
        show_system(k, i);
        s->active = false;
    }
}

static bool is_active(const struct kernel *k)
{
    bool any = false;
    for (size_t s = 0; s < slot_count(k); s++)
        any |= k->slots[s].active;
    return any;
}

/* Tested once in some hundred steps. */
static bool is_interrupted(const struct kernel *k, double *done)
{
    enum { STEP_WORK = 2000 }; /* in pair interactions, besides those of the bodies */
    struct interruption *const interruption = k->batch->systems->physics->interruption;
    return interruption_after(interruption, done,
                              STEP_WORK + 100.0 * reference_pairs(1.0, (double)k->count));
}

/* `k` for whoever goes by the slots, and `c`, the same with constants, for loops over numbers. */
ALWAYS_INLINE void take_all(const struct kernel *k, const struct kernel c)
{
    bool begins[LANES], taken[LANES];
    struct found found;
    double done = 0;
    for (size_t s = 0; s < LANES; s++)
        begins[s] = true;
    for (go_on(k, begins); is_active(k) && !is_interrupted(k, &done); go_on(k, begins)) {
        predict_terms(&c, begins);
        do
            found = pass(&c);
        while (!find_converged(k, &found, begins));
        find_time_scales(&c);
        judge_steps(k, begins, taken);
        if (c.lanes || taken[0]) /* update() writes all of a system that is alone */
            finish(&c, taken);
        note_steps(k, taken);
    }
}

/* With numbers that are constants; 0 bodies: as many as there are. */
ALWAYS_INLINE void take_as(const struct kernel *k, bool lanes, size_t count, size_t vectors)
{
    struct kernel c = *k;
    c.lanes = lanes;
    c.count = count > 0 ? count : k->count;
    c.pitch = lanes ? count * LANES : BODIES_PADDING;
    c.vectors = vectors;
    take_all(k, c);
}

/* The first one that fits. */
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
