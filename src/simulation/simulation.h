/*
 * A simulation: bodies, and all that decides how they move (physics, integrator, step, backend),
 * with their conserved quantities. A run advances one simulation; a trial (to choose a step, for
 * example) advances a changed copy of it, here with half the step:
 *
 *     struct simulation pilot;
 *     if (!simulation_copy(&pilot, &run, &(struct simulation_changes){ .refinement = 2 }, error) &&
 *         !simulation_begin(&pilot, error) && !simulation_advance(&pilot, 100, error) &&
 *         !simulation_measure(&pilot, error))
 *         ... simulation_energy_error(&pilot, 0) ...
 *     simulation_destroy(&pilot);
 *
 * Equal simulations have bit by bit the same motion. Functions return what the backend reports:
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

/* The caller fills in the members from `physics` to `options` before simulation_start(). Between
 * two advances it may change the step, unless the integrator chooses its own steps. After the start
 * the struct may not be moved or copied: the backend has pointers to its physics. */
struct simulation {
    struct physics physics; /* its pointers (to units, fields, interruption) are borrowed */
    const struct integrator *integrator;
    double step; /* dt, in the unit of time of the config */
    /* The kind of backend that is asked for; with "auto", backend->class_ is the chosen one. */
    const struct backend_class *class_;
    struct backend_options options;         /* simulation_start() sets options.integrator */
    struct bodies *bodies;                  /* owned: simulation_take() */
    struct backend *backend;                /* owned; NULL before simulation_start() */
    struct backend_description description; /* kernel, device, threads ... of the backend */
    /* Number of steps since the beginning of the run; in a copy, also those of its original. */
    uint64_t steps;
    /* [systems] Conserved quantities: `now` as of the last simulation_measure(), `first` as of
     * simulation_begin(), with which later energies are compared. */
    struct conserved *now, *first;
};

/* The changes by which a copy differs from its original; a member that is 0 or NULL changes
 * nothing. */
struct simulation_changes {
    double step;
    double refinement; /* divides `step`, and also the steps that an integrator chooses itself */
    /* Config keys of an integrator that is not the original's have their default values. */
    const struct integrator *integrator;
    const struct backend_class *backend;
    /* Options of forces (method, precision, kernel, threads) in place of the original's. */
    const struct force_options *force;
    /* Number of systems of the copy, and of bodies in each: the first `count` of the original's. */
    size_t systems, count;
    /* [systems] For each system of the copy its index in the original; NULL: systems 0, 1, 2 ... */
    const size_t *which;
    /* The copy is not started: the caller changes its bodies and then calls simulation_start(). An
     * integrator that chooses its own steps then begins without a state. */
    bool later;
};

/* Makes the simulation the owner of the bodies, also if this function fails, and allocates the
 * conserved quantities of their systems. STATUS_MEMORY. */
enum status simulation_take(struct simulation *simulation, struct bodies *bodies,
                            struct error *error);

/* Creates the backend for the bodies in their present state. May also return STATUS_CONFIG. */
enum status simulation_start(struct simulation *simulation, struct error *error);

/*
 * Makes `copy` a copy of `from` as it is now, with `changes`: settings, bodies (as of the last
 * simulation_fetch()) and, if the copy has the same integrator and as many bodies in a system, the
 * state of an integrator that chooses its own steps. If `from` was started, the copy's backend is
 * of the class that runs `from`, even where `from` asks for "auto". The caller destroys the copy
 * also after a failure. May also return STATUS_CONFIG.
 */
enum status simulation_copy(struct simulation *copy, const struct simulation *from,
                            const struct simulation_changes *changes, struct error *error);

/* Replaces the backend by a new one after the caller has changed the bodies. The state of an
 * integrator that chooses its own steps is kept, except for systems s with anew[s] true (`anew`
 * NULL: it is kept for all). */
enum status simulation_renew(struct simulation *simulation, const bool *anew, struct error *error);

/* Drops all systems except those with the indices `which` ([systems], ascending), which keep their
 * bodies (as of the last simulation_fetch()) and the state of the integrator. After a failure the
 * simulation can only be destroyed. */
enum status simulation_keep(struct simulation *simulation, const size_t *which, size_t systems,
                            struct error *error);

/* Frees all that the simulation owns; accepts a simulation that is all zero or was never
 * started. */
void simulation_destroy(struct simulation *simulation);

/* Advances the bodies by the time steps * step, and counts the steps. If it returns STATUS_STOPPED,
 * the bodies are as before the call. */
enum status simulation_advance(struct simulation *simulation, uint64_t steps, struct error *error);

/* Copies positions and velocities from the backend, which may keep them on a GPU, to `bodies`. */
enum status simulation_fetch(struct simulation *simulation, struct error *error);

/* Computes the conserved quantities (energies, momenta) of all systems into `now`. */
enum status simulation_measure(struct simulation *simulation, struct error *error);

/* Computes the conserved quantities into `now` and copies them to `first`: from here on energies
 * are compared with these. */
enum status simulation_begin(struct simulation *simulation, struct error *error);

/* Computes the potential phi (energy per mass) of each body, and psi, its share of the Clausius
 * virial (per mass), into arrays laid out and aligned like those of the bodies. */
enum status simulation_potentials(struct simulation *simulation, double *phi, double *psi,
                                  struct error *error);

/* Evaluates the accelerations at the present positions into the bodies' arrays ax, ay, az. */
enum status simulation_accelerations(struct simulation *simulation, struct error *error);

/* Returns the work (steps, pair interactions, lengths of steps) that has moved a system since the
 * beginning of the run, for integrators with and without steps of their own. */
struct work_done simulation_work_done(const struct simulation *simulation, size_t system);
/* Returns integrator_time() of the work that has moved all systems. */
double simulation_time(const struct simulation *simulation);

/* Returns the relative energy error of a system, conserved_energy_error(), from simulation_begin()
 * to the last simulation_measure(). */
double simulation_energy_error(const struct simulation *simulation, size_t system);

/* --- errors of systems ------------------------------------------------------------------------ */

/* The energy errors of the systems of a simulation; the arrays have an element for each system. */
struct ensemble {
    const struct simulation *simulation; /* borrowed */
    double time;                         /* time to which simulation->now belongs */
    double *largest_error; /* largest |energy error| so far; NaN from the moment when it was
                              undefined */
    bool *left_out; /* true: statistics and accuracy watch leave the system out, since its energy
                       error exceeded the limit or was undefined */
    double error_limit; /* limit of the energy error; infinite: none */
};

/* Creates an ensemble that knows no error yet of the simulation, which must outlive it.
 * STATUS_MEMORY. */
enum status ensemble_create(const struct simulation *simulation, double error_limit,
                            struct ensemble *ensemble, struct error *error);
void ensemble_destroy(struct ensemble *ensemble);

/* Updates the largest energy errors by the present ones, and leaves out the systems beyond the
 * limit. */
void ensemble_judge(struct ensemble *ensemble);
/* Leaves out the systems whose largest energy error so far is beyond the limit; for a restart,
 * after largest_error was loaded. */
void ensemble_leave_out(struct ensemble *ensemble);
size_t ensemble_left_out(const struct ensemble *ensemble);

/* Returns the largest |energy error| of all systems so far, at rows and at the checks of the
 * accuracy watch between them; NaN if one was undefined. */
double ensemble_largest_error(const struct ensemble *ensemble);
/* Returns the system, from 0, with the largest present |energy error|; an undefined one counts as
 * larger than all others. */
size_t ensemble_worst(const struct ensemble *ensemble);

#endif
