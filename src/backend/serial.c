/* The reference backend: one thread and plain loops. All other backends must agree with its
 * results. */
#include <string.h>

#include "backend/host.h"
#include "external/external.h"
#include "force/direct/reference.h"
#include "force/fmm/fmm-plain.h"

struct serial {
    struct host host;
    struct force_options force;
    const char *kernel;    /* name in descriptions: "reference", "portable" or "fmm" */
    struct fmm_plain *fmm; /* fast multipoles; NULL: direct sums */
};

/* Sums the potentials of all systems into phi and psi or, if `phi` is NULL, their accelerations
 * into bodies->ax, ay, az. */
static void sum_potentials(struct host *host, double *phi, double *psi)
{
    struct fmm_plain *const fmm = ((struct serial *)host)->fmm;
    host_gather_positions(host);
    for (size_t s = 0; s < host->bodies->systems; s++)
        if (fmm)
            fmm_plain_sum(fmm, host->bodies, s, phi, psi);
        else if (phi)
            reference_potentials_of(host->physics, host->bodies, s, host->first, host->last, phi,
                                    psi);
        else
            reference_accelerations_of(host->physics, host->bodies, s, host->first, host->last);
}

static void sum_accelerations(struct host *host)
{
    sum_potentials(host, NULL, NULL);
}

static const struct host_sums sums = { sum_accelerations, sum_potentials };

static double serial_force_bytes(const struct force_options *force, double systems, double count)
{
    return force_method_of(force) == &force_fmm ? fmm_plain_bytes(count)
                                                : force_bytes(force, systems, count);
}

static enum status serial_create(const struct backend_options *options,
                                 const struct physics *physics, struct bodies *bodies,
                                 struct backend **backend, struct error *error)
{
    const struct force_options *force = &options->force;
    const bool is_fmm = force_method_of(force) == &force_fmm;
    *backend = NULL;
    if (!is_fmm && force_check_direct(force, "the serial backend", error))
        return error->status;
    if (force->precision != PRECISION_DOUBLE)
        return error_set(error, STATUS_CONFIG,
                         "compute.precision = \"%s\": the serial backend is the reference and "
                         "computes in double only; choose backend \"openmp\"",
                         precision_names[force->precision]);
    const bool portable = strcmp(force->kernel, "portable") == 0; /* the reference's bits */
    if (strcmp(force->kernel, "auto") != 0 && strcmp(force->kernel, "reference") != 0 && !portable)
        return error_set(error, STATUS_CONFIG,
                         "compute.kernel = \"%s\": the serial backend has the kernel "
                         "\"reference\" only; choose backend \"openmp\"",
                         force->kernel);
    struct backend_options own = *options;
    own.force.threads = 1;
    own.force.kernel = "reference";
    struct host *host = NULL;
    if (host_create(sizeof(struct serial), &backend_serial, &sums, &own, physics, bodies, &host,
                    error))
        return error->status;
    struct serial *const serial = (struct serial *)host;
    serial->force = *force;
    serial->kernel = is_fmm ? "fmm" : portable ? "portable" : "reference";
    if (host_create_adaptive(host, &own, physics, NULL, error) ||
        host_create_registers(host, &own, error) || host_create_before(host, error) ||
        (is_fmm && fmm_plain_create(physics, bodies, force->accuracy, &serial->fmm, error))) {
        host_destroy(host);
        return error->status;
    }
    *backend = &host->backend;
    return STATUS_OK;
}

/* Sets `to` to from + h rate, for the values from index `first` to before `last`, with one term for
 * each h of the move. */
static void combine(const struct stage_move *move, double *to, const double *from,
                    const double *rate, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        double sum = from[i];
        for (unsigned k = 0; k < move->times; k++)
            sum += move->h[k] * rate[i];
        to[i] = sum;
    }
}

/* Makes one move of a pass for the bodies from index `first` to before `last`. In a rotating frame,
 * a drift includes the Coriolis force. */
static void make_move(const struct host *host, const struct host_vectors *vectors,
                      const struct stage_move *move, size_t first, size_t last)
{
    const double rotation = host->physics->rotation;
    const bool turns = rotation != 0.0 && move->to == VECTOR_X;
    for (unsigned k = 0; turns && k < move->times; k++)
        external_drift(rotation, host->bodies, move->h[k], first, last);
    for (int axis = 0; !turns && axis < 3; axis++)
        combine(move, vectors->of[move->to][axis], vectors->of[move->from][axis],
                vectors->of[move->rate][axis], first, last);
}

static void take_pass(struct host *host, const struct stage_pass *pass)
{
    const struct bodies *bodies = host->bodies;
    const struct host_vectors vectors = host_vectors(host, bodies, 0);
    for (size_t k = 0; k < pass->count; k++)
        for (size_t s = 0; s < bodies->systems; s++)
            make_move(host, &vectors, &pass->moves[k], s * bodies->stride + host->first,
                      s * bodies->stride + host_last(host));
    host->forces_current &= !pass->drifts;
    if (pass->force)
        host_refresh(host);
}

static enum status serial_advance(struct backend *backend, const struct integrator *integrator,
                                  double dt, uint64_t steps, struct error *error)
{
    struct host *host = (struct host *)backend;
    if (integrator_chooses_steps(integrator))
        return host_advance_adaptive(host, integrator, dt, steps, error);
    host_begin(host);
    stage_program_make(&host->program, integrator, dt);
    if (host->program.needs_forces && steps > 0)
        host_refresh(host);
    struct stage_walk walk = stage_walk_begin(&host->program, steps);
    const struct stage_pass *pass;
    while (!interruption_agreed(host->own.interruption) &&
           (pass = stage_walk_next(&host->program, &walk)))
        take_pass(host, pass);
    return host_end(host, error);
}

static void serial_describe(const struct backend *backend, struct backend_description *description)
{
    const struct serial *const serial = (const struct serial *)backend;
    *description = (struct backend_description){
        .backend = backend->class_->variant.name,
        .kernel = host_kernel(&serial->host, serial->kernel),
        .isa = "portable",
        .device = "",
        .choice = backend->choice,
        .precision = PRECISION_DOUBLE,
        .force = { .method = force_method_of(&serial->force),
                   .precision = PRECISION_DOUBLE,
                   .accuracy = serial->force.accuracy },
        .threads = 1,
    };
}

static void serial_destroy(struct backend *backend)
{
    struct serial *const serial = (struct serial *)backend;
    fmm_plain_destroy(serial->fmm);
    host_destroy(&serial->host);
}

const struct backend_class backend_serial = {
    .variant = { .name = "serial",
                 .help = "The reference: one thread, plain loops, double precision." },
    .force_bytes = serial_force_bytes,
    .create = serial_create,
    .advance = serial_advance,
    .fetch = host_fetch,
    .accelerations = host_accelerations,
    .potentials = host_potentials,
    .conserved = host_conserved,
    .describe = serial_describe,
    .destroy = serial_destroy,
};
