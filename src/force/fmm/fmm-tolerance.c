#include "force/fmm/fmm.h"

#include <math.h>

enum { SAMPLES_TOGETHER = 16, MOST_ROUNDS = 6, MOST_REPEATS = 6 };

/* The error that is aimed at, of the one that was asked for; between which it is taken before the
 * sums; up to which it is taken after them; and how the error follows the tolerance: as its power
 * 0.85 (measured). */
static const double aim = 0.6, least = 0.4, greatest = 0.75, audited = 0.78, exponent = 0.85;

/*
 * The greatest tolerance, over the accuracy: no cell makes a larger error than that, over the scale
 * of the body that it acts on, whatever the samples say. If a few bodies have all of the error and
 * the first sample misses them, it would take some hundreds. A Plummer sphere takes 0.5 to 4; where
 * the bound decides, the sums are better than was asked for.
 */
static const double largest = 5;

/* The part of a sample that is chosen whatever the errors are that are expected. */
static const double uniform_part = 0.25;

/* --- samples ---------------------------------------------------------------------------------- */

/* The scale at the bodies of a leaf: the error of each may be as large as that allows. */
static double scale_of(const struct fmm *fmm, uint32_t leaf)
{
    const struct fmm_cell *const cell = &fmm->field.cells[leaf];
    return (double)(cell->allowed_error / fmm_size_factor(cell));
}

static double estimate_of(const struct fmm *fmm, uint32_t leaf)
{
    return (double)fmm->field.estimate[leaf];
}

/* The error that is expected of each body of a leaf, by which a sample is chosen. */
static double (*const expected[FMM_SAMPLES])(const struct fmm *fmm, uint32_t leaf) = {
    [FMM_FIRST] = scale_of, [FMM_AUDIT] = estimate_of
};

/* Cell k of a branch, its root first; and how many they are. */
static uint32_t cell_of(const struct body_tree_branch *branch, uint32_t k)
{
    return k ? branch->first + k - 1 : branch->root;
}

static uint32_t cells_of(const struct body_tree_branch *branch)
{
    return 1 + branch->last - branch->first;
}

/* The mean square of what is expected of all bodies. */
static double expected2(const struct fmm *fmm, enum fmm_sample which)
{
    double sum = 0;
    for (size_t b = 0; b < fmm->tree->branches; b++)
        for (uint32_t k = 0; k < cells_of(&fmm->tree->branch[b]); k++) {
            const uint32_t c = cell_of(&fmm->tree->branch[b], k);
            const struct fmm_cell *const cell = &fmm->field.cells[c];
            if (!cell->child[0])
                sum += (cell->last - cell->first) * pow(expected[which](fmm, c), 2);
        }
    return sum / (double)fmm->tree->count;
}

/* The chance of each body of a leaf to be in a sample, over that of the mean body: the square of
 * what is expected of its error; a part of the bodies, `uniform_part`, is chosen whatever that is.
 */
static double chance_of(const struct fmm *fmm, enum fmm_sample which, uint32_t leaf)
{
    const double mean2 = fmm->samples[which].expected2;
    return mean2 > 0
               ? uniform_part + (1 - uniform_part) * pow(expected[which](fmm, leaf), 2) / mean2
               : 1;
}

/* Chooses the bodies of a sample: they stand evenly on the way through all leaves on which each
 * body is as long as its chance. */
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
        for (uint32_t k = 0; k < cells_of(&tree->branch[b]); k++) {
            const uint32_t c = cell_of(&tree->branch[b], k);
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

/* Direct sums at the bodies of a sample. */
static void sum_sample(struct fmm *fmm, enum fmm_sample which)
{
    struct fmm_sampled *const sample = &fmm->samples[which];
    size_t item;
    const size_t items = (sample->count + SAMPLES_TOGETHER - 1) / SAMPLES_TOGETHER;
    while (fmm_take_sum(fmm, items, &item)) {
        const size_t first = item * SAMPLES_TOGETHER, left = sample->count - first;
        fmm->kernels->direct(&fmm->field, &sample->body[first],
                             left < SAMPLES_TOGETHER ? left : SAMPLES_TOGETHER,
                             &sample->exact[first]);
    }
    fmm_next_phase(fmm);
}

/* The same by expansions. */
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
 * The error over the accuracy, from the first `samples` samples: a body counts by the number of
 * times that it is expected in all of them (Veach & Guibas 1995, SIGGRAPH, 419: the balance
 * heuristic). `a2` is the sum of the squares of all accelerations, or 0, if that is not known.
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

/* --- the tolerance ---------------------------------------------------------------------------- */

static void change_tolerance(struct fmm *fmm, double ratio)
{
    const double factor = pow(aim / ratio, 1 / exponent);
    fmm->field.tolerance = (float)fmin((double)fmm->field.tolerance * fmax(factor, 0.02),
                                       largest * fmm->base.options.accuracy);
}

/* Judges the tolerance by the samples: true when it is found, else the next one to try. The error
 * follows the tolerance as its power `exponent`. */
static bool judge_tolerance(struct fmm *fmm)
{
    const double ratio = error_of(fmm, 1, 0);
    fmm->rounds++;
    if ((ratio >= least && ratio <= greatest) || (fmm->rounds >= MOST_ROUNDS && ratio < 1) ||
        fmm->rounds >= 2 * MOST_ROUNDS)
        return true;
    const float before = fmm->field.tolerance;
    change_tolerance(fmm, ratio);
    return fmm->field.tolerance == before;
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
    fmm->a2[branch] = a2;
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
            a2 += fmm->a2[b];
        const double ratio = error_of(fmm, FMM_SAMPLES, a2);
        fmm->done = interruption_noticed(fmm->base.physics.interruption) || ratio <= audited ||
                    fmm->repeats++ == MOST_REPEATS;
        if (!fmm->done)
            change_tolerance(fmm, ratio);
    }
    fmm_next_phase(fmm);
    return !fmm->done;
}
