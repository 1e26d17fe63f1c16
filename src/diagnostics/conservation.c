#include <math.h>

#include "diagnostics/diagnostic.h"
#include "external/external.h"
#include "model/conserved.h"
#include "model/vec3.h"

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
      "potential energy U = -G sum over pairs of m_i m_j / sqrt(r^2 + eps^2); external fields add "
      "sum m phi, phi their potential, and a rotating frame -1/2 Omega^2 sum m R^2" },
    { "virial", DIMENSION_ENERGY,
      "Clausius virial W = -G sum over pairs of m_i m_j r^2 / (r^2 + eps^2)^(3/2); equals U when "
      "eps = 0; external fields add sum m r.a, a their acceleration, r from the first field's "
      "centre" },
    { "energy", DIMENSION_ENERGY, "total energy E = K + U, the motion of the whole included" },
    { "relative_energy_error", DIMENSION_NONE,
      "(E' - E0') / max(|E0'|, |U0|), E' the internal_energy, E0' and U0 those at step 0; empty "
      "when both are 0" },
    { "energy_error", DIMENSION_NONE,
      "largest |relative_energy_error| of this row and all before it; expect also takes the values "
      "that the watch saw between rows" },
    { "virial_ratio", DIMENSION_NONE,
      "2 K' / |W|, K' the kinetic energy about the centre of mass, K - P^2 / 2M, or K with "
      "external fields; 1 in equilibrium, except in a periodic box; empty when W = 0" },
    { "virial_ratio_potential", DIMENSION_NONE,
      "-2 K' / U, 1 in equilibrium if eps = 0; empty when U = 0" },
    { "momentum_x", DIMENSION_MOMENTUM, "total momentum, sum m v: x component" },
    { "momentum_y", DIMENSION_MOMENTUM, "total momentum: y component" },
    { "momentum_z", DIMENSION_MOMENTUM, "total momentum: z component" },
    { "angular_momentum_x", DIMENSION_ANGULAR_MOMENTUM,
      "total angular momentum about the origin, or the centre of external fields, sum m r x v: x "
      "component" },
    { "angular_momentum_y", DIMENSION_ANGULAR_MOMENTUM, "total angular momentum: y component" },
    { "angular_momentum_z", DIMENSION_ANGULAR_MOMENTUM, "total angular momentum: z component" },
    { "center_x", DIMENSION_LENGTH, "centre of mass, sum m r / sum m: x component" },
    { "center_y", DIMENSION_LENGTH, "centre of mass: y component" },
    { "center_z", DIMENSION_LENGTH, "centre of mass: z component" },
    { "test_energy_error", DIMENSION_NONE,
      "largest |e - e0| / |e0| of this row and all before it, with e0 = e at step 0; if one body "
      "alone has mass (M, at the velocity V), e is the sum over all others of 1/2 |v - V|^2 - G M "
      "/ "
      "sqrt(r^2 + eps^2), r their distance from it; if no body has mass, in external fields, e is "
      "the sum over all bodies of 1/2 v^2 + phi; empty with several masses, or one in "
      "fields" },
    { "internal_energy", DIMENSION_ENERGY,
      "E' = E - P^2 / 2M, the energy about the centre of mass, by which runs are judged; with "
      "external fields it is E itself, which in a rotating frame is Jacobi's energy" },
};

/* The state of one system, which a checkpoint keeps; the errors are the largest so far. */
struct state {
    double energy_error;
    double first_test_energy; /* at step 0; NaN if it is not conserved: test_energy_of() */
    double test_energy_error;
};

enum { STATE_LENGTH = sizeof(struct state) / sizeof(double) };

static double quotient(double numerator, double denominator)
{
    return denominator != 0.0 ? numerator / denominator : NAN;
}

/* Returns the energy of the bodies without mass (test bodies), over their mass, in the two cases in
 * which it is conserved: in the potential of the only body with mass or, if no body has any, of
 * external fields. Otherwise NaN. */
static double test_energy_of(const struct moment *now, size_t system)
{
    const struct bodies *const b = now->bodies;
    const struct external *const external = now->physics->external;
    double sum = 0.0;
    if (!external)
        return test_energy(now->physics, b, system);
    for (size_t i = system * b->stride; i < system * b->stride + b->count; i++) {
        const double x[3] = { b->x[i], b->y[i], b->z[i] }, v[3] = { b->vx[i], b->vy[i], b->vz[i] };
        sum += b->m[i] > 0.0 ? NAN : 0.5 * vec3_dot(v, v) + external_potential(external, x);
    }
    return sum;
}

static enum status init(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error)
{
    (void)section;
    (void)error;
    struct state *state = (struct state *)diagnostic->state;
    for (size_t s = 0; s < start->bodies->systems; s++) {
        state[s].first_test_energy = test_energy_of(start, s);
        if (!isnan(state[s].first_test_energy))
            diagnostic->needs |= NEED_STATE;
    }
    return STATUS_OK;
}

/* Fills the row of one system, except for the column test_energy_error. */
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
    const double change = test_energy_of(now, system) - state->first_test_energy;
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

static const struct drawing drawings[] = {
    { .name = "energy-error",
      .title = "Energy error",
      .y_label = "|ΔE|/max(|E₀|, |U₀|)",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "relative_energy_error", "each row", .value = DRAWN_MAGNITUDE },
                  { "energy_error", "largest so far", CURVE_DASHED } },
      .compared = "energy_error",
      .caption = "How far the energy about the centre of mass has moved from its first value." },
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
      .caption = "The kinetic energy, the potential energy, and their sum." },
    { .name = "virial-ratio",
      .title = "Virial ratio",
      .y_label = "ratio",
      .curves = { { "virial_ratio", "2K/|W|" },
                  { "virial_ratio_potential", "−2K/U", CURVE_DASHED } },
      .caption = "K is the kinetic energy about the centre of mass, W the Clausius virial Σ m r·a "
                 "of the softened force, U the potential energy; without softening W and U are "
                 "equal." },
    { .name = "momentum",
      .title = "Momentum",
      .y_label = "|ΔP|",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "momentum", "|ΔP|", .value = DRAWN_CHANGE } },
      .caption = "How far the total momentum has moved from its first value." },
    { .name = "angular-momentum",
      .title = "Angular momentum",
      .y_label = "|ΔL|",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "angular_momentum", "|ΔL|", .value = DRAWN_CHANGE, .relative = "|ΔL|/|L₀|" } },
      .caption = "How far the total angular momentum has moved from its first value." },
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
