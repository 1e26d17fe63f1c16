/* The exponential disc: its model, for those starts that have one among their parts. */
#ifndef ORRERY_INITIAL_DISC_H
#define ORRERY_INITIAL_DISC_H

#include <gsl/gsl_rng.h>

#include "base/status.h"
#include "config/configuration.h"
#include "model/physics.h"

struct disc;

/* In the units of the run. */
struct disc_shape {
    double mass;
    double length, height; /* Rd and z0 */
    double cutoff;         /* the radius at which it ends */
    double toomre_q;
};

/* The keys of a config that give them. */
struct disc_names {
    const char *length, *height, *cutoff;
};

/* Spheres about the centre of the disc, which attract it beside its own field. */
struct disc_spheres {
    double (*attraction)(const void *model, double r); /* the acceleration inwards */
    const void *model;
};

/* Returns the radius at which the disc ends where the config says nothing (NaN) of it. */
double disc_cutoff(double cutoff, double length);

/* Refuses lengths for which the velocities would be wrong. STATUS_CONFIG. */
enum status disc_check(const struct section *section, const struct disc_shape *shape,
                       const struct disc_names *names, struct error *error);

/* Returns the mass that the disc would have if it did not end. */
double disc_endless_mass(const struct disc_shape *shape);

/* Makes the model in its own field, the external fields and those of `spheres`, or NULL. The
 * section stands in messages. STATUS_CONFIG: no circular orbit is stable; STATUS_MEMORY,
 * STATUS_STOPPED. */
enum status disc_create(const struct section *section, const struct disc_shape *shape,
                        const struct physics *physics, const struct disc_spheres *spheres,
                        struct disc **disc, struct error *error);
void disc_destroy(struct disc *disc); /* accepts NULL */

/* Draws a body about the z axis. */
void disc_draw(const struct disc *disc, gsl_rng *generator, double position[3], double velocity[3]);

#endif
