/* The density of a system in logarithmic shells about its centre, and its logarithmic slope. */
#ifndef ORRERY_DIAGNOSTICS_PROFILE_H
#define ORRERY_DIAGNOSTICS_PROFILE_H

#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "diagnostics/diagnostic.h"
#include "space/sphere.h"

/* The rows of the keys that density-profile and density-slope share. */
enum { PROFILE_PARAMETERS = 7 };
extern const struct parameter profile_parameters[PROFILE_PARAMETERS];

struct shell {
    double inner, outer;
    double r; /* geometric mean of both */
    double bodies, mass;
    double density; /* mass over volume */
};

/* The power law density = amplitude r^slope that is most likely for the counts of the shells. */
struct profile_fit {
    size_t shells;               /* number of shells that were fitted */
    double amplitude, slope;     /* NaN for fewer than two shells with bodies */
    double slope_error;          /* its standard error, NaN likewise */
    double reduced_chi2;         /* NaN where it has no degree of freedom */
    double isothermal_amplitude; /* of amplitude r^-2 in the same shells */
};

/* The common state of density-profile and density-slope. */
struct profile {
    struct diagnostic base;
    /* The keys: the shells, and the range of the fit. */
    enum sphere_center center;
    size_t shells;
    double r_min, r_max; /* inner radius of the first shell, outer radius of the last */
    double fit[2];       /* of the shells that are fitted; NaN: all */
    size_t least_bodies; /* the fit ends before the outermost shell with this number */
    /* The shells of the system measured last. */
    struct shell *shell; /* [shells] */
    struct profile_fit fitted;
    double mass, half_mass_radius;
};

/*
 * The functions that both classes share. The default range goes from a hundredth of the half-mass
 * radius of the first system at the start to ten times this radius. STATUS_CONFIG, STATUS_MEMORY,
 * STATUS_NUMERICAL.
 */
size_t profile_state_count(const struct diagnostic *diagnostic, size_t systems);
enum status profile_init(struct diagnostic *diagnostic, const struct section *section,
                         const struct moment *start, struct error *error);
void profile_clear(struct diagnostic *diagnostic);

/* Fills the shells of a system, and fits them. STATUS_MEMORY, STATUS_NUMERICAL. */
enum status profile_measure(struct profile *profile, const struct moment *now, size_t system,
                            struct error *error);

#endif
