#include "diagnostics/pairs.h"

#include "config.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>

#include "base/memory.h"

enum {
    GUESSED = 2000, /* bins at the most: one chunk in eight has to be done again */
    CHUNK = 256,    /* separations worked out at once: they stay in the first-level cache */
    COPIES = PAIRS_THREAD_REALS, /* histograms taken in turn, so that equal bins do not wait for
                                    each other */
    BLOCK = 64,                  /* bodies i of one piece of work */
    MIN_CELLS = 3,  /* along a side of a periodic box: then cells are neighbours one way only */
    CELL_BODIES = 8 /* wanted in a cell, on average, at the least */
};

/* The positions of a run of bodies. */
struct positions {
    const double *x, *y, *z;
};

struct separations {
    double width;
    double bins;
    double per_square; /* 1 / width^2; 0 where bins are too many, or too narrow, to be guessed */
    double box_length; /* 0 in open space */
};

/*
 * rint() without a call: the sum has no place for digits after the point. Exact where
 * |x| < 2^51, in round-to-nearest.
 */
static inline double round_even(double x)
{
    const double digits = 6755399441055744.0; /* 1.5 x 2^52 */
    return (x + digits) - digits;
}

/* Squared separations of `count` bodies from (x, y, z). */
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
        dx -= L * round_even(dx * per_L); /* physics_nearest_image(), but at r = L / 2 */
        dy -= L * round_even(dy * per_L);
        dz -= L * round_even(dz * per_L);
        r2[j] = dx * dx + dy * dy + dz * dz;
    }
}

/* The bins; `bins` if beyond r_max. */
CLONE_FOR_VECTORS
static void find_bins(const struct separations *s, const double *r2, size_t count, int32_t *bin)
{
    const double width = s->width, bins = s->bins;
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const double k = sqrt(r2[j]) / width;
        bin[j] = (int32_t)(k < bins ? k : bins); /* NaN counts as beyond */
    }
}

/*
 * The same in single precision, four times as fast: false if a pair is so near the edge of a bin
 * that it takes more digits. Two roundings are less than 2^-23 of the bin's number.
 */
CLONE_FOR_VECTORS
static bool guess_bins(const struct separations *s, const double *r2, size_t count, int32_t *bin)
{
    const double per_square = s->per_square;
    const float beyond = (float)s->bins + 0.5F, edge = (float)s->bins * 0x1p-23F;
    const float digits = 0x1.8p23F; /* as in round_even() */
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

/* The histograms of one thread: bin `bins` of each takes what is beyond r_max. */
struct tally {
    const struct separations *separations;
    size_t length; /* bins + 1 */
    uint64_t *copies;
};

/* Body i against the bodies [from, to). */
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

/* --- cells ----------------------------------------------------------------------------------- */

/* A grid of cells, and the bodies sorted by the cell that they are in. */
struct grid {
    bool periodic;
    double low[3], side[3];
    size_t cells[3];
    size_t cell_count;
    size_t *start; /* of each cell's bodies; cell_count + 1 */
    double *x, *y, *z;
};

static void grid_destroy(struct grid *grid)
{
    memory_free(grid->start);
    memory_free(grid->x);
    memory_free(grid->y);
    memory_free(grid->z);
}

/* The extent of the bodies along the axes, and the lowest corner. false: a body is nowhere, or the
 * extent is no number. */
static bool find_extent(const struct positions *positions, size_t count, double low[3],
                        double extent[3])
{
    const double *const axes[3] = { positions->x, positions->y, positions->z };
    for (int k = 0; k < 3; k++) {
        double high = -INFINITY, finite = 0.0;
        low[k] = INFINITY;
        for (size_t i = 0; i < count; i++) {
            low[k] = fmin(low[k], axes[k][i]);
            high = fmax(high, axes[k][i]);
            finite += 0.0 * axes[k][i];
        }
        extent[k] = high - low[k];
        if (finite != 0.0 || !isfinite(extent[k])) /* NaN */
            return false;
    }
    return true;
}

/* A box holds all bodies that are not too far from it: where a body is in its box must be known to
 * better than the slack of the reach. */
static bool take_box(struct grid *grid, double box_length, double reach, double extent[3])
{
    const double farthest = 1e5 * reach; /* rounding to 1e-16 of it is 1e-11 of the reach */
    for (int k = 0; k < 3; k++) {
        if (-grid->low[k] > farthest || grid->low[k] + extent[k] > farthest)
            return false;
        grid->low[k] = 0.0;
        extent[k] = box_length;
    }
    return true;
}

/* Of that side; as a real number, since of bodies far away there may be any number. */
static double cells_of(const double extent[3], double side, double cells[3])
{
    double product = 1.0;
    for (int k = 0; k < 3; k++) {
        cells[k] = extent[k] > side ? floor(extent[k] / side) : 1.0;
        product *= cells[k];
    }
    return product;
}

/*
 * The cells for `count` bodies and a reach of r_max, never more than there are bodies: one body far
 * away may make them large, but not many. false when there is no sense in them (a body is nowhere,
 * or cells of that size are too few to save work).
 */
static bool grid_plan(struct grid *grid, const struct physics *physics,
                      const struct positions *positions, size_t count, double r_max)
{
    const double reach = r_max * (1.0 + 1e-9); /* rounding must not lose a pair */
    const double least = 1e-150; /* whose square is a number; all of less count as 0 */
    double extent[3], cells[3], volume = 1.0;
    grid->periodic = physics->boundary == BOUNDARY_PERIODIC;
    if (r_max < least || !find_extent(positions, count, grid->low, extent) ||
        (grid->periodic && !take_box(grid, physics->box_length, reach, extent)))
        return false;
    for (int k = 0; k < 3; k++)
        volume *= fmax(extent[k], reach);
    double side = fmax(reach, cbrt(volume * CELL_BODIES / (double)count));
    while (cells_of(extent, side, cells) > (double)count)
        side *= 2.0;
    grid->cell_count = 1;
    for (int k = 0; k < 3; k++) {
        grid->cells[k] = (size_t)cells[k];
        grid->side[k] = fmax(extent[k] / cells[k], side);
        grid->cell_count *= grid->cells[k];
        if (grid->periodic && grid->cells[k] < MIN_CELLS)
            return false;
    }
    return grid->cell_count >= MIN_CELLS * MIN_CELLS * MIN_CELLS;
}

static size_t cell_along(const struct grid *grid, int axis, double x)
{
    double d = x - grid->low[axis];
    if (grid->periodic) {
        const double L = grid->side[axis] * (double)grid->cells[axis];
        d -= L * floor(d / L);
    }
    const size_t cell = (size_t)(d / grid->side[axis]);
    return cell < grid->cells[axis] ? cell : grid->cells[axis] - 1;
}

static size_t cell_of(const struct grid *grid, const struct positions *positions, size_t i)
{
    const size_t cx = cell_along(grid, 0, positions->x[i]),
                 cy = cell_along(grid, 1, positions->y[i]);
    return (cell_along(grid, 2, positions->z[i]) * grid->cells[1] + cy) * grid->cells[0] + cx;
}

/* Sorts the bodies into the planned cells (by counting). */
static enum status grid_fill(struct grid *grid, const struct positions *positions, size_t count,
                             struct error *error)
{
    grid->start = memory_array(grid->cell_count + 2, sizeof *grid->start, error);
    grid->x = memory_array(count, sizeof *grid->x, error);
    grid->y = memory_array(count, sizeof *grid->y, error);
    grid->z = memory_array(count, sizeof *grid->z, error);
    if (!grid->start || !grid->x || !grid->y || !grid->z)
        return error->status;
    /* start[c + 2] counts cell c, then start[c + 1] is its beginning, and at last its end. */
    size_t *const next = grid->start + 1;
    for (size_t i = 0; i < count; i++)
        next[cell_of(grid, positions, i) + 1]++;
    for (size_t c = 0; c < grid->cell_count; c++)
        next[c + 1] += next[c];
    for (size_t i = 0; i < count; i++) {
        const size_t at = next[cell_of(grid, positions, i)]++;
        grid->x[at] = positions->x[i];
        grid->y[at] = positions->y[i];
        grid->z[at] = positions->z[i];
    }
    return STATUS_OK;
}

/* The cell at an offset from (x, y, z), or false where the grid ends. */
static bool neighbour(const struct grid *grid, const size_t at[3], const int offset[3],
                      size_t *cell)
{
    size_t index = 0;
    for (int k = 2; k >= 0; k--) {
        const size_t n = grid->cells[k];
        size_t c = at[k] + n + (size_t)offset[k];
        if (!grid->periodic && (c < n || c >= 2 * n))
            return false;
        index = index * n + c % n;
    }
    *cell = index;
    return true;
}

/* Pairs within a cell, and between it and the half of its neighbours that come "after" it. */
static void count_cell(struct tally *tally, const struct grid *grid, size_t cell)
{
    const struct positions positions = { grid->x, grid->y, grid->z };
    const size_t begin = grid->start[cell], end = grid->start[cell + 1];
    for (size_t i = begin; i < end; i++)
        count_run(tally, &positions, i, i + 1, end);
    if (begin == end)
        return;
    const size_t at[3] = { cell % grid->cells[0], cell / grid->cells[0] % grid->cells[1],
                           cell / (grid->cells[0] * grid->cells[1]) };
    for (int step = 14; step < 27; step++) { /* 13 is the cell itself */
        const int offset[3] = { step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1 };
        size_t other;
        if (!neighbour(grid, at, offset, &other))
            continue;
        for (size_t i = begin; i < end; i++)
            count_run(tally, &positions, i, grid->start[other], grid->start[other + 1]);
    }
}

/* --- both ------------------------------------------------------------------------------------ */

/* One piece of work: a cell, or a block of bodies against all that follow. */
static void count_piece(struct tally *tally, const struct grid *grid,
                        const struct positions *positions, size_t count, size_t piece)
{
    if (grid) {
        count_cell(tally, grid, piece);
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
    struct grid grid = { 0 };
    const bool cells = method != PAIRS_ALL && grid_plan(&grid, physics, &positions, count, r_max);
    if (cells && grid_fill(&grid, &positions, count, error) != STATUS_OK) {
        grid_destroy(&grid);
        return error->status;
    }
    const size_t pieces = cells ? grid.cell_count : (count + BLOCK - 1) / BLOCK;
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
                    count_piece(&tally, cells ? &grid : NULL, &positions, count, piece);
        }
        for (size_t copy = 0; copy < (size_t)threads * COPIES; copy++)
            for (size_t k = 0; k < bins; k++)
                counts[k] += copies[copy * length + k];
        memory_free(copies);
    }
    grid_destroy(&grid);
    return copies ? interruption_status(physics->interruption, error) : error->status;
}
