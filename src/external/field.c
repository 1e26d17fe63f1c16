#include "external/field.h"

#include <math.h>

#include "base/memory.h"
#include "model/vec3.h"

/* clang-format off */
#define POSITIVE(key_, dimension_, help_)                                                          \
    { BIND(REAL, struct field, key_), .maximum = INFINITY, .open = OPEN_MINIMUM,                   \
      .dimension = dimension_, .help = (help_) }
/* clang-format on */

const struct parameter field_parameters[FIELD_PARAMETERS] = {
    { .key = "center",
      .type = PARAMETER_REALS,
      .default_value = DEFAULT_REALS(0.0, 0.0, 0.0),
      .length = 3,
      .dimension = DIMENSION_LENGTH,
      .help = "Position of its centre, which stays at rest." },
};

static bool never(const struct field *field, int axis)
{
    (void)field, (void)axis;
    return false;
}

static bool always(const struct field *field, int axis)
{
    (void)field, (void)axis;
    return true;
}

static bool about_z(const struct field *field, int axis)
{
    (void)field;
    return axis == 2;
}

/* --- spheres ---------------------------------------------------------------------------------- */

/* A spherical field has a = -q d with q = G M(r) / r^3, so that its rate of change along the motion
 * is -q v - (dq/dr / r) (d . v) d. */
static struct field_motion radial(const double d[3], const double *v, double q, double slope)
{
    struct field_motion motion = { { 0 }, { 0 } };
    const double along = v ? slope * vec3_dot(d, v) : 0.0;
    for (int k = 0; k < 3; k++) {
        motion.a[k] = -q * d[k];
        motion.jerk[k] = v ? -q * v[k] - along * d[k] : 0.0;
    }
    return motion;
}

/* G M */
static double strength(const struct field *field)
{
    return field->gravitational_constant * field->mass;
}

/* The potential and the acceleration of a Plummer sphere; of a point where its b is 0. */
static double softened_potential(const struct field *field, const double d[3])
{
    const double b = field->scale_radius;
    return -strength(field) / sqrt(vec3_dot(d, d) + b * b);
}

static struct field_motion softened_motion(const struct field *field, const double d[3],
                                           const double *v)
{
    const double b = field->scale_radius, s2 = vec3_dot(d, d) + b * b;
    if (!(s2 > 0.0))
        return (struct field_motion){ { 0 }, { 0 } };
    const double q = strength(field) / (s2 * sqrt(s2));
    return radial(d, v, q, -3.0 * q / s2);
}

static double hernquist_potential(const struct field *field, const double d[3])
{
    return -strength(field) / (vec3_length(d) + field->scale_radius);
}

static struct field_motion hernquist_motion(const struct field *field, const double d[3],
                                            const double *v)
{
    const double r = vec3_length(d), b = field->scale_radius, s = r + b;
    if (!(r > 0.0))
        return (struct field_motion){ { 0 }, { 0 } };
    const double q = strength(field) / (r * s * s);
    return radial(d, v, q, -q * (3.0 * r + b) / (r * r * s));
}

static double nfw_potential(const struct field *field, const double d[3])
{
    const double r = vec3_length(d), b = field->scale_radius;
    return -strength(field) * (r > 0.0 ? log1p(r / b) / r : 1.0 / b);
}

/* ln(1 + x) - x / (1 + x), the part of the mass within x scale radii. Near 0 the difference loses
 * its digits, and the series sum_n (-x)^n (n - 1) / n from n = 2 on has them. */
static double nfw_mass(double x)
{
    enum { TERMS = 17 };
    double sum = 0.0;
    if (x > 0.1)
        return log1p(x) - x / (1.0 + x);
    for (int n = TERMS; n >= 2; n--)
        sum = (double)(n - 1) / n - x * sum;
    return sum * x * x;
}

static struct field_motion nfw_motion(const struct field *field, const double d[3], const double *v)
{
    const double r = vec3_length(d), b = field->scale_radius, x = r / b;
    if (!(r > 0.0))
        return (struct field_motion){ { 0 }, { 0 } };
    const double r3 = r * r * r, q = strength(field) * nfw_mass(x) / r3;
    const double growth = x / ((1.0 + x) * (1.0 + x) * b); /* of the mass */
    return radial(d, v, q, (strength(field) * growth / r3 - 3.0 * q / r) / r);
}

/* --- discs and halos that are flattened ------------------------------------------------------- */

static double miyamoto_nagai_potential(const struct field *field, const double d[3])
{
    const double height = field->a + hypot(d[2], field->b);
    return -strength(field) / sqrt(d[0] * d[0] + d[1] * d[1] + height * height);
}

static struct field_motion miyamoto_nagai_motion(const struct field *field, const double d[3],
                                                 const double *v)
{
    struct field_motion motion = { { 0 }, { 0 } };
    const double B = hypot(d[2], field->b), A = field->a + B;
    const double s2 = d[0] * d[0] + d[1] * d[1] + A * A;
    const double q = strength(field) / (s2 * sqrt(s2));
    const double u[3] = { d[0], d[1], d[2] * A / B };
    for (int k = 0; k < 3; k++)
        motion.a[k] = -q * u[k];
    if (!v)
        return motion;
    const double rise = d[2] * v[2] / B; /* of A and B */
    const double half = d[0] * v[0] + d[1] * v[1] + A * rise;
    const double w[3] = { v[0], v[1], (v[2] * A + d[2] * rise - d[2] * A * rise / B) / B };
    for (int k = 0; k < 3; k++)
        motion.jerk[k] = -q * (w[k] - 3.0 * half / s2 * u[k]);
    return motion;
}

/* c^2 + R^2 + (z/q)^2, the position in it and that position's rate of change. */
static double log_square(const struct field *field, const double d[3])
{
    const double z = d[2] / field->flattening;
    return field->core_radius * field->core_radius + d[0] * d[0] + d[1] * d[1] + z * z;
}

static double logarithmic_potential(const struct field *field, const double d[3])
{
    const double c = field->core_radius, z = d[2] / field->flattening;
    return 0.5 * field->speed * field->speed * log1p((d[0] * d[0] + d[1] * d[1] + z * z) / (c * c));
}

static struct field_motion logarithmic_motion(const struct field *field, const double d[3],
                                              const double *v)
{
    struct field_motion motion = { { 0 }, { 0 } };
    const double s2 = log_square(field, d), q = field->speed * field->speed / s2;
    const double flat = field->flattening * field->flattening;
    const double u[3] = { d[0], d[1], d[2] / flat };
    for (int k = 0; k < 3; k++)
        motion.a[k] = -q * u[k];
    if (!v)
        return motion;
    const double w[3] = { v[0], v[1], v[2] / flat }, half = vec3_dot(u, v);
    for (int k = 0; k < 3; k++)
        motion.jerk[k] = -q * (w[k] - 2.0 * half / s2 * u[k]);
    return motion;
}

static bool logarithmic_keeps(const struct field *field, int axis)
{
    return axis == 2 || field->flattening == 1.0;
}

/* --- fields without mass ---------------------------------------------------------------------- */

static double harmonic_potential(const struct field *field, const double d[3])
{
    const double *const w = field->frequencies;
    const double each[3] = { w[0] * d[0], w[1] * d[1], w[2] * d[2] };
    return 0.5 * vec3_dot(each, each);
}

static struct field_motion harmonic_motion(const struct field *field, const double d[3],
                                           const double *v)
{
    struct field_motion motion = { { 0 }, { 0 } };
    for (int k = 0; k < 3; k++) {
        const double w2 = field->frequencies[k] * field->frequencies[k];
        motion.a[k] = -w2 * d[k];
        motion.jerk[k] = v ? -w2 * v[k] : 0.0;
    }
    return motion;
}

static bool harmonic_keeps_momentum(const struct field *field, int axis)
{
    return field->frequencies[axis] == 0.0;
}

static bool harmonic_keeps_angular_momentum(const struct field *field, int axis)
{
    return field->frequencies[(axis + 1) % 3] == field->frequencies[(axis + 2) % 3];
}

static double uniform_potential(const struct field *field, const double d[3])
{
    return -vec3_dot(field->acceleration, d);
}

static struct field_motion uniform_motion(const struct field *field, const double d[3],
                                          const double *v)
{
    (void)d, (void)v;
    const double *const g = field->acceleration;
    return (struct field_motion){ { g[0], g[1], g[2] }, { 0 } };
}

static bool uniform_keeps_momentum(const struct field *field, int axis)
{
    return field->acceleration[axis] == 0.0;
}

/* The torque r x g has no component along g, wherever a body is. */
static bool uniform_keeps_angular_momentum(const struct field *field, int axis)
{
    return field->acceleration[(axis + 1) % 3] == 0.0 && field->acceleration[(axis + 2) % 3] == 0.0;
}

/* --- the table -------------------------------------------------------------------------------- */

static const char mass_help[] = "Its mass.";

static const struct parameter point_rows[] = {
    POSITIVE(mass, DIMENSION_MASS, mass_help),
};

static const struct parameter sphere_rows[] = {
    POSITIVE(mass, DIMENSION_MASS, mass_help),
    POSITIVE(scale_radius, DIMENSION_LENGTH, "Its scale radius b."),
};

static const struct parameter nfw_rows[] = {
    POSITIVE(mass, DIMENSION_MASS,
             "Its mass M = 4 pi rho_0 scale_radius^3; 0.193 M lies within scale_radius, M within "
             "5.31 of them."),
    POSITIVE(scale_radius, DIMENSION_LENGTH, "Its scale radius b, where the density goes as r^-2."),
};

static const struct parameter disc_rows[] = {
    POSITIVE(mass, DIMENSION_MASS, mass_help),
    { BIND(REAL, struct field, a), .maximum = INFINITY, .dimension = DIMENSION_LENGTH,
      .help = "Its scale length in the plane z = 0; 0: a Plummer sphere." },
    POSITIVE(b, DIMENSION_LENGTH, "Its scale height."),
};

static const struct parameter logarithmic_rows[] = {
    POSITIVE(speed, DIMENSION_VELOCITY, "Speed of circular orbits far outside of the core."),
    POSITIVE(core_radius, DIMENSION_LENGTH,
             "Radius of the core, within which the force is linear."),
    { BIND(REAL, struct field, flattening), .default_value = DEFAULT_REAL(1.0), .maximum = INFINITY,
      .open = OPEN_MINIMUM,
      .help = "Axis ratio q of its equipotentials, z to x; below 0.71 some density is negative." },
};

static const struct parameter harmonic_rows[] = {
    { BIND(REALS, struct field, frequencies), .maximum = INFINITY, .length = 3,
      .dimension = { 0, 0, -1 },
      .help = "Angular frequencies of the oscillation along x, y and z; 0: free." },
};

static const struct parameter uniform_rows[] = {
    { BIND(REALS, struct field, acceleration), .length = 3, .dimension = DIMENSION_ACCELERATION,
      .help = "Acceleration of every body." },
};

#define ROW(name_, help_, rows_)                                                                   \
    .variant = {                                                                                   \
        .name = (name_), .help = (help_), .parameters = rows_, .parameter_count = COUNT_OF(rows_)  \
    }

static const struct field_class classes[] = {
    { ROW("point-mass", "Attraction of a mass at a point, without softening.", point_rows),
      softened_potential, softened_motion, never, always, false },
    { ROW("plummer", "Attraction of a Plummer sphere.", sphere_rows), softened_potential,
      softened_motion, never, always, false },
    { ROW("hernquist", "Attraction of a Hernquist sphere, a bulge or a halo.", sphere_rows),
      hernquist_potential, hernquist_motion, never, always, false },
    { ROW("nfw", "Attraction of a halo of Navarro, Frenk and White.", nfw_rows), nfw_potential,
      nfw_motion, never, always, false },
    { ROW("miyamoto-nagai", "Attraction of a disc of Miyamoto and Nagai, about the z axis.",
          disc_rows),
      miyamoto_nagai_potential, miyamoto_nagai_motion, never, about_z, false },
    { ROW("logarithmic", "Attraction of a halo whose rotation curve is flat.", logarithmic_rows),
      logarithmic_potential, logarithmic_motion, never, logarithmic_keeps, false },
    { ROW("harmonic", "Pull towards the centre in proportion to the distance.", harmonic_rows),
      harmonic_potential, harmonic_motion, harmonic_keeps_momentum, harmonic_keeps_angular_momentum,
      false },
    { ROW("uniform", "The same acceleration everywhere.", uniform_rows), uniform_potential,
      uniform_motion, uniform_keeps_momentum, uniform_keeps_angular_momentum, true },
};

/* --- a frame that turns ----------------------------------------------------------------------- */

static double centrifugal_potential(const struct field *field, const double d[3])
{
    const double Omega = field->frequencies[2];
    return -0.5 * Omega * Omega * (d[0] * d[0] + d[1] * d[1]);
}

static struct field_motion centrifugal_motion(const struct field *field, const double d[3],
                                              const double *v)
{
    const double Omega2 = field->frequencies[2] * field->frequencies[2];
    struct field_motion motion = { { Omega2 * d[0], Omega2 * d[1], 0.0 }, { 0 } };
    for (int k = 0; v && k < 2; k++)
        motion.jerk[k] = Omega2 * v[k];
    return motion;
}

const struct field_class field_centrifugal = {
    .variant = { .name = "centrifugal" },
    .potential = centrifugal_potential,
    .motion = centrifugal_motion,
    .keeps_momentum = about_z,
    .keeps_angular_momentum = never,
};

const struct field_class *field_at(size_t index)
{
    return index < COUNT_OF(classes) ? &classes[index] : NULL;
}

const struct variant *field_variant(size_t index)
{
    return index < COUNT_OF(classes) ? &classes[index].variant : NULL;
}
