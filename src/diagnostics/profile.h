/* The density of a system in shells about its centre, equally wide in ln r, and its logarithmic
 * slope. */
#ifndef ORRERY_DIAGNOSTICS_PROFILE_H
#define ORRERY_DIAGNOSTICS_PROFILE_H

#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "diagnostics/diagnostic.h"
#include "space/sphere.h"

/* The rows of the keys that the diagnostics density-profile and density-slope share. */
enum { PROFILE_PARAMETERS = 7 };
extern const struct parameter profile_parameters[PROFILE_PARAMETERS];

/* A shell between two radii about the centre. */
struct shell {
    double inner, outer;
    double r;            /* geometric mean of `inner` and `outer` */
    double bodies, mass; /* number of bodies in it, and their mass */
    double density;      /* mass over volume */
    double massive;      /* number of its bodies with mass */
    double squares;      /* sum of m^2 over its bodies */
};

/* Returns the number n of bodies of equal mass whose total mass has the relative counting noise of
 * these bodies, 1 / sqrt(n): (sum m)^2 / sum m^2; 0 without mass. */
double profile_equal_bodies(double mass, double squares);

/* The power law density = amplitude r^slope that is most likely for the masses in the shells. */
struct profile_fit {
    size_t shells;               /* number of shells that were fitted */
    double amplitude, slope;     /* NaN for fewer than two shells with mass, or |slope| > 30 */
    double slope_error;          /* standard error of the slope; NaN if the slope is */
    double reduced_chi2;         /* chi^2 over its degrees of freedom; NaN without any */
    double isothermal_amplitude; /* amplitude of a power law r^-2, fitted to the same shells */
};

/* The struct of the diagnostics density-profile and density-slope. */
struct profile {
    struct diagnostic base;
    /* The values of the keys: the shells, and the range of the fit. */
    enum sphere_center center; /* how the centre is found */
    size_t shells;
    double r_min, r_max; /* inner radius of the first shell, outer radius of the last */
    double fit[2];       /* range of radii of the fitted shells; NaN: all */
    size_t least_bodies; /* least number of bodies with mass in the last shell that is fitted */
    /* The results for the system measured last. */
    struct shell *shell; /* [shells] */
    struct profile_fit fitted;
    double mass, half_mass_radius;
};

/* The functions that both diagnostics share. If the range of radii is not given, it goes from a
 * hundredth of the half-mass radius of the first system at the start to ten times that radius.
 * STATUS_CONFIG, STATUS_MEMORY, STATUS_NUMERICAL. */
enum status profile_init(struct diagnostic *diagnostic, const struct section *section,
                         const struct moment *start, struct error *error);
void profile_clear(struct diagnostic *diagnostic);

/* Counts the bodies of a system in its shells, and fits the power law. STATUS_MEMORY,
 * STATUS_NUMERICAL. */
enum status profile_measure(struct profile *profile, const struct moment *now, size_t system,
                            struct error *error);

#endif
