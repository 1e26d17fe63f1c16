/* The relative motion of two bodies, r'' = -mu r / (r^2 + eps^2)^(3/2): Kepler's problem when eps =
 * 0, a rosette otherwise. Computed orbits are compared with it. */
#ifndef ORRERY_MODEL_KEPLER_H
#define ORRERY_MODEL_KEPLER_H

#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"

struct kepler_interaction {
    double mu;  /* G (m1 + m2) >= 0 */
    double eps; /* softening length >= 0 */
};

/* Separation and relative velocity of two bodies: body 2 minus body 1. */
struct kepler_state {
    double x[3], v[3];
};

/* Return the interaction of the bodies at the indices i and j of the arrays, and the motion of body
 * j as seen from body i, at its nearest image in a periodic box. */
struct kepler_interaction kepler_interaction_of(const struct physics *physics,
                                                const struct bodies *bodies, size_t i, size_t j);
struct kepler_state kepler_state_of(const struct physics *physics, const struct bodies *bodies,
                                    size_t i, size_t j);

/*
 * Finds the state `to` at the time dt after the state `from`, and the angle that the separation has
 * swept meanwhile, whole revolutions included (>= 0 for dt >= 0; radians). For eps = 0 it is
 * computed analytically, for every conic, by Kepler's equation in universal form (Stumpff 1959,
 * Himmelsmechanik I; Danby 1992, Fundamentals of Celestial Mechanics, 6.9); for eps > 0 it is
 * integrated by Prince & Dormand's 8th-order method at a tolerance of 1e-13 per step. State and
 * angle are NaN for a motion that cannot be followed. STATUS_MEMORY.
 */
enum status kepler_advance(const struct kepler_interaction *interaction,
                           const struct kepler_state *from, double dt, struct kepler_state *to,
                           double *angle, struct error *error);

/*
 * The orbit to which a state belongs. Bound orbits run between the turning points r- and r+ that
 * follow from energy E and angular momentum: a = (r+ + r-) / 2, e = (r+ - r-) / (r+ + r-). Unbound
 * orbits have a = -mu / 2E < 0 and e = 1 - r- / a. When eps = 0, these are Kepler's a and e. All
 * members are NaN if mu = 0, and all but a and e on unbound orbits with eps > 0. On a straight line
 * the true anomaly is NaN, and so is the mean anomaly if eps = 0, or the apsidal angle if eps > 0.
 * Angles are in radians.
 */
struct kepler_orbit {
    double semi_major_axis; /* a; infinite on a parabola */
    double eccentricity;    /* e */
    double true_anomaly;    /* angle swept since the pericentre, in (-pi, pi] when eps = 0 */
    double mean_anomaly;    /* 2 pi x time since pericentre / radial_period; NaN when unbound */
    double apsidal_angle;   /* angle swept from one pericentre to the next: 2 pi when eps = 0 */
    double radial_period;   /* time from one pericentre to the next; NaN when unbound */
};

/* Finds the orbit of a state. STATUS_MEMORY. */
enum status kepler_orbit(const struct kepler_interaction *interaction,
                         const struct kepler_state *state, struct kepler_orbit *orbit,
                         struct error *error);

/* --- elements --------------------------------------------------------------------------------- */

/*
 * The elements of a Kepler orbit, an ellipse or a hyperbola, and the position and velocity that
 * they give (Murray & Dermott 1999, Solar System Dynamics, section 2.8). The first three angles
 * turn the orbit out of the xy plane, in which its pericentre would be on the x axis.
 */

struct elements {
    double semi_major_axis; /* > 0; for a hyperbola |a| */
    double eccentricity;    /* not 1 */
    /* Angles in degrees. */
    double inclination, ascending_node, argument_of_pericenter, true_anomaly;
};

/* Finds sine and cosine of an angle in degrees, exactly at multiples of 90. */
void elements_rotation(double degrees, double *sine, double *cosine);

/* Finds the position and velocity of one body relative to the other, in the units of a and mu = G
 * (m1 + m2). `softening` (eps) changes circles alone: their speed is that in the softened force,
 * v^2 = mu r^2 / (r^2 + eps^2)^(3/2). */
void elements_state(const struct elements *elements, double mu, double softening,
                    double position[3], double velocity[3]);

#endif
