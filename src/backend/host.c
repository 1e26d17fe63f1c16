#include "backend/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"

enum status host_create(size_t size, const struct backend_class *class_,
                        const struct host_sums *sums, const struct backend_options *options,
                        const struct physics *physics, struct bodies *bodies, struct host **result,
                        struct error *error)
{
    *result = NULL;
    struct host *host = calloc(1, size);
    if (!host)
        return error_set(error, STATUS_MEMORY, "out of memory");
    host->backend.class_ = class_;
    host->sums = sums;
    host->physics = physics;
    host->bodies = bodies;
    host->first = options->force.share.first;
    host->last = options->exchange ? options->force.share.last : bodies->stride;
    host->exchange = options->exchange;
    host->threads = options->force.threads;
    *result = host;
    return STATUS_OK;
}

void host_destroy(struct host *host)
{
    free(host);
}

void host_gather_positions(const struct host *host)
{
    double *const positions[] = { host->bodies->x, host->bodies->y, host->bodies->z };
    if (host->exchange)
        host->exchange->gather(host->exchange->context, positions, COUNT_OF(positions));
}

void host_refresh(struct host *host)
{
    if (!host->forces_current)
        host->sums->accelerations(host);
    host->forces_current = true;
}

/* 0, or NaN where a coordinate is infinite or NaN. */
static double blemish(const struct bodies *b, size_t i)
{
    return 0 * b->x[i] + 0 * b->y[i] + 0 * b->z[i] + 0 * b->vx[i] + 0 * b->vy[i] + 0 * b->vz[i];
}

static bool is_infinite(const struct bodies *b, size_t i)
{
    return isinf(b->x[i]) || isinf(b->y[i]) || isinf(b->z[i]) || isinf(b->vx[i]) ||
           isinf(b->vy[i]) || isinf(b->vz[i]);
}

/* An infinite body makes the others NaN: it comes before them. */
static size_t find_culprit(const struct bodies *bodies)
{
    size_t first = 0;
    while (blemish(bodies, first) == 0)
        first++;
    for (size_t i = first; i < bodies_length(bodies); i++)
        if (is_infinite(bodies, i))
            return i;
    return first;
}

enum status host_check(const struct host *host, struct error *error)
{
    const struct bodies *bodies = host->bodies;
    const size_t length = bodies_length(bodies);
    double sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += blemish(bodies, i);
    if (sum == 0)
        return STATUS_OK;
    const size_t bad = find_culprit(bodies);
    return error_set(error, STATUS_NUMERICAL,
                     "system %zu, body %" PRId64 ": position (%g, %g, %g) or velocity (%g, %g, %g) "
                     "is not finite",
                     bad / bodies->stride + 1, bodies->id[bad], text_plain(bodies->x[bad]),
                     text_plain(bodies->y[bad]), text_plain(bodies->z[bad]),
                     text_plain(bodies->vx[bad]), text_plain(bodies->vy[bad]),
                     text_plain(bodies->vz[bad]));
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
