/*
 * The GPU backend. The bodies stay on the devices; only what an observer asks for is copied to the
 * host. placement.h says how they are divided over devices. Under an integrator that chooses its
 * own steps the bodies stay on the host, which has its logic, and a GPU sums the forces (due.h).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "backend/host.h"
#include "base/memory.h"
#include "due.h"
#include "exchange.h"
#include "external/external.h"
#include "machine/cores.h"
#include "observe.h"
#include "placement.h"
#include "steps.h"

struct cuda {
    struct backend backend;
    struct gpu_placement placement;
    struct force *force; /* of all bodies, if all have one chosen step; else NULL */
    int threads;         /* of the host; above 1 only if the integrator chooses its steps */
    bool moved;          /* the host has moved the bodies since the last copy to devices */
    bool current;        /* the accelerations are those of the present positions */
    struct stage_program program; /* kicks, drifts and forces of the last advance */
    double *sums; /* for conserved(): [systems][GPU_SUM_COUNT], locked host memory */
};

static void cuda_destroy(struct backend *backend)
{
    struct cuda *cuda = (struct cuda *)backend;
    if (!cuda)
        return;
    if (backend->adaptive)
        backend->adaptive->class_->destroy(backend->adaptive);
    force_destroy(cuda->force);
    cudaFreeHost(cuda->sums);
    gpu_placement_clear(&cuda->placement);
    free(cuda);
}

static enum status allocate_sums(struct cuda *cuda, struct error *error)
{
    const size_t size = cuda->placement.setup.bodies->systems * GPU_SUM_COUNT * sizeof(double);
    return gpu_check(cudaMallocHost((void **)&cuda->sums, size),
                     cuda->placement.parts[0]->device.index, "locking memory of the host", error);
}

/* Refuses several devices or several ranks for an integrator that chooses its own steps, since one
 * GPU sums all its forces. */
static enum status check_steps(const struct backend_options *options, struct error *error)
{
    const char *const name = options->integrator->variant.name;
    if (options->devices > 1)
        return error_set(error, STATUS_CONFIG,
                         "compute.devices = %d: one GPU sums the forces of %s; choose 1",
                         options->devices, name);
    if (options->ranks > 1)
        return error_set(error, STATUS_CONFIG,
                         "time.integrator = \"%s\": with several ranks only CPUs sum its forces; "
                         "choose backend \"openmp\", or one process",
                         name);
    return STATUS_OK;
}

/* Creates the state of an integrator that chooses its own steps. A team of the host's threads moves
 * a system alone; the systems of an ensemble are moved one after another by one thread, since one
 * object sums the forces of all. */
static enum status create_adaptive(struct cuda *cuda, const struct backend_options *options,
                                   const struct physics *physics, struct bodies *bodies,
                                   struct error *error)
{
    const struct integrator *const integrator = options->integrator;
    struct force_options force = options->force;
    if (!integrator_chooses_steps(integrator))
        return STATUS_OK;
    if (bodies->systems == 1)
        cuda->threads = force.threads > 0 ? force.threads : cores_available();
    force.threads = cuda->threads;
    force.method = &gpu_due;
    if (!integrator->block_steps && force_create(&force, physics, bodies, &cuda->force, error))
        return error->status;
    return host_create_steps(options, &force, cuda->force, physics, bodies, &cuda->backend.adaptive,
                             error);
}

static enum status cuda_create(const struct backend_options *options, const struct physics *physics,
                               struct bodies *bodies, struct backend **backend, struct error *error)
{
    struct backend_options own = *options;
    *backend = NULL;
    if (integrator_chooses_steps(options->integrator)) {
        if (check_steps(options, error))
            return error->status;
        own.devices = 1;
    }
    if (physics->rotation != 0.0 && !integrator_takes_rotation(options->integrator))
        return error_set(error, STATUS_CONFIG, INTEGRATOR_TAKES_NO_ROTATION,
                         options->integrator->variant.name);
    if (force_check_direct(&options->force, "the cuda backend", error))
        return error->status;
    struct cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda)
        return error_memory(error);
    cuda->backend.class_ = &backend_cuda;
    cuda->threads = 1;
    if (gpu_placement_init(&cuda->placement, &own, physics, bodies, error) ||
        allocate_sums(cuda, error) || create_adaptive(cuda, options, physics, bodies, error)) {
        cuda_destroy(&cuda->backend);
        return error->status;
    }
    *backend = &cuda->backend;
    return STATUS_OK;
}

/* --- the verbs ---------------------------------------------------------------------------------*/

/* The arguments and the result of the functions queue_...(), which queue work on a team of
 * parts. */
struct request {
    struct cuda *cuda;
    uint64_t steps;    /* steps of an advance */
    double *phi, *psi; /* host arrays that the potentials go to */
    bool non_finite;   /* result: a body's position or velocity is not finite */
};

/* Queues copies to the devices of the bodies, which the host has moved. Streamed systems need none:
 * they are copied before each use. */
static enum status follow(struct cuda *cuda, struct error *error)
{
    enum status status = STATUS_OK;
    const struct gpu_placement *const placement = &cuda->placement;
    for (size_t p = 0; p < placement->part_count && placement->mode != GPU_STREAMED && !status; p++)
        status = gpu_exchange_upload(placement->parts[p], placement->parts[p]->first_system,
                                     placement->parts[p]->shape.systems, error);
    cuda->moved = false;
    return status;
}

static enum status run(struct request *request, gpu_queue *queue, struct error *error)
{
    if (request->cuda->moved && follow(request->cuda, error))
        return error->status;
    return gpu_placement_run(&request->cuda->placement, queue, request, &request->non_finite,
                             error);
}

static enum status queue_advance(void *context, const struct gpu_team *team, struct error *error)
{
    const struct request *const request = context;
    const struct cuda *const cuda = request->cuda;
    enum status status = gpu_part_each(team, gpu_part_keep, error);
    if (!status)
        status = gpu_steps_advance(team, &cuda->program, request->steps, cuda->current, error);
    if (status || cuda->placement.mode != GPU_STREAMED)
        return status;
    status = gpu_part_each(team, gpu_exchange_download_state, error);
    return status ? status : gpu_part_each(team, gpu_exchange_download_accelerations, error);
}

static enum status queue_fetch(void *context, const struct gpu_team *team, struct error *error)
{
    (void)context;
    return gpu_part_each(team, gpu_exchange_download_state, error);
}

static enum status cuda_fetch(struct backend *backend, struct error *error)
{
    struct cuda *cuda = (struct cuda *)backend;
    struct request request = { .cuda = cuda };
    if (cuda->placement.mode == GPU_STREAMED || backend->adaptive)
        return STATUS_OK;
    return run(&request, queue_fetch, error);
}

/* Fetches the bodies from the devices, and reports the first whose position or velocity is not
 * finite. */
static enum status report_non_finite(struct cuda *cuda, struct error *error)
{
    const enum status status = cuda_fetch(&cuda->backend, error);
    const struct host host = { .bodies = cuda->placement.setup.bodies };
    return status ? status : host_check(&host, error);
}

/* Takes back steps that were interrupted. */
static enum status restore(struct cuda *cuda, struct error *error)
{
    const struct gpu_placement *const placement = &cuda->placement;
    const struct gpu_team all = { placement->parts, placement->part_count };
    const enum status status = gpu_part_each(&all, gpu_part_restore, error);
    return status ? status : interruption_status(placement->setup.interruption, error);
}

static enum status advance_adaptive(struct cuda *cuda, double dt, uint64_t steps,
                                    struct error *error)
{
    struct adaptive *const adaptive = cuda->backend.adaptive;
    if (steps == 0)
        return STATUS_OK;
    cuda->moved = true;
    cuda->current = false;
    const enum status status = adaptive->class_->advance(adaptive, dt, steps, error);
    if (cuda->force && cuda->force->failure.status) {
        *error = cuda->force->failure; /* after this failure all forces were NaN */
        return error->status;
    }
    return status ? status : report_non_finite(cuda, error);
}

static enum status cuda_advance(struct backend *backend, const struct integrator *integrator,
                                double dt, uint64_t steps, struct error *error)
{
    struct cuda *cuda = (struct cuda *)backend;
    struct request request = { .cuda = cuda, .steps = steps };
    if (integrator_chooses_steps(integrator))
        return advance_adaptive(cuda, dt, steps, error);
    stage_program_make(&cuda->program, integrator, dt);
    const enum status status = run(&request, queue_advance, error);
    if (!status && interruption_noticed(cuda->placement.setup.interruption))
        return restore(cuda, error);
    if (steps > 0)
        cuda->current = cuda->program.leaves_forces;
    if (!status && request.non_finite)
        return report_non_finite(cuda, error);
    return status;
}

static enum status queue_accelerations(void *context, const struct gpu_team *team,
                                       struct error *error)
{
    const struct cuda *const cuda = ((struct request *)context)->cuda;
    const enum status status = cuda->current ? STATUS_OK : gpu_steps_accelerations(team, error);
    return status ? status : gpu_part_each(team, gpu_exchange_download_accelerations, error);
}

static enum status cuda_accelerations(struct backend *backend, struct error *error)
{
    struct cuda *cuda = (struct cuda *)backend;
    struct request request = { .cuda = cuda };
    const struct interruption *const interruption = cuda->placement.setup.interruption;
    enum status status = run(&request, queue_accelerations, error);
    if (!status && !cuda->current) /* else no sums were made that may have been interrupted */
        status = interruption_status(interruption, error);
    cuda->current |= !status;
    return status;
}

static enum status queue_potentials(void *context, const struct gpu_team *team, struct error *error)
{
    const struct request *const request = context;
    enum status status = gpu_observe_potentials(team, error);
    for (size_t p = 0; p < team->count && !status; p++)
        status =
            gpu_exchange_download_potentials(team->parts[p], request->phi, request->psi, error);
    return status;
}

static enum status cuda_potentials(struct backend *backend, double *phi, double *psi,
                                   struct error *error)
{
    struct request request = { .cuda = (struct cuda *)backend, .phi = phi, .psi = psi };
    return run(&request, queue_potentials, error);
}

static enum status queue_conserved(void *context, const struct gpu_team *team, struct error *error)
{
    return gpu_observe_conserved(team, ((struct request *)context)->cuda->sums, error);
}

/* Computes the conserved quantities on the host from the device's potentials: for the kernel
 * `portable`, whose results have the bits of a CPU's, so the order of sums must be a CPU's. */
static enum status sum_on_host(struct cuda *cuda, struct conserved *conserved, struct error *error)
{
    const struct bodies *const bodies = cuda->placement.setup.bodies;
    double *const phi = memory_array(bodies_length(bodies), 2 * sizeof *phi, error);
    double *const psi = phi + bodies_length(bodies);
    enum status status = phi ? cuda_fetch(&cuda->backend, error) : error->status;
    if (!status)
        status = cuda_potentials(&cuda->backend, phi, psi, error);
    if (!status)
        status = host_measure(cuda->placement.setup.physics->external, bodies, 1, phi, psi,
                              conserved, error);
    memory_free(phi);
    return status;
}

static enum status cuda_conserved(struct backend *backend, struct conserved *conserved,
                                  struct error *error)
{
    struct cuda *cuda = (struct cuda *)backend;
    if (cuda->placement.setup.kernel->facts->portable)
        return sum_on_host(cuda, conserved, error);
    struct request request = { .cuda = cuda };
    const struct external *const external = cuda->placement.setup.physics->external;
    const enum status status = run(&request, queue_conserved, error);
    for (size_t s = 0; s < cuda->placement.setup.bodies->systems && !status; s++) {
        const double *sums = cuda->sums + s * GPU_SUM_COUNT;
        conserved[s] = (struct conserved){
            .mass = sums[GPU_SUM_MASS],
            .kinetic = sums[GPU_SUM_KINETIC],
            .potential = sums[GPU_SUM_POTENTIAL],
            .virial = sums[GPU_SUM_VIRIAL],
        };
        for (int k = 0; k < 3; k++) {
            conserved[s].momentum[k] = sums[GPU_SUM_MOMENTUM + k];
            conserved[s].angular_momentum[k] = sums[GPU_SUM_ANGULAR_MOMENTUM + k];
            conserved[s].center[k] = sums[GPU_SUM_CENTER + k] / sums[GPU_SUM_MASS];
        }
        double V[3];
        conserved_velocity(conserved[s].mass, conserved[s].kinetic, conserved[s].momentum, V);
        const bool at_rest = V[0] == 0.0 && V[1] == 0.0 && V[2] == 0.0;
        conserved[s].internal =
            at_rest ? conserved[s].kinetic
                    : conserved_internal(conserved[s].kinetic, sums[GPU_SUM_INTERNAL]);
        if (external)
            external_refer(external, &conserved[s]);
    }
    return status;
}

static void cuda_describe(const struct backend *backend, struct backend_description *description)
{
    const struct cuda *cuda = (const struct cuda *)backend;
    const struct adaptive *const adaptive = backend->adaptive;
    *description = (struct backend_description){
        .backend = backend->class_->variant.name,
        .kernel = adaptive ? adaptive->class_->kernel(adaptive)
                           : cuda->placement.setup.kernel->facts->name,
        .isa = cuda->placement.isa,
        .device = cuda->placement.device,
        .choice = backend->choice,
        .precision = cuda->placement.setup.interaction.precision,
        .origin = cuda->placement.setup.interaction.precision == PRECISION_DOUBLE ? ORIGIN_EXACT
                                                                                  : ORIGIN_ZERO,
        .force = { .method = &force_direct,
                   .precision = cuda->placement.setup.interaction.precision },
        .threads = cuda->threads,
    };
}

const struct backend_class backend_cuda = {
    .variant = { .name = "cuda", .help = "NVIDIA GPUs: all systems in one launch" },
    .probe = gpu_placement_probe,
    .create = cuda_create,
    .advance = cuda_advance,
    .fetch = cuda_fetch,
    .accelerations = cuda_accelerations,
    .potentials = cuda_potentials,
    .conserved = cuda_conserved,
    .conserved_of_all = true,
    .describe = cuda_describe,
    .destroy = cuda_destroy,
};
