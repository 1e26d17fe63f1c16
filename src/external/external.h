/*
 * All external fields of a run, which act together on every body in addition to the pairs. In a
 * frame that turns, its centrifugal field is the last of the list, and the energy is Jacobi's.
 * Functions take positions and velocities in the units of the config and know nothing of systems:
 * every system of an ensemble is in the same fields.
 */
#ifndef ORRERY_EXTERNAL_EXTERNAL_H
#define ORRERY_EXTERNAL_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "external/field-formulas.h"
#include "model/bodies.h"
#include "model/conserved.h"

struct external {
    size_t count;
    struct field *fields;
    double center[3]; /* the point about which angular momentum and virial are taken: the centre of
                         the first field that has one, else the origin */
    /* Components that all fields conserve, of the momentum and of the angular momentum about an
     * axis through the centre. */
    bool keeps_momentum[3], keeps_angular_momentum[3];
};

/* Creates the fields of the list `external` of the config, and the centrifugal field if `rotation`
 * is not 0; *external is NULL if there is no field. STATUS_MEMORY. */
enum status external_create(const struct config *config, double gravitational_constant,
                            double rotation, struct external **external, struct error *error);
/* Allocates `count` fields, for a process that receives them from another one. The caller fills
 * them in and then calls external_find_kept(), which finds the centre and the conserved components.
 * STATUS_MEMORY. */
enum status external_allocate(size_t count, struct external **external, struct error *error);
void external_find_kept(struct external *external);
void external_destroy(struct external *external); /* accepts NULL */

/* Return the sums over all fields at a position: potential (energy per mass), acceleration, or
 * acceleration and jerk of a body with velocity v. */
double external_potential(const struct external *external, const double x[3]);
void external_acceleration(const struct external *external, const double x[3], double a[3]);
struct field_motion external_motion(const struct external *external, const double x[3],
                                    const double v[3]);

/* Returns the sum of the magnitudes of the fields' accelerations, which themselves may cancel. */
double external_pulls(const struct external *external, const double x[3]);

/*
 * Returns the time in which the acceleration of a body changes: the shorter of
 * 1 / sqrt(max |T e_k|), with T the tidal tensor da/dx and e_k the unit vectors, and of
 * |a| / |jerk|. In a circular orbit about a point mass the first is the period over 2 pi sqrt(2).
 * INFINITY if the acceleration does not change.
 */
double external_time(const struct external *external, const double x[3], const double v[3]);

/* Adds the acceleration by the fields to bodies->ax, ay, az at the indices [first, last). */
void external_accelerate(const struct external *external, const struct bodies *bodies, size_t first,
                         size_t last);

/* Adds the Coriolis acceleration of a frame that turns with `rotation` to bodies->ax, ay at the
 * indices [first, last), for integrators whose drifts do not include it. */
void external_add_coriolis(double rotation, const struct bodies *bodies, size_t first, size_t last);

/* Returns the coefficients of a drift by the time h in a frame that turns with `rotation`, which is
 * not 0. */
struct field_drift external_drift_of(double rotation, double h);

/*
 * Drifts the bodies at the indices [first, last) by the time h in a frame that turns with the
 * angular speed `rotation`. Solves dx/dt = v, dv/dt = -2 Omega x v exactly: the Coriolis force
 * turns v (Chin 2008, Phys. Rev. E 77, 066401; Quinn et al. 2010, AJ 139, 803).
 */
void external_drift(double rotation, const struct bodies *bodies, double h, size_t first,
                    size_t last);

/* Adds the fields' potential to phi and (x - center) . a to psi at the indices [first, last); psi
 * may be NULL. Sums over bodies that are halved, since a pair counts twice in them, need it
 * twice. */
void external_add_potentials(const struct external *external, const struct bodies *bodies,
                             size_t first, size_t last, double *phi, double *psi);

/* Returns a text such as "rotates by 0.3 radians in a unit of time; energies are Jacobi's"; NULL if
 * the frame is at rest. */
enum { EXTERNAL_FRAME_SIZE = 96 };
const char *external_frame_text(const struct physics *physics, char buffer[EXTERNAL_FRAME_SIZE]);

/* Tells whether a body of the system has mass. In fields a system may have none. */
bool external_has_mass(const struct bodies *bodies, size_t system);

/*
 * Allocates the masses that weight the sums of conserved quantities: a body's own, but 1 for each
 * body of a system without any mass, whose energy then is the sum of 1/2 v^2 + phi. The array is
 * laid out like those of the bodies; *masses is NULL if every system has mass. STATUS_MEMORY.
 */
enum status external_masses(const struct bodies *bodies, double **masses, struct error *error);

/* Turns the sums of a system, whose phi and psi include the fields, into those of a system in the
 * fields: its energy has the whole kinetic energy instead of that about the centre of mass, and its
 * angular momentum is about the centre of the fields. */
void external_refer(const struct external *external, struct conserved *conserved);

/* Returns the index of the first body of the system that begins at index `first` at which the
 * potential is not finite; first + bodies->count if there is none. */
size_t external_find_singular(const struct external *external, const struct bodies *bodies,
                              size_t first);

#endif
