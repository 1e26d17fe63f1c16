#include "force/fmm/fmm-kernel.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "force/vector.h"

#define KERNEL_INLINE static inline __attribute__((always_inline))

/* Steps of Newton's from the estimate of 1/sqrt() to the digits of the type. */
enum {
    NEWTON_float = FLOAT_SERIES == 3 ? 2
                   : FLOAT_SERIES    ? 1
                                     : 0,
    NEWTON_double = DOUBLE_SERIES ? DOUBLE_SERIES - 1 : 0
};

enum {
    TESTED = 16, /* cells that are tested at a time */
    FLOATS = sizeof(vfloat) / sizeof(float)
};

/* The sum of the radii of two cells that act as a whole is at most this part of the distance of
 * their centers: nearer to 1 the estimate of accept_cells() misses a light body at the rim of one
 * cell that is close to a body of the other. */
#define OPENING_ANGLE 0.95f

/* The error that all cells of one opened mass together may make at a leaf, over the error that one
 * cell may make there: the last formula of accept_cells(). Measured: with 2, a few bodies between a
 * dense core and the rest had most of the error. */
#define OPENED_MASS_FACTOR 0.1f

/* Loads the first `count` floats at each of FLOATS addresses, one vector for each float: `count` is
 * a multiple of four. */
KERNEL_INLINE void load_rows(const float *const *from, size_t count, vfloat *to)
{
    for (size_t n = 0; n < count; n += 4) {
        UNROLL
        for (size_t i = 0; i < 4; i++)
            to[n + i] = load_fours(from + i, 4, n);
        transpose_fours(to + n);
    }
}

/* The places of the floats of a struct fmm_cell. */
enum {
    HIGH = 0,
    MASS = 3,
    LOW = 4,
    RADIUS = 7,
    MULTIPOLE_RADIUS = 8,
    FULL_RADIUS = 9,
    ALLOWED_ERROR = 10,
    RANK = 11,
    RECORD = 12
};

/* Loads the first RECORD floats of FLOATS cells, one vector for each float. */
KERNEL_INLINE void load_cells(const struct fmm_field *field, const uint32_t *cells,
                              vfloat record[RECORD])
{
    const float *from[FLOATS];
    for (size_t i = 0; i < FLOATS; i++)
        from[i] = field->cells[cells[i]].high;
    load_rows(from, RECORD, record);
}

static const float lane_numbers[TESTED]
    __attribute__((aligned(64))) = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

KERNEL_INLINE vfloat pick(mask_float where, vfloat yes, vfloat no)
{
    return (vfloat)((where & (mask_float)yes) | (~where & (mask_float)no));
}

/* Returns the squares of the distances of some cells from a target. */
KERNEL_INLINE vfloat distance2(const struct fmm_cell *to, const vfloat record[RECORD])
{
    vfloat d[3];
    for (int k = 0; k < 3; k++)
        d[k] = (splat_float(to->high[k]) - record[HIGH + k]) +
               (splat_float(to->low[k]) - record[LOW + k]);
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* The decisions about some cells, a bit for each cell; cells of which no bit is set are summed body
 * by body. */
struct acceptance {
    /* The opened mass that a cell passes on when it is opened, or kept. */
    _Alignas(64) float mass_if_opened[TESTED];
    _Alignas(64) float mass_if_kept[TESTED];
    unsigned accepted; /* cells that act as a whole */
    unsigned opened;   /* cells whose children are tested instead */
    unsigned kept;     /* cells that are left for the children of the target */
    float error2;      /* sum of the squares of the errors of those accepted, over allowed_error */
};

/*
 * The acceptance criterion: which of some cells may act on the target as a whole, and the target on
 * them. With R^2 = r^2 + eps^2 and the multipole radius s_A of A (fmm-upward.inc), the error of
 * cell A at a body of B is some
 *   m_A / R^2  ((s_A + radius_B) / R)^p
 * (Dehnen 2014, eqs. 13 and 15); the softened kernel is no harmonic function, and the traces of
 * multipoles add 3 eps^2/R^2 times the same with the full radius. That error must not exceed
 * tolerance x allowed_error of B, and the same must hold with A and B exchanged: so both act by the
 * same derivatives, and momentum is kept. If two cells are too near each other, the larger one is
 * opened, in both directions alike.
 *
 * A leaf that is large and lies off some mass cannot be opened. The cells of that mass are opened
 * instead, and their errors at the leaf then add up, since it is the leaf's own expansion that is
 * too short for each of them. So these cells carry the mass M of the first cell that was opened for
 * a leaf larger than itself (`opened_mass`), and act on the leaf by expansions only if all of M
 * might:
 *   M / R^2 (radius of the leaf / R)^p
 *     <= OPENED_MASS_FACTOR x tolerance x allowed_error of the leaf.
 */
KERNEL_INLINE void accept_cells(const struct fmm_field *field, uint32_t target,
                                const uint32_t *cells, const float *opened_mass, size_t count,
                                struct acceptance *acceptance)
{
    const int p = field->expansion->order;
    const struct fmm_cell *const to = &field->cells[target];
    const mask_float leaf = (mask_float)splat_float(0) - (to->child[0] == 0);
    const vfloat radius = splat_float(to->radius), tolerance = splat_float(field->tolerance);
    const vfloat rank = splat_float(fabsf(to->rank)), zero = splat_float(0);
    const vfloat least = splat_float(1e-37f), eps2 = splat_float((float)field->eps2);
    const vfloat unit = splat_float(1 / fmaxf(to->allowed_error, 1e-37f));
    vfloat error2 = zero;
    unsigned accepted = 0, opened = 0, kept = 0;
    for (size_t at = 0; at < TESTED; at += FLOATS) {
        vfloat record[RECORD];
        load_cells(field, cells + at, record);
        const vfloat its_radius = record[RADIUS], its_mass = record[MASS];
        const vfloat its_rank = record[RANK], its_allowed_error = record[ALLOWED_ERROR];
        const vfloat M = load_float(&opened_mass[at]);
        const vfloat R2 = distance2(to, record) + eps2;
        const vfloat inverse = estimate_float(pick(R2 > least, R2, least));
        const mask_float larger =
            (its_radius > radius) |
            ((its_radius == radius) & (pick(its_rank < zero, -its_rank, its_rank) < rank));
        const vfloat sizes = (radius + its_radius) * inverse;
        const vfloat here = (record[MULTIPOLE_RADIUS] + radius) * inverse;
        const vfloat there = (splat_float(to->multipole_radius) + its_radius) * inverse;
        const vfloat both = pick(larger, its_radius, radius) * inverse;
        vfloat error_here = its_mass * (inverse * inverse);
        vfloat error_there = splat_float(to->mass) * (inverse * inverse);
        vfloat error_of_opened = M * (inverse * inverse);
        const vfloat soft = splat_float(3) * eps2 * (inverse * inverse);
        const vfloat soft_here = (record[FULL_RADIUS] + radius) * inverse;
        const vfloat soft_there = (splat_float(to->full_radius) + its_radius) * inverse;
        vfloat add_here = error_here * soft, add_there = error_there * soft;
        for (int k = 0; k < p; k++) {
            error_here *= here;
            error_there *= there;
            add_here *= soft_here;
            add_there *= soft_there;
            error_of_opened *= both;
        }
        error_here += add_here;
        error_there += add_there;
        const mask_float is_itself =
            *(const mask_float *)(cells + at) == (mask_float)splat_float(0) + (int32_t)target;
        const mask_float is_leaf = its_rank < zero;
        const mask_float is_small =
            (sizes < splat_float(OPENING_ANGLE)) & (R2 > least) &
            (error_here <= tolerance * splat_float(to->allowed_error)) &
            (error_there <= tolerance * its_allowed_error) &
            (error_of_opened <=
             splat_float(OPENED_MASS_FACTOR) * tolerance *
                 pick(larger, its_allowed_error, splat_float(to->allowed_error)));
        const mask_float near = ~is_small & ~is_itself, opens = near & ~is_leaf & (leaf | larger);
        store_float(&acceptance->mass_if_opened[at],
                    pick(M > zero, M, pick(leaf & (radius >= its_radius), its_mass, zero)));
        store_float(
            &acceptance->mass_if_kept[at],
            pick(M > zero, M, pick(is_leaf & (its_radius >= radius), splat_float(to->mass), zero)));
        const mask_float is_there = load_float(&lane_numbers[at]) < splat_float((float)count);
        const vfloat error = pick(is_small & ~is_itself & is_there, error_here * unit, zero);
        error2 += error * error;
        accepted |= bits_float(is_small & ~is_itself) << at;
        opened |= bits_float(opens) << at;
        kept |= bits_float(near & ~opens & ~leaf) << at;
    }
    const unsigned all = (1u << count) - 1;
    acceptance->accepted = accepted & all;
    acceptance->opened = opened & all;
    acceptance->kept = kept & all;
    acceptance->error2 = sum_float(error2);
}

/* Returns the number of the lowest bit that is set, and clears the bit. */
static inline size_t take_bit(unsigned *bits)
{
    const size_t i = (size_t)__builtin_ctz(*bits);
    *bits &= *bits - 1;
    return i;
}

/* --- scales ----------------------------------------------------------------------------------- */

/* Opens a cell: puts its children among the `opened` cells that are to be tested next; returns the
 * number of these. */
static inline size_t open_cell(const struct fmm_field *field, struct fmm_walk *walk, size_t opened,
                               uint32_t cell, float opened_mass)
{
    const uint32_t first = field->cells[cell].child[0];
    __builtin_prefetch(&field->cells[first]);
    __builtin_prefetch(&field->cells[first + 1]);
    walk->opened[opened] = first + 1;
    walk->opened[opened + 1] = first;
    walk->opened_mass[opened] = walk->opened_mass[opened + 1] = opened_mass;
    return opened + 2;
}

/* Takes up to TESTED candidates, from those that were opened and from list[*from, to), and returns
 * their number; the first one also stands in the place of those that are missing. */
static inline size_t take_candidates(const struct fmm_walk *walk, size_t *opened, size_t *from,
                                     size_t to, uint32_t *cells, float *opened_mass)
{
    size_t count = 0;
    for (; count < TESTED && *opened; count++) {
        cells[count] = walk->opened[--*opened];
        opened_mass[count] = walk->opened_mass[*opened];
    }
    for (; count < TESTED && *from < to; count++) {
        cells[count] = walk->list[*from];
        opened_mass[count] = walk->list_mass[(*from)++];
    }
    for (size_t k = count; k < TESTED; k++) {
        cells[k] = cells[0];
        opened_mass[k] = opened_mass[0];
    }
    return count;
}

static bool has_room(size_t end, size_t opened)
{
    return end + TESTED + 2 <= FMM_LIST && opened + 2 * TESTED <= FMM_OPENED;
}

/* Begins the step of a cell at a depth of the way: the candidates for the cell are those that the
 * step above has left, [first, last) at first, or the root. Returns the step above, or NULL. */
static const struct fmm_step *begin_step(struct fmm_walk *walk, size_t depth, uint32_t cell)
{
    struct fmm_step *const step = &walk->way[depth];
    *step = (struct fmm_step){ .cell = cell, .last = 1 };
    if (!depth) {
        walk->list[0] = 0;
        walk->list_mass[0] = 0;
        return NULL;
    }
    step->first = step[-1].first;
    step->last = step[-1].last;
    return step - 1;
}

/* Ends the candidates that a step has found at `end`: those for the children stand behind its
 * own. */
static void end_step(struct fmm_step *step, size_t end)
{
    step->first = step->last;
    step->last = end;
}

/* Does a step to a target: adds to the scale above it (the least sum of m / (r^2 + eps^2) at any
 * body) the part that comes from those candidates that are far enough to count as points. A
 * candidate that is too near is replaced by its children if it is larger than the target or the
 * target is a leaf; otherwise it is left for the target's children. The r of a point is the
 * distance of the centers plus the target's radius, the most that it can be for a body of the
 * target. */
static void find_scale(const struct fmm_field *field, struct fmm_walk *walk, size_t depth,
                       uint32_t target)
{
    const struct fmm_step *const above = begin_step(walk, depth, target);
    struct fmm_step *const step = &walk->way[depth];
    const struct fmm_cell *const cell = &field->cells[target];
    size_t from = step->first;
    const size_t to = step->last;
    const mask_float leaf = (mask_float)splat_float(0) - (cell->child[0] == 0);
    const vfloat radius = splat_float(cell->radius), tiny = splat_float(1e-30f);
    const vfloat eps2 = splat_float((float)field->eps2);
    size_t opened = 0, end = to;
    vfloat sums = splat_float(0);
    while (from < to || opened) {
        uint32_t some[TESTED] __attribute__((aligned(64)));
        float opened_mass[TESTED];
        unsigned opens = 0, keeps = 0, itself = 0;
        const size_t count = take_candidates(walk, &opened, &from, to, some, opened_mass);
        for (size_t at = 0; at < TESTED; at += FLOATS) {
            vfloat record[RECORD];
            load_cells(field, some + at, record);
            const vfloat its_radius = record[RADIUS], sizes = radius + its_radius;
            const vfloat r2 = distance2(cell, record) + tiny;
            const vfloat far = r2 * estimate_float(r2) + radius;
            const mask_float is_itself =
                *(const mask_float *)(some + at) == (mask_float)splat_float(0) + (int32_t)target;
            const mask_float is_leaf = record[RANK] < splat_float(0);
            const mask_float is_point =
                ~is_itself & ((sizes * sizes < splat_float(0.7f) * r2) | (leaf & is_leaf));
            const mask_float is_opened =
                ~is_itself & ~is_point & ~is_leaf & (leaf | (its_radius > radius));
            const mask_float is_there = load_float(&lane_numbers[at]) < splat_float((float)count);
            sums +=
                pick(is_point & is_there, record[MASS] / (far * far + eps2 + tiny), splat_float(0));
            opens |= bits_float(is_opened) << at;
            keeps |= bits_float(~is_itself & ~is_point & ~is_opened) << at;
            itself |= bits_float(is_itself) << at;
        }
        const unsigned all = has_room(end, opened) ? (1u << count) - 1 : 0;
        for (opens &= all; opens;)
            opened = open_cell(field, walk, opened, some[take_bit(&opens)], 0);
        for (keeps &= all; keeps;)
            walk->list[end++] = some[take_bit(&keeps)];
        for (int k = 0; k < 2 && itself & all && cell->child[0]; k++)
            walk->list[end++] = cell->child[k];
    }
    float scale = sum_float(sums);
    const float far = 2 * cell->radius, others = (float)(cell->last - cell->first - 1);
    if (!cell->child[0] && others > 0) /* a body does not pull itself */
        scale += cell->mass * others / (others + 1) / (far * far + (float)field->eps2 + 1e-30f);
    step->scale = scale + (above ? above->scale : 0);
    end_step(step, end);
}

/* Finds the scales of all leaves below a cell, or of the cell. */
static void scale_below(const struct fmm_field *field, struct fmm_walk *walk, size_t depth,
                        uint32_t target)
{
    struct fmm_cell *const cell = &field->cells[target];
    find_scale(field, walk, depth, target);
    cell->allowed_error = walk->way[depth].scale;
    for (int k = 0; k < 2 && cell->child[0]; k++)
        scale_below(field, walk, depth + 1, cell->child[k]);
}

static void scale(const struct fmm_field *field, struct fmm_walk *walk, const uint32_t *path,
                  size_t length, uint32_t target)
{
    for (size_t k = fmm_known_steps(walk, path, length); k < length; k++)
        find_scale(field, walk, k, path[k]);
    walk->known = length;
    scale_below(field, walk, length, target);
}

enum { NEAR_GROUP = 4 /* targets of a near sum that go together */ };
enum { EXCLUDE_NONE, EXCLUDE_SELF, EXCLUDE_CLOSE };

#define MASK_single mask_float
#define MASK_double mask_double

#define REAL float
#define TRANSLATIONS "force/fmm/translations-single.inc"
#define NAME(word) CONCAT(word, _single)
/* Each of these files needs those above it. */
/* clang-format off */
#include "force/fmm/fmm-translate.inc"
#include "force/fmm/fmm-upward.inc"
#include "force/fmm/fmm-near.inc"
#include "force/fmm/fmm-walk.inc"
/* clang-format on */
#undef NAME
#undef TRANSLATIONS
#undef REAL

#define REAL double
#define TRANSLATIONS "force/fmm/translations-double.inc"
#define NAME(word) CONCAT(word, _double)
/* Each of these files needs those above it. */
/* clang-format off */
#include "force/fmm/fmm-translate.inc"
#include "force/fmm/fmm-upward.inc"
#include "force/fmm/fmm-near.inc"
#include "force/fmm/fmm-walk.inc"
/* clang-format on */
#undef NAME
#undef TRANSLATIONS
#undef REAL

#define KERNELS_OF(type)                                                                           \
    {                                                                                              \
        .estimate_is_fine = FLOAT_SERIES <= 1, .scale = scale, .gather = gather_##type,            \
        .sum = sum_below_##type, .direct = direct_##type                                           \
    }

const struct fmm_kernels CONCAT(fmm_, KERNELS)[2] = { KERNELS_OF(single), KERNELS_OF(double) };
