#include "backend/host.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "external/external.h"

enum status host_create(size_t size, const struct backend_class *class_,
                        const struct host_sums *sums, const struct backend_options *options,
                        const struct physics *physics, struct bodies *bodies, struct host **result,
                        struct error *error)
{
    *result = NULL;
    if (physics->rotation != 0.0 && !integrator_takes_rotation(options->integrator))
        return error_set(error, STATUS_CONFIG, INTEGRATOR_TAKES_NO_ROTATION,
                         options->integrator->variant.name);
    const double work = force_work(&options->force, (double)bodies->systems, (double)bodies->count);
    struct host *host = calloc(1, size);
    if (!host)
        return error_memory(error);
    host->backend.class_ = class_;
    host->sums = sums;
    host->own = *physics;
    host->physics = &host->own;
    if (work < HOST_LONG_SUM && physics->interruption && !physics->interruption->agree)
        host->own.interruption = NULL;
    host->bodies = bodies;
    host->first = options->force.share.first;
    host->last = options->peers ? options->force.share.last : bodies->stride;
    host->peers = options->peers;
    host->threads = options->force.threads;
    *result = host;
    return STATUS_OK;
}

/* Returns STATUS_CONFIG if the force method cannot serve an integrator that chooses its own steps,
 * which may need forces on some bodies only and their rates of change. */
static enum status check_method(const struct integrator *integrator,
                                const struct force_options *force, struct error *error)
{
    const struct force_method *const method = force_method_of(force);
    const char *const name = integrator->variant.name;
    if (!method->jerk || method == &force_direct)
        return force_check_direct(force, name, error);
    if (integrator->adaptive->takes_any_method)
        return STATUS_OK;
    return error_set(error, STATUS_CONFIG,
                     "compute.method = \"%s\": %s sums over all pairs, by \"%s\" alone; "
                     "block-leapfrog takes \"%s\", as do integrators with steps of one length",
                     method->name, name, force_direct.name, method->name);
}

enum status host_create_steps(const struct backend_options *options,
                              const struct force_options *sums, struct force *kernels,
                              const struct physics *physics, struct bodies *bodies,
                              struct adaptive **adaptive, struct error *error)
{
    const struct integrator *const integrator = options->integrator;
    double values[INTEGRATOR_VALUES];
    if (options->time)
        integrator_values(integrator, options->time, values);
    const struct adaptive_options own = { .values = options->time ? values : options->values,
                                          .refinement =
                                              options->refinement > 0 ? options->refinement : 1,
                                          .force = sums,
                                          .kernels = kernels,
                                          .others = options->others };
    return integrator->adaptive->create(&own, physics, bodies, adaptive, error);
}

enum status host_create_adaptive(struct host *host, const struct backend_options *options,
                                 const struct physics *physics, struct force *force,
                                 struct error *error)
{
    const struct integrator *integrator = options->integrator;
    if (!integrator_chooses_steps(integrator))
        return STATUS_OK;
    if (check_method(integrator, &options->force, error))
        return error->status;
    struct force_options sums = options->force;
    sums.threads = host->threads;
    return host_create_steps(options, &sums, force, physics, host->bodies, &host->backend.adaptive,
                             error);
}

enum status host_create_registers(struct host *host, const struct backend_options *options,
                                  struct error *error)
{
    const size_t numbers = memory_bytes(bodies_length(host->bodies), 3 * STAGE_REGISTERS);
    if (!integrator_has_registers(options->integrator))
        return STATUS_OK;
    host->registers = memory_array(numbers, sizeof *host->registers, error);
    return host->registers ? STATUS_OK : error->status;
}

enum status host_create_before(struct host *host, struct error *error)
{
    const size_t length = bodies_length(host->bodies);
    if (!host->own.interruption || host->backend.adaptive)
        return STATUS_OK;
    host->before = memory_array(memory_bytes(length, HOST_BEFORE), sizeof *host->before, error);
    return host->before ? STATUS_OK : error->status;
}

double host_before_bytes(const struct force_options *force, double systems, double count)
{
    const bool is_long = force_work(force, systems, count) >= HOST_LONG_SUM;
    return is_long ? HOST_BEFORE * sizeof(double) * bodies_length_of(systems, count) : 0.0;
}

static void arrays_of(const struct host *host, double *arrays[HOST_BEFORE])
{
    const struct bodies *const b = host->bodies;
    double *const all[HOST_BEFORE] = { b->x, b->y, b->z, b->vx, b->vy, b->vz, b->ax, b->ay, b->az };
    memcpy(arrays, all, sizeof all);
}

void host_begin(struct host *host)
{
    const size_t length = bodies_length(host->bodies);
    double *arrays[HOST_BEFORE];
    arrays_of(host, arrays);
    for (size_t k = 0; host->before && k < HOST_BEFORE; k++)
        memcpy(host->before + k * length, arrays[k], length * sizeof(double));
    host->forces_before = host->forces_current;
}

enum status host_end(struct host *host, struct error *error)
{
    const size_t length = bodies_length(host->bodies);
    double *arrays[HOST_BEFORE];
    if (!interruption_agreed(host->own.interruption) || !host->before)
        return host_check(host, error);
    arrays_of(host, arrays);
    for (size_t k = 0; k < HOST_BEFORE; k++)
        memcpy(arrays[k], host->before + k * length, length * sizeof(double));
    host->forces_current = host->forces_before;
    return interruption_status(host->own.interruption, error);
}

/* The integrator keeps its forces elsewhere than in ax, ay, az, so these are no longer current. */
enum status host_advance_adaptive(struct host *host, const struct integrator *integrator, double dt,
                                  uint64_t steps, struct error *error)
{
    struct adaptive *const adaptive = host->backend.adaptive;
    assert(adaptive && adaptive->class_ == integrator->adaptive);
    (void)integrator;
    if (steps == 0)
        return STATUS_OK;
    host->forces_current = false;
    const enum status status = adaptive->class_->advance(adaptive, dt, steps, error);
    return status ? status : host_check(host, error);
}

const char *host_kernel(const struct host *host, const char *kernel)
{
    const struct adaptive *const adaptive = host->backend.adaptive;
    const char *const own = adaptive ? adaptive->class_->kernel(adaptive) : NULL;
    return own ? own : kernel;
}

void host_destroy(struct host *host)
{
    if (!host)
        return;
    if (host->backend.adaptive)
        host->backend.adaptive->class_->destroy(host->backend.adaptive);
    memory_free(host->registers);
    memory_free(host->before);
    free(host);
}

void host_gather_positions(const struct host *host)
{
    double *const positions[] = { host->bodies->x, host->bodies->y, host->bodies->z };
    if (host->peers)
        host->peers->all_gather(host->peers->context, positions, COUNT_OF(positions));
}

struct host_vectors host_vectors(const struct host *host, const struct bodies *b, size_t first)
{
    struct host_vectors vectors = { .of = { [VECTOR_X] = { b->x, b->y, b->z },
                                            [VECTOR_V] = { b->vx, b->vy, b->vz },
                                            [VECTOR_A] = { b->ax, b->ay, b->az } } };
    const size_t length = bodies_length(host->bodies);
    for (size_t k = 0; host->registers && k < STAGE_REGISTERS; k++)
        for (size_t axis = 0; axis < 3; axis++)
            vectors.of[VECTOR_R + k][axis] = host->registers + (3 * k + axis) * length + first;
    return vectors;
}

size_t host_last(const struct host *host)
{
    return host->last < host->bodies->count ? host->last : host->bodies->count;
}

void host_refresh(struct host *host)
{
    const struct bodies *const b = host->bodies;
    if (host->forces_current)
        return;
    host->sums->accelerations(host);
    for (size_t s = 0; host->physics->external && s < b->systems; s++)
        external_accelerate(host->physics->external, b, s * b->stride + host->first,
                            s * b->stride + host_last(host));
    host->forces_current = true;
}

enum status host_check(const struct host *host, struct error *error)
{
    const size_t length = bodies_length(host->bodies);
    const size_t bad = bodies_not_finite(host->bodies, 0, length);
    return bad < length ? bodies_report(host->bodies, bad, "", error) : STATUS_OK;
}

enum status host_fetch(struct backend *backend, struct error *error)
{
    (void)backend;
    (void)error;
    return STATUS_OK;
}

/* If the sums of forces were interrupted, marks the forces as not current and returns
 * STATUS_STOPPED. */
static enum status check_sums(struct host *host, struct error *error)
{
    if (interruption_noticed(host->own.interruption))
        host->forces_current = false;
    return interruption_status(host->own.interruption, error);
}

enum status host_accelerations(struct backend *backend, struct error *error)
{
    host_refresh((struct host *)backend);
    interruption_agreed(((struct host *)backend)->own.interruption);
    return check_sums((struct host *)backend, error);
}

enum status host_potentials(struct backend *backend, double *phi, double *psi, struct error *error)
{
    struct host *host = (struct host *)backend;
    const struct bodies *const b = host->bodies;
    host->sums->potentials(host, phi, psi);
    for (size_t s = 0; host->physics->external && s < b->systems; s++)
        external_add_potentials(host->physics->external, b, s * b->stride + host->first,
                                s * b->stride + host_last(host), phi, psi);
    return check_sums(host, error);
}

/* Adds the external fields to phi and psi a second time: conserved_measure() takes half of phi and
 * psi, since a pair of bodies counts twice in its sums, but a field counts once. */
enum status host_measure(const struct external *external, const struct bodies *b, int threads,
                         double *phi, double *psi, struct conserved *conserved, struct error *error)
{
    struct bodies measured = *b;
    double *masses = NULL;
    if (external && external_masses(b, &masses, error))
        return error->status;
    if (masses)
        measured.m = masses;
#pragma omp parallel for num_threads(threads) if (b->systems > 1)
    for (size_t s = 0; s < b->systems; s++) {
        const size_t first = s * b->stride;
        if (external)
            external_add_potentials(external, b, first, first + b->count, phi, psi);
        conserved_measure(&measured, s, phi, psi, &conserved[s]);
        if (external)
            external_refer(external, &conserved[s]);
    }
    memory_free(masses);
    return STATUS_OK;
}

enum status host_conserved(struct backend *backend, struct conserved *conserved,
                           struct error *error)
{
    struct host *host = (struct host *)backend;
    const size_t length = bodies_length(host->bodies);
    double *const phi = memory_array(length, sizeof *phi, error);
    double *const psi = memory_array(length, sizeof *psi, error);
    enum status status = phi && psi ? host_potentials(backend, phi, psi, error) : error->status;
    if (!status)
        status = host_measure(host->physics->external, host->bodies, host->threads, phi, psi,
                              conserved, error);
    memory_free(phi);
    memory_free(psi);
    return status;
}
