/*
 * The elements of a Kepler orbit, an ellipse or a hyperbola, and the position and velocity that
 * they give (Murray & Dermott 1999, Solar System Dynamics, section 2.8). The first three angles
 * turn the orbit out of the xy plane, in which its pericentre would be on the x axis.
 */
#ifndef ORRERY_MODEL_ELEMENTS_H
#define ORRERY_MODEL_ELEMENTS_H

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
