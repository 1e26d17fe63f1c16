/*
 * The prediction of a body by Hermite's method (Makino & Aarseth 1992, PASJ 44, 141, eq. 1 and 2),
 * for CPUs and for the kernels of a GPU, which get the same bits: position and velocity at the time
 * h after that of x, v, acceleration a and jerk.
 */
#ifndef ORRERY_INTEGRATOR_PREDICTION_H
#define ORRERY_INTEGRATOR_PREDICTION_H

#include "model/physics.h"

/* Returns x + h v + h^2/2 a + h^3/6 jerk. */
DEVICE_INLINE double predicted_position(double x, double v, double a, double jerk, double h)
{
    return x + h * (v + h * (0.5 * a + h * (1.0 / 6) * jerk));
}

/* Returns v + h a + h^2/2 jerk. */
DEVICE_INLINE double predicted_velocity(double v, double a, double jerk, double h)
{
    return v + h * (a + h * 0.5 * jerk);
}

#endif
