/* The bodies of a system in the order of their distance from a centre. */
#ifndef ORRERY_SPACE_SPHERE_H
#define ORRERY_SPACE_SPHERE_H

#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "model/bodies.h"
#include "model/physics.h"
#include "space/neighbours.h"

enum sphere_center {
    SPHERE_DENSITY, /* the place where the bodies are densest */
    SPHERE_MASS,    /* the centre of mass */
    SPHERE_ORIGIN
};

/* The choices of the config key `center`, and the table row that declares this key for diagnostics
 * that have a centre: its value goes to the member `center` of the diagnostic's struct. */
extern const char *const sphere_center_names[];
/* clang-format off */
#define SPHERE_CENTER_PARAMETER(struct_)                                                           \
    { BIND(CHOICE, struct_, center), BY_DEFAULT(STRING, "density"),                                \
      .choices = sphere_center_names,                                                              \
      .help = "Distances are from the density centre (Casertano & Hut 1985), the centre of mass "  \
              "or the origin." }
/* clang-format on */

struct sphere {
    size_t count;
    double mass; /* mass of all bodies */
    double center[3];
    double core_radius; /* that of density_center(); NaN unless the centre is that of density */
    double *r;          /* distances from the centre, ascending */
    double *enclosed;   /* for each distance, the mass of the bodies up to it */
    size_t *body;       /* for each distance, the index of the body within the system */
};

/* The most bytes for each body that sphere_create() takes: for distances, order and masses, and
 * while it finds the centre of density. */
enum { SPHERE_BODY_BYTES = NEIGHBOURS_BODY_BYTES + 5 * sizeof(double) };

/* Sorts the bodies of a system by their distance from the centre. STATUS_MEMORY; STATUS_NUMERICAL
 * if the centre is that of density and a position is no number (NaN, infinite). */
enum status sphere_create(const struct bodies *bodies, size_t system, enum sphere_center center,
                          int threads, struct sphere *sphere, struct error *error);
void sphere_destroy(struct sphere *sphere); /* accepts what create() filled, and all zero */

/* Returns the Lagrangian radius of `fraction`, 0 < f <= 1: the distance from the centre of the body
 * with which the enclosed mass reaches f times the whole mass. */
double sphere_radius(const struct sphere *sphere, double fraction);

/* Counts the bodies that are nearer to the centre than r. */
size_t sphere_count_within(const struct sphere *sphere, double r);

/* --- the centre of density -------------------------------------------------------------------- */

/* The centre of density is near the place where a cluster is densest; radial profiles are taken
 * about it. */

struct density_center {
    double x[3];
    double core_radius;
};

/*
 * Finds the centre x = sum rho_i x_i / sum rho_i, with the local density that the sixth neighbour
 * gives, rho_i = (mass of the five nearest) / (4 pi / 3 r_6^3), which is unbiased (Casertano & Hut
 * 1985, ApJ 298, 80); core radius r_c^2 = sum rho_i^2 |x_i - x|^2 / sum rho_i^2 (McMillan, Hut &
 * Makino 1990, ApJ 362, 522). With fewer than seven bodies, or if the sum of the densities is 0 or
 * infinite, x is the centre of mass and the core radius is NaN. Open space only. STATUS_MEMORY,
 * STATUS_NUMERICAL as neighbours_create().
 */
enum status density_center(const struct bodies *bodies, size_t system, int threads,
                           struct density_center *center, struct error *error);

#endif
