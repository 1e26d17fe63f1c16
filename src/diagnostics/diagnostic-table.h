/* The diagnostics that there are: one source file, one line here and one row in diagnostic.c. */
#ifndef ORRERY_DIAGNOSTICS_DIAGNOSTIC_TABLE_H
#define ORRERY_DIAGNOSTICS_DIAGNOSTIC_TABLE_H

struct diagnostic_class;

extern const struct diagnostic_class diagnostic_binaries;
extern const struct diagnostic_class diagnostic_close_encounters;
extern const struct diagnostic_class diagnostic_conservation;
extern const struct diagnostic_class diagnostic_density_profile;
extern const struct diagnostic_class diagnostic_density_slope;
extern const struct diagnostic_class diagnostic_escapers;
extern const struct diagnostic_class diagnostic_force_error;
extern const struct diagnostic_class diagnostic_lagrangian_radii;
extern const struct diagnostic_class diagnostic_orbit;
extern const struct diagnostic_class diagnostic_own_steps;
extern const struct diagnostic_class diagnostic_radial_distribution;
extern const struct diagnostic_class diagnostic_velocity_dispersion;
extern const struct diagnostic_class diagnostic_virial;

/* The diagnostics that a group of the config asks for: in diagnostic_measured() only. */
extern const struct diagnostic_class diagnostic_energy_budget;
extern const struct diagnostic_class diagnostic_trust;

#endif
