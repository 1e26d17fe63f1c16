/* The model of an exponential disc, which initial conditions have as a part or as the whole. */
#ifndef ORRERY_INITIAL_DISC_H
#define ORRERY_INITIAL_DISC_H

#include <gsl/gsl_rng.h>

#include "base/status.h"
#include "config/configuration.h"
#include "model/physics.h"

struct disc;

/* The shape of a disc, in the units of the run. */
struct disc_shape {
    double mass;
    double length, height; /* scale length Rd, scale height z0 */
    double cutoff;         /* the radius R at which it ends */
    double toomre_q;
};

/* The names of the config keys of length, height and cutoff, for messages. */
struct disc_names {
    const char *length, *height, *cutoff;
};

/* Spheres about the centre of the disc, which attract it too, such as a bulge. */
struct disc_spheres {
    double (*attraction)(const void *model, double r); /* acceleration inwards at r */
    const void *model;
};

/* Returns the radius at which the disc ends: `cutoff` or, if that is NaN (not given), 8 times the
 * scale length `length`. */
double disc_cutoff(double cutoff, double length);

/* Refuses a cut-off radius or scale height for which the velocities of the model would be wrong.
 * STATUS_CONFIG. */
enum status disc_check(const struct section *section, const struct disc_shape *shape,
                       const struct disc_names *names, struct error *error);

/* Returns the mass that the disc would have if it did not end at its cut-off radius. */
double disc_endless_mass(const struct disc_shape *shape);

/* Makes the model of a disc in its own field, in the external fields of `physics` and in the field
 * of `spheres` (NULL: none). Messages name the section. STATUS_CONFIG: no circular orbit is stable;
 * STATUS_MEMORY, STATUS_STOPPED. */
enum status disc_create(const struct section *section, const struct disc_shape *shape,
                        const struct physics *physics, const struct disc_spheres *spheres,
                        struct disc **disc, struct error *error);
void disc_destroy(struct disc *disc); /* accepts NULL */

/* Draws position and velocity of a body, in the units of the run, of a disc in the plane z = 0 that
 * turns about the z axis. */
void disc_draw(const struct disc *disc, gsl_rng *generator, double position[3], double velocity[3]);

#endif
