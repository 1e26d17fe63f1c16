/* The table of diagnostics. Each has one source file, which defines diagnostic_NAME, and one row
 * here. */
#ifndef ORRERY_DIAGNOSTICS_DIAGNOSTIC_TABLE_H
#define ORRERY_DIAGNOSTICS_DIAGNOSTIC_TABLE_H

struct diagnostic_class;

/* The diagnostics that users list in `diagnostics` of a config, in the order of the manual. */
#define DIAGNOSTIC_ROWS(ROW)                                                                       \
    ROW(binaries)                                                                                  \
    ROW(bound_mass)                                                                                \
    ROW(close_encounters)                                                                          \
    ROW(conservation)                                                                              \
    ROW(density_profile)                                                                           \
    ROW(density_slope)                                                                             \
    ROW(disc_profile)                                                                              \
    ROW(escapers)                                                                                  \
    ROW(force_error)                                                                               \
    ROW(lagrangian_radii)                                                                          \
    ROW(orbit)                                                                                     \
    ROW(own_steps)                                                                                 \
    ROW(radial_distribution)                                                                       \
    ROW(velocity_dispersion)                                                                       \
    ROW(virial)

/* The diagnostics that other groups of a config ask for (energy_budget, trust);
 * diagnostic_measured() returns these too. */
#define DIAGNOSTIC_GROUP_ROWS(ROW)                                                                 \
    ROW(energy_budget)                                                                             \
    ROW(trust)

#define DIAGNOSTIC_DECLARED(name) extern const struct diagnostic_class diagnostic_##name;
DIAGNOSTIC_ROWS(DIAGNOSTIC_DECLARED)
DIAGNOSTIC_GROUP_ROWS(DIAGNOSTIC_DECLARED)
#undef DIAGNOSTIC_DECLARED

#endif
