/* The diagnostic of bound pairs: how many a cluster has, how hard they are (their binding energy in
 * units of kT, 2/3 of the mean kinetic energy), and which is the hardest. */
#include <math.h>

#include "diagnostics/diagnostic.h"
#include "model/kepler.h"
#include "space/bound-pairs.h"

enum {
    BOUND_PAIRS,
    HARD_PAIRS,
    KT,
    BINDING_ENERGY,
    BINDING_ENERGY_KT,
    BINDING_ENERGY_FRACTION,
    HARDEST_ID_1,
    HARDEST_ID_2,
    HARDEST_SEMI_MAJOR_AXIS,
    HARDEST_ECCENTRICITY,
    HARDEST_ENERGY_KT,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "bound_pairs", DIMENSION_NONE,
      "pairs of bodies of which each is the nearest neighbour of the other, and 1/2 v^2 - G (m_1 + "
      "m_2) / sqrt(r^2 + eps^2) < 0, v their relative velocity" },
    { "hard_pairs", DIMENSION_NONE, "bound pairs with a binding energy above kT; empty if kT is" },
    { "kt", DIMENSION_ENERGY,
      "kT, 2/3 of the mean kinetic energy of the bodies with mass in the frame of the centre of "
      "mass; a bound pair counts as one body; empty for fewer than two, or at rest" },
    { "binding_energy", DIMENSION_ENERGY,
      "sum over the bound pairs of the binding energy mu (G (m_1 + m_2) / sqrt(r^2 + eps^2) - 1/2 "
      "v^2), mu = m_1 m_2 / (m_1 + m_2)" },
    { "binding_energy_kt", DIMENSION_NONE, "the same in kT" },
    { "binding_energy_fraction", DIMENSION_NONE,
      "the same over |E'|, E' the total energy about the centre of mass; empty when E' = 0" },
    { "hardest_id_1", DIMENSION_NONE,
      "id of one body of the pair with the largest binding energy; empty without a bound pair" },
    { "hardest_id_2", DIMENSION_NONE, "id of the other" },
    { "hardest_semi_major_axis", DIMENSION_LENGTH,
      "its semi-major axis, half the sum of the turning points' distances, as in the diagnostic "
      "orbit" },
    { "hardest_eccentricity", DIMENSION_NONE, "its eccentricity, likewise" },
    { "hardest_energy_kt", DIMENSION_NONE, "its binding energy in kT; empty without a bound pair" },
};

/* Returns kT, 2/3 of the mean kinetic energy of the bodies with mass in the frame of their centre
 * of mass; NaN if fewer than two bodies have mass, or all are at rest. */
static double temperature(const struct bodies *b)
{
    const double kinetic = bound_pairs_kinetic(b);
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++)
        count += b->m[i] > 0.0;
    return count > 1 && kinetic > 0.0 ? 2.0 / 3.0 * kinetic / (double)count : NAN;
}

static void fill_sums(const struct bound_pairs *found, double kT, double energy, double *row)
{
    double binding = 0.0, hard = 0.0;
    for (size_t k = 0; k < found->count; k++) {
        binding += found->pairs[k].energy;
        hard += found->pairs[k].energy > kT;
    }
    row[BOUND_PAIRS] = (double)found->count;
    row[HARD_PAIRS] = isnan(kT) ? NAN : hard;
    row[KT] = kT;
    row[BINDING_ENERGY] = binding;
    row[BINDING_ENERGY_KT] = binding / kT;
    row[BINDING_ENERGY_FRACTION] = energy != 0.0 ? binding / fabs(energy) : NAN;
}

static enum status fill_hardest(const struct moment *now, size_t system,
                                const struct bound_pair *pair, double kT, double *row,
                                struct error *error)
{
    if (!pair)
        return STATUS_OK;
    const struct bodies *b = now->bodies;
    const size_t i = system * b->stride + pair->i, j = system * b->stride + pair->j;
    const struct kepler_interaction interaction = kepler_interaction_of(now->physics, b, i, j);
    const struct kepler_state state = kepler_state_of(now->physics, b, i, j);
    struct kepler_orbit orbit;
    if (kepler_orbit(&interaction, &state, &orbit, error))
        return error->status;
    row[HARDEST_ID_1] = (double)b->id[i];
    row[HARDEST_ID_2] = (double)b->id[j];
    row[HARDEST_SEMI_MAJOR_AXIS] = orbit.semi_major_axis;
    row[HARDEST_ECCENTRICITY] = orbit.eccentricity;
    row[HARDEST_ENERGY_KT] = pair->energy / kT;
    return STATUS_OK;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    (void)diagnostic;
    struct bound_pairs found;
    struct bodies *merged = NULL;
    enum status status =
        bound_pairs_create(now->physics, now->bodies, system, now->threads, &found, error);
    if (status != STATUS_OK)
        return status;
    status = bound_pairs_merge(&found, now->bodies, system, &merged, error);
    if (status == STATUS_OK) {
        const double kT = temperature(merged);
        fill_sums(&found, kT, conserved_internal_energy(&now->conserved[system]), row);
        status = fill_hardest(now, system, bound_pairs_hardest(&found), kT, row, error);
    }
    bodies_destroy(merged);
    bound_pairs_destroy(&found);
    return status;
}

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(1000),
};

static const struct drawing drawings[] = {
    { .name = "binaries",
      .title = "Bound pairs",
      .y_label = "number of pairs",
      .curves = { { "bound_pairs", "bound" }, { "hard_pairs", "hard" } },
      .caption = "Bodies that are nearest to each other and bound; hard are those with a binding "
                 "energy above kT. Soft pairs come and go, hard ones stay." },
    { .name = "binaries-energy",
      .title = "Binding energy of the pairs",
      .y_label = "binding energy / kT",
      .scale = SCALE_BY_RANGE,
      .curves = { { "binding_energy_kt", "all pairs" },
                  { "hardest_energy_kt", "hardest pair", CURVE_DASHED } },
      .caption = "kT is 2/3 of the mean kinetic energy of a body, and a pair counts as one "
                 "body. A hard pair becomes harder on average, and the energy that it gives off "
                 "heats the others." },
    { .name = "binaries-axis",
      .title = "Hardest pair",
      .y_label = "semi-major axis",
      .scale = SCALE_BY_RANGE,
      .curves = { { "hardest_semi_major_axis", "semi-major axis" } },
      .caption = "The semi-major axis of the pair that is bound most at the time: a jump may mean "
                 "that another pair has taken its place." },
    { .name = "binaries-eccentricity",
      .title = "Hardest pair",
      .y_label = "eccentricity",
      .curves = { { "hardest_eccentricity", "eccentricity" } },
      .caption = "The eccentricity of the pair that is bound most at the time." },
};

const struct diagnostic_class diagnostic_binaries = {
    .variant = { "binaries", "Bound pairs: number, binding energies in kT, the hardest of them.",
                 parameters, COUNT_OF(parameters) },
    .needs = NEED_STATE | NEED_CONSERVED,
    .open_space = true,
    .measure_system = measure_system,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    /* Memory for the search for pairs, and for a copy of the bodies in which each pair is one
     * body. */
    .body_bytes = BOUND_PAIRS_BODY_BYTES + (BODIES_REALS + 1) * sizeof(double),
};
