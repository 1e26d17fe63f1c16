/*
 * External fields at rest: the attraction of something that is not made of bodies, such as a halo
 * or a disc. The potential of each kind, about its centre, is given below, with d = x - centre,
 * r = |d|, R^2 = d_x^2 + d_y^2, z = d_z, G the gravitational constant and M the mass:
 *
 *   point-mass      -G M / r
 *   plummer         -G M / sqrt(r^2 + b^2)                  b = scale_radius (Plummer 1911)
 *   hernquist       -G M / (r + b)                          (Hernquist 1990, ApJ 356, 359)
 *   nfw             -G M ln(1 + r/b) / r                    (Navarro, Frenk & White 1996, ApJ 462,
 *                                                           563); M = 4 pi rho_0 b^3
 *   miyamoto-nagai  -G M / sqrt(R^2 + (a + sqrt(z^2 + b^2))^2)
 *                                                           (Miyamoto & Nagai 1975, PASJ 27, 533)
 *   logarithmic     v^2/2 ln((c^2 + R^2 + (z/q)^2) / c^2)   v = speed, c = core_radius, q =
 *                                                           flattening (Binney & Tremaine 2008,
 *                                                           eq. 2.71)
 *   harmonic        1/2 sum_k w_k^2 d_k^2                   w = frequencies
 *   uniform         -g . d                                  g = acceleration
 */
#ifndef ORRERY_EXTERNAL_FIELD_H
#define ORRERY_EXTERNAL_FIELD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "config/parameter.h"
#include "model/vec3.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of fields, each with the name of its formulas. The last cannot be named in a config: it
 * is the centrifugal potential -1/2 Omega^2 R^2 of a frame that turns about the z axis, with Omega
 * as frequencies[2]. */
#define FIELD_KINDS(KIND)                                                                          \
    KIND(POINT_MASS, softened)                                                                     \
    KIND(PLUMMER, softened)                                                                        \
    KIND(HERNQUIST, hernquist)                                                                     \
    KIND(NFW, nfw)                                                                                 \
    KIND(MIYAMOTO_NAGAI, miyamoto_nagai)                                                           \
    KIND(LOGARITHMIC, logarithmic)                                                                 \
    KIND(HARMONIC, harmonic)                                                                       \
    KIND(UNIFORM, uniform)                                                                         \
    KIND(CENTRIFUGAL, centrifugal)

#define FIELD_KIND(kind, formula) FIELD_##kind,
enum field_kind { FIELD_KINDS(FIELD_KIND) };
#undef FIELD_KIND

/* One field: the values of the keys of its kind, in the units of the config; members that the kind
 * does not use are 0. It has no pointers, so that it can be copied to other processes and to a
 * GPU. */
struct field {
    enum field_kind kind;
    double gravitational_constant;
    double center[3];
    double mass, scale_radius, a, b, speed, core_radius, flattening;
    double frequencies[3], acceleration[3];
};

struct field_class {
    struct variant variant;
    /* Tell whether the field conserves the component along `axis` (0, 1, 2: x, y, z) of the bodies'
     * momentum, or of their angular momentum about an axis through its centre. */
    bool (*keeps_momentum)(const struct field *field, int axis);
    bool (*keeps_angular_momentum)(const struct field *field, int axis);
    bool everywhere; /* the field is equal everywhere and has no centre: any point will do for
                        angular momentum */
};

const struct field_class *field_class_of(enum field_kind kind);

/* Returns the name and the keys of a kind of field for the table of all config keys; NULL for kinds
 * that a config cannot name. */
const struct variant *field_variant(size_t kind);

/* The config keys that all kinds of fields share: `center`. */
enum { FIELD_PARAMETERS = 1 };
extern const struct parameter field_parameters[FIELD_PARAMETERS];

/* --- the formulas ----------------------------------------------------------------------------- */

/* The formulas of the table above, for CPUs and for the kernels of a GPU alike: potential,
 * acceleration and jerk of one field at the position d from its centre, the sums of these over a
 * list of fields, and the drift of a body in a frame that turns. */

/* The acceleration of a body and its rate of change, the jerk; both are 0 at the centre of a field
 * whose acceleration has no direction there. The functions below compute the jerk unless the body's
 * velocity v is NULL. */
struct field_motion {
    double a[3], jerk[3];
};

DEVICE_INLINE struct field_motion field_no_motion(void)
{
    const struct field_motion none = { { 0 }, { 0 } };
    return none;
}

/* --- spheres ---------------------------------------------------------------------------------- */

/* Returns acceleration and jerk in a spherical field, at d from its centre: a = -q d with
 * q = G M(r) / r^3, M(r) the mass within r, so jerk = -q v - slope (d . v) d with slope = (dq/dr) /
 * r. */
DEVICE_INLINE struct field_motion radial_motion(const double d[3], const double *v, double q,
                                                double slope)
{
    struct field_motion motion = field_no_motion();
    const double along = v ? slope * vec3_dot(d, v) : 0.0;
    for (int k = 0; k < 3; k++) {
        motion.a[k] = -q * d[k];
        motion.jerk[k] = v ? -q * v[k] - along * d[k] : 0.0;
    }
    return motion;
}

/* Returns G M, the strength of a field that a mass makes. */
DEVICE_INLINE double field_strength(const struct field *field)
{
    return field->gravitational_constant * field->mass;
}

/* Returns the potential of a Plummer sphere; if its scale radius b is 0, that of a point mass. */
DEVICE_INLINE double softened_potential(const struct field *field, const double d[3])
{
    const double b = field->scale_radius;
    return -field_strength(field) / sqrt(vec3_dot(d, d) + b * b);
}

DEVICE_INLINE struct field_motion softened_motion(const struct field *field, const double d[3],
                                                  const double *v)
{
    const double b = field->scale_radius, s2 = vec3_dot(d, d) + b * b;
    if (!(s2 > 0.0))
        return field_no_motion();
    const double q = field_strength(field) / (s2 * sqrt(s2));
    return radial_motion(d, v, q, -3.0 * q / s2);
}

DEVICE_INLINE double hernquist_potential(const struct field *field, const double d[3])
{
    return -field_strength(field) / (vec3_length(d) + field->scale_radius);
}

DEVICE_INLINE struct field_motion hernquist_motion(const struct field *field, const double d[3],
                                                   const double *v)
{
    const double r = vec3_length(d), b = field->scale_radius, s = r + b;
    if (!(r > 0.0))
        return field_no_motion();
    const double q = field_strength(field) / (r * s * s);
    return radial_motion(d, v, q, -q * (3.0 * r + b) / (r * r * s));
}

DEVICE_INLINE double nfw_potential(const struct field *field, const double d[3])
{
    const double r = vec3_length(d), b = field->scale_radius;
    return -field_strength(field) * (r > 0.0 ? log1p(r / b) / r : 1.0 / b);
}

/* Returns ln(1 + x) - x / (1 + x): the mass within x scale radii in units of the field's mass M.
 * For small x the difference would lose digits, so that the series sum_n (-x)^n (n - 1) / n, n >=
 * 2, is summed. */
DEVICE_INLINE double nfw_mass(double x)
{
    enum { TERMS = 17 };
    double sum = 0.0;
    if (x > 0.1)
        return log1p(x) - x / (1.0 + x);
    for (int n = TERMS; n >= 2; n--)
        sum = (double)(n - 1) / n - x * sum;
    return sum * x * x;
}

DEVICE_INLINE struct field_motion nfw_motion(const struct field *field, const double d[3],
                                             const double *v)
{
    const double r = vec3_length(d), b = field->scale_radius, x = r / b;
    if (!(r > 0.0))
        return field_no_motion();
    const double r3 = r * r * r, q = field_strength(field) * nfw_mass(x) / r3;
    const double growth = x / ((1.0 + x) * (1.0 + x) * b); /* d nfw_mass(r/b) / dr */
    return radial_motion(d, v, q, (field_strength(field) * growth / r3 - 3.0 * q / r) / r);
}

/* --- discs and halos that are flattened ------------------------------------------------------- */

DEVICE_INLINE double miyamoto_nagai_potential(const struct field *field, const double d[3])
{
    const double height = field->a + hypot(d[2], field->b);
    return -field_strength(field) / sqrt(d[0] * d[0] + d[1] * d[1] + height * height);
}

DEVICE_INLINE struct field_motion miyamoto_nagai_motion(const struct field *field,
                                                        const double d[3], const double *v)
{
    struct field_motion motion = field_no_motion();
    const double B = hypot(d[2], field->b), A = field->a + B;
    const double s2 = d[0] * d[0] + d[1] * d[1] + A * A;
    const double q = field_strength(field) / (s2 * sqrt(s2));
    const double u[3] = { d[0], d[1], d[2] * A / B };
    for (int k = 0; k < 3; k++)
        motion.a[k] = -q * u[k];
    if (!v)
        return motion;
    const double rise = d[2] * v[2] / B; /* rate of change of both A and B */
    const double half = d[0] * v[0] + d[1] * v[1] + A * rise;
    const double w[3] = { v[0], v[1], (v[2] * A + d[2] * rise - d[2] * A * rise / B) / B };
    for (int k = 0; k < 3; k++)
        motion.jerk[k] = -q * (w[k] - 3.0 * half / s2 * u[k]);
    return motion;
}

/* Returns c^2 + R^2 + (z/q)^2 at d from the centre, with c the core radius, q the flattening and R
 * the distance from the z axis. */
DEVICE_INLINE double logarithmic_square(const struct field *field, const double d[3])
{
    const double z = d[2] / field->flattening;
    return field->core_radius * field->core_radius + d[0] * d[0] + d[1] * d[1] + z * z;
}

DEVICE_INLINE double logarithmic_potential(const struct field *field, const double d[3])
{
    const double c = field->core_radius, z = d[2] / field->flattening;
    return 0.5 * field->speed * field->speed * log1p((d[0] * d[0] + d[1] * d[1] + z * z) / (c * c));
}

DEVICE_INLINE struct field_motion logarithmic_motion(const struct field *field, const double d[3],
                                                     const double *v)
{
    struct field_motion motion = field_no_motion();
    const double s2 = logarithmic_square(field, d), q = field->speed * field->speed / s2;
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

/* --- fields without mass ---------------------------------------------------------------------- */

DEVICE_INLINE double harmonic_potential(const struct field *field, const double d[3])
{
    const double *const w = field->frequencies;
    const double each[3] = { w[0] * d[0], w[1] * d[1], w[2] * d[2] };
    return 0.5 * vec3_dot(each, each);
}

DEVICE_INLINE struct field_motion harmonic_motion(const struct field *field, const double d[3],
                                                  const double *v)
{
    struct field_motion motion = field_no_motion();
    for (int k = 0; k < 3; k++) {
        const double w2 = field->frequencies[k] * field->frequencies[k];
        motion.a[k] = -w2 * d[k];
        motion.jerk[k] = v ? -w2 * v[k] : 0.0;
    }
    return motion;
}

DEVICE_INLINE double uniform_potential(const struct field *field, const double d[3])
{
    return -vec3_dot(field->acceleration, d);
}

DEVICE_INLINE struct field_motion uniform_motion(const struct field *field, const double d[3],
                                                 const double *v)
{
    (void)d, (void)v;
    const double *const g = field->acceleration;
    const struct field_motion motion = { { g[0], g[1], g[2] }, { 0 } };
    return motion;
}

/* --- a frame that turns ----------------------------------------------------------------------- */

DEVICE_INLINE double centrifugal_potential(const struct field *field, const double d[3])
{
    const double Omega = field->frequencies[2];
    return -0.5 * Omega * Omega * (d[0] * d[0] + d[1] * d[1]);
}

DEVICE_INLINE struct field_motion centrifugal_motion(const struct field *field, const double d[3],
                                                     const double *v)
{
    const double Omega2 = field->frequencies[2] * field->frequencies[2];
    struct field_motion motion = { { Omega2 * d[0], Omega2 * d[1], 0.0 }, { 0 } };
    for (int k = 0; v && k < 2; k++)
        motion.jerk[k] = Omega2 * v[k];
    return motion;
}

/* --- a field of any kind ---------------------------------------------------------------------- */

/* Returns the potential, energy per mass, of a field of any kind at d from its centre. */
DEVICE_INLINE double field_potential(const struct field *field, const double d[3])
{
    switch (field->kind) {
#define FIELD_KIND(kind, formula)                                                                  \
    case FIELD_##kind:                                                                             \
        return formula##_potential(field, d);
        /* NOLINTNEXTLINE(bugprone-branch-clone): two kinds share their formulas */
        FIELD_KINDS(FIELD_KIND)
#undef FIELD_KIND
    }
    return 0.0;
}

DEVICE_INLINE struct field_motion field_motion(const struct field *field, const double d[3],
                                               const double *v)
{
    switch (field->kind) {
#define FIELD_KIND(kind, formula)                                                                  \
    case FIELD_##kind:                                                                             \
        return formula##_motion(field, d, v);
        /* NOLINTNEXTLINE(bugprone-branch-clone): two kinds share their formulas */
        FIELD_KINDS(FIELD_KIND)
#undef FIELD_KIND
    }
    return field_no_motion();
}

/* --- a list of fields ------------------------------------------------------------------------- */

DEVICE_INLINE void field_from_center(const double center[3], const double x[3], double d[3])
{
    for (int k = 0; k < 3; k++)
        d[k] = x[k] - center[k];
}

/* Returns the sum of the potentials of `count` fields at the position x. */
DEVICE_INLINE double fields_potential(const struct field *fields, size_t count, const double x[3])
{
    double sum = 0.0, d[3];
    for (size_t f = 0; f < count; f++) {
        field_from_center(fields[f].center, x, d);
        sum += field_potential(&fields[f], d);
    }
    return sum;
}

/* Returns the sums of the accelerations of `count` fields at the position x and, unless v is NULL,
 * of their jerks for a body with velocity v. */
DEVICE_INLINE struct field_motion fields_motion(const struct field *fields, size_t count,
                                                const double x[3], const double *v)
{
    struct field_motion sum = field_no_motion();
    double d[3];
    for (size_t f = 0; f < count; f++) {
        field_from_center(fields[f].center, x, d);
        const struct field_motion one = field_motion(&fields[f], d, v);
        for (int k = 0; k < 3; k++) {
            sum.a[k] += one.a[k];
            sum.jerk[k] += one.jerk[k];
        }
    }
    return sum;
}

/* --- a drift in a frame that turns ------------------------------------------------------------ */

/* The coefficients of a drift by the time h in a frame that turns with Omega: t = tan(Omega h),
 * s = sin(2 Omega h), and the factors of the displacements along x and y, s / (2 Omega) and
 * t / (2 Omega). */
struct field_drift {
    double h, t, s, along_x, along_y;
};

/*
 * Drifts a body by the coefficients `by` of a frame that turns with Omega: v turns by -theta,
 * theta = 2 Omega h, in three shears with t = tan(theta / 2) and s = sin(theta). The rounding of
 * shears does not favour one sign, while a rotation matrix, whose c^2 + s^2 differs from 1 by
 * rounding, would change |v| by the same factor at every step. The positions follow from v_x - 2
 * Omega y and v_y + 2 Omega x, which are constant.
 */
DEVICE_INLINE void field_drift(const struct field_drift *by, double x[3], double v[3])
{
    const double middle = v[0] + by->t * v[1];
    const double vy = v[1] - by->s * middle;
    x[0] += by->along_x * middle;
    x[1] += by->along_y * (v[1] + vy);
    x[2] += by->h * v[2];
    v[0] = middle + by->t * vy;
    v[1] = vy;
}

#ifdef __cplusplus
}
#endif

#endif
