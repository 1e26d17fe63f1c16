#include "simulation/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status simulation_take(struct simulation *simulation, struct bodies *bodies,
                            struct error *error)
{
    simulation->bodies = bodies;
    simulation->now = calloc(bodies->systems, sizeof *simulation->now);
    simulation->first = calloc(bodies->systems, sizeof *simulation->first);
    return simulation->now && simulation->first ? STATUS_OK : error_memory(error);
}

enum status simulation_start(struct simulation *simulation, struct error *error)
{
    simulation->options.integrator = simulation->integrator;
    if (simulation->class_->create(&simulation->options, &simulation->physics, simulation->bodies,
                                   &simulation->backend, error))
        return error->status;
    simulation->backend->class_->describe(simulation->backend, &simulation->description);
    return STATUS_OK;
}

static void stop(struct backend *backend)
{
    if (backend)
        backend->class_->destroy(backend);
}

static void change_settings(struct simulation *copy, const struct simulation_changes *changes)
{
    if (changes->step > 0.0)
        copy->step = changes->step;
    if (changes->refinement > 0.0) {
        copy->step /= changes->refinement;
        copy->options.refinement = changes->refinement;
    }
    if (changes->integrator && changes->integrator != copy->integrator) {
        copy->integrator = changes->integrator;
        copy->options.time = NULL;
        copy->options.values = NULL;
    }
    if (changes->backend)
        copy->class_ = changes->backend;
    if (changes->force)
        copy->options.force = *changes->force;
}

enum status simulation_copy(struct simulation *copy, const struct simulation *from,
                            const struct simulation_changes *changes, struct error *error)
{
    const size_t systems = changes->systems ? changes->systems : from->bodies->systems;
    const size_t count = changes->count ? changes->count : from->bodies->count;
    *copy = (struct simulation){ .physics = from->physics,
                                 .integrator = from->integrator,
                                 .step = from->step,
                                 .class_ = from->backend ? from->backend->class_ : from->class_,
                                 .options = from->options,
                                 .steps = from->steps };
    change_settings(copy, changes);
    struct bodies *bodies;
    if (bodies_create(systems, count, &bodies, error) || simulation_take(copy, bodies, error))
        return error->status;
    for (size_t s = 0; s < systems; s++)
        bodies_copy_system(bodies, s, from->bodies, changes->which ? changes->which[s] : s);
    if (changes->later || simulation_start(copy, error))
        return error->status;
    for (size_t s = 0; s < systems && from->backend && count == from->bodies->count; s++)
        backend_copy_state(copy->backend, s, from->backend, changes->which ? changes->which[s] : s);
    return STATUS_OK;
}

/* Replaces the backend by a new one for the present bodies. An integrator that chooses its own
 * steps goes on: system s takes over the state that system from[s] (`from` NULL: s) had in the old
 * backend, except systems with anew[s] true (`anew` NULL: no system). */
static enum status start_again(struct simulation *simulation, const size_t *from, const bool *anew,
                               struct error *error)
{
    struct backend *before = simulation->backend;
    /* An integrator of fixed steps has no state to take over: the old backend is destroyed first,
     * so that its memory is free for the new one. */
    if (!before->adaptive) {
        stop(before);
        before = NULL;
    }
    simulation->backend = NULL;
    const enum status status = simulation_start(simulation, error);
    for (size_t s = 0; before && s < simulation->bodies->systems && !status; s++)
        if (!anew || !anew[s])
            backend_copy_state(simulation->backend, s, before, from ? from[s] : s);
    stop(before);
    return status;
}

enum status simulation_renew(struct simulation *simulation, const bool *anew, struct error *error)
{
    return start_again(simulation, NULL, anew, error);
}

enum status simulation_keep(struct simulation *simulation, const size_t *which, size_t systems,
                            struct error *error)
{
    struct bodies *const all = simulation->bodies, *fewer;
    if (bodies_create(systems, all->count, &fewer, error))
        return error->status;
    for (size_t s = 0; s < systems; s++)
        bodies_copy_system(fewer, s, all, which[s]);
    simulation->bodies = fewer;
    for (size_t s = 0; s < systems; s++) {
        simulation->now[s] = simulation->now[which[s]];
        simulation->first[s] = simulation->first[which[s]];
    }
    const enum status status = start_again(simulation, which, NULL, error);
    bodies_destroy(all);
    return status;
}

void simulation_destroy(struct simulation *simulation)
{
    stop(simulation->backend);
    bodies_destroy(simulation->bodies);
    free(simulation->now);
    free(simulation->first);
    *simulation = (struct simulation){ 0 };
}

enum status simulation_advance(struct simulation *simulation, uint64_t steps, struct error *error)
{
    struct backend *const backend = simulation->backend;
    const enum status status =
        backend->class_->advance(backend, simulation->integrator, simulation->step, steps, error);
    /* After an interruption the backend has returned to the state before the steps. */
    if (status != STATUS_STOPPED)
        simulation->steps += steps;
    return status;
}

enum status simulation_fetch(struct simulation *simulation, struct error *error)
{
    return simulation->backend->class_->fetch(simulation->backend, error);
}

enum status simulation_measure(struct simulation *simulation, struct error *error)
{
    return simulation->backend->class_->conserved(simulation->backend, simulation->now, error);
}

enum status simulation_begin(struct simulation *simulation, struct error *error)
{
    const size_t bytes = simulation->bodies->systems * sizeof *simulation->first;
    const enum status status = simulation_measure(simulation, error);
    memcpy(simulation->first, simulation->now, bytes);
    return status;
}

enum status simulation_potentials(struct simulation *simulation, double *phi, double *psi,
                                  struct error *error)
{
    return simulation->backend->class_->potentials(simulation->backend, phi, psi, error);
}

enum status simulation_accelerations(struct simulation *simulation, struct error *error)
{
    return simulation->backend->class_->accelerations(simulation->backend, error);
}

struct work_done simulation_work_done(const struct simulation *simulation, size_t system)
{
    const struct backend *backend = simulation->backend;
    const double count = (double)simulation->bodies->count, steps = (double)simulation->steps;
    const double each = (double)integrator_forces_per_step(simulation->integrator) *
                        force_work(&simulation->options.force, 1.0, count);
    struct work_done done = { .steps = steps,
                              .bodies = count,
                              .rejections = NAN,
                              .interactions = steps * each,
                              .smallest = simulation->steps > 0 ? simulation->step : INFINITY,
                              .current = simulation->step,
                              .time = steps * simulation->step };
    if (backend && backend->adaptive)
        backend->adaptive->class_->statistics(backend->adaptive, system, &done);
    return done;
}

double simulation_time(const struct simulation *simulation)
{
    double time = 0.0;
    for (size_t s = 0; s < simulation->bodies->systems; s++) {
        const struct work_done done = simulation_work_done(simulation, s);
        time += integrator_time(simulation->integrator, &done);
    }
    return time;
}

double simulation_energy_error(const struct simulation *simulation, size_t system)
{
    return conserved_energy_error(&simulation->first[system], &simulation->now[system]);
}

/* --- errors of systems ------------------------------------------------------------------------ */

enum status ensemble_create(const struct simulation *simulation, double error_limit,
                            struct ensemble *ensemble, struct error *error)
{
    const size_t systems = simulation->bodies->systems;
    *ensemble =
        (struct ensemble){ .simulation = simulation,
                           .largest_error = calloc(systems, sizeof *ensemble->largest_error),
                           .left_out = calloc(systems, sizeof *ensemble->left_out),
                           .error_limit = error_limit };
    return ensemble->largest_error && ensemble->left_out ? STATUS_OK : error_memory(error);
}

void ensemble_destroy(struct ensemble *ensemble)
{
    free(ensemble->largest_error);
    free(ensemble->left_out);
    *ensemble = (struct ensemble){ 0 };
}

void ensemble_leave_out(struct ensemble *ensemble)
{
    for (size_t s = 0; s < ensemble->simulation->bodies->systems; s++)
        ensemble->left_out[s] = isfinite(ensemble->error_limit) &&
                                !(ensemble->largest_error[s] <= ensemble->error_limit);
}

size_t ensemble_left_out(const struct ensemble *ensemble)
{
    size_t count = 0;
    for (size_t s = 0; s < ensemble->simulation->bodies->systems; s++)
        count += ensemble->left_out[s];
    return count;
}

void ensemble_judge(struct ensemble *ensemble)
{
    for (size_t s = 0; s < ensemble->simulation->bodies->systems; s++)
        ensemble->largest_error[s] = conserved_larger_error(
            ensemble->largest_error[s], simulation_energy_error(ensemble->simulation, s));
    ensemble_leave_out(ensemble);
}

double ensemble_largest_error(const struct ensemble *ensemble)
{
    double largest = 0.0;
    for (size_t s = 0; s < ensemble->simulation->bodies->systems; s++)
        largest = conserved_larger_error(largest, ensemble->largest_error[s]);
    return largest;
}

size_t ensemble_worst(const struct ensemble *ensemble)
{
    size_t worst = 0;
    for (size_t s = 1; s < ensemble->simulation->bodies->systems; s++) {
        const double error = simulation_energy_error(ensemble->simulation, s),
                     most = simulation_energy_error(ensemble->simulation, worst);
        if (!isnan(most) && (isnan(error) || fabs(error) > fabs(most)))
            worst = s;
    }
    return worst;
}
