#include "backend/host.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

enum status host_create(size_t size, const struct backend_class *class_,
                        const struct host_sums *sums, const struct backend_options *options,
                        const struct physics *physics, struct bodies *bodies, struct host **result,
                        struct error *error)
{
    *result = NULL;
    struct host *host = calloc(1, size);
    if (!host)
        return error_memory(error);
    host->backend.class_ = class_;
    host->sums = sums;
    host->physics = physics;
    host->bodies = bodies;
    host->first = options->force.share.first;
    host->last = options->peers ? options->force.share.last : bodies->stride;
    host->peers = options->peers;
    host->threads = options->force.threads;
    *result = host;
    return STATUS_OK;
}

enum status host_create_adaptive(struct host *host, const struct backend_options *options,
                                 struct force *force, struct error *error)
{
    const struct integrator *integrator = options->integrator;
    if (!integrator || !integrator->adaptive)
        return STATUS_OK;
    struct force_options sums = options->force;
    sums.threads = host->threads;
    double values[INTEGRATOR_VALUES];
    if (options->time)
        integrator_values(integrator, options->time, values);
    const struct adaptive_options own = { .values = options->time ? values : options->values,
                                          .refinement =
                                              options->refinement > 0 ? options->refinement : 1,
                                          .force = &sums,
                                          .kernels = force };
    return integrator->adaptive->create(&own, host->physics, host->bodies, &host->backend.adaptive,
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

/* What observers need is evaluated for them; the integrator has its own forces. */
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
    if (host && host->backend.adaptive)
        host->backend.adaptive->class_->destroy(host->backend.adaptive);
    if (host)
        memory_free(host->registers);
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

void host_refresh(struct host *host)
{
    if (!host->forces_current)
        host->sums->accelerations(host);
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

enum status host_accelerations(struct backend *backend, struct error *error)
{
    (void)error;
    host_refresh((struct host *)backend);
    return STATUS_OK;
}

enum status host_potentials(struct backend *backend, double *phi, double *psi, struct error *error)
{
    (void)error;
    struct host *host = (struct host *)backend;
    host->sums->potentials(host, phi, psi);
    return STATUS_OK;
}

enum status host_conserved(struct backend *backend, struct conserved *conserved,
                           struct error *error)
{
    struct host *host = (struct host *)backend;
    const size_t systems = host->bodies->systems, length = bodies_length(host->bodies);
    double *const phi = memory_array(length, sizeof *phi, error);
    double *const psi = memory_array(length, sizeof *psi, error);
    if (phi && psi) {
        host->sums->potentials(host, phi, psi);
#pragma omp parallel for num_threads(host->threads) if (systems > 1)
        for (size_t s = 0; s < systems; s++)
            conserved_measure(host->bodies, s, phi, psi, &conserved[s]);
    }
    const enum status status = phi && psi ? STATUS_OK : error->status;
    memory_free(phi);
    memory_free(psi);
    return status;
}
