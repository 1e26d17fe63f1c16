/*
 * A simulation: bodies, and all that decides how they move: physics, integrator, step and backend,
 * with the conserved quantities. What a run advances is one, and so is everything that is tried on
 * copies of its bodies. A pilot run with half the step:
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

/* The first five members are settings, to be filled in before the start; the step of an integrator
 * of stages may also change between two advances. Once started it stays where it is: the backend
 * borrows its physics. */
struct simulation {
    struct physics physics; /* its units and its interruption are borrowed */
    const struct integrator *integrator;
    double step;                            /* dt, in the unit of time */
    const struct backend_class *class_;     /* of the backend, as it is asked for: "auto" chooses */
    struct backend_options options;         /* the integrator among them is the one above */
    struct bodies *bodies;                  /* owned; see simulation_take() */
    struct backend *backend;                /* owned; NULL until the start */
    struct backend_description description; /* of the backend */
    uint64_t steps; /* since the beginning, or that of the simulation that this is a copy of */
    struct conserved *now, *first; /* [systems]: at the last simulation_measure(), and at E0 */
};

/* The differences of a copy; a member that is 0 stays as it is. */
struct simulation_changes {
    double step;
    double refinement; /* divides the step, and the steps of an integrator that chooses its own */
    const struct integrator *integrator; /* the keys that the config has for another one are void */
    const struct backend_class *backend;
    const struct force_options *force; /* method, precision, kernel, instruction set, threads */
    size_t systems, count;             /* of bodies: the first ones */
    const size_t *which;               /* the system of the original for each of the copy's */
    bool later; /* simulation_start() is left to the caller, who changes the bodies before; an
                   integrator then begins anew */
};

/* Takes over the bodies, and makes room for their conserved quantities. STATUS_MEMORY; the bodies
 * are the simulation's in any case. */
enum status simulation_take(struct simulation *simulation, struct bodies *bodies,
                            struct error *error);

/* Creates the backend for the bodies as they stand. Also STATUS_CONFIG. */
enum status simulation_start(struct simulation *simulation, struct error *error);

/*
 * Copies what `from` is now: settings, bodies (as simulation_fetch() has left them) and the state
 * of an integrator that chooses its own steps, if the copy has the same integrator and as many
 * bodies. The copy is of the class that `from` has chosen, if it was started. It is to be destroyed
 * also after a failure. Also STATUS_CONFIG.
 */
enum status simulation_copy(struct simulation *copy, const struct simulation *from,
                            const struct simulation_changes *changes, struct error *error);

/* Takes up bodies that the caller has changed. An integrator that chooses its own steps goes on
 * with its state in all systems but those that begin `anew` ([systems]). */
enum status simulation_renew(struct simulation *simulation, const bool *anew, struct error *error);

/* Lets go of all systems but `which` ([systems], ascending), with their bodies as
 * simulation_fetch() has left them and their state. After a failure the simulation can only be
 * destroyed. */
enum status simulation_keep(struct simulation *simulation, const size_t *which, size_t systems,
                            struct error *error);

/* Accepts one that is all zero, or was never started. */
void simulation_destroy(struct simulation *simulation);

/* Advances by `steps` steps. */
enum status simulation_advance(struct simulation *simulation, uint64_t steps, struct error *error);

/* Makes positions and velocities of the bodies current. */
enum status simulation_fetch(struct simulation *simulation, struct error *error);

/* Sums the conserved quantities of all systems into `now`. */
enum status simulation_measure(struct simulation *simulation, struct error *error);

/* The same, as those that energies are compared with from then on: `first` is `now`. */
enum status simulation_begin(struct simulation *simulation, struct error *error);

/* Sums phi and psi of all bodies, to arrays laid out and aligned like theirs. */
enum status simulation_potentials(struct simulation *simulation, double *phi, double *psi,
                                  struct error *error);

/* Evaluates the forces on the bodies now, into their ax, ay, az; the motion does not change. */
enum status simulation_accelerations(struct simulation *simulation, struct error *error);

/* Returns what was done to move a system since the beginning, by any integrator. */
struct work_done simulation_work_done(const struct simulation *simulation, size_t system);

/* Returns conserved_energy_error() of a system, as it was measured last. */
double simulation_energy_error(const struct simulation *simulation, size_t system);

#endif
