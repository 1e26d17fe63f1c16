/*
 * A simulation: bodies, and all that decides how they move: physics, integrator, step and backend,
 * with the conserved quantities. A run advances one; every trial advances a copy with a change,
 * such as a pilot run with half the step:
 *
 *     struct simulation pilot;
 *     if (!simulation_copy(&pilot, &run, &(struct simulation_changes){ .refinement = 2 }, error) &&
 *         !simulation_begin(&pilot, error) && !simulation_advance(&pilot, 100, error) &&
 *         !simulation_measure(&pilot, error))
 *         ... simulation_energy_error(&pilot, 0) ...
 *     simulation_destroy(&pilot);
 *
 * Equal simulations move alike to the bit. Functions return what the backend reports:
 * STATUS_NUMERICAL, STATUS_MEMORY, STATUS_STOPPED, or STATUS_UNAVAILABLE for a device that failed.
 */
#ifndef ORRERY_SIMULATION_SIMULATION_H
#define ORRERY_SIMULATION_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/status.h"
#include "integrator/integrator.h"
#include "model/bodies.h"
#include "model/conserved.h"
#include "model/physics.h"

/* The caller fills in the first five members before simulation_start(); the step of an integrator
 * of stages may also change between two advances. After the start the struct may not be moved or
 * copied: the backend borrows its physics. */
struct simulation {
    struct physics physics; /* its units and its interruption are borrowed */
    const struct integrator *integrator;
    double step;                            /* dt, in the unit of time */
    const struct backend_class *class_;     /* as asked for; "auto" chooses another one */
    struct backend_options options;         /* options.integrator is set to the one above */
    struct bodies *bodies;                  /* owned; see simulation_take() */
    struct backend *backend;                /* owned; NULL until the start */
    struct backend_description description; /* description of the backend */
    uint64_t steps; /* since the beginning; a copy goes on from the number of its original */
    struct conserved *now, *first; /* [systems]: last measured; at E0 */
};

/* The changes of a copy against its original; a member that is 0 changes nothing. */
struct simulation_changes {
    double step;
    double refinement; /* divides the step, and the steps of an integrator that chooses its own */
    const struct integrator *integrator; /* a different one has the defaults of its keys */
    const struct backend_class *backend;
    const struct force_options *force; /* method, precision, kernel, instruction set, threads */
    size_t systems, count;             /* of the copy; it has the first `count` bodies of each */
    const size_t *which;               /* [systems] index in the original; NULL: the first ones */
    bool later; /* the caller changes the bodies, then calls simulation_start(); an integrator
                   begins anew */
};

/* Makes the bodies the simulation's own, even if it fails, and allocates their conserved
 * quantities. STATUS_MEMORY. */
enum status simulation_take(struct simulation *simulation, struct bodies *bodies,
                            struct error *error);

/* Creates the backend for the bodies in their present state. Also STATUS_CONFIG. */
enum status simulation_start(struct simulation *simulation, struct error *error);

/*
 * Copies the present `from`, with `changes`: settings, bodies (as of the last simulation_fetch())
 * and the state of an integrator that chooses its own steps, if the copy has the same integrator
 * and as many bodies. If `from` was started, the copy's backend is of the class that runs `from`,
 * not "auto". The caller destroys the copy also after a failure. Also STATUS_CONFIG.
 */
enum status simulation_copy(struct simulation *copy, const struct simulation *from,
                            const struct simulation_changes *changes, struct error *error);

/* Starts the backend anew after the caller has changed the bodies. An integrator that chooses its
 * own steps keeps its state, except in the systems s with anew[s] true (`anew` NULL: none). */
enum status simulation_renew(struct simulation *simulation, const bool *anew, struct error *error);

/* Drops all systems but those with the indices `which` ([systems], ascending), which keep their
 * bodies (as of the last simulation_fetch()) and the state of their integrator. After a failure the
 * simulation can only be destroyed. */
enum status simulation_keep(struct simulation *simulation, const size_t *which, size_t systems,
                            struct error *error);

/* Frees all that the simulation owns; accepts one that is all zero or was never started. */
void simulation_destroy(struct simulation *simulation);

/* Advances by `steps` steps. */
enum status simulation_advance(struct simulation *simulation, uint64_t steps, struct error *error);

/* Copies positions and velocities from the backend to the bodies. */
enum status simulation_fetch(struct simulation *simulation, struct error *error);

/* Sums the conserved quantities of all systems into `now`. */
enum status simulation_measure(struct simulation *simulation, struct error *error);

/* Does the same, and copies `now` to `first`: energies are compared with these from now on. */
enum status simulation_begin(struct simulation *simulation, struct error *error);

/* Sums the potential phi and the virial psi of each body into arrays laid out and aligned like
 * those of the bodies. */
enum status simulation_potentials(struct simulation *simulation, double *phi, double *psi,
                                  struct error *error);

/* Evaluates the accelerations of the bodies into their ax, ay, az; the motion is not changed. */
enum status simulation_accelerations(struct simulation *simulation, struct error *error);

/* Returns the work that moved a system since the beginning, whatever the integrator. */
struct work_done simulation_work_done(const struct simulation *simulation, size_t system);

/* Returns conserved_energy_error() of a system between simulation_begin() and the last
 * simulation_measure(). */
double simulation_energy_error(const struct simulation *simulation, size_t system);

#endif
