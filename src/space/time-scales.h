/*
 * The crossing time and the half-mass relaxation time of a cluster, from its bodies at the start:
 *
 * t_cr = G M^(5/2) / (2 |E|)^(3/2), 2 sqrt(2) in N-body units (Heggie & Mathieu 1986);
 * t_rh = 0.138 N r_h^(3/2) / (sqrt(G M) ln(0.11 N)), with the half-mass radius r_h, for bodies of
 * equal mass without softening (Spitzer 1987; 0.11: Giersz & Heggie 1994, MNRAS 268, 257). A bound
 * pair counts as one body; E, K and W are those in the frame of the centre of mass, without the
 * energies within the bound pairs.
 */
#ifndef ORRERY_SPACE_TIME_SCALES_H
#define ORRERY_SPACE_TIME_SCALES_H

#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"
#include "model/conserved.h"
#include "model/physics.h"
#include "space/sphere.h"

/* The part of the input of time_scales() that follows from the bodies alone, before the conserved
 * quantities are known. */
struct time_scales_structure {
    double count;            /* number of bodies with mass, a bound pair as one */
    double largest;          /* the largest mass among these */
    double half_mass_radius; /* half of the mass lies within it, about the centre of mass */
    double kinetic, potential, virial; /* within the bound pairs */
};

struct time_scales {
    double crossing; /* t_cr; NaN if E >= 0, and with fewer than 50 bodies or one that has more than
                        a tenth of the mass */
    double relaxation; /* t_rh; NaN if t_cr is, and unless 1/2 < 2 K / |W| < 3/2 */
};

/* The bytes that time_scales_structure() borrows for each body: first for bound pairs, then for the
 * sphere, which takes no less. */
enum { TIME_SCALES_BODY_BYTES = SPHERE_BODY_BYTES };

/* Finds the structure of a system, which time_scales() needs beside the conserved quantities; all
 * members are 0 in a periodic box, with external fields, whose energy is not that of the bodies
 * among themselves, and for fewer than 50 bodies. One thread does it. STATUS_MEMORY,
 * STATUS_NUMERICAL. */
enum status time_scales_structure(const struct physics *physics, const struct bodies *bodies,
                                  size_t system, struct time_scales_structure *structure,
                                  struct error *error);
struct time_scales time_scales(const struct physics *physics,
                               const struct time_scales_structure *structure,
                               const struct conserved *conserved);

/* --- the size of numbers ---------------------------------------------------------------------- */

/* The typical size of the numbers of a run. Errors by rounding are in proportion to these. Bodies
 * count alike in lengths and speeds, whatever their mass, since each is rounded for itself. */

struct scales {
    double length;           /* rms distance of a body from the origin */
    double velocity;         /* rms speed */
    double momentum;         /* the largest sum m |v| of a system, m = 1 if no body has mass */
    double angular_momentum; /* the largest sum m |r| |v| of a system */
};

void scales_measure(const struct bodies *bodies, struct scales *scales);

#endif
