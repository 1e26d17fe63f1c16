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
    double inner, outer; /* slopes: inner below 2.5, outer 3 or more, above 3 without a cut-off */
    double cutoff;       /* r_t, within the limits below; INFINITY: none */
    /* z0 > 0, of surroundings alone, with inner = 0: 4 pi rho = exp(-r) / sqrt(r^2 + z0^2). Far
     * within z0 and far beyond it is the mean over the sphere of a disc exp(-R) sech^2(z/z0) with M
     * = 1. */
    double disc_height;
};

/* A part that attracts the bodies of a sphere beside them, as a sphere about the same centre. */
struct cusp_part {
    struct cusp_shape shape;
    double scale; /* its scale radius, in that of the sphere */
    double mass;  /* times that of its shape */
};

struct cusp_surroundings {
    size_t count;
    const struct cusp_part *parts;
    double softening; /* eps of all attraction, in scale radii; see the limit below */
};

/* Limits of r_t in scale radii; the accuracy was measured between them. */
#define CUSP_LEAST_CUTOFF 0.01
#define CUSP_GREATEST_CUTOFF 1000000.0

#define CUSP_GREATEST_SOFTENING 10.0 /* in scale radii, likewise; a message has its inverse */

/* Refuses a scale radius, given by a key of the section, for which the softening is too great.
 * STATUS_CONFIG. */
enum status cusp_check_softening(const struct section *section, const char *key, double scale,
                                 double softening, struct error *error);

/* Makes the model; `around` is borrowed for the call, NULL where there is nothing. STATUS_MEMORY,
 * STATUS_NUMERICAL: it has no isotropic distribution function. */
enum status cusp_create(struct cusp_shape shape, const struct cusp_surroundings *around,
                        struct cusp **sphere, struct error *error);
void cusp_destroy(struct cusp *sphere); /* accepts NULL */

double cusp_mass(const struct cusp *sphere);
/* Returns the mass within r, by interpolation between radii. */
double cusp_mass_within(const struct cusp *sphere, double r);
/* Returns GM/r^2 of the sphere and all that is around it, softened. */
double cusp_attraction(const struct cusp *sphere, double r);
/* Returns K + U, where U is that of the sphere alone without softening. */
double cusp_energy(const struct cusp *sphere);

/* Returns f of the energy v^2/2 - Psi, but for a constant; from the centre's Psi to that of the
 * farthest body. */
double cusp_distribution(const struct cusp *sphere, double energy);

/* Draws a body of the model, a struct cusp, in its units; for struct cluster. */
void cusp_draw(const void *model, gsl_rng *generator, double position[3], double velocity[3]);

#endif
