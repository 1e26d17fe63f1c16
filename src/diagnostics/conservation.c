#include <math.h>

#include "base/memory.h"
#include "diagnostics/table.h"
#include "diagnostics/test-energy.h"

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
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "kinetic", DIMENSION_ENERGY, "kinetic energy K = 1/2 sum m v^2" },
    { "potential", DIMENSION_ENERGY,
      "potential energy U = -G sum over pairs of m_i m_j / sqrt(r^2 + eps^2)" },
    { "virial", DIMENSION_ENERGY,
      "Clausius virial W = -G sum over pairs of m_i m_j r^2 / (r^2 + eps^2)^(3/2); equals U when "
      "eps = 0" },
    { "energy", DIMENSION_ENERGY, "total energy E = K + U" },
    { "relative_energy_error", DIMENSION_NONE,
      "dE/E0 = (E - E0) / |E0|, E0 the energy at step 0; empty when E0 = 0" },
    { "energy_error", DIMENSION_NONE, "largest |dE/E0| of this row and all before it" },
    { "virial_ratio", DIMENSION_NONE, "2 K / |W|, 1 in equilibrium; empty when W = 0" },
    { "virial_ratio_potential", DIMENSION_NONE,
      "-2 K / U, 1 in equilibrium if eps = 0; empty when "
      "U = 0" },
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
};

/* The memory of one system. */
struct memory {
    double first_energy;
    double energy_error;
    double first_test_energy; /* NaN where there is none */
    double test_energy_error;
};

enum { MEMORY_LENGTH = sizeof(struct memory) / sizeof(double) };

static double quotient(double numerator, double denominator)
{
    return denominator != 0.0 ? numerator / denominator : NAN;
}

static enum status create(const struct section *section, const struct moment *start,
                          struct diagnostic **result, struct error *error)
{
    (void)section;
    const size_t systems = start->bodies->systems;
    struct diagnostic *diagnostic = diagnostic_allocate(
        &diagnostic_conservation, sizeof *diagnostic, systems * MEMORY_LENGTH, error);
    *result = diagnostic;
    if (!diagnostic)
        return error->status;
    diagnostic->needs = NEED_CONSERVED;
    struct memory *memory = (struct memory *)diagnostic->memory;
    for (size_t s = 0; s < systems; s++) {
        memory[s].first_energy = start->conserved[s].kinetic + start->conserved[s].potential;
        memory[s].first_test_energy = test_energy(start->physics, start->bodies, s);
        if (test_energy_applies(start->bodies, s))
            diagnostic->needs |= NEED_STATE;
    }
    return STATUS_OK;
}

/* The row of one system. */
static void fill_row(const struct conserved *conserved, struct memory *memory, double row[COLUMNS])
{
    const double energy = conserved->kinetic + conserved->potential;
    const double error = quotient(energy - memory->first_energy, fabs(memory->first_energy));
    /* Not fmax(): once undefined, the largest error stays so. */
    if (isnan(error) || fabs(error) > memory->energy_error)
        memory->energy_error = fabs(error);
    row[KINETIC] = conserved->kinetic;
    row[POTENTIAL] = conserved->potential;
    row[VIRIAL] = conserved->virial;
    row[ENERGY] = energy;
    row[RELATIVE_ENERGY_ERROR] = error;
    row[ENERGY_ERROR] = memory->energy_error;
    row[VIRIAL_RATIO] = quotient(2.0 * conserved->kinetic, fabs(conserved->virial));
    row[VIRIAL_RATIO_POTENTIAL] = -quotient(2.0 * conserved->kinetic, conserved->potential);
    for (int k = 0; k < 3; k++) {
        row[MOMENTUM + k] = conserved->momentum[k];
        row[ANGULAR_MOMENTUM + k] = conserved->angular_momentum[k];
        row[CENTER + k] = conserved->center[k];
    }
}

static double test_energy_error(const struct moment *now, size_t system, struct memory *memory)
{
    if (isnan(memory->first_test_energy))
        return NAN;
    const double change =
        test_energy(now->physics, now->bodies, system) - memory->first_test_energy;
    const double error = fabs(quotient(change, fabs(memory->first_test_energy)));
    if (isnan(error) || error > memory->test_energy_error)
        memory->test_energy_error = error;
    return memory->test_energy_error;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, const struct row_sink *sink, struct error *error)
{
    struct memory *const memory = (struct memory *)diagnostic->memory + system;
    double row[COLUMNS];
    fill_row(&now->conserved[system], memory, row);
    row[TEST_ENERGY_ERROR] = test_energy_error(now, system, memory);
    return sink->row(sink->context, system, row, error);
}

const struct diagnostic_class diagnostic_conservation = {
    .variant = { .name = "conservation",
                 .help = "Energies, energy error, virial ratios, momentum, angular momentum and "
                         "centre of mass." },
    .create = create,
    .measure_system = measure_system,
    .destroy = diagnostic_free,
    .columns = columns,
    .column_count = COLUMNS,
    .rows_per_event = 1,
    .system_reals = MEMORY_LENGTH,
};
