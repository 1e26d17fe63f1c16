#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "diagnostics/diagnostic-table.h"
#include "diagnostics/diagnostic.h"
#include "diagnostics/test-energy.h"
#include "force/method.h"
#include "integrator/integrator.h"
#include "model/units.h"

enum {
    KINETIC,
    POTENTIAL,
    VIRIAL,
    ENERGY,
    RELATIVE_ENERGY_ERROR,
    ENERGY_ERROR,
    VIRIAL_RATIO,
    VIRIAL_RATIO_POTENTIAL,
    MOMENTUM,
    ANGULAR_MOMENTUM = MOMENTUM + 3,
    CENTER = ANGULAR_MOMENTUM + 3,
    TEST_ENERGY_ERROR = CENTER + 3,
    INTERNAL_ENERGY,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "kinetic", DIMENSION_ENERGY,
      "kinetic energy K = 1/2 sum m v^2, the motion of the whole included" },
    { "potential", DIMENSION_ENERGY,
      "potential energy U = -G sum over pairs of m_i m_j / sqrt(r^2 + eps^2)" },
    { "virial", DIMENSION_ENERGY,
      "Clausius virial W = -G sum over pairs of m_i m_j r^2 / (r^2 + eps^2)^(3/2); equals U when "
      "eps = 0" },
    { "energy", DIMENSION_ENERGY, "total energy E = K + U, the motion of the whole included" },
    { "relative_energy_error", DIMENSION_NONE,
      "(E' - E0') / max(|E0'|, |U0|), E' the internal_energy, E0' and U0 those at step 0; empty "
      "when both are 0" },
    { "energy_error", DIMENSION_NONE,
      "its largest size in this row and all before it; expect takes what the watch saw between "
      "them too" },
    { "virial_ratio", DIMENSION_NONE,
      "2 K' / |W|, K' the kinetic energy about the centre of mass, K - P^2 / 2M; 1 in equilibrium "
      "(in open space); empty when W = 0" },
    { "virial_ratio_potential", DIMENSION_NONE,
      "-2 K' / U, 1 in equilibrium if eps = 0; empty when U = 0" },
    { "momentum_x", DIMENSION_MOMENTUM, "total momentum, sum m v: x component" },
    { "momentum_y", DIMENSION_MOMENTUM, "total momentum: y component" },
    { "momentum_z", DIMENSION_MOMENTUM, "total momentum: z component" },
    { "angular_momentum_x", DIMENSION_ANGULAR_MOMENTUM,
      "total angular momentum about the origin, sum m r x v: x component" },
    { "angular_momentum_y", DIMENSION_ANGULAR_MOMENTUM,
      "total angular momentum about the origin: y component" },
    { "angular_momentum_z", DIMENSION_ANGULAR_MOMENTUM,
      "total angular momentum about the origin: z component" },
    { "center_x", DIMENSION_LENGTH, "centre of mass, sum m r / sum m: x component" },
    { "center_y", DIMENSION_LENGTH, "centre of mass: y component" },
    { "center_z", DIMENSION_LENGTH, "centre of mass: z component" },
    { "test_energy_error", DIMENSION_NONE,
      "largest |de/e0| of this row and all before it, e the sum of 1/2 |v - V|^2 - G M / sqrt(r^2 "
      "+ "
      "eps^2) over the bodies without mass, about the only one that has mass; empty otherwise" },
    { "internal_energy", DIMENSION_ENERGY,
      "E' = E - P^2 / 2M, the energy about the centre of mass, which all judgements take" },
};

/* The state of one system. */
struct state {
    double energy_error;
    double first_test_energy; /* NaN where there is none */
    double test_energy_error;
};

enum { STATE_LENGTH = sizeof(struct state) / sizeof(double) };

static double quotient(double numerator, double denominator)
{
    return denominator != 0.0 ? numerator / denominator : NAN;
}

static enum status init(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error)
{
    (void)section;
    (void)error;
    struct state *state = (struct state *)diagnostic->state;
    for (size_t s = 0; s < start->bodies->systems; s++) {
        state[s].first_test_energy = test_energy(start->physics, start->bodies, s);
        if (!isnan(state[s].first_test_energy))
            diagnostic->needs |= NEED_STATE;
    }
    return STATUS_OK;
}

/* The row of one system. */
static void fill_row(const struct moment *now, size_t system, struct state *state, double *row)
{
    const struct conserved *const conserved = &now->conserved[system];
    const double error = conserved_energy_error(&now->first[system], conserved);
    state->energy_error = conserved_larger_error(state->energy_error, error);
    row[KINETIC] = conserved->kinetic;
    row[POTENTIAL] = conserved->potential;
    row[VIRIAL] = conserved->virial;
    row[ENERGY] = conserved_energy(conserved);
    row[INTERNAL_ENERGY] = conserved_internal_energy(conserved);
    row[RELATIVE_ENERGY_ERROR] = error;
    row[ENERGY_ERROR] = state->energy_error;
    row[VIRIAL_RATIO] = quotient(2.0 * conserved->internal, fabs(conserved->virial));
    row[VIRIAL_RATIO_POTENTIAL] = -quotient(2.0 * conserved->internal, conserved->potential);
    for (int k = 0; k < 3; k++) {
        row[MOMENTUM + k] = conserved->momentum[k];
        row[ANGULAR_MOMENTUM + k] = conserved->angular_momentum[k];
        row[CENTER + k] = conserved->center[k];
    }
}

static double test_energy_error(const struct moment *now, size_t system, struct state *state)
{
    if (isnan(state->first_test_energy))
        return NAN;
    const double change = test_energy(now->physics, now->bodies, system) - state->first_test_energy;
    const double error = quotient(change, fabs(state->first_test_energy));
    state->test_energy_error = conserved_larger_error(state->test_energy_error, error);
    return state->test_energy_error;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    (void)error;
    struct state *const state = (struct state *)diagnostic->state + system;
    fill_row(now, system, state, row);
    row[TEST_ENERGY_ERROR] = test_energy_error(now, system, state);
    return STATUS_OK;
}

/* --- figures ------------------------------------------------------------------------------------
 */

/* Below this error the sum of the energies looks constant in a figure, whatever its cause. */
static const double flat_line = 1e-3;

/* The entry of the largest size, of all systems and rows; NaN where there is none. */
struct extreme {
    double size, time;
    size_t system; /* counted from 1; 0: there is one alone */
};

static struct extreme find_extreme(const struct series *series, const char *column)
{
    const struct series_column *values = series_find(series, column);
    const struct series_column *time = series_find(series, "time");
    struct extreme extreme = { NAN, NAN, 0 };
    for (size_t i = 0; values && time && i < series->systems * series->rows; i++)
        if (isfinite(values->values[i]) && !(fabs(values->values[i]) <= extreme.size))
            extreme = (struct extreme){ fabs(values->values[i]), time->values[i],
                                        series->systems > 1 ? i / series->rows + 1 : 0 };
    return extreme;
}

/* Is there a number that is none? An empty cell of a column that every row should have. */
static bool has_gap(const struct series *series, const char *column)
{
    const struct series_column *values = series_find(series, column);
    for (size_t i = 0; values && i < series->systems * series->rows; i++)
        if (!isfinite(values->values[i]))
            return true;
    return false;
}

/* "810 %", with three digits and no exponent as long as that can be read. */
static const char *percent(double share, char buffer[32])
{
    snprintf(buffer, 32, share >= 1.0 && share < 1e4 ? "%.0f %%" : "%.3g %%", 100.0 * share);
    return buffer;
}

/* How far the energy moved, and what that means for this integrator. */
static void tell_energy_error(const struct drawn *drawn, struct text *words)
{
    const struct extreme most = find_extreme(drawn->series, "relative_energy_error");
    const struct integrator *integrator =
        integrator_find(document_string(drawn->run, "config.time.integrator"));
    char time[UNITS_TEXT_SIZE], system[TEXT_SYSTEM_SIZE];
    if (isfinite(most.size)) {
        text_print(words, "It moved by at most %.3g of max(|E₀|, |U₀|), at t = %s%s%s. ", most.size,
                   units_time(units_find(document_string(drawn->run, "config.physics.units")),
                              most.time, 6, time),
                   text_system(system, (double)most.system, NULL),
                   has_gap(drawn->series, "relative_energy_error")
                       ? ", and is undefined in some rows"
                       : "");
    }
    if (integrator && integrator->symplectic)
        text_print(words,
                   "The integrator %s is symplectic: on regular motion its error stays within a "
                   "band. A line that climbs is a drift; a jump is a close encounter that the step "
                   "was too long for.",
                   integrator->variant.name);
    else if (integrator && integrator->adaptive)
        text_print(
            words,
            "The integrator %s chooses its steps by the motion, short ones in encounters: its "
            "error grows by what its accuracy lets pass in each step and by "
            "rounding.",
            integrator->variant.name);
    else if (integrator)
        text_print(words,
                   "The integrator %s is not symplectic: nothing keeps its error within a band.",
                   integrator->variant.name);
}

/* By how much K + U changed. */
static void tell_energies(const struct drawn *drawn, struct text *words)
{
    const struct extreme most = find_extreme(drawn->series, "relative_energy_error");
    char share[32];
    if (most.size <= flat_line)
        text_print(words,
                   "About the centre of mass their sum stayed within %.3g of max(|E₀|, |U₀|) of "
                   "its first value%s.",
                   most.size,
                   strcmp(document_string(drawn->run, "verdict"), "error") == 0
                       ? ", up to the last row"
                       : "");
    else if (isfinite(most.size))
        text_print(words,
                   "About the centre of mass their sum should stay as it is; it changed by %s of "
                   "max(|E₀|, |U₀|), which is an error of the integration.",
                   percent(most.size, share));
}

/* What is above this is no round-off. */
static double most_round_off(const struct drawn *drawn)
{
    const struct force_options force =
        force_options_named(document_string(drawn->run, "compute.method"),
                            document_string(drawn->run, "compute.precision"));
    return force_traits(&force).momentum_noise;
}

/* A vector that only round-off may change where the integrator keeps it: by how much it did,
 * over what it began with, or else over the sum of its parts' sizes. */
static void tell_change(const struct drawn *drawn, const char *scale, const char *parts,
                        const char *first, bool kept, struct text *words)
{
    const double size = document_real(drawn->run, scale);
    const double share = drawn->relative ? drawn->largest : drawn->largest / size;
    char buffer[32];
    const bool small = share <= most_round_off(drawn);
    if (kept && (small || !isfinite(share))) {
        text_print(words, "Only round-off may change it, and round-off grows like the square root "
                          "of the number of steps.");
        return;
    }
    if (isfinite(share))
        text_print(words, "It changed by %s of %s%s: ", percent(share, buffer),
                   drawn->relative ? first : parts,
                   small ? "" : ", which is an error of the integration");
    if (kept)
        text_print(words, "only round-off may change it.");
    else
        text_print(words, "%s integrator %s keeps it as well as its steps are accurate.",
                   isfinite(share) ? "the" : "The",
                   document_string(drawn->run, "config.time.integrator"));
}

/* The sum of forces is 0 where all bodies are kicked at one time. */
static void tell_momentum(const struct drawn *drawn, struct text *words)
{
    const struct integrator *integrator =
        integrator_find(document_string(drawn->run, "config.time.integrator"));
    tell_change(drawn, "scales.momentum", "the bodies' Σ m |v|", "|P₀|",
                !integrator || !integrator->block_steps, words);
}

static bool is_periodic(const struct drawn *drawn)
{
    return strcmp(document_string(drawn->run, "config.physics.boundary"), "periodic") == 0;
}

/* Kicks along r and drifts along v leave r x v as it is; other methods mix both in a step. */
static void tell_angular_momentum(const struct drawn *drawn, struct text *words)
{
    const struct integrator *integrator =
        integrator_find(document_string(drawn->run, "config.time.integrator"));
    if (is_periodic(drawn))
        text_print(words, "A periodic box does not conserve it.");
    else
        tell_change(drawn, "scales.angular_momentum", "the bodies' Σ m |r| |v|", "|L₀|",
                    !integrator || integrator->symplectic, words);
}

static void tell_virial_ratio(const struct drawn *drawn, struct text *words)
{
    if (is_periodic(drawn))
        text_print(words, "In a periodic box nothing holds bodies together but the box, and a "
                          "steady state may have any ratio.");
    else
        text_print(words, "1 in equilibrium.");
}

static const struct drawing drawings[] = {
    { .name = "energy-error",
      .title = "Energy error",
      .y_label = "|ΔE|/max(|E₀|, |U₀|)",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "relative_energy_error", "each row", .value = DRAWN_MAGNITUDE },
                  { "energy_error", "largest so far", CURVE_DASHED } },
      .compared = "energy_error",
      .caption = "How far the energy about the centre of mass has moved from its first value.",
      .finding = tell_energy_error },
    { .name = "energy-change",
      .title = "Energy change, with its sign",
      .y_label = "ΔE/max(|E₀|, |U₀|)",
      .scale = SCALE_SIGNED,
      .comparative = true,
      .curves = { { "relative_energy_error", "ΔE/max(|E₀|, |U₀|)" } },
      .caption =
          "A line that leaves 0 for good is a drift; one that comes back to it oscillates." },
    { .name = "energies",
      .title = "Energies",
      .y_label = "energy",
      .curves = { { "kinetic", "kinetic K" },
                  { "potential", "potential U" },
                  { "energy", "total E = K + U" } },
      .caption = "The kinetic energy, the potential energy, and their sum.",
      .finding = tell_energies },
    { .name = "virial-ratio",
      .title = "Virial ratio",
      .y_label = "ratio",
      .curves = { { "virial_ratio", "2K/|W|" },
                  { "virial_ratio_potential", "−2K/U", CURVE_DASHED } },
      .caption = "K is the kinetic energy about the centre of mass, W the Clausius virial Σ m r·a "
                 "of the softened force, U the potential energy; without softening W and U are "
                 "equal.",
      .finding = tell_virial_ratio },
    { .name = "momentum",
      .title = "Momentum",
      .y_label = "|ΔP|",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "momentum", "|ΔP|", .value = DRAWN_CHANGE } },
      .caption = "How far the total momentum has moved from its first value.",
      .finding = tell_momentum },
    { .name = "angular-momentum",
      .title = "Angular momentum",
      .y_label = "|ΔL|",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "angular_momentum", "|ΔL|", .value = DRAWN_CHANGE, .relative = "|ΔL|/|L₀|" } },
      .caption = "How far the total angular momentum has moved from its first value.",
      .finding = tell_angular_momentum },
};

const struct diagnostic_class diagnostic_conservation = {
    .variant = { .name = "conservation",
                 .help = "Energies, energy error, virial ratios, momentum, angular momentum and "
                         "centre of mass." },
    .needs = NEED_CONSERVED,
    .state_reals = STATE_LENGTH,
    .init = init,
    .measure_system = measure_system,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
};
