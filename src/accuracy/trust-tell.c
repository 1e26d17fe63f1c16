#include "accuracy/trust.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>

#include "accuracy/trust-state.h"
#include "base/document.h"

/* A summary of a horizon (a time until which orbits are accurate or reproducible), or of another
 * number, over all systems. */
struct summary {
    size_t reached;       /* number of systems in which the number is finite */
    double first, median; /* the smallest and the median; INFINITY where it is not reached */
};

static double accurate_until(const struct trust *trust, size_t system)
{
    return trust->half_step ? trust_state_of(trust, system)->error.until : INFINITY;
}

static double reproducible_until(const struct trust *trust, size_t system)
{
    return trust_state_of(trust, system)->rounding.until;
}

static double e_folding_time(const struct trust *trust, size_t system)
{
    const struct growth_fit fit = trust_fit_growth(trust_state_of(trust, system));
    return fit.form == GROWTH_EXPONENTIAL ? fit.time : INFINITY;
}

static struct summary summarise(const struct trust *trust,
                                double (*value)(const struct trust *, size_t))
{
    struct summary summary = { 0 };
    double *const values = trust->sorted;
    for (size_t s = 0; s < trust->systems; s++) {
        values[s] = value(trust, s);
        summary.reached += isfinite(values[s]);
    }
    gsl_sort(values, 1, trust->systems);
    summary.first = values[0];
    /* The lower of the two in the middle: a mean with an infinite value would say nothing. */
    summary.median = values[(trust->systems - 1) / 2];
    return summary;
}

/* Writes "accurate until t = 12", or "accurate beyond the last comparison (t > 20)", into text. */
static void tell_horizon(const struct trust *trust, const char *what, struct summary summary,
                         double time, char *text, size_t size)
{
    const char *of = trust->systems > 1 ? "the median " : "";
    char first[64 + UNITS_TEXT_SIZE] = "", until[UNITS_TEXT_SIZE];
    if (trust->systems > 1 && isfinite(summary.first))
        snprintf(first, sizeof first, " (the first of %zu systems: %s)", trust->systems,
                 units_time(trust->units, summary.first, 4, until));
    if (isfinite(summary.median))
        snprintf(text, size, "%s%s until t = %s%s", of, what,
                 units_time(trust->units, summary.median, 4, until), first);
    else
        snprintf(text, size, "%s%s beyond the last comparison (t > %s)%s", of, what,
                 units_time(trust->units, time, 4, until), first);
}

static void tell_growth(const struct trust *trust, char *text, size_t size)
{
    const struct summary summary = summarise(trust, e_folding_time);
    const struct growth_fit fit = trust_fit_growth(trust_state_of(trust, 0));
    char time[UNITS_TEXT_SIZE];
    if (trust->systems > 1 && isfinite(summary.median))
        snprintf(text, size, "e-folding time %s",
                 units_time(trust->units, summary.median, 3, time));
    else if (trust->systems == 1 && fit.form == GROWTH_EXPONENTIAL)
        snprintf(text, size, "e-folding time %.3g +- %s", fit.time,
                 units_time(trust->units, fit.error, 2, time));
    else if (trust->systems == 1 && fit.form == GROWTH_POWER)
        snprintf(text, size, "errors grow by a power of the time");
    else
        snprintf(text, size, "no e-folding time seen yet");
}

/* If the run has one system, and a shadow with half the step, writes which orbit within it is the
 * first to be no longer accurate, provided that is before the system's own horizon; otherwise "".
 */
static void tell_orbits(const struct trust *trust, char *text, size_t size)
{
    const struct trust_state *state = trust_state_of(trust, 0);
    const struct trust_orbit *first = NULL;
    char until[UNITS_TEXT_SIZE], body[BODIES_NAME_SIZE], about[BODIES_NAME_SIZE];
    text[0] = '\0';
    for (size_t k = 0; k < (size_t)state->orbit_count; k++)
        if (state->orbits[k].error.until < (first ? first->error.until : state->error.until))
            first = &state->orbits[k];
    if (first && trust->systems == 1 && trust->half_step)
        snprintf(text, size, "; of its own orbit, %s about %s accurate until t = %s",
                 bodies_name(trust->bodies, (int64_t)first->ids[0], body),
                 bodies_name(trust->bodies, (int64_t)first->ids[1], about),
                 units_time(trust->units, first->error.until, 4, until));
}

static json_t *orbits_json(const struct trust *trust)
{
    const struct trust_state *state = trust_state_of(trust, 0);
    json_t *all = json_array();
    for (size_t k = 0; k < (size_t)state->orbit_count; k++) {
        const struct trust_orbit *orbit = &state->orbits[k];
        document_append(&all,
                        DOCUMENT({ "body", document_id(orbit->ids[0]) },
                                 { "about", document_id(orbit->ids[1]) },
                                 { "and", document_id(orbit->ids[2]) },
                                 { "size", document_number(orbit->size) },
                                 { "accurate_until", document_number(orbit->error.until) },
                                 { "reproducible_until", document_number(orbit->rounding.until) }));
    }
    return all;
}

const char *trust_text(const struct diagnostic *diagnostic, double time,
                       char buffer[TRUST_TEXT_SIZE])
{
    const struct trust *trust = (const struct trust *)diagnostic;
    time = fmin(time, trust_state_of(trust, 0)->time);
    char accurate[180] = "accuracy not measured", reproducible[180], growth[80], orbits[160];
    if (trust->half_step)
        tell_horizon(trust, "accurate", summarise(trust, accurate_until), time, accurate,
                     sizeof accurate);
    tell_horizon(trust, "reproducible", summarise(trust, reproducible_until), time, reproducible,
                 sizeof reproducible);
    tell_growth(trust, growth, sizeof growth);
    tell_orbits(trust, orbits, sizeof orbits);
    snprintf(buffer, TRUST_TEXT_SIZE, "%s, %s%s; %s", accurate, reproducible, orbits, growth);
    return buffer;
}

double trust_cost(const struct diagnostic *diagnostic)
{
    const struct trust *const trust = (const struct trust *)diagnostic;
    double work = 0.0, steps = 0.0;
    for (size_t s = 0; s < trust->systems; s++) {
        const struct trust_state *state = trust_state_of(trust, s);
        steps += state->step;
        for (int k = 0; k < TRUST_SHADOWS; k++)
            work += trust_steps[k] * state->carried[k];
    }
    return steps > 0.0 ? work / steps : 0.0;
}

static json_t *summary_json(struct summary summary)
{
    return DOCUMENT({ "systems", json_integer((json_int_t)summary.reached) },
                    { "first", document_number(summary.first) },
                    { "median", document_number(summary.median) });
}

json_t *trust_json(const struct diagnostic *diagnostic, double time)
{
    const struct trust *trust = (const struct trust *)diagnostic;
    const struct trust_state *state = trust_state_of(trust, 0);
    const struct growth_fit fit = trust_fit_growth(state);
    char text[TRUST_TEXT_SIZE];
    time = fmin(time, state->time);
    return DOCUMENT(
        { "text", json_string(trust_text(diagnostic, time, text)) },
        { "time", document_number(time) }, { "tolerance", document_number(trust->tolerance) },
        { "displacement", document_number(state->displacement) },
        { "size", document_number(state->size) },
        { "cost", document_number(trust_cost(diagnostic)) },
        { "accurate_until", document_number(accurate_until(trust, 0)) },
        { "reproducible_until", document_number(reproducible_until(trust, 0)) },
        { "growth", json_string(growth_form_name(fit.form)) },
        { "e_folding_time", document_number(fit.time) },
        { "e_folding_time_error", document_number(fit.error) },
        { "all_accurate_until", summary_json(summarise(trust, accurate_until)) },
        { "all_reproducible_until", summary_json(summarise(trust, reproducible_until)) },
        { "all_e_folding_time", summary_json(summarise(trust, e_folding_time)) },
        { "orbits", orbits_json(trust) });
}
