/*
 * A Kepler orbit by its elements, as a position and a velocity (Murray & Dermott 1999, Solar System
 * Dynamics, section 2.8; angles turn the orbit from the xy plane, in which the pericentre is on the
 * x axis). Ellipses and hyperbolas.
 */
#ifndef ORRERY_MODEL_ELEMENTS_H
#define ORRERY_MODEL_ELEMENTS_H

struct elements {
    double semi_major_axis; /* > 0; of a hyperbola its size |a| */
    double eccentricity;    /* not 1 */
    /* Degrees. */
    double inclination, ascending_node, argument_of_pericenter, true_anomaly;
};

/* Sine and cosine of an angle in degrees; exact at multiples of 90. */
void elements_rotation(double degrees, double *sine, double *cosine);

/*
 * Relative position and velocity; mu = G (m1 + m2). With a softening, a circle is one of the
 * softened force, v^2 = mu r^2 / (r^2 + eps^2)^(3/2).
 */
void elements_state(const struct elements *elements, double mu, double softening,
                    double position[3], double velocity[3]);

#endif
