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

/* What density-profile and density-slope are told: how to cut the shells and where to fit. */
struct profile_plan {
    enum sphere_center center;
    size_t shells;
    double r_min, r_max;     /* of all shells */
    double fit_min, fit_max; /* of those that are fitted */
    size_t least_bodies;     /* in a shell that is fitted */
};

/* The rows of these keys, the same for both. */
enum { PROFILE_PARAMETERS = 7 };
extern const struct parameter profile_parameters[PROFILE_PARAMETERS];

/*
 * Reads the keys. Where no range is given, it is that from a hundredth of the half-mass radius at
 * the start to ten times that radius (of the first system). STATUS_CONFIG, STATUS_MEMORY,
 * STATUS_NUMERICAL.
 */
enum status profile_read(const struct section *section, const struct moment *start,
                         struct profile_plan *plan, struct error *error);

struct shell {
    double inner, outer;
    double r; /* geometric mean of both */
    double bodies, mass;
    double density; /* mass over volume */
};

/* ln density = ln amplitude + slope ln r, least squares with weights `bodies`. */
struct profile_fit {
    size_t shells;               /* that were fitted */
    double amplitude, slope;     /* NaN for fewer than two shells */
    double slope_error;          /* NaN for fewer than two shells */
    double reduced_chi2;         /* NaN for fewer than three */
    double isothermal_amplitude; /* of amplitude r^-2 in the same shells */
};

/* Fills plan->shells shells from the bodies in `sphere`, and the fit. STATUS_MEMORY. */
enum status profile_measure(const struct profile_plan *plan, const struct bodies *bodies,
                            size_t system, const struct sphere *sphere, struct shell *shells,
                            struct profile_fit *fit, struct error *error);

#ifdef __cplusplus
}
#endif

#endif
