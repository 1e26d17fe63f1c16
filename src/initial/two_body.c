/*
 * Two bodies with the osculating elements of their relative orbit r = r2 - r1 (Murray & Dermott
 * 1999, Solar System Dynamics, section 2.8; angles turn the orbit from the xy plane, in which
 * pericentre is on the x axis). Ellipses and hyperbolas.
 */
#include <math.h>

#include <gsl/gsl_math.h>

#include "base/memory.h"
#include "initial/table.h"

/* clang-format off */
#define ANGLE(key_, help_)                                                                         \
    { .key = (key_), .type = PARAMETER_REAL, .standard = "0.0", .minimum = -360, .maximum = 360,   \
      .help = (help_) }
/* clang-format on */

static const struct parameter parameters[] = {
    INITIAL_CENTER("true"),
    { .key = "masses",
      .type = PARAMETER_REALS,
      .standard = "[1.0, 1.0]",
      .minimum = 0,
      .maximum = INFINITY,
      .length = 2,
      .dimension = DIMENSION_MASS,
      .help =
          "Masses of body 1 and body 2; one of them may be 0. With center = false, body 1 rests at "
          "the origin." },
    INITIAL_POSITIVE("semi_major_axis", "1.0", DIMENSION_LENGTH,
                     "Semi-major axis a of the relative orbit; of a hyperbola, its size |a|."),
    { .key = "eccentricity",
      .type = PARAMETER_REAL,
      .standard = "0.0",
      .minimum = 0,
      .maximum = INFINITY,
      .help = "0: circular, also with softening; above 1: hyperbola; 1 itself has no a." },
    ANGLE("inclination", "Degrees between the orbit and the xy plane."),
    ANGLE("ascending_node", "Degrees from x to where body 2 rises through the xy plane."),
    ANGLE("argument_of_pericenter", "Degrees from the node to the pericentre, along the orbit."),
    ANGLE("true_anomaly", "Degrees from the pericentre to body 2; 0 starts at the pericentre, 180 "
                          "at the apocentre."),
};

/* Sine and cosine of an angle in degrees; exact at multiples of 90. */
static void turn(double degrees, double *sine, double *cosine)
{
    const double quarters = rint(degrees / 90.0);
    const double rest = (degrees - 90.0 * quarters) * (M_PI / 180.0);
    const double s = sin(rest), c = cos(rest);
    const double turns[4][2] = { { s, c }, { c, -s }, { -s, -c }, { -c, s } };
    const int quadrant = (int)quarters & 3;
    *sine = turns[quadrant][0];
    *cosine = turns[quadrant][1];
}

static void check(const struct section *section, struct error *error)
{
    size_t two;
    const double *masses = section_reals(section, "masses", &two);
    if (!(masses[0] + masses[1] > 0))
        section_error(section, "masses", error, "at least one of them must be greater than 0");
    const double e = section_real(section, "eccentricity");
    if (e == 1)
        section_error(section, "eccentricity", error,
                      "a parabola has no semi-major axis; take a value a little beside 1");
    double sine, cosine;
    turn(section_real(section, "true_anomaly"), &sine, &cosine);
    if (e > 1 && !(1 + e * cosine > 0))
        section_error(section, "true_anomaly", error,
                      "beyond the asymptote of the hyperbola, %.6g degrees from the pericentre",
                      acos(-1 / e) * (180.0 / M_PI));
}

/* The separation r and the velocity in the plane of the orbit, x towards the pericentre. */
static void orbit_in_plane(const struct section *section, const struct physics *physics, double mu,
                           double position[2], double velocity[2])
{
    const double a = section_real(section, "semi_major_axis");
    const double e = section_real(section, "eccentricity");
    double sine, cosine;
    turn(section_real(section, "true_anomaly"), &sine, &cosine);
    const double p = a * fabs(1 - e) * (1 + e), r = p / (1 + e * cosine);
    double v = sqrt(mu / p);
    if (e == 0) { /* Omega^2 = G M / (r^2 + eps^2)^(3/2) */
        const double s2 = r * r + physics->softening * physics->softening;
        v = r * sqrt(mu / (s2 * sqrt(s2)));
    }
    position[0] = r * cosine;
    position[1] = r * sine;
    velocity[0] = -v * sine;
    velocity[1] = v * (e + cosine);
}

/* The axes of the orbit's plane in space: R_z(node) R_x(inclination) R_z(argument). */
static void orbit_axes(const struct section *section, double x_axis[3], double y_axis[3])
{
    double sn, cn, si, ci, sw, cw;
    turn(section_real(section, "ascending_node"), &sn, &cn);
    turn(section_real(section, "inclination"), &si, &ci);
    turn(section_real(section, "argument_of_pericenter"), &sw, &cw);
    x_axis[0] = cn * cw - sn * sw * ci;
    x_axis[1] = sn * cw + cn * sw * ci;
    x_axis[2] = sw * si;
    y_axis[0] = -cn * sw - sn * cw * ci;
    y_axis[1] = -sn * sw + cn * cw * ci;
    y_axis[2] = cw * si;
}

static enum status count(const struct section *section, size_t *count, struct error *error)
{
    (void)section, (void)error;
    *count = 2;
    return STATUS_OK;
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies, size_t first,
                        struct error *error)
{
    (void)seed, (void)error;
    static const double origin[3] = { 0.0, 0.0, 0.0 };
    size_t two;
    const double *masses = section_reals(section, "masses", &two);
    const double mu = physics->gravitational_constant * (masses[0] + masses[1]);
    double x[2], v[2], x_axis[3], y_axis[3], position[3], velocity[3];
    orbit_in_plane(section, physics, mu, x, v);
    orbit_axes(section, x_axis, y_axis);
    for (int k = 0; k < 3; k++) {
        position[k] = x[0] * x_axis[k] + x[1] * y_axis[k];
        velocity[k] = v[0] * x_axis[k] + v[1] * y_axis[k];
    }
    initial_set(bodies, first, masses[0], origin, origin);
    initial_set(bodies, first + 1, masses[1], position, velocity);
    return STATUS_OK;
}

static const char *const scales[] = { "masses", "semi_major_axis", NULL };

const struct initial_class initial_two_body = {
    .variant = { "two-body", "Two bodies on a Kepler orbit with given elements.", parameters,
                 COUNT_OF(parameters) },
    .check = check,
    .count = count,
    .fill = fill,
    .scales = scales,
};
