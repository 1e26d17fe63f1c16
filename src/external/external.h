/*
 * All external fields of a run: a list of them, which act together on every body beside the pairs;
 * in a frame that turns, its centrifugal field is the last of them. The energy with all of them is
 * Jacobi's then. Functions take positions and velocities in the units of the config and know
 * nothing of systems: every system of an ensemble is in the same fields.
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
    double center[3]; /* about which angular momentum and virial are taken: that of the first field
                         that has one, else the origin */
    /* Components that all fields keep; of the angular momentum, about axes through the centre. */
    bool keeps_momentum[3], keeps_angular_momentum[3];
};

/* The fields of the list `external` of the config and those of a frame that turns with `rotation`;
 * NULL where there is neither. STATUS_MEMORY. */
enum status external_create(const struct config *config, double gravitational_constant,
                            double rotation, struct external **external, struct error *error);
void external_destroy(struct external *external); /* accepts NULL */

/* The sums over all fields at a position: potential (energy per mass), acceleration and jerk. */
double external_potential(const struct external *external, const double x[3]);
void external_acceleration(const struct external *external, const double x[3], double a[3]);
struct field_motion external_motion(const struct external *external, const double x[3],
                                    const double v[3]);

/*
 * The time in which the acceleration of a body changes: the shorter of 1 / sqrt(max |T e_k|) with T
 * the tidal tensor da/dx and e_k the unit vectors, and of |a| / |jerk|. In a circular orbit about a
 * point the first is its period over 2 pi sqrt(2). INFINITY where the acceleration does not change.
 */
double external_time(const struct external *external, const double x[3], const double v[3]);

/* Adds the acceleration to bodies->ax, ay, az at the indices [first, last). */
void external_accelerate(const struct external *external, const struct bodies *bodies, size_t first,
                         size_t last);

/*
 * Drifts the bodies at the indices [first, last) by the time h in a frame that turns with the
 * angular speed `rotation`: exactly under dx/dt = v, dv/dt = -2 Omega x v, the Coriolis force,
 * which turns v (Chin 2008, Phys. Rev. E 77, 066401; Quinn et al. 2010, AJ 139, 803).
 */
void external_drift(double rotation, const struct bodies *bodies, double h, size_t first,
                    size_t last);

/* Adds `weight` times the potential to phi, and `weight` times (x - center) . a to psi, of all
 * bodies; 2 for sums over bodies of which half is taken, as of pairs. psi may be NULL. */
void external_add_potentials(const struct external *external, const struct bodies *bodies,
                             double weight, double *phi, double *psi);

/* Begins a message on what they work with: "external fields act", or "a rotating frame works". */
const char *external_act(const struct physics *physics);

/* "rotates by 0.3 radians in a unit of time; energies are Jacobi's"; NULL: the frame is at rest. */
enum { EXTERNAL_FRAME_SIZE = 96 };
const char *external_frame_text(const struct physics *physics, char buffer[EXTERNAL_FRAME_SIZE]);

/* Has a body of the system any mass? In fields, none needs to. */
bool external_has_mass(const struct bodies *bodies, size_t system);

/*
 * The masses by which the sums of a system are taken: those of its bodies, and 1 for each of a
 * system in which no body has any, whose energy is then the sum of 1/2 v^2 + phi. A new array, laid
 * out like theirs; NULL if every system has mass. STATUS_MEMORY.
 */
enum status external_masses(const struct bodies *bodies, double **masses, struct error *error);

/* Makes the sums of a system, with these potentials in it, those of a system in the fields: its
 * energy is that in the frame of the fields, and its angular momentum that about their centre. */
void external_refer(const struct external *external, struct conserved *conserved);

/* The index of the first body of a system where a potential is not finite, or of `first` + count.
 */
size_t external_find_singular(const struct external *external, const struct bodies *bodies,
                              size_t first);

#endif
