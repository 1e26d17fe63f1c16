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

#include <stdbool.h>
#include <stddef.h>

#include "config/parameter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of fields, each with the name of its formulas (field-formulas.h). The last cannot be
 * named in a config: it is the centrifugal potential -1/2 Omega^2 R^2 of a frame that turns about
 * the z axis, with Omega as frequencies[2]. */
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

#ifdef __cplusplus
}
#endif

#endif
