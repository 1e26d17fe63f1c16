/*
 * All external fields of a run, which act together on every body, in addition to the other bodies.
 * In a frame that turns, the centrifugal field is the last one of the list, and the energy is
 * Jacobi's integral. Functions take positions and velocities in the units of the config and need
 * not know of systems: all systems of an ensemble (independent sets of bodies in one run) are in
 * the same fields.
 */
#ifndef ORRERY_EXTERNAL_EXTERNAL_H
#define ORRERY_EXTERNAL_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "external/field.h"
#include "model/bodies.h"
#include "model/conserved.h"

struct external {
    size_t count;
    struct field *fields;
    double center[3]; /* the point about which angular momentum and virial are taken: the centre of
                         the first field that has a centre, or the origin if no field has one */
    /* keeps_momentum[k]: all fields conserve component k of the bodies' momentum.
     * keeps_angular_momentum[k]: all conserve component k of their angular momentum about
     * `center`. */
    bool keeps_momentum[3], keeps_angular_momentum[3];
};

/* Creates the fields of the list `external` of the config, and the centrifugal field if `rotation`,
 * the angular speed of the frame, is not 0. *external is NULL if there is no field.
 * STATUS_MEMORY. */
enum status external_create(const struct config *config, double gravitational_constant,
                            double rotation, struct external **external, struct error *error);
/* Allocates `count` fields, for a process that receives them from another one. The caller fills
 * them in and then calls external_find_kept(), which finds the centre and the conserved components.
 * STATUS_MEMORY. */
enum status external_allocate(size_t count, struct external **external, struct error *error);
void external_find_kept(struct external *external);
void external_destroy(struct external *external); /* accepts NULL */

/* Return sums over all fields at the position x: of their potentials (energy per mass), of their
 * accelerations, or of the accelerations with their rates of change (jerk) for a body with velocity
 * v. */
double external_potential(const struct external *external, const double x[3]);
void external_acceleration(const struct external *external, const double x[3], double a[3]);
struct field_motion external_motion(const struct external *external, const double x[3],
                                    const double v[3]);

/* Returns the sum over the fields of the magnitude |a| of each one's acceleration at x. Where it is
 * much larger than the magnitude of the sum, the fields cancel one another. */
double external_pulls(const struct external *external, const double x[3]);

/*
 * Returns the time in which the acceleration of a body at x with velocity v changes: the lesser of
 * |a| / |jerk| (unless it is 0) and 1 / sqrt(max |T e_k|), where T = da/dx is the tidal tensor and
 * e_k are the unit vectors along x, y and z. For a circular orbit about a point mass, with the mass
 * on one of these axes, the latter is the period over 2 pi sqrt(2). INFINITY if the acceleration
 * does not change.
 */
double external_time(const struct external *external, const double x[3], const double v[3]);

/* Adds the acceleration of all fields to bodies->ax, ay, az for the bodies at the indices [first,
 * last) of the arrays. */
void external_accelerate(const struct external *external, const struct bodies *bodies, size_t first,
                         size_t last);

/* Adds the Coriolis acceleration in a frame that turns about the z axis with the angular speed
 * `rotation` to bodies->ax, ay at the indices [first, last). For integrators that do not drift by
 * external_drift(), which includes it. */
void external_add_coriolis(double rotation, const struct bodies *bodies, size_t first, size_t last);

/* Returns the coefficients for field_drift(), which moves a body by the time h in a frame that
 * turns with the angular speed `rotation`, not 0. */
struct field_drift external_drift_of(double rotation, double h);

/*
 * Drifts the bodies at the indices [first, last) by the time h in a frame that turns with the
 * angular speed `rotation`. Solves dx/dt = v, dv/dt = -2 Omega x v (vector product) exactly: the
 * Coriolis force turns v without changing |v| (Chin 2008, Phys. Rev. E 77, 066401; Quinn et al.
 * 2010, AJ 139, 803).
 */
void external_drift(double rotation, const struct bodies *bodies, double h, size_t first,
                    size_t last);

/* Adds to phi[i] the potential of the fields at body i and, unless psi is NULL, to psi[i] its
 * virial per mass (x - center) . a, for the bodies at the indices [first, last). An energy 1/2 sum
 * m phi, halved because each pair is in phi twice, would take only half of the fields: for such
 * sums the caller adds the fields twice. */
void external_add_potentials(const struct external *external, const struct bodies *bodies,
                             size_t first, size_t last, double *phi, double *psi);

/* Returns the end of a sentence about the frame, such as "rotates by 0.3 radians in a unit of time;
 * energies are Jacobi's"; NULL if the frame does not turn. */
enum { EXTERNAL_FRAME_SIZE = 96 };
const char *external_frame_text(const struct physics *physics, char buffer[EXTERNAL_FRAME_SIZE]);

/* Tells whether any body of the system has mass. In external fields all bodies of a system may be
 * without mass. */
bool external_has_mass(const struct bodies *bodies, size_t system);

/*
 * Allocates the masses with which sums such as the energy are weighted: those of the bodies, but 1
 * for each body of a system in which no body has mass, whose energy is then the sum of 1/2 v^2 +
 * phi. The array is laid out like those of the bodies; *masses is NULL if every system has mass.
 * STATUS_MEMORY.
 */
enum status external_masses(const struct bodies *bodies, double **masses, struct error *error);

/* Changes the conserved quantities of a system, summed with the fields in phi and psi, for the
 * presence of the fields. The internal kinetic energy, about the centre of mass, becomes the whole
 * kinetic energy, since in fields the motion of the whole counts too. The angular momentum is taken
 * about the centre of the fields instead of the origin. */
void external_refer(const struct external *external, struct conserved *conserved);

/* Returns the index of the first body at whose position the potential of the fields is not finite,
 * in the system whose bodies begin at index `first`; first + bodies->count if there is none. */
size_t external_find_singular(const struct external *external, const struct bodies *bodies,
                              size_t first);

#endif
