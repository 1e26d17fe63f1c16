#include "accuracy/growth.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Level k is a growth by e^k. Levels below FIRST_LEVEL are left out: there the displacement still
 * turns into the direction in which it grows. A fit needs three blocks of three levels from
 * FIRST_LEVEL on: levels up to eleven, a growth by 6e4.
 */
enum { FIRST_LEVEL = 2, BLOCK = 3, LEAST_BLOCKS = 3, MOST_BLOCKS = GROWTH_LEVELS / BLOCK };

void growth_add(struct growth *growth, double time, double log)
{
    while (growth->count < GROWTH_LEVELS && log >= growth->count + 1.0) {
        const double level = growth->count + 1.0;
        const double part = (level - growth->log) / (log - growth->log);
        /* Between two samples the growth is taken to be exponential. A level is not passed before
         * the level below: the growth may have receded since. */
        double when = isfinite(log) ? growth->time + part * (time - growth->time) : time;
        if (growth->count > 0 && when < growth->passed[(size_t)growth->count - 1])
            when = growth->passed[(size_t)growth->count - 1];
        growth->passed[(size_t)growth->count] = when;
        growth->count = level;
    }
    growth->time = time;
    growth->log = log;
}

static double residual(const double *x, const double *level, size_t count)
{
    double constant, slope, cov[3], squares;
    gsl_fit_linear(x, 1, level, 1, count, &constant, &slope, &cov[0], &cov[1], &cov[2], &squares);
    return squares;
}

/* Returns the standard error of the time per level, the e-folding time, from the scatter of the
 * times per level in blocks of levels. If the times are a random walk, the slope of their
 * least-squares line has 6/5 of the variance of the slope between its ends. */
static double slope_error(const double *passed, size_t count)
{
    const size_t blocks = (count - 1) / BLOCK;
    double pace[MOST_BLOCKS];
    for (size_t k = 0; k < blocks; k++)
        pace[k] = (passed[(k + 1) * BLOCK] - passed[k * BLOCK]) / BLOCK;
    return gsl_stats_sd(pace, 1, blocks) * sqrt(1.2 / (double)blocks);
}

static bool is_exponential(const double *passed, const double *log_time, const double *level,
                           size_t count)
{
    return residual(passed, level, count) < residual(log_time, level, count);
}

struct growth_fit growth_fit(const struct growth *growth, double least)
{
    enum { LEAST = BLOCK * LEAST_BLOCKS + 1 };
    struct growth_fit fit = { GROWTH_UNKNOWN, NAN, NAN };
    const size_t all = (size_t)growth->count;
    if (all < FIRST_LEVEL + LEAST - 1)
        return fit;
    size_t count = all - FIRST_LEVEL + 1;
    const double *const passed = growth->passed + FIRST_LEVEL - 1;
    double level[GROWTH_LEVELS], log_time[GROWTH_LEVELS], constant, cov[3], squares;
    for (size_t k = 0; k < count; k++) {
        level[k] = (double)(k + FIRST_LEVEL);
        log_time[k] = log(passed[k]);
    }
    while (count >= LEAST && !is_exponential(passed, log_time, level, count))
        count--;
    fit.form = count >= LEAST ? GROWTH_EXPONENTIAL : GROWTH_POWER;
    if (fit.form == GROWTH_POWER)
        return fit;
    if (passed[count - 1] - passed[0] < least)
        return (struct growth_fit){ GROWTH_UNKNOWN, NAN, NAN };
    gsl_fit_linear(level, 1, passed, 1, count, &constant, &fit.time, &cov[0], &cov[1], &cov[2],
                   &squares);
    fit.error = slope_error(passed, count);
    return fit;
}

const char *growth_form_name(enum growth_form form)
{
    static const char *const names[] = { "unknown", "power", "exponential" };
    return names[form];
}
