#include "model/elements.h"

#include <math.h>

void elements_rotation(double degrees, double *sine, double *cosine)
{
    const double quarters = rint(degrees / 90.0);
    const double rest = (degrees - 90.0 * quarters) * (M_PI / 180.0);
    const double s = sin(rest), c = cos(rest);
    const double rotations[4][2] = { { s, c }, { c, -s }, { -s, -c }, { -c, s } };
    const int quadrant = (int)quarters & 3;
    *sine = rotations[quadrant][0];
    *cosine = rotations[quadrant][1];
}

/* Finds the separation and the velocity in the plane of the orbit, with x towards the
 * pericentre. */
static void state_in_plane(const struct elements *elements, double mu, double softening,
                           double position[2], double velocity[2])
{
    const double a = elements->semi_major_axis, e = elements->eccentricity;
    double sine, cosine;
    elements_rotation(elements->true_anomaly, &sine, &cosine);
    const double p = a * fabs(1 - e) * (1 + e), r = p / (1 + e * cosine);
    double v = sqrt(mu / p);
    if (e == 0) { /* a circle: Omega^2 = G M / (r^2 + eps^2)^(3/2) */
        const double s2 = r * r + softening * softening;
        v = r * sqrt(mu / (s2 * sqrt(s2)));
    }
    position[0] = r * cosine;
    position[1] = r * sine;
    velocity[0] = -v * sine;
    velocity[1] = v * (e + cosine);
}

/* Finds the axes of the orbit's plane in space, x_axis towards the pericentre: the first two
 * columns of the product of rotations R_z(node) R_x(inclination) R_z(argument of pericentre). */
static void axes(const struct elements *elements, double x_axis[3], double y_axis[3])
{
    double sn, cn, si, ci, sw, cw;
    elements_rotation(elements->ascending_node, &sn, &cn);
    elements_rotation(elements->inclination, &si, &ci);
    elements_rotation(elements->argument_of_pericenter, &sw, &cw);
    x_axis[0] = cn * cw - sn * sw * ci;
    x_axis[1] = sn * cw + cn * sw * ci;
    x_axis[2] = sw * si;
    y_axis[0] = -cn * sw - sn * cw * ci;
    y_axis[1] = -sn * sw + cn * cw * ci;
    y_axis[2] = cw * si;
}

void elements_state(const struct elements *elements, double mu, double softening,
                    double position[3], double velocity[3])
{
    double x[2], v[2], x_axis[3], y_axis[3];
    state_in_plane(elements, mu, softening, x, v);
    axes(elements, x_axis, y_axis);
    for (int k = 0; k < 3; k++) {
        position[k] = x[0] * x_axis[k] + x[1] * y_axis[k];
        velocity[k] = v[0] * x_axis[k] + v[1] * y_axis[k];
    }
}
