/*
 * External fields at rest: the attraction of something that is not made of bodies, as a halo or a
 * disc. Their table, with the potential of each about its centre; d = x - centre, r = |d|,
 * R^2 = x^2 + y^2, G the gravitational constant, M the mass:
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

#include <stdbool.h>
#include <stddef.h>

#include "config/parameter.h"

/* One field, with the numbers that the keys of its class set, in the units of the config. */
struct field {
    const struct field_class *class_;
    double gravitational_constant;
    double center[3];
    double mass, scale_radius, a, b, speed, core_radius, flattening;
    double frequencies[3], acceleration[3];
};

/* The acceleration of a body at d from the centre and its rate of change where the body moves with
 * v; `velocity` NULL: no rate is asked for. 0 where the acceleration has no direction, at r = 0. */
struct field_motion {
    double a[3], jerk[3];
};

struct field_class {
    struct variant variant;
    double (*potential)(const struct field *field, const double d[3]); /* energy per mass */
    struct field_motion (*motion)(const struct field *field, const double d[3],
                                  const double *velocity);
    /* Tells whether the field keeps a component of the momentum of the bodies, and of their angular
     * momentum about an axis through its centre. */
    bool (*keeps_momentum)(const struct field *field, int axis);
    bool (*keeps_angular_momentum)(const struct field *field, int axis);
    bool everywhere; /* it has no centre: its axes go through any point */
};

/* The row, NULL past the last one; and its variant, for the schema. */
const struct field_class *field_at(size_t index);
const struct variant *field_variant(size_t index);

/* The centrifugal potential -1/2 Omega^2 R^2 of a frame that turns about the z axis, no field of a
 * config, with Omega as frequencies[2]. The frame's Coriolis force changes momentum across the axis
 * and every component of the angular momentum, so that the class keeps none of these. */
extern const struct field_class field_centrifugal;

/* Those that every field has. */
enum { FIELD_PARAMETERS = 1 };
extern const struct parameter field_parameters[FIELD_PARAMETERS];

#endif
