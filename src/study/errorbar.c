#include "study/errorbar.h"

#include <math.h>

const char *const errorbar_limit_names[] = { "none", "step", "rounding" };

/* The observed order below which runs count as not converging. */
static const double least_order = 0.5;

/* The factors that turn estimates, which are right on average, into error bars, which hold nearly
 * always: for the error of the step, for rounding errors that grow like a random walk, and for
 * differences that are only rounding. */
static const double step_safety = 1.5, walk_safety = 2.0, noise_safety = 4.0;

/* The factors for forces that are less exact than double precision: for their random errors, of
 * which the differences between the runs are samples; for the bias of all forces, which is alike in
 * all runs; and for the column's own change. (Measured beside exact orbits of 8 to 200 bodies; see
 * docs/theory.md.) */
static const double sample_safety = 3.0, bias_safety = 2.5, change_safety = 2.0;

/* Differences between runs up to this multiple of the rounding error may be rounding alone. */
static const double floor_margin = 4.0;

/* The differences of a column between a run and the run with half its step. */
struct difference {
    double rms;
    double last;
    double early; /* typical size at early times, while errors cannot have grown yet */
    double late;  /* typical size in the second half of the run, and no less than the last */
};

static double at(const struct errorbar_column *column, size_t level, size_t row)
{
    return column->values[level][row] - column->values[level + 1][row];
}

/* Returns the geometric mean of |difference| for times in (from, to]; the large differences of a
 * few close encounters do not dominate it. Values less than `least` count as `least`. */
static double typical(const struct errorbar_column *column, size_t level, double from, double to,
                      double least)
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < column->rows; i++) {
        const double value = fmax(fabs(at(column, level, i)), least);
        if (!isfinite(at(column, level, i)) || !(value > 0.0) || !(column->times[i] > from) ||
            column->times[i] > to)
            continue;
        sum += log(value);
        count++;
    }
    return count > 0 ? exp(sum / (double)count) : least;
}

static double rms(const struct errorbar_column *column, size_t level)
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < column->rows; i++) {
        const double value = at(column, level, i);
        if (!isfinite(value))
            continue;
        sum += value * value;
        count++;
    }
    return count > 0 ? sqrt(sum / (double)count) : NAN;
}

static struct difference measure_difference(const struct errorbar_column *column, size_t level,
                                            double early_end, double least)
{
    const double end = column->times[column->rows - 1];
    const double last = at(column, level, column->rows - 1);
    return (struct difference){ .rms = rms(column, level),
                                .last = last,
                                .early = typical(column, level, 0.0, early_end, least),
                                .late = fmax(fabs(last),
                                             typical(column, level, 0.5 * end, end, least)) };
}

static double first_time(const struct errorbar_column *column)
{
    for (size_t i = 0; i < column->rows; i++)
        if (column->times[i] > 0.0)
            return column->times[i];
    return 0.0;
}

/*
 * Returns the factor by which the motion has made errors grow until the end, beyond the random walk
 * (Brouwer 1937) in which the errors of single steps add up. It is seen in the difference between
 * the runs with the two largest steps, since all errors grow alike.
 */
static double growth_of(const struct errorbar_method *method, const struct difference *coarse,
                        double early_end)
{
    const double walk = method->rounding * sqrt(method->steps);
    const double unseen = fmax(1.0, early_end / method->dynamic_time);
    const double growth = fmax(1.0, coarse->late / fmax(coarse->early, walk));
    return walk > 0.0 ? growth * (isfinite(unseen) ? unseen : 1.0) : 1.0;
}

/* Returns the largest change of the column since its first row, with the smallest step; INFINITY if
 * it has one row, or the first is not finite. */
static double largest_change(const struct errorbar_column *column)
{
    const double *const values = column->values[ERRORBAR_LEVELS - 1];
    double largest = 0.0;
    for (size_t i = 1; i < column->rows; i++)
        largest = fmax(largest, fabs(values[i] - values[0]));
    return column->rows > 1 && isfinite(values[0]) ? largest : INFINITY;
}

/*
 * Returns the error of the last value by the bias of all forces. The motion under forces that are
 * all too strong by the same fraction parts from the true one in proportion to the time, up to a
 * dynamic time; after that the error grows like any other. The bias cannot change a number much
 * more than the motion does: a conserved quantity hardly at all.
 */
static double bias_error(const struct errorbar_column *column, const struct errorbar_method *method,
                         double growth)
{
    const double times = column->times[column->rows - 1] / method->dynamic_time;
    /* Bodies that begin at rest have no dynamic time. */
    const double moved = method->bias * growth * (times > 0.0 ? fmin(1.0, times) : 1.0);
    return fmin(bias_safety * moved, change_safety * largest_change(column));
}

/* Returns Richardson's estimate of the error from the two differences between the runs, plus the
 * amount by which these are not in the ratio 2^order that the estimate assumes. */
static double step_error(double order, double coarse, double fine)
{
    const double ratio = exp2(order);
    return (fabs(fine) + fabs(fine - coarse / ratio)) / (ratio - 1.0);
}

void errorbar_measure(const struct errorbar_column *column, const struct errorbar_method *method,
                      struct errorbar *bar)
{
    *bar = (struct errorbar){ ERRORBAR_NONE, NAN, NAN };
    if (column->rows == 0)
        return;
    const double early_end = fmax(method->dynamic_time, first_time(column));
    const struct difference coarse = measure_difference(column, 0, early_end, method->rounding);
    const struct difference fine = measure_difference(column, 1, early_end, method->rounding);
    if (!isfinite(coarse.last) || !isfinite(fine.last))
        return;
    const double growth = growth_of(method, &coarse, early_end);
    const double lowest = method->rounding * sqrt(method->steps) * growth;
    const double bias = method->bias > 0.0 ? bias_error(column, method, growth) : 0.0;
    const bool falls = coarse.rms > exp2(method->order - 0.5) * fine.rms && fine.late > lowest;
    const double noise = fmax(fine.late, coarse.late);
    if (fine.late <= floor_margin * lowest && !falls) {
        bar->limit = ERRORBAR_ROUNDING;
        bar->error = method->coarse_forces ? fmax(sample_safety * noise, bias)
                                           : noise_safety * fmin(lowest, fine.late);
        return;
    }
    const double order = log2(coarse.rms / fine.rms);
    if (!(order > least_order) || !isfinite(order))
        return;
    bar->limit = ERRORBAR_STEP;
    bar->order = order;
    bar->error = step_safety * step_error(fmin(order, method->order), coarse.last, fine.last) +
                 walk_safety * lowest + bias;
}
