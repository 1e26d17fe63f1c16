#include "force/fmm/fmm.h"

#include <math.h>

enum { SAMPLES_TOGETHER = 16, MOST_ROUNDS = 6 };

/* The error that is aimed at, of the one that was asked for; between which it is taken; and how the
 * error follows the tolerance: as its power 0.85 (measured). */
static const double aim = 0.6, least = 0.4, greatest = 0.75, exponent = 0.85;

/* Direct sums at bodies that stand evenly along the order of the tree. */
static void sum_samples(struct fmm *fmm)
{
    size_t item;
    const size_t items = (fmm->samples + SAMPLES_TOGETHER - 1) / SAMPLES_TOGETHER;
    while (fmm_take_sum(fmm, items, &item)) {
        const size_t first = item * SAMPLES_TOGETHER;
        const size_t count =
            fmm->samples - first < SAMPLES_TOGETHER ? fmm->samples - first : SAMPLES_TOGETHER;
        for (size_t s = first; s < first + count; s++)
            fmm->sampled[s] =
                (uint32_t)((double)fmm->tree->count * ((double)s + 0.5) / (double)fmm->samples);
        fmm->kernels->direct(&fmm->field, &fmm->sampled[first], count, &fmm->exact[first]);
    }
    fmm_next_phase(fmm);
}

/* The same by expansions. */
static void expand_samples(struct fmm *fmm)
{
    size_t item;
    while (fmm_take_sum(fmm, fmm->samples, &item)) {
        uint32_t path[FMM_DEPTH];
        const struct fmm_cell *const cells = fmm->field.cells;
        const uint32_t body = fmm->sampled[item];
        uint32_t leaf = 0;
        size_t length = 0;
        while (cells[leaf].child[0]) {
            path[length++] = leaf;
            leaf = cells[leaf].child[body >= cells[cells[leaf].child[1]].first];
        }
        fmm_clear_sums(fmm, body, body + 1);
        fmm->kernels->sum(&fmm->field, &fmm->walks[fmm_thread()], path, length, leaf, body,
                          body + 1);
    }
    fmm_next_phase(fmm);
}

/*
 * The error over the rms acceleration, from the samples: the larger of two estimates. The first is
 * the ratio of both rms. A few bodies that are pulled most may decide it, and may not be among the
 * samples. The second is the rms of |error| / f with the scale f = sum m / (r^2 + eps^2) of each
 * body, in which bodies weigh as f, times the rms of f over that of |a|.
 */
static double sampled_error(const struct fmm *fmm)
{
    double error2 = 0, a2 = 0, weighted2 = 0, weight = 0, scale2 = 0;
    for (size_t s = 0; s < fmm->samples; s++) {
        const double *const exact = fmm->exact[s], scale = exact[3];
        double here2 = 0;
        for (int d = 0; d < 3; d++) {
            const double error = fmm->field.sums[d][fmm->sampled[s]] - exact[d];
            here2 += error * error;
            a2 += exact[d] * exact[d];
        }
        error2 += here2;
        if (scale > 0)
            weighted2 += here2 / scale;
        weight += scale;
        scale2 += scale * scale;
    }
    return a2 > 0 && weight > 0 ? sqrt(fmax(error2, weighted2 / weight * scale2) / a2) : 0;
}

/* Judges the tolerance by the samples: true when it is found, else the next one to try. The error
 * follows the tolerance as its power `exponent`. */
static bool judge_tolerance(struct fmm *fmm)
{
    const double ratio = sampled_error(fmm) / fmm->base.options.accuracy;
    fmm->rounds++;
    if ((ratio >= least && ratio <= greatest) || ratio == 0 ||
        (fmm->rounds >= MOST_ROUNDS && ratio < 1) || fmm->rounds >= 2 * MOST_ROUNDS)
        return true;
    const double factor = pow(aim / ratio, 1 / exponent);
    fmm->field.tolerance *= (float)fmin(fmax(factor, 0.02), 20);
    return false;
}

void fmm_find_tolerance(struct fmm *fmm)
{
    if (fmm_thread() == 0) {
        fmm->field.tolerance = (float)(0.2 * fmm->base.options.accuracy);
        fmm->rounds = 0;
        fmm->done = fmm->samples == 0;
    }
    fmm_next_phase(fmm);
    if (fmm->samples)
        sum_samples(fmm);
    while (!fmm->done) {
        expand_samples(fmm);
        if (fmm_thread() == 0)
            fmm->done =
                interruption_noticed(fmm->base.physics.interruption) || judge_tolerance(fmm);
        fmm_next_phase(fmm);
    }
}
