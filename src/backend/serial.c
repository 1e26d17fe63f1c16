/* The reference backend: one thread, plain loops, nothing clever. What it computes is what every
 * other backend must agree with. */
#include <string.h>

#include "backend/host.h"
#include "force/reference.h"

static void sum_accelerations(struct host *host)
{
    host_gather_positions(host);
    reference_accelerations_of(host->physics, host->bodies, host->first, host->last);
}

static void sum_potentials(struct host *host, double *phi, double *psi)
{
    host_gather_positions(host);
    reference_potentials_of(host->physics, host->bodies, host->first, host->last, phi, psi);
}

static const struct host_sums sums = { sum_accelerations, sum_potentials };

static enum status serial_probe(struct error *error)
{
    (void)error;
    return STATUS_OK;
}

static enum status serial_create(const struct backend_options *options,
                                 const struct physics *physics, struct bodies *bodies,
                                 struct backend **backend, struct error *error)
{
    const struct force_options *force = &options->force;
    *backend = NULL;
    if (force->precision != PRECISION_DOUBLE)
        return error_set(error, STATUS_CONFIG,
                         "compute.precision = \"%s\": the serial backend is the reference and "
                         "computes in double only; choose backend \"openmp\"",
                         precision_names[force->precision]);
    if (strcmp(force->kernel, "auto") != 0 && strcmp(force->kernel, "reference") != 0)
        return error_set(error, STATUS_CONFIG,
                         "compute.kernel = \"%s\": the serial backend has the kernel "
                         "\"reference\" only; choose backend \"openmp\"",
                         force->kernel);
    struct backend_options own = *options;
    own.force.threads = 1;
    struct host *host;
    const enum status status =
        host_create(sizeof *host, &backend_serial, &sums, &own, physics, bodies, &host, error);
    if (status == STATUS_OK)
        *backend = &host->backend;
    return status;
}

/* Where the bodies of a system that this process moves end. */
static size_t end_of(const struct host *host)
{
    return host->last < host->bodies->count ? host->last : host->bodies->count;
}

/* v += h a */
static void kick(const struct host *host, double h)
{
    const struct bodies *bodies = host->bodies;
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t i = s * bodies->stride + host->first; i < s * bodies->stride + end_of(host);
             i++) {
            bodies->vx[i] += h * bodies->ax[i];
            bodies->vy[i] += h * bodies->ay[i];
            bodies->vz[i] += h * bodies->az[i];
        }
}

/* x += h v */
static void drift(const struct host *host, double h)
{
    const struct bodies *bodies = host->bodies;
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t i = s * bodies->stride + host->first; i < s * bodies->stride + end_of(host);
             i++) {
            bodies->x[i] += h * bodies->vx[i];
            bodies->y[i] += h * bodies->vy[i];
            bodies->z[i] += h * bodies->vz[i];
        }
}

static void take(struct host *host, const struct stage *stage, double dt)
{
    switch (stage->verb) {
    case VERB_FORCE:
        host_refresh(host);
        break;
    case VERB_KICK:
        kick(host, stage->coefficient * dt);
        break;
    case VERB_DRIFT:
        drift(host, stage->coefficient * dt);
        host->forces_current = false;
        break;
    }
}

static enum status serial_advance(struct backend *backend, const struct integrator *integrator,
                                  double dt, uint64_t steps, struct error *error)
{
    struct host *host = (struct host *)backend;
    if (integrator_needs_initial_force(integrator) && steps > 0)
        host_refresh(host);
    for (uint64_t step = 0; step < steps; step++)
        for (size_t k = 0; k < integrator->stage_count; k++)
            take(host, &integrator->stages[k], dt);
    return host_check(host, error);
}

static void serial_describe(const struct backend *backend, struct backend_description *description)
{
    *description = (struct backend_description){
        .backend = backend->class_->variant.name,
        .kernel = "reference",
        .isa = "baseline",
        .device = "",
        .choice = backend->choice,
        .precision = PRECISION_DOUBLE,
        .threads = 1,
    };
}

static void serial_destroy(struct backend *backend)
{
    host_destroy((struct host *)backend);
}

const struct backend_class backend_serial = {
    .variant = { .name = "serial",
                 .help = "The reference: one thread, plain loops, double precision." },
    .probe = serial_probe,
    .create = serial_create,
    .advance = serial_advance,
    .fetch = host_fetch,
    .accelerations = host_accelerations,
    .potentials = host_potentials,
    .conserved = host_conserved,
    .describe = serial_describe,
    .destroy = serial_destroy,
};
