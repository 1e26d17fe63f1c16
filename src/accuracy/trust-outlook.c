#include "accuracy/trust.h"

#include <math.h>

#include "accuracy/trust-state.h"

/* The powers of the time by which errors of the step and rounding errors grow along regular orbits
 * (Brouwer 1937 for 3/2); they count where no exponential growth was seen. */
static const double growth_of_errors = 2.0, growth_of_rounding = 1.5;

/* --- growth ----------------------------------------------------------------------------------- */

/* Returns ln of the factor by which the distance of a displaced copy grows from the start to
 * `time`: as it was seen up to the last sample, then exponentially, if that was fitted, or as the
 * square of the time. */
static double log_growth(const struct trust_state *state, const struct growth_fit *fit, double time)
{
    const struct growth *const g = &state->growth;
    const double last = isfinite(g->log) ? fmax(g->log, g->count) : g->count;
    double before = 0.0, level = 0.0;
    if (time >= g->time && g->time > 0.0)
        return last + (fit->form == GROWTH_EXPONENTIAL ? (time - g->time) / fit->time
                                                       : growth_of_errors * log(time / g->time));
    for (size_t k = 0; k < (size_t)g->count; k++) {
        if (time < g->passed[k])
            return level + (time - before) / (g->passed[k] - before);
        before = g->passed[k];
        level = (double)k + 1.0;
    }
    return g->time > before ? level + (last - level) * (time - before) / (g->time - before) : level;
}

static double carried_until(const struct trust_state *state, const struct growth_fit *fit,
                            const struct trust_rise *rounding, double tolerance)
{
    if (isfinite(rounding->until) || !(rounding->last > 0.0) || !(state->time > 0.0))
        return rounding->until;
    const double left = log(tolerance / rounding->last);
    return fit->form == GROWTH_EXPONENTIAL ? state->time + left * fit->time
                                           : state->time * exp(left / growth_of_rounding);
}

/* --- the outlook ------------------------------------------------------------------------------ */

/* Returns the accuracy to be expected until the time `asked` of one system, or of one orbit within
 * it, from the growth of its rounding errors and of its error so far. */
static struct trust_outlook outlook_of(const struct trust *trust, const struct trust_state *state,
                                       const struct trust_rise *rounding,
                                       const struct trust_rise *error, double asked)
{
    static const double at_end = 1e-9; /* relative tolerance of times, which are rounded */
    const struct growth_fit fit = trust_fit_growth(state);
    const double carried = carried_until(state, &fit, rounding, trust->tolerance);
    const bool whole = state->time >= asked * (1.0 - at_end) || isfinite(rounding->until);
    const double known = whole ? carried : state->time;
    const double from = isfinite(error->until) ? error->until : state->time;
    const double value = isfinite(error->until) ? trust->tolerance : error->last;
    struct trust_outlook outlook = { .carried = carried,
                                     .bound = fmin(asked, TRUST_CARRIED_PART * carried),
                                     .accurate = error->until,
                                     .whole = whole };
    outlook.missed = error->until < fmin(asked, TRUST_CARRIED_PART * known);
    outlook.error =
        value > 0.0
            ? value * exp(log_growth(state, &fit, outlook.bound) - log_growth(state, &fit, from))
            : 0.0;
    return outlook;
}

static bool is_worse(const struct trust_outlook *a, const struct trust_outlook *b)
{
    return a->missed != b->missed ? a->missed : !(a->error <= b->error);
}

struct trust_outlook trust_outlook(const struct diagnostic *diagnostic, double asked)
{
    const struct trust *const trust = (const struct trust *)diagnostic;
    struct trust_outlook worst = { .bound = asked, .carried = INFINITY, .accurate = INFINITY };
    bool whole = true;
    for (size_t s = 0; s < trust->systems; s++) {
        const struct trust_state *const state = trust_state_of(trust, s);
        for (size_t k = 0; k <= (size_t)state->orbit_count; k++) {
            const struct trust_orbit *const orbit = k > 0 ? &state->orbits[k - 1] : NULL;
            struct trust_outlook one =
                outlook_of(trust, state, orbit ? &orbit->rounding : &state->rounding,
                           orbit ? &orbit->error : &state->error, asked);
            one.system = s;
            whole = whole && one.whole;
            if ((s == 0 && k == 0) || is_worse(&one, &worst))
                worst = one;
        }
    }
    worst.whole = whole;
    return worst;
}
