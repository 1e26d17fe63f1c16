/* The diagnostic of the virial theorem, which holds for means over time: the means of kinetic
 * energy K, potential energy U and Clausius virial W over a window, or since a given time, compared
 * with their values in equilibrium: 2 <K> = -<W>; without softening also <K> = -E and <U> = 2 E. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "diagnostics/diagnostic.h"

enum {
    KINETIC_MEAN,
    POTENTIAL_MEAN,
    VIRIAL_MEAN,
    MEAN_VIRIAL_RATIO,
    MEAN_VIRIAL_RATIO_POTENTIAL,
    KINETIC_OVER_ENERGY,
    POTENTIAL_OVER_ENERGY,
    SAMPLES,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "kinetic_mean", DIMENSION_ENERGY,
      "<K>, mean of the kinetic energy about the centre of mass over the window" },
    { "potential_mean", DIMENSION_ENERGY, "<U>, mean of the potential energy" },
    { "virial_mean", DIMENSION_ENERGY, "<W>, mean of the Clausius virial" },
    { "mean_virial_ratio", DIMENSION_NONE, "2 <K> / |<W>|, 1 in equilibrium; empty when W = 0" },
    { "mean_virial_ratio_potential", DIMENSION_NONE,
      "-2 <K> / <U>, 1 in equilibrium if eps = 0; empty when U = 0" },
    { "kinetic_over_energy", DIMENSION_NONE,
      "<K> / -<E>, 1 in equilibrium if eps = 0; empty unless <E> = <K> + <U> < 0" },
    { "potential_over_energy", DIMENSION_NONE,
      "<U> / 2 <E>, 1 in equilibrium if eps = 0; empty unless <E> < 0" },
    { "samples", DIMENSION_NONE, "events in the means" },
};

enum { KINDS = 3 }; /* quantities: K, U and W */

/* The diagnostic. The state of a system is the number of samples so far, and then, without a
 * window, the running mean of K, of U and of W. With a window it is the last `window` samples of K,
 * then of U and of W; the newest is at index (samples - 1) mod window. */
struct virial {
    struct diagnostic base;
    size_t window;        /* number of samples over which means are taken; 0: all */
    double average_after; /* time from which on samples are taken */
};

static size_t state_length(const struct virial *virial)
{
    return 1 + KINDS * (virial->window ? virial->window : 1);
}

static size_t state_count(const struct diagnostic *diagnostic, size_t systems)
{
    return systems * state_length((const struct virial *)diagnostic);
}

static void add_sample(const struct virial *virial, double *state, const double sample[KINDS])
{
    const double samples = ++state[0];
    for (size_t k = 0; k < KINDS; k++) {
        double *const kept = state + 1 + k * (virial->window ? virial->window : 1);
        if (virial->window)
            kept[((size_t)samples - 1) % virial->window] = sample[k];
        else
            *kept += (sample[k] - *kept) / samples;
    }
}

/* Finds the means of K, U and W, NaN if there is no sample, and returns the number of samples in
 * them. */
static double means_of(const struct virial *virial, const double *state, double means[KINDS])
{
    if (virial->window == 0) {
        for (size_t k = 0; k < KINDS; k++)
            means[k] = state[0] > 0.0 ? state[1 + k] : NAN;
        return state[0];
    }
    const double samples = fmin(state[0], (double)virial->window);
    for (size_t k = 0; k < KINDS; k++)
        means[k] = samples > 0.0
                       ? gsl_stats_mean(state + 1 + k * virial->window, 1, (size_t)samples)
                       : NAN;
    return samples;
}

static void fill_row(const double means[KINDS], double samples, double *row)
{
    const double K = means[0], U = means[1], W = means[2], E = K + U;
    row[KINETIC_MEAN] = K;
    row[POTENTIAL_MEAN] = U;
    row[VIRIAL_MEAN] = W;
    row[MEAN_VIRIAL_RATIO] = W != 0.0 ? 2.0 * K / fabs(W) : NAN;
    row[MEAN_VIRIAL_RATIO_POTENTIAL] = U != 0.0 ? -2.0 * K / U : NAN;
    row[KINETIC_OVER_ENERGY] = E < 0.0 ? -K / E : NAN;
    row[POTENTIAL_OVER_ENERGY] = E < 0.0 ? U / (2.0 * E) : NAN;
    row[SAMPLES] = samples;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    (void)error;
    const struct virial *virial = (const struct virial *)diagnostic;
    const struct conserved *c = &now->conserved[system];
    double *const state = diagnostic->state + system * state_length(virial);
    double means[KINDS];
    if (now->time >= virial->average_after)
        add_sample(virial, state, (const double[KINDS]){ c->internal, c->potential, c->virial });
    const double samples = means_of(virial, state, means);
    fill_row(means, samples, row);
    return STATUS_OK;
}

static const struct parameter parameters[] = {
    { BIND(INTEGER, struct virial, window), BY_DEFAULT(INTEGER, 0), BETWEEN(0, 1000000),
      .help = "Number of events in the means, the present one included; 0: all of them." },
    { BIND(REAL, struct virial, average_after), BY_DEFAULT(REAL, 0.0), .dimension = DIMENSION_TIME,
      .help = "Time from which on events enter the means." },
};

static const struct drawing drawings[] = {
    { .name = "virial",
      .title = "Virial theorem",
      .y_label = "ratio of means",
      .curves = { { "mean_virial_ratio", "2⟨K⟩/|⟨W⟩|" },
                  { "kinetic_over_energy", "⟨K⟩/−⟨E⟩" },
                  { "potential_over_energy", "⟨U⟩/2⟨E⟩" } },
      .caption = "Means over time. In open space a bound system settles to 2⟨K⟩ = −⟨W⟩; without "
                 "softening also "
                 "⟨K⟩ to −E and ⟨U⟩ to 2E, so that all three go to 1." },
};

const struct diagnostic_class diagnostic_virial = {
    .variant = { "virial", "Means of the energies over a window, against the virial theorem.",
                 parameters, COUNT_OF(parameters) },
    .size = sizeof(struct virial),
    .needs = NEED_CONSERVED,
    .state_count = state_count,
    .measure_system = measure_system,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .system_reals = KINDS + 1,
    .system_reals_key = "window",
};
