#include "space/pairs.h"

#include "config.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>

#include "base/memory.h"
#include "space/neighbours.h"

enum {
    GUESSED = 2000, /* most bins for guess_bins(), which then fails for one chunk in eight */
    CHUNK = 256,    /* separations computed together: they stay in the first-level cache */
    COPIES = PAIRS_THREAD_REALS, /* histograms of a thread, which take the pairs in turn, so that
                                    two pairs of one bin do not wait for each other */
    BLOCK = 64,                  /* bodies i of one piece of work of a thread, without a tree */
    LEAF = 32                    /* bodies of a leaf of the tree, at most */
};

struct positions {
    const double *x, *y, *z;
};

struct separations {
    double width;
    double bins;
    double per_square; /* 1 / width^2; 0 if bins are too many, or too narrow, for guess_bins() */
    double box_length; /* 0 in open space */
};

/* Returns rint(x) without a function call: x + 1.5 x 2^52 has no digits after the point. This is
 * exact for |x| < 2^51 if the processor rounds to nearest. */
static inline double round_even(double x)
{
    const double digits = 6755399441055744.0; /* 1.5 x 2^52 */
    return (x + digits) - digits;
}

CLONE_FOR_VECTORS
static void find_squares_open(double x, double y, double z, const struct positions *to,
                              size_t count, double *r2)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const double dx = to->x[j] - x, dy = to->y[j] - y, dz = to->z[j] - z;
        r2[j] = dx * dx + dy * dy + dz * dz;
    }
}

CLONE_FOR_VECTORS
static void find_squares_periodic(double L, double x, double y, double z,
                                  const struct positions *to, size_t count, double *r2)
{
    const double per_L = 1.0 / L;
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        double dx = to->x[j] - x, dy = to->y[j] - y, dz = to->z[j] - z;
        dx -= L * round_even(dx * per_L); /* equals physics_nearest_image(), except at r = L / 2 */
        dy -= L * round_even(dy * per_L);
        dz -= L * round_even(dz * per_L);
        r2[j] = dx * dx + dy * dy + dz * dz;
    }
}

/* Finds the index of the bin of each pair from its squared separation; the index is `bins` if the
 * pair is beyond r_max. */
CLONE_FOR_VECTORS
static void find_bins(const struct separations *s, const double *r2, size_t count, int32_t *bin)
{
    const double width = s->width, bins = s->bins;
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const double k = sqrt(r2[j]) / width;
        bin[j] = (int32_t)(k < bins ? k : bins); /* NaN counts as beyond r_max */
    }
}

/* Does the work of find_bins() in single precision, four times as fast. Returns false if a pair is
 * so near the edge of a bin that single precision may give it the wrong one: its two roundings
 * together change the bin's number by less than 2^-23 of it. */
CLONE_FOR_VECTORS
static bool guess_bins(const struct separations *s, const double *r2, size_t count, int32_t *bin)
{
    const double per_square = s->per_square;
    const float beyond = (float)s->bins + 0.5F, edge = (float)s->bins * 0x1p-23F;
    const float digits = 0x1.8p23F; /* 1.5 x 2^23, as round_even() has 1.5 x 2^52 */
    int unsure = 0;
#pragma omp simd reduction(| : unsure)
    for (size_t j = 0; j < count; j++) {
        const float root = sqrtf((float)(r2[j] * per_square));
        const float k = root < beyond ? root : beyond;
        unsure |= fabsf(k - ((k + digits) - digits)) <= edge;
        bin[j] = (int32_t)k;
    }
    return !unsure;
}

/* The histograms of one thread: COPIES of them, of `length` bins each. The last bin takes the pairs
 * beyond r_max. */
struct tally {
    const struct separations *separations;
    size_t length; /* bins + 1 */
    uint64_t *copies;
};

static void count_run(struct tally *tally, const struct positions *positions, size_t i, size_t from,
                      size_t to)
{
    const struct separations *s = tally->separations;
    uint64_t *const h0 = tally->copies, *const h1 = h0 + tally->length;
    uint64_t *const h2 = h1 + tally->length, *const h3 = h2 + tally->length;
    for (; from < to; from += CHUNK) {
        const size_t count = to - from < CHUNK ? to - from : CHUNK;
        const struct positions run = { positions->x + from, positions->y + from,
                                       positions->z + from };
        const double x = positions->x[i], y = positions->y[i], z = positions->z[i];
        double r2[CHUNK];
        int32_t bin[CHUNK + COPIES];
        if (s->box_length > 0.0)
            find_squares_periodic(s->box_length, x, y, z, &run, count, r2);
        else
            find_squares_open(x, y, z, &run, count, r2);
        if (s->per_square == 0.0 || !guess_bins(s, r2, count, bin))
            find_bins(s, r2, count, bin);
        for (size_t j = count; j % COPIES != 0; j++)
            bin[j] = (int32_t)tally->length - 1;
        for (size_t j = 0; j < count; j += COPIES) {
            h0[bin[j]]++;
            h1[bin[j + 1]]++;
            h2[bin[j + 2]]++;
            h3[bin[j + 3]]++;
        }
    }
}

/* --- by a tree -------------------------------------------------------------------------------- */

/* A tree of the bodies (in a periodic box, of their images in the first box), and their positions
 * in the order of the tree. */
struct order {
    struct point_tree *tree;
    double *x, *y, *z;
    double reach2; /* r_max^2, a little enlarged, so that rounding loses no pair */
    bool periodic;
};

static void order_destroy(struct order *order)
{
    point_tree_destroy(order->tree);
    memory_free(order->x);
    memory_free(order->y);
    memory_free(order->z);
}

/* Tells whether a body is so far from a periodic box that the rounding error of its place within
 * the box is no longer small beside the margin by which order_create() enlarges r_max. */
static bool is_too_far(const struct separations *s, double r_max, const double x[3])
{
    const double farthest = 1e5 * r_max; /* rounding to 1e-16 of this is 1e-11 of r_max */
    return s->box_length > 0.0 &&
           (fabs(x[0]) > farthest || fabs(x[1]) > farthest || fabs(x[2]) > farthest);
}

/* Puts the bodies whose positions are finite into the tree. Returns false if one is too far
 * away. */
static bool take_points(struct order *order, const struct separations *s,
                        const struct positions *positions, double r_max)
{
    size_t count = 0;
    for (size_t i = 0; i < order->tree->count; i++) {
        const double x[3] = { positions->x[i], positions->y[i], positions->z[i] };
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            continue;
        if (is_too_far(s, r_max, x))
            return false;
        struct tree_point *const point = &order->tree->points[count++];
        point->index = i;
        for (int k = 0; k < 3; k++)
            point->x[k] = order->periodic ? physics_wrap(x[k], s->box_length) : x[k];
    }
    order->tree->count = count;
    return true;
}

/* Sorts the bodies into a tree. *usable becomes false if a body is too far away (is_too_far()):
 * then the caller must compute all pairs. STATUS_MEMORY. */
static enum status order_create(struct order *order, const struct physics *physics,
                                const struct separations *s, const struct positions *positions,
                                size_t count, double r_max, int threads, bool *usable,
                                struct error *error)
{
    const double reach = r_max * (1.0 + 1e-9);
    *usable = false;
    *order = (struct order){ .reach2 = reach * reach, .periodic = s->box_length > 0.0 };
    if (point_tree_create(count, LEAF, &order->tree, error))
        return error->status;
    if (!take_points(order, s, positions, r_max))
        return STATUS_OK;
    point_tree_build(order->tree, threads, physics->interruption);
    order->x = memory_array(count, sizeof *order->x, error);
    order->y = memory_array(count, sizeof *order->y, error);
    order->z = memory_array(count, sizeof *order->z, error);
    if (!order->x || !order->y || !order->z)
        return error->status;
    for (size_t i = 0; i < order->tree->count; i++) {
        const size_t from = order->tree->points[i].index;
        order->x[i] = positions->x[from];
        order->y[i] = positions->y[from];
        order->z[i] = positions->z[from];
    }
    *usable = true;
    return STATUS_OK;
}

/* Returns the square of the shortest distance between the boxes of two cells, in a periodic box
 * that to the nearest image. */
static double gap2_of(const struct order *order, double box_length, const struct point_cell *a,
                      const struct point_cell *b)
{
    if (!order->periodic)
        return point_cell_gap2(a, b->low, b->high);
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        const double gap = fmax(a->low[k] - b->high[k], b->low[k] - a->high[k]);
        const double around =
            box_length - (fmax(a->high[k], b->high[k]) - fmin(a->low[k], b->low[k]));
        const double least = fmax(fmin(gap, around), 0.0);
        sum += least * least;
    }
    return sum;
}

/* Returns the bin into which all distances between the bodies of two cells fall, in open space; -1
 * if they may fall into several, or beyond r_max. */
static double common_bin(const struct separations *s, const struct point_cell *a,
                         const struct point_cell *b, double gap2)
{
    const double slack = 1e-12; /* more than the rounding errors of both distances */
    double widest2 = 0.0;
    for (int k = 0; k < 3; k++) {
        const double width = fmax(a->high[k] - b->low[k], b->high[k] - a->low[k]);
        widest2 += width * width;
    }
    const double bin = floor(sqrt(widest2) * (1.0 + slack) / s->width);
    return bin < s->bins && floor(sqrt(gap2) * (1.0 - slack) / s->width) == bin ? bin : -1.0;
}

/* The pairs of the bodies of one leaf with each other and with all bodies that follow in the order
 * of the tree. */
struct leaf_pairs {
    struct tally *tally;
    const struct order *order;
    struct positions positions;
    const struct point_cell *leaf;
    size_t from, to; /* bodies [from, to) are near enough to the leaf and wait to be counted */
};

static void count_waiting(struct leaf_pairs *pairs)
{
    for (size_t i = pairs->leaf->first; i < pairs->leaf->last; i++) {
        const size_t from = pairs->from > i ? pairs->from : i + 1;
        if (from < pairs->to)
            count_run(pairs->tally, &pairs->positions, i, from, pairs->to);
    }
    pairs->from = pairs->to;
}

static void visit(struct leaf_pairs *pairs, size_t n)
{
    const struct point_tree *const tree = pairs->order->tree;
    const struct point_cell *const cell = &tree->cells[n], *const leaf = pairs->leaf;
    const struct separations *const s = pairs->tally->separations;
    if (cell->last <= leaf->first)
        return;
    const double gap2 = gap2_of(pairs->order, s->box_length, leaf, cell);
    if (gap2 > pairs->order->reach2)
        return;
    if (cell->first >= leaf->last && s->box_length == 0.0 && gap2 > 0.0) {
        const double bin = common_bin(s, leaf, cell, gap2);
        if (bin >= 0.0) {
            pairs->tally->copies[(size_t)bin] +=
                (uint64_t)(leaf->last - leaf->first) * (cell->last - cell->first);
            return;
        }
    }
    if (n >= tree->leaves) {
        if (cell->first != pairs->to) {
            count_waiting(pairs);
            pairs->from = cell->first;
        }
        pairs->to = cell->last;
        return;
    }
    visit(pairs, 2 * n);
    visit(pairs, 2 * n + 1);
}

static void count_leaf(struct tally *tally, const struct order *order, size_t leaf)
{
    const struct point_tree *const tree = order->tree;
    struct leaf_pairs pairs = { .tally = tally,
                                .order = order,
                                .positions = { order->x, order->y, order->z },
                                .leaf = &tree->cells[tree->leaves + leaf] };
    visit(&pairs, 1);
    count_waiting(&pairs);
}

/* --- both ------------------------------------------------------------------------------------ */

/* Counts the pairs of one piece of work: of a leaf, or of a block of bodies, with all bodies that
 * follow. */
static void count_piece(struct tally *tally, const struct order *order,
                        const struct positions *positions, size_t count, size_t piece)
{
    if (order) {
        count_leaf(tally, order, piece);
        return;
    }
    const size_t end = (piece + 1) * BLOCK < count ? (piece + 1) * BLOCK : count;
    for (size_t i = piece * BLOCK; i < end; i++)
        count_run(tally, positions, i, i + 1, count);
}

enum status pairs_count(const struct physics *physics, const struct bodies *bodies, size_t system,
                        double r_max, size_t bins, enum pairs_method method, int threads,
                        uint64_t *counts, struct error *error)
{
    const size_t first = system * bodies->stride, count = bodies->count;
    const struct positions positions = { bodies->x + first, bodies->y + first, bodies->z + first };
    const bool periodic = physics->boundary == BOUNDARY_PERIODIC;
    struct separations separations = { .width = r_max / (double)bins,
                                       .bins = (double)bins,
                                       .box_length = periodic ? physics->box_length : 0.0 };
    const double per_square = 1.0 / (separations.width * separations.width);
    if (bins <= GUESSED && isnormal(per_square) && isnormal(1.0 / per_square))
        separations.per_square = per_square;
    struct order order = { 0 };
    bool ordered = false;
    if (method != PAIRS_ALL && order_create(&order, physics, &separations, &positions, count, r_max,
                                            threads, &ordered, error) != STATUS_OK) {
        order_destroy(&order);
        return error->status;
    }
    const size_t pieces = ordered ? order.tree->leaves : (count + BLOCK - 1) / BLOCK;
    const size_t length = bins + 1, of_thread = COPIES * length;
    uint64_t *copies = memory_array((size_t)threads * COPIES, length * sizeof *copies, error);
    if (copies) {
#pragma omp parallel num_threads(threads)
        {
            uint64_t *const own = copies + (size_t)omp_get_thread_num() * of_thread;
            struct tally tally = { &separations, length, own };
#pragma omp for schedule(dynamic)
            for (size_t piece = 0; piece < pieces; piece++)
                if (!interruption_raised(physics->interruption))
                    count_piece(&tally, ordered ? &order : NULL, &positions, count, piece);
        }
        for (size_t copy = 0; copy < (size_t)threads * COPIES; copy++)
            for (size_t k = 0; k < bins; k++)
                counts[k] += copies[copy * length + k];
        memory_free(copies);
    }
    order_destroy(&order);
    return copies ? interruption_status(physics->interruption, error) : error->status;
}
