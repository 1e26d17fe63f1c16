/*
 * The GPU backend. The bodies stay on the devices; the host sees what an observer asks for.
 *
 *   whole     every device keeps some systems (base + remainder) for good;
 *   divided   fewer systems than devices: every device moves some bodies of each system;
 *             Other processes may move other bodies, and exchange positions with these;
 *   streamed  the bodies do not fit: batches of systems go through the device's memory, and some
 *             of them are copied while others are computed. The host's arrays are always current.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/host.h"
#include "base/memory.h"
#include "team.h"
#include "work.h"

enum mode { WHOLE, DIVIDED, STREAMED };

enum {
    MAX_PARTS = 64,
    SLOTS = 3 /* batches of a device under way: one arrives, one computes, one leaves */
};

struct cuda {
    struct backend backend;
    struct gpu_setup setup;
    enum mode mode;
    struct gpu_part *parts[MAX_PARTS];
    size_t part_count, device_count;
    size_t own_first, own_last;  /* bodies of every system that this process moves */
    size_t first[MAX_PARTS + 1]; /* systems of device d: [first[d], first[d + 1]) */
    bool current;                /* the accelerations are a(x) */
    double *sums;                /* of conserved(): [systems][GPU_SUM_COUNT] */
    double **pinned;             /* host arrays that are locked in memory */
    size_t pinned_count;
    char device[280], isa[16];
};

/* --- making one --------------------------------------------------------------------------------*/

/* A device may be counted and still refuse what it is told to do; so it is told something. */
static enum status cuda_probe(struct error *error)
{
    int count;
    const enum status status = gpu_device_count(&count, error);
    if (status)
        return status;
    cudaError_t code = cudaSetDevice(0);
    if (!code)
        code = gpu_rate(GPU_OPERATION_SINGLE, 1, NULL, NULL);
    if (!code)
        code = cudaStreamSynchronize(NULL);
    return gpu_check((int)code, 0, "launching a kernel to try it", error);
}

/* Base + remainder: where share k of n begins. */
static size_t share(size_t total, size_t n, size_t k)
{
    return total / n * k + (k < total % n ? k : total % n);
}

static enum status add_part(struct cuda *cuda, const struct gpu_device *device, size_t systems,
                            size_t first, size_t last, struct error *error)
{
    struct gpu_part *part;
    const enum status status =
        gpu_part_create(&cuda->setup, device, systems, first, last, &part, error);
    if (!status)
        cuda->parts[cuda->part_count++] = part;
    return status;
}

static size_t blocks_of(const struct cuda *cuda)
{
    return (cuda->own_last - cuda->own_first + GPU_OBSERVER_BLOCK - 1) / GPU_OBSERVER_BLOCK;
}

static enum status too_little(const struct gpu_device *device, const char *what, size_t bytes,
                              size_t memory, struct error *error)
{
    return error_set(error, STATUS_MEMORY, "GPU %d: %s needs %.1f MiB, and %.1f MiB are free",
                     device->index, what, (double)bytes / 0x1p20, (double)memory / 0x1p20);
}

static enum status create_divided(struct cuda *cuda, const struct gpu_device *devices,
                                  const size_t *memory, struct error *error)
{
    const struct bodies *bodies = cuda->setup.bodies;
    const size_t blocks = blocks_of(cuda), own = cuda->own_first;
    enum status status = STATUS_OK;
    for (size_t d = 0; d < cuda->device_count && !status; d++) {
        const size_t first = own + share(blocks, cuda->device_count, d) * GPU_OBSERVER_BLOCK;
        const size_t last = own + share(blocks, cuda->device_count, d + 1) * GPU_OBSERVER_BLOCK;
        const size_t end = last < cuda->own_last ? last : cuda->own_last;
        const size_t bytes = gpu_part_size(&cuda->setup, &devices[d], bodies->systems, first, end);
        status = bytes > memory[d]
                     ? too_little(&devices[d], "its part of the bodies", bytes, memory[d], error)
                     : add_part(cuda, &devices[d], bodies->systems, first, end, error);
    }
    for (size_t p = 0; p < cuda->part_count && !status; p++)
        status = gpu_part_upload(cuda->parts[p], 0, bodies->systems, error);
    return status;
}

static enum status create_whole(struct cuda *cuda, const struct gpu_device *devices,
                                struct error *error)
{
    const size_t count = cuda->setup.bodies->count;
    enum status status = STATUS_OK;
    for (size_t d = 0; d < cuda->device_count && !status; d++) {
        const size_t systems = cuda->first[d + 1] - cuda->first[d];
        status = add_part(cuda, &devices[d], systems, 0, count, error);
        if (!status)
            status = gpu_part_upload(cuda->parts[d], cuda->first[d], systems, error);
    }
    return status;
}

/* Copies from and to locked memory run beside the kernels; without the lock all is slower. */
static void pin(struct cuda *cuda, struct error *error)
{
    const struct bodies *b = cuda->setup.bodies;
    double *const arrays[] = { b->m, b->x, b->y, b->z, b->vx, b->vy, b->vz, b->ax, b->ay, b->az };
    cuda->pinned = memory_array(COUNT_OF(arrays), sizeof *cuda->pinned, error);
    for (size_t k = 0; k < COUNT_OF(arrays) && cuda->pinned; k++)
        if (!cudaHostRegister(arrays[k], bodies_length(b) * sizeof(double),
                              cudaHostRegisterDefault))
            cuda->pinned[cuda->pinned_count++] = arrays[k];
    cudaGetLastError();
}

/* The largest batch of which SLOTS fit. */
static size_t batch_size(const struct cuda *cuda, const struct gpu_device *device, size_t memory)
{
    const size_t count = cuda->setup.bodies->count;
    size_t fits = 0, too_many = cuda->setup.bodies->systems + 1;
    while (too_many - fits > 1) {
        const size_t middle = fits + (too_many - fits) / 2;
        if (SLOTS * gpu_part_size(&cuda->setup, device, middle, 0, count) <= memory)
            fits = middle;
        else
            too_many = middle;
    }
    return fits;
}

static enum status create_streamed(struct cuda *cuda, const struct gpu_device *devices,
                                   const size_t *memory, struct error *error)
{
    const size_t count = cuda->setup.bodies->count;
    enum status status = STATUS_OK;
    for (size_t d = 0; d < cuda->device_count && !status; d++) {
        const size_t batch = batch_size(cuda, &devices[d], memory[d]);
        if (batch == 0)
            return too_little(&devices[d], "a system",
                              gpu_part_size(&cuda->setup, &devices[d], 1, 0, count), memory[d],
                              error);
        for (int slot = 0; slot < SLOTS && !status; slot++)
            status = add_part(cuda, &devices[d], batch, 0, count, error);
    }
    pin(cuda, error);
    return status;
}

/* Nine tenths of what is free: the driver needs some for itself. */
static enum status free_memory(const struct gpu_device *device, size_t *memory, struct error *error)
{
    size_t all;
    int code = cudaSetDevice(device->index);
    if (!code)
        code = cudaMemGetInfo(memory, &all);
    *memory = *memory / 10 * 9;
    return gpu_check(code, device->index, "asking for its memory", error);
}

/* Whole where the systems fit, else streamed; one system for several devices is divided. */
static enum status create_parts(struct cuda *cuda, const struct gpu_device *devices,
                                struct error *error)
{
    const struct bodies *bodies = cuda->setup.bodies;
    size_t memory[MAX_PARTS] = { 0 };
    bool fits = true;
    for (size_t d = 0; d < cuda->device_count; d++) {
        const enum status status = free_memory(&devices[d], &memory[d], error);
        if (status)
            return status;
    }
    if (cuda->device_count > bodies->systems || cuda->setup.exchange) {
        cuda->mode = DIVIDED;
        return create_divided(cuda, devices, memory, error);
    }
    for (size_t d = 0; d <= cuda->device_count; d++)
        cuda->first[d] = share(bodies->systems, cuda->device_count, d);
    for (size_t d = 0; d < cuda->device_count; d++)
        fits &= gpu_part_size(&cuda->setup, &devices[d], cuda->first[d + 1] - cuda->first[d], 0,
                              bodies->count) <= memory[d];
    cuda->mode = fits ? WHOLE : STREAMED;
    return fits ? create_whole(cuda, devices, error)
                : create_streamed(cuda, devices, memory, error);
}

/* Devices that there is work for: each must get a system, or a block of bodies. */
static size_t useful_devices(const struct cuda *cuda, size_t wanted)
{
    const struct bodies *bodies = cuda->setup.bodies;
    const size_t blocks = blocks_of(cuda) > 0 ? blocks_of(cuda) : 1;
    size_t most = bodies->systems > blocks || cuda->setup.kernel->mutual ? bodies->systems : blocks;
    if (cuda->setup.exchange)
        most = blocks;
    most = most < MAX_PARTS / SLOTS ? most : MAX_PARTS / SLOTS;
    return wanted < most ? wanted : most;
}

static enum status try_parts(struct cuda *cuda, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t p = 0; p < cuda->part_count && !status; p++)
        status = gpu_work_try(cuda->parts[p], error);
    return status;
}

/* As many as are wanted, the next ones for the next process on this machine, in turn. */
static enum status find_devices(struct cuda *cuda, int wanted, int node_rank,
                                struct gpu_device *devices, struct error *error)
{
    int count;
    enum status status = gpu_device_count(&count, error);
    if (status)
        return status;
    if (wanted > count)
        return error_set(error, STATUS_UNAVAILABLE,
                         "compute.devices = %d: this machine has %d GPU%s", wanted, count,
                         count == 1 ? "" : "s");
    cuda->device_count = useful_devices(cuda, wanted > 0 ? (size_t)wanted : (size_t)count);
    for (size_t d = 0; d < cuda->device_count && !status; d++)
        status = gpu_device_find((node_rank * wanted + (int)d) % count, &devices[d], error);
    if (status)
        return status;
    snprintf(cuda->isa, sizeof cuda->isa, "%s", devices[0].isa);
    if (cuda->device_count == 1)
        snprintf(cuda->device, sizeof cuda->device, "%s", devices[0].name);
    else
        snprintf(cuda->device, sizeof cuda->device, "%zu x %s", cuda->device_count,
                 devices[0].name);
    return STATUS_OK;
}

static void cuda_destroy(struct backend *backend)
{
    struct cuda *cuda = (struct cuda *)backend;
    if (!cuda)
        return;
    for (size_t p = 0; p < cuda->part_count; p++)
        gpu_part_destroy(cuda->parts[p]);
    for (size_t k = 0; k < cuda->pinned_count; k++)
        cudaHostUnregister(cuda->pinned[k]);
    memory_free(cuda->pinned);
    memory_free(cuda->sums);
    gpu_setup_free(&cuda->setup);
    free(cuda);
}

static enum status wait_all(struct cuda *cuda, bool *blemish, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t p = 0; p < cuda->part_count && !status; p++)
        status = gpu_part_wait(cuda->parts[p], blemish, error);
    return status;
}

/* The bodies to be moved: a share without its padding, or all. */
static void take_share(struct cuda *cuda, const struct force_share *share)
{
    const size_t count = cuda->setup.bodies->count;
    cuda->own_last = share && share->last < count ? share->last : count;
    cuda->own_first = share ? share->first < cuda->own_last ? share->first : cuda->own_last : 0;
}

static enum status cuda_create(const struct backend_options *options, const struct physics *physics,
                               struct bodies *bodies, struct backend **backend, struct error *error)
{
    *backend = NULL;
    const struct gpu_kernel *kernel = gpu_kernel_find(options->force.kernel);
    if (!kernel)
        return error_set(error, STATUS_CONFIG,
                         "compute.kernel = \"%s\": the cuda backend has the kernels \"simt\", "
                         "\"tiled\", \"blocked\" and \"symmetric\"",
                         options->force.kernel);
    /* Few bodies are less work than to exchange them: every process moves all of them. */
    const bool shared = options->exchange && bodies->count > GPU_RESIDENT_ALONE;
    if (shared && kernel->mutual)
        return error_set(error, STATUS_CONFIG,
                         "compute.kernel = \"%s\": on a GPU it needs all bodies of a system, and "
                         "ranks divide them; \"blocked\" does not",
                         kernel->name);
    struct cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda)
        return error_set(error, STATUS_MEMORY, "out of memory");
    cuda->backend.class_ = &backend_cuda;
    struct gpu_device devices[MAX_PARTS];
    enum status status =
        gpu_setup_init(kernel, options->force.precision, physics, bodies, &cuda->setup, error);
    if (!status &&
        !(cuda->sums = memory_array(bodies->systems, GPU_SUM_COUNT * sizeof(double), error)))
        status = error->status;
    if (!status)
        take_share(cuda, shared ? &options->force.share : NULL);
    if (!status && shared)
        status = gpu_setup_share(&cuda->setup, options->exchange, error);
    if (!status)
        status = find_devices(cuda, options->devices, options->node_rank, devices, error);
    if (!status)
        status = create_parts(cuda, devices, error);
    if (!status)
        status = try_parts(cuda, error);
    if (status)
        cuda_destroy(&cuda->backend);
    else
        *backend = &cuda->backend;
    return status;
}

/* --- going through the systems -----------------------------------------------------------------*/

/* What is to be queued on a team of parts, and what the host gets back of it. */
struct errand {
    enum status (*queue)(const struct cuda *cuda, const struct gpu_team *team,
                         const struct errand *errand, struct error *error);
    const struct integrator *integrator; /* of an advance */
    double dt;
    uint64_t steps;
    double *phi, *psi; /* of potentials */
    bool blemish;      /* out: a state is not finite */
};

/* One batch after another through the slots of a device: what a slot is told to do waits for what
 * it was told before, not for the other slots. */
static enum status stream_device(struct cuda *cuda, size_t device, struct errand *errand,
                                 struct error *error)
{
    enum status status = STATUS_OK;
    size_t slot = 0;
    for (size_t s = cuda->first[device]; s < cuda->first[device + 1] && !status; slot++) {
        struct gpu_part *part = cuda->parts[device * SLOTS + slot % SLOTS];
        const struct gpu_team team = { &part, 1 };
        const size_t left = cuda->first[device + 1] - s;
        const size_t systems = left < part->capacity ? left : part->capacity;
        status = gpu_part_upload(part, s, systems, error);
        if (!status)
            status = errand->queue(cuda, &team, errand, error);
        s += systems;
    }
    return status;
}

static enum status run_errand(struct cuda *cuda, struct errand *errand, struct error *error)
{
    enum status status = STATUS_OK;
    if (cuda->mode == DIVIDED) {
        const struct gpu_team team = { cuda->parts, cuda->part_count };
        status = errand->queue(cuda, &team, errand, error);
    }
    for (size_t p = 0; p < cuda->part_count && cuda->mode == WHOLE && !status; p++) {
        const struct gpu_team team = { &cuda->parts[p], 1 };
        status = errand->queue(cuda, &team, errand, error);
    }
    for (size_t d = 0; d < cuda->device_count && cuda->mode == STREAMED && !status; d++)
        status = stream_device(cuda, d, errand, error);
    return status ? status : wait_all(cuda, &errand->blemish, error);
}

static enum status download(const struct gpu_team *team,
                            enum status (*copy)(struct gpu_part *, struct error *),
                            struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t p = 0; p < team->count && !status; p++)
        status = copy(team->parts[p], error);
    return status;
}

/* --- the verbs ---------------------------------------------------------------------------------*/

static enum status queue_advance(const struct cuda *cuda, const struct gpu_team *team,
                                 const struct errand *errand, struct error *error)
{
    enum status status =
        gpu_team_advance(team, errand->integrator, errand->dt, errand->steps, cuda->current, error);
    if (!status && cuda->mode == STREAMED)
        status = download(team, gpu_part_download_state, error);
    if (!status && cuda->mode == STREAMED)
        status = download(team, gpu_part_download_accelerations, error);
    return status;
}

static enum status cuda_fetch(struct backend *backend, struct error *error);

/* A state that is not finite: the host looks for the body. */
static enum status report_blemish(struct cuda *cuda, struct error *error)
{
    const enum status status = cuda_fetch(&cuda->backend, error);
    const struct host host = { .bodies = cuda->setup.bodies };
    return status ? status : host_check(&host, error);
}

static enum status cuda_advance(struct backend *backend, const struct integrator *integrator,
                                double dt, uint64_t steps, struct error *error)
{
    struct cuda *cuda = (struct cuda *)backend;
    struct errand errand = { queue_advance, integrator, dt, steps, NULL, NULL, false };
    const enum status status = run_errand(cuda, &errand, error);
    if (steps > 0)
        cuda->current = gpu_forces_current(integrator);
    if (!status && errand.blemish)
        return report_blemish(cuda, error);
    return status;
}

static enum status queue_fetch(const struct cuda *cuda, const struct gpu_team *team,
                               const struct errand *errand, struct error *error)
{
    (void)cuda;
    (void)errand;
    return download(team, gpu_part_download_state, error);
}

static enum status cuda_fetch(struct backend *backend, struct error *error)
{
    struct cuda *cuda = (struct cuda *)backend;
    struct errand errand = { .queue = queue_fetch };
    return cuda->mode == STREAMED ? STATUS_OK : run_errand(cuda, &errand, error);
}

static enum status queue_accelerations(const struct cuda *cuda, const struct gpu_team *team,
                                       const struct errand *errand, struct error *error)
{
    (void)errand;
    const enum status status = cuda->current ? STATUS_OK : gpu_team_accelerations(team, error);
    return status ? status : download(team, gpu_part_download_accelerations, error);
}

static enum status cuda_accelerations(struct backend *backend, struct error *error)
{
    struct cuda *cuda = (struct cuda *)backend;
    struct errand errand = { .queue = queue_accelerations };
    const enum status status = run_errand(cuda, &errand, error);
    cuda->current |= !status;
    return status;
}

static enum status queue_potentials(const struct cuda *cuda, const struct gpu_team *team,
                                    const struct errand *errand, struct error *error)
{
    (void)cuda;
    enum status status = gpu_team_potentials(team, error);
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_part_download_potentials(team->parts[p], errand->phi, errand->psi, error);
    return status;
}

static enum status cuda_potentials(struct backend *backend, double *phi, double *psi,
                                   struct error *error)
{
    struct errand errand = { .queue = queue_potentials, .phi = phi, .psi = psi };
    return run_errand((struct cuda *)backend, &errand, error);
}

static enum status queue_conserved(const struct cuda *cuda, const struct gpu_team *team,
                                   const struct errand *errand, struct error *error)
{
    (void)errand;
    return gpu_team_conserved(team, cuda->sums, error);
}

static enum status cuda_conserved(struct backend *backend, struct conserved *conserved,
                                  struct error *error)
{
    struct cuda *cuda = (struct cuda *)backend;
    struct errand errand = { .queue = queue_conserved };
    const enum status status = run_errand(cuda, &errand, error);
    for (size_t s = 0; s < cuda->setup.bodies->systems && !status; s++) {
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
    }
    return status;
}

static void cuda_describe(const struct backend *backend, struct backend_description *description)
{
    const struct cuda *cuda = (const struct cuda *)backend;
    *description = (struct backend_description){
        .backend = backend->class_->variant.name,
        .kernel = cuda->setup.kernel->name,
        .isa = cuda->isa,
        .device = cuda->device,
        .choice = backend->choice,
        .precision = cuda->setup.law.precision,
        .origin = cuda->setup.law.precision == PRECISION_DOUBLE ? ORIGIN_EXACT : ORIGIN_ZERO,
        .threads = 1,
    };
}

const struct backend_class backend_cuda = {
    .variant = { .name = "cuda", .help = "NVIDIA GPUs: all systems in one launch" },
    .probe = cuda_probe,
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
