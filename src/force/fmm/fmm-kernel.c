#include "force/fmm/fmm-kernel.h"

#include <math.h>
#include <string.h>

#include "force/vector.h"

#define CONCAT_EXPANDED(a, b) a##b
#define CONCAT(a, b) CONCAT_EXPANDED(a, b)
#define KERNEL_INLINE static inline __attribute__((always_inline))

/* Steps of Newton's from the estimate of 1/sqrt() to the digits of the type. */
enum {
    NEWTON_float = FLOAT_SERIES == 3 ? 2
                   : FLOAT_SERIES    ? 1
                                     : 0,
    NEWTON_double = DOUBLE_SERIES ? DOUBLE_SERIES - 1 : 0
};

enum { TOGETHER = 2 /* see exceeds_together() */ };
enum { TESTED = 16 /* cells that are tested at a time */, RECORD = 12 };

/* The first numbers of some cells, one array for each. */
static inline __attribute__((always_inline)) void load_cells(const struct fmm_field *field,
                                                             const struct fmm_candidate *cells,
                                                             size_t count,
                                                             float record[RECORD][TESTED])
{
    typedef float four __attribute__((vector_size(16), may_alias));
    const float *from[TESTED];
    for (size_t i = 0; i < TESTED; i++)
        from[i] = field->cells[cells[i < count ? i : 0].cell].high;
    for (size_t n = 0; n < RECORD; n += 4)
        for (size_t i = 0; i < TESTED; i += 4) {
            const four a = *(const four *)(from[i] + n), b = *(const four *)(from[i + 1] + n);
            const four c = *(const four *)(from[i + 2] + n), d = *(const four *)(from[i + 3] + n);
            const four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
            const four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
            const four AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
            const four CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
            *(four *)&record[n][i] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
            *(four *)&record[n + 1][i] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
            *(four *)&record[n + 2][i] = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
            *(four *)&record[n + 3][i] = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
        }
}

static inline __attribute__((always_inline)) float distance2(const struct fmm_cell *to,
                                                             float record[RECORD][TESTED], size_t i)
{
    const float x = (to->high[0] - record[0][i]) + (to->low[0] - record[4][i]);
    const float y = (to->high[1] - record[1][i]) + (to->low[1] - record[5][i]);
    const float z = (to->high[2] - record[2][i]) + (to->low[2] - record[6][i]);
    return x * x + y * y + z * z;
}

/*
 * Which of some cells may act on the target as a whole, and the target on them: with
 * R^2 = r^2 + eps^2 and the spread s_A of the mass of A (above), the error of cell A at a body of B
 * is some
 *   m_A / R^2  ((s_A + radius_B) / R)^p
 * (Dehnen 2014, eqs. 13 and 15), which must not exceed tolerance x weight of B, and the same with A
 * and B exchanged: so both act by the same derivatives, and momentum is kept.
 */
static inline __attribute__((always_inline)) unsigned test(const struct fmm_field *field,
                                                           uint32_t target,
                                                           const struct fmm_candidate *cells,
                                                           size_t count)
{
    float record[RECORD][TESTED] __attribute__((aligned(64)));
    const int p = field->expansion->order;
    const struct fmm_cell *const to = &field->cells[target];
    const float eps2 = (float)field->eps2, limit = field->tolerance * to->weight;
    float here[TESTED] __attribute__((aligned(64))), there[TESTED] __attribute__((aligned(64)));
    float error_here[TESTED] __attribute__((aligned(64)));
    float error_there[TESTED] __attribute__((aligned(64)));
    load_cells(field, cells, count, record);
#pragma omp simd
    for (size_t i = 0; i < TESTED; i++) {
        const float inverse2 = 1 / (distance2(to, record, i) + eps2), inverse = sqrtf(inverse2);
        const float sizes = (to->radius + record[7][i]) * inverse;
        here[i] = (record[8][i] + to->radius) * inverse;
        there[i] = (to->spread + record[7][i]) * inverse;
        error_here[i] = sizes < 1 ? record[3][i] * inverse2 : INFINITY;
        error_there[i] = to->mass * inverse2;
    }
    for (int k = 0; k < p; k++)
#pragma omp simd
        for (size_t i = 0; i < TESTED; i++) {
            error_here[i] *= here[i];
            error_there[i] *= there[i];
        }
    int32_t good[TESTED] __attribute__((aligned(64)));
#pragma omp simd
    for (size_t i = 0; i < TESTED; i++)
        good[i] = (error_here[i] <= limit) & (error_there[i] <= field->tolerance * record[10][i]);
    unsigned accepted = 0;
    for (size_t i = 0; i < count; i++)
        accepted |= (unsigned)good[i] << i;
    return accepted;
}

/* Where two cells are too near each other: is it the source that is opened, rather than the
 * target? The larger one, in both directions alike. */
static inline bool opens_source(const struct fmm_cell *target, const struct fmm_cell *source)
{
    if (!source->child[0] || !target->child[0])
        return source->child[0] != 0;
    return source->radius > target->radius ||
           (source->radius == target->radius && source->first < target->first);
}

/*
 * A leaf that is large and lies off some mass cannot be opened; the cells of that mass are, whose
 * errors at the leaf then add up, since the leaf's own expansion is what is too short for each of
 * them. So they carry the mass of the first cell that was opened for a leaf larger than itself
 * (`together`), and act on the leaf by expansions only if all of that mass might:
 *   M / R^2 (radius of the leaf / R)^p <= TOGETHER x tolerance x weight of the leaf.
 */
static inline float cut_by_force(const struct fmm_candidate *candidate, const struct fmm_cell *kept,
                                 const struct fmm_cell *opened)
{
    const bool forced = !kept->child[0] && kept->radius >= opened->radius && kept != opened;
    return candidate->together > 0 ? candidate->together : forced ? opened->mass : 0;
}

static inline bool exceeds_together(const struct fmm_field *field, const struct fmm_cell *target,
                                    const struct fmm_candidate *candidate)
{
    if (!(candidate->together > 0))
        return false;
    const struct fmm_cell *const source = &field->cells[candidate->cell];
    const struct fmm_cell *const leaf = source->radius > target->radius ? source : target;
    float R2 = (float)field->eps2;
    for (int d = 0; d < 3; d++) {
        const float x = (target->high[d] - source->high[d]) + (target->low[d] - source->low[d]);
        R2 += x * x;
    }
    const float ratio = leaf->radius / sqrtf(R2);
    float error = candidate->together / R2;
    for (int k = 0; k < field->expansion->order; k++)
        error *= ratio;
    return error > TOGETHER * field->tolerance * leaf->weight;
}

/* --- scales ------------------------------------------------------------------------------------
 */

/* What the cells that may be taken as points add to the scale at a target, of candidates
 * list[from, to); leaves the others behind them, up to *end. A body of the target is no farther
 * from another cell than the centers are, and the radius. */
static float scale_at(const struct fmm_field *field, struct fmm_walk *walk, uint32_t target,
                      size_t from, size_t to, size_t *end_of_list)
{
    const struct fmm_cell *const cell = &field->cells[target];
    size_t opened = 0, end = to;
    const float eps2 = (float)field->eps2, tiny = 1e-30f;
    float scale = 0;
    while (from < to || opened) {
        struct fmm_candidate some[TESTED];
        size_t count = 0;
        while (count < TESTED && opened)
            some[count++] = walk->opened[--opened];
        while (count < TESTED && from < to)
            some[count++] = walk->list[from++];
        float record[RECORD][TESTED] __attribute__((aligned(64)));
        float part[TESTED] __attribute__((aligned(64)));
        int32_t apart[TESTED] __attribute__((aligned(64)));
        load_cells(field, some, count, record);
#pragma omp simd
        for (size_t i = 0; i < TESTED; i++) {
            const float r2 = distance2(cell, record, i), sizes = cell->radius + record[7][i];
            const float far = sqrtf(r2) + cell->radius;
            apart[i] = sizes * sizes < 0.7f * r2;
            part[i] = record[3][i] / (far * far + eps2 + tiny);
        }
        for (size_t i = 0; i < count; i++) {
            const uint32_t source = some[i].cell;
            const struct fmm_cell *const other = &field->cells[source];
            if (source == target && !cell->child[0]) {
                const float far = 2 * cell->radius, others = (float)(cell->last - cell->first - 1);
                if (others > 0) /* a body does not pull itself */
                    scale += cell->mass * others / (others + 1) / (far * far + eps2 + tiny);
            } else if (source != target && (apart[i] || (!cell->child[0] && !other->child[0]))) {
                scale += part[i];
            } else if (source != target && other->child[0] &&
                       (!cell->child[0] || other->radius > cell->radius)) {
                if (opened + 2 <= FMM_OPENED) {
                    walk->opened[opened++].cell = other->child[1];
                    walk->opened[opened++].cell = other->child[0];
                }
            } else if (end + 2 <= FMM_LIST && source == target) {
                walk->list[end++].cell = cell->child[0];
                walk->list[end++].cell = cell->child[1];
            } else if (end < FMM_LIST) {
                walk->list[end++].cell = source;
            }
        }
    }
    *end_of_list = end;
    return scale;
}

/* The least scale below a cell; `scale` is what its parent has found. */
static void scale_below(const struct fmm_field *field, struct fmm_walk *walk, uint32_t target,
                        size_t from, size_t to, float scale)
{
    struct fmm_cell *const cell = &field->cells[target];
    size_t end;
    scale += scale_at(field, walk, target, from, to, &end);
    if (cell->child[0]) {
        for (int k = 0; k < 2; k++)
            scale_below(field, walk, cell->child[k], to, end, scale);
        scale = fminf(field->cells[cell->child[0]].scale, field->cells[cell->child[1]].scale);
    }
    fmm_set_scale(cell, scale);
}

static void scale(const struct fmm_field *field, struct fmm_walk *walk, const uint32_t *path,
                  size_t length, uint32_t target)
{
    size_t from = 0, to = 1, end;
    float sum = 0;
    walk->list[0].cell = 0;
    for (size_t k = 0; k < length; k++) {
        sum += scale_at(field, walk, path[k], from, to, &end);
        from = to;
        to = end;
    }
    scale_below(field, walk, target, from, to, sum);
}

enum { NEAR_GROUP = 4 /* targets of a near sum that go together */ };
enum { EXCLUDE_NONE, EXCLUDE_SELF, EXCLUDE_TOUCHING };

#define MASK_single mask_float
#define MASK_double mask_double

#define REAL float
#define NAME(word) CONCAT(word, _single)
#include "force/fmm/fmm-kernel.inc"
#undef NAME
#undef REAL

#define REAL double
#define NAME(word) CONCAT(word, _double)
#include "force/fmm/fmm-kernel.inc"
#undef NAME
#undef REAL

#define KERNELS_OF(type)                                                                           \
    {                                                                                              \
        .estimate_is_fine = FLOAT_SERIES <= 1, .scale = scale, .gather = gather_##type,            \
        .sum = sum_below_##type, .direct = direct_##type                                           \
    }

const struct fmm_kernels CONCAT(fmm_, KERNELS)[2] = { KERNELS_OF(single), KERNELS_OF(double) };
