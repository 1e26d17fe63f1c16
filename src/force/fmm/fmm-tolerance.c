#include "force/fmm/fmm.h"

#include <math.h>

/* The least and the most bodies of a sample whose direct sums are one work item. A work item reads
 * all bodies of the tree once, so that few items are fast; but each thread should have one. */
enum { LEAST_TOGETHER = 16, MOST_TOGETHER = 96 };

enum { MOST_ROUNDS = 6, MOST_REPEATS = 6 };

/* Errors, as parts of the one that was asked for. The search for the tolerance aims at `aim`, and
 * takes a tolerance whose error in the first sample is between `least` and `greatest`; the audit
 * takes sums with an error up to `audited`. The error follows the tolerance as its power `exponent`
 * (measured). */
static const double aim = 0.6, least = 0.4, greatest = 0.75, audited = 0.78, exponent = 0.85;

/*
 * The greatest tolerance, over the accuracy: no cell makes a larger error than that, over the scale
 * of the body that it acts on, whatever the samples say. Without this bound, if a few bodies have
 * all of the error and the first sample misses them, the tolerance would become some hundreds. A
 * Plummer sphere takes 0.5 to 4; where the bound decides, the sums are better than was asked for.
 */
static const double largest = 5;

/* The least tolerance, over the accuracy. With it the errors of hundreds of cells together are
 * below the accuracy, so that a larger error is that of rounding, which no tolerance lessens: the
 * watch tells it. */
static const double smallest = 1e-3;

/* The part of a sample that is chosen without regard to the errors that are expected. */
static const double uniform_part = 0.25;

/* --- samples ---------------------------------------------------------------------------------- */

/* Returns what is allowed of the error of each body of a leaf, without the factor of its size. */
static double allowed_of(const struct fmm *fmm, uint32_t leaf)
{
    const struct fmm_cell *const cell = &fmm->field.cells[leaf];
    return (double)(cell->allowed_error / fmm_size_factor(cell));
}

static double estimate_of(const struct fmm *fmm, uint32_t leaf)
{
    return (double)fmm->field.estimate[leaf];
}

/* The functions that tell, for each sample, which error is expected of each body of a leaf; by it
 * the sample is chosen. */
static double (*const expected[FMM_SAMPLES])(const struct fmm *fmm, uint32_t leaf) = {
    [FMM_FIRST] = allowed_of, [FMM_AUDIT] = estimate_of
};

/* Returns the mean square of the errors that are expected of all bodies. */
static double expected2(const struct fmm *fmm, enum fmm_sample which)
{
    double sum = 0;
    for (size_t b = 0; b < fmm->tree->branches; b++)
        for (uint32_t k = 0; k < body_tree_cells_below(&fmm->tree->branch[b]); k++) {
            const uint32_t c = body_tree_cell_below(&fmm->tree->branch[b], k);
            const struct fmm_cell *const cell = &fmm->field.cells[c];
            if (!cell->child[0])
                sum += (cell->last - cell->first) * pow(expected[which](fmm, c), 2);
        }
    return sum / (double)fmm->tree->count;
}

/* Returns the chance of each body of a leaf to be in a sample, over that of the mean body: it grows
 * as the square of the error that is expected of the body, except for a part of the sample,
 * `uniform_part`, that is chosen without regard to it. */
static double chance_of(const struct fmm *fmm, enum fmm_sample which, uint32_t leaf)
{
    const double mean2 = fmm->samples[which].expected2;
    return mean2 > 0
               ? uniform_part + (1 - uniform_part) * pow(expected[which](fmm, leaf), 2) / mean2
               : 1;
}

/* Chooses the bodies of a sample: all bodies, leaf after leaf, are put end to end, each with a
 * length in proportion to its chance, and those are chosen on which evenly spaced marks fall. */
static void choose_bodies(struct fmm *fmm, enum fmm_sample which)
{
    struct fmm_sampled *const sample = &fmm->samples[which];
    const struct body_tree *const tree = fmm->tree;
    const double interval = (double)tree->count / (double)sample->wanted;
    double at = 0;
    size_t marks = 0, last = tree->count;
    sample->count = 0;
    sample->expected2 = expected2(fmm, which);
    for (size_t b = 0; b < tree->branches; b++)
        for (uint32_t k = 0; k < body_tree_cells_below(&tree->branch[b]); k++) {
            const uint32_t c = body_tree_cell_below(&tree->branch[b], k);
            const struct fmm_cell *const cell = &fmm->field.cells[c];
            if (cell->child[0])
                continue;
            const double chance = chance_of(fmm, which, c), bodies = cell->last - cell->first;
            for (; marks < sample->wanted; marks++) {
                const double from = (interval * ((double)marks + 0.5) - at) / chance;
                if (from >= bodies)
                    break;
                const uint32_t body = cell->first + (uint32_t)fmax(from, 0);
                if (body != last) {
                    sample->body[sample->count] = body;
                    sample->leaf[sample->count] = c;
                    sample->times[sample->count++] = 0;
                    last = body;
                }
                sample->times[sample->count - 1]++;
            }
            at += chance * bodies;
        }
}

/* Finds the accelerations at the bodies of a sample by direct sums. */
static void sum_sample(struct fmm *fmm, enum fmm_sample which)
{
    struct fmm_sampled *const sample = &fmm->samples[which];
    const size_t share = (sample->count + fmm_threads(fmm) - 1) / fmm_threads(fmm);
    const size_t together = share < LEAST_TOGETHER  ? LEAST_TOGETHER
                            : share > MOST_TOGETHER ? MOST_TOGETHER
                                                    : share;
    size_t item;
    while (fmm_take_sum(fmm, (sample->count + together - 1) / together, &item)) {
        const size_t first = item * together, left = sample->count - first;
        fmm->kernels->direct(&fmm->field, &sample->body[first], left < together ? left : together,
                             &sample->exact[first]);
    }
    fmm_next_phase(fmm);
}

/* Finds the accelerations at the bodies of a sample by expansions. */
static void expand_sample(struct fmm *fmm, enum fmm_sample which)
{
    const struct fmm_sampled *const sample = &fmm->samples[which];
    const struct fmm_cell *const cells = fmm->field.cells;
    size_t item;
    while (fmm_take_sum(fmm, sample->count, &item)) {
        uint32_t path[FMM_DEPTH];
        const uint32_t body = sample->body[item];
        size_t length = 0;
        for (uint32_t c = 0; c != sample->leaf[item];) {
            path[length++] = c;
            c = cells[c].child[body >= cells[cells[c].child[1]].first];
        }
        fmm_clear_sums(fmm, body, body + 1);
        fmm->kernels->sum(&fmm->field, &fmm->walks[fmm_thread(fmm)], path, length,
                          sample->leaf[item], body, body + 1);
    }
    fmm_next_phase(fmm);
}

/*
 * Returns the error over the accuracy, from the first `samples` samples: a body counts by the
 * number of times that it is expected in all of them (Veach & Guibas 1995, SIGGRAPH, 419: the
 * balance heuristic). `a2` is the sum of the squares of all accelerations, or 0 if that is not
 * known.
 */
static double error_of(const struct fmm *fmm, int samples, double a2)
{
    double error2 = 0, sampled_a2 = 0;
    for (int which = 0; which < samples; which++) {
        const struct fmm_sampled *const sample = &fmm->samples[which];
        for (size_t s = 0; s < sample->count; s++) {
            double expected_times = 0, here_error2 = 0, here_a2 = 0;
            for (int k = 0; k < samples; k++)
                expected_times += (double)fmm->samples[k].wanted / (double)fmm->tree->count *
                                  chance_of(fmm, (enum fmm_sample)k, sample->leaf[s]);
            for (int d = 0; d < 3; d++) {
                const double exact = sample->exact[s][d];
                const double error = fmm->field.sums[d][sample->body[s]] - exact;
                here_error2 += error * error;
                here_a2 += exact * exact;
            }
            error2 += sample->times[s] / expected_times * here_error2;
            sampled_a2 += sample->times[s] / expected_times * here_a2;
        }
    }
    a2 = a2 > 0 ? a2 : sampled_a2;
    return a2 > 0 ? sqrt(error2 / a2) / fmm->base.options.accuracy : 0;
}

/* --- scales ----------------------------------------------------------------------------------- */

/* Returns the sum of the squares of the scales of all bodies of a branch. */
static double squares_of_scales(const struct fmm *fmm, const struct body_tree_branch *branch)
{
    double sum = 0;
    for (uint32_t k = 0; k < body_tree_cells_below(branch); k++) {
        const struct fmm_cell *const cell = &fmm->field.cells[body_tree_cell_below(branch, k)];
        if (!cell->child[0])
            sum += (cell->last - cell->first) * pow((double)cell->allowed_error, 2);
    }
    return sum;
}

void fmm_find_scales(struct fmm *fmm)
{
    struct body_tree *const tree = fmm->tree;
    struct fmm_cell *const cells = fmm->field.cells;
    uint32_t path[FMM_DEPTH];
    size_t item;
    while (fmm_take_item(fmm, tree->branches, &item)) {
        const uint32_t root = tree->branch[item].root;
        fmm->kernels->scale(&fmm->field, &fmm->walks[fmm_thread(fmm)], path,
                            fmm_path_to(fmm, root, path), root);
        fmm->squares[item] = squares_of_scales(fmm, &tree->branch[item]);
    }
    fmm_next_phase(fmm);
    double sum = 0;
    for (size_t b = 0; b < tree->branches; b++)
        sum += fmm->squares[b];
    const float mean = (float)sqrt(sum / (double)tree->count);
    while (fmm_take_item(fmm, tree->branches, &item))
        for (uint32_t k = body_tree_cells_below(&tree->branch[item]); k-- > 0;)
            fmm_set_allowed_error(cells, body_tree_cell_below(&tree->branch[item], k), mean);
    fmm_next_phase(fmm);
    if (fmm_thread(fmm) == 0)
        for (size_t c = tree->trunk; c-- > 0;)
            if (cells[c].child[0] && cells[c].child[0] < tree->trunk)
                fmm_set_allowed_error(cells, (uint32_t)c, mean);
    fmm_next_phase(fmm);
}

/* --- the tolerance ---------------------------------------------------------------------------- */

/* Changes the tolerance by the error that it made. Returns whether it did: it has bounds. */
static bool change_tolerance(struct fmm *fmm, double ratio)
{
    const double factor = fmax(pow(aim / ratio, 1 / exponent), 0.02);
    const double accuracy = fmm->base.options.accuracy;
    const float before = fmm->field.tolerance;
    fmm->field.tolerance =
        (float)fmax(smallest * accuracy, fmin((double)before * factor, largest * accuracy));
    return fmm->field.tolerance != before;
}

/* Judges the tolerance by the first sample. Returns true if it is found; otherwise sets the next
 * one to try, since the error follows the tolerance as its power `exponent`. */
static bool judge_tolerance(struct fmm *fmm)
{
    const double ratio = error_of(fmm, 1, 0);
    fmm->rounds++;
    if ((ratio >= least && ratio <= greatest) || (fmm->rounds >= MOST_ROUNDS && ratio < 1) ||
        fmm->rounds >= 2 * MOST_ROUNDS)
        return true;
    return !change_tolerance(fmm, ratio);
}

void fmm_find_tolerance(struct fmm *fmm)
{
    if (fmm_thread(fmm) == 0) {
        fmm->field.tolerance = (float)fmm->base.options.accuracy;
        fmm->rounds = fmm->repeats = 0;
        fmm->done = fmm->samples[FMM_FIRST].wanted == 0;
        if (!fmm->done)
            choose_bodies(fmm, FMM_FIRST);
    }
    fmm_next_phase(fmm);
    if (!fmm->done)
        sum_sample(fmm, FMM_FIRST);
    while (!fmm->done) {
        expand_sample(fmm, FMM_FIRST);
        if (fmm_thread(fmm) == 0)
            fmm->done =
                interruption_noticed(fmm->base.physics.interruption) || judge_tolerance(fmm);
        fmm_next_phase(fmm);
    }
}

/* --- the audit -------------------------------------------------------------------------------- */

void fmm_tally_branch(struct fmm *fmm, size_t branch)
{
    const struct body_tree_branch *const b = &fmm->tree->branch[branch];
    const struct body_tree_cell *const root = &fmm->tree->cells[b->root];
    double a2 = 0;
    for (size_t i = root->first; i < root->last; i++)
        for (int d = 0; d < 3; d++)
            a2 += fmm->field.sums[d][i] * fmm->field.sums[d][i];
    fmm->squares[branch] = a2;
}

bool fmm_misses_accuracy(struct fmm *fmm)
{
    if (!fmm->samples[FMM_AUDIT].wanted)
        return false;
    if (fmm_thread(fmm) == 0)
        choose_bodies(fmm, FMM_AUDIT);
    fmm_next_phase(fmm);
    sum_sample(fmm, FMM_AUDIT);
    if (fmm_thread(fmm) == 0) {
        double a2 = 0;
        for (size_t b = 0; b < fmm->tree->branches; b++)
            a2 += fmm->squares[b];
        const double ratio = error_of(fmm, FMM_SAMPLES, a2);
        fmm->done = interruption_noticed(fmm->base.physics.interruption) || ratio <= audited ||
                    fmm->repeats++ == MOST_REPEATS || !change_tolerance(fmm, ratio);
    }
    fmm_next_phase(fmm);
    return !fmm->done;
}
