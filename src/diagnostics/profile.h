/* The density of a system in logarithmic shells about its centre, and its logarithmic slope. */
#ifndef ORRERY_DIAGNOSTICS_PROFILE_H
#define ORRERY_DIAGNOSTICS_PROFILE_H

#include <stddef.h>

#include "base/status.h"
#include "config/config.h"
#include "diagnostics/diagnostic.h"
#include "diagnostics/sphere.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to cut the shells and where to fit. */
struct profile_plan {
    enum sphere_center center;
    size_t shells;
    double r_min, r_max;     /* of all shells */
    double fit_min, fit_max; /* of those that are fitted */
    size_t least_bodies;     /* of the outermost shell; the fit ends before it */
};

/* The rows of these keys, the same for both. */
enum { PROFILE_PARAMETERS = 7 };
extern const struct parameter profile_parameters[PROFILE_PARAMETERS];

struct shell {
    double inner, outer;
    double r; /* geometric mean of both */
    double bodies, mass;
    double density; /* mass over volume */
};

/* density = amplitude r^slope, the most likely one for the counts of the shells. */
struct profile_fit {
    size_t shells;               /* that were fitted */
    double amplitude, slope;     /* NaN for fewer than two shells with bodies */
    double slope_error;          /* likewise */
    double reduced_chi2;         /* NaN where it has no degree of freedom */
    double isothermal_amplitude; /* of amplitude r^-2 in the same shells */
};

/* What density-profile and density-slope both are. */
struct profile {
    struct diagnostic base;
    struct profile_plan plan;
    /* Of the system measured last. */
    struct shell *shells; /* plan.shells of them */
    struct profile_fit fit;
    double mass, half_mass_radius;
};

/*
 * A profile of the given class, by the keys of the section. Where no range is given, it is that
 * from a hundredth of the half-mass radius at the start to ten times that radius (of the first
 * system). STATUS_CONFIG, STATUS_MEMORY, STATUS_NUMERICAL.
 */
enum status profile_create(const struct diagnostic_class *class_, const struct section *section,
                           const struct moment *start, struct diagnostic **diagnostic,
                           struct error *error);
void profile_destroy(struct diagnostic *diagnostic); /* accepts NULL */

/* STATUS_MEMORY, STATUS_NUMERICAL. */
enum status profile_measure(struct profile *profile, const struct moment *now, size_t system,
                            struct error *error);

#ifdef __cplusplus
}
#endif

#endif
