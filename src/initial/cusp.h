/*
 * An isotropic sphere with a central cusp, in equilibrium: with the scale radius as the unit of
 * length and G = 1
 *
 *     4 pi rho = r^-inner (1 + r)^(inner - outer) sech(r / r_t)
 *
 * The factor of the cut-off radius r_t (McMillan & Dehnen 2007, MNRAS 378, 541) is 1 without one.
 * It falls smoothly, because a density that jumps to 0 has no isotropic distribution function.
 *
 * Speeds follow from Eddington's formula (1916, MNRAS 76, 572; Binney & Tremaine 2008, eq. 4.46):
 * with Psi = -Phi and E = Psi - v^2/2
 *
 *     f(E) ~ int_0^E d^2 rho/dPsi^2 dPsi / sqrt(E - Psi)
 *
 * whose boundary term vanishes, since rho falls as r^-3 at least. The integral is taken over ln r
 * from the radius of Psi = E outwards. The model is a table over a grid that is even in ln r. Psi
 * is that of the sphere and of all that is around it, softened where the surroundings say so.
 */
#ifndef ORRERY_INITIAL_CUSP_H
#define ORRERY_INITIAL_CUSP_H

#include <stddef.h>

#include <gsl/gsl_rng.h>

#include "base/status.h"
#include "config/configuration.h"

struct cusp;

struct cusp_shape {
    /* Slopes at the centre (below 2.5) and far outside (at least 3; above 3 without a cut-off). */
    double inner, outer;
    double cutoff; /* r_t in scale radii, within the limits below; INFINITY: no cut-off */
    /* If z0 = disc_height is not 0, the shape is an exponential disc around a sphere, spread over
     * all directions: 4 pi rho = exp(-r) / sqrt(r^2 + z0^2), with inner = 0, and r, z0 in scale
     * lengths of the disc. For r far below z0 and far above it this is the mean over the sphere of
     * radius r of a disc exp(-R) sech^2(z/z0) of mass 1. */
    double disc_height;
};

/* A part of the surroundings of a sphere: other mass that attracts its bodies, such as the disc
 * around a bulge. It is taken as a sphere about the same centre. */
struct cusp_part {
    struct cusp_shape shape;
    double scale; /* scale radius of the part, in those of the sphere */
    /* mass of the part, in units of the sphere's model, over that of its shape in units of the
     * shape */
    double mass;
};

struct cusp_surroundings {
    size_t count;
    const struct cusp_part *parts;
    /* Softening length of all attraction, also of the sphere's own, in scale radii of the sphere;
     * at most CUSP_GREATEST_SOFTENING. */
    double softening;
};

/* Limits of r_t in scale radii, between which the accuracy of the model was measured. */
#define CUSP_LEAST_CUTOFF 0.01
#define CUSP_GREATEST_CUTOFF 1000000.0

/* The limit of the softening in scale radii, up to which the accuracy was measured; the message of
 * cusp_check_softening() states its inverse. */
#define CUSP_GREATEST_SOFTENING 10.0

/* Refuses a scale radius, `scale`, for which `softening`, in the same unit, is too great. `key`
 * names the key of the scale radius in messages. STATUS_CONFIG. */
enum status cusp_check_softening(const struct section *section, const char *key, double scale,
                                 double softening, struct error *error);

/* Makes the model of a sphere of this shape, whose units are its scale radius, G = 1 and the 4 pi
 * rho above. `around` is borrowed for the call; NULL: nothing is around the sphere, and nothing is
 * softened. STATUS_MEMORY; STATUS_NUMERICAL: no isotropic distribution function exists. */
enum status cusp_create(struct cusp_shape shape, const struct cusp_surroundings *around,
                        struct cusp **sphere, struct error *error);
void cusp_destroy(struct cusp *sphere); /* accepts NULL */

/* Return the mass of the sphere, and that within r, by interpolation between radii of a grid. */
double cusp_mass(const struct cusp *sphere);
double cusp_mass_within(const struct cusp *sphere, double r);
/* Returns the softened acceleration inwards at r by the sphere and its surroundings. */
double cusp_attraction(const struct cusp *sphere, double r);
/* Returns K + U, where U is that of the sphere alone and without softening. */
double cusp_energy(const struct cusp *sphere);

/* Returns the distribution function f at the energy v^2/2 - Psi, up to a constant factor. The
 * energy must lie between -Psi at the centre and -Psi at the farthest body. */
double cusp_distribution(const struct cusp *sphere, double energy);

/* Serves as draw() of struct cluster, with a struct cusp as `model`. */
void cusp_draw(const void *model, gsl_rng *generator, double position[3], double velocity[3]);

#endif
