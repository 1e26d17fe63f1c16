/* The table of diagnostics. Each has one source file and one row here. */
#ifndef ORRERY_DIAGNOSTICS_DIAGNOSTIC_TABLE_H
#define ORRERY_DIAGNOSTICS_DIAGNOSTIC_TABLE_H

struct diagnostic_class;

/* Rows of the classes diagnostic_NAME, in the order in which the manual lists them. */
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

/* Rows of the diagnostics that a group of the config asks for: in diagnostic_measured() only. */
#define DIAGNOSTIC_GROUP_ROWS(ROW)                                                                 \
    ROW(energy_budget)                                                                             \
    ROW(trust)

#define DIAGNOSTIC_DECLARED(name) extern const struct diagnostic_class diagnostic_##name;
DIAGNOSTIC_ROWS(DIAGNOSTIC_DECLARED)
DIAGNOSTIC_GROUP_ROWS(DIAGNOSTIC_DECLARED)
#undef DIAGNOSTIC_DECLARED

#endif
