#include "placement.h"

#include <stdio.h>
#include <string.h>

#include "base/barrier.h"
#include "base/memory.h"
#include "base/text.h"
#include "exchange.h"
#include "force/direct/direct.h"
#include "force/direct/reference.h"
#include "steps.h"

/* --- parts -------------------------------------------------------------------------------------*/

static enum status add_part(struct gpu_placement *placement, const struct gpu_device *device,
                            size_t systems, size_t first, size_t last, struct error *error)
{
    struct gpu_part *part;
    const enum status status =
        gpu_part_create(&placement->setup, device, systems, first, last, &part, error);
    if (!status)
        placement->parts[placement->part_count++] = part;
    return status;
}

/* Returns the number of blocks of GPU_OBSERVER_BLOCK bodies of a system that this process moves. A
 * device takes whole blocks, since the sums for energies are those of blocks. */
static size_t blocks_of(const struct gpu_placement *placement)
{
    return (placement->own_last - placement->own_first + GPU_OBSERVER_BLOCK - 1) /
           GPU_OBSERVER_BLOCK;
}

/* Returns nine tenths of the free memory: the driver needs some for itself. */
static size_t usable(size_t memory)
{
    return memory / 10 * 9;
}

static enum status too_little(const struct gpu_device *device, const char *what, size_t bytes,
                              size_t memory, struct error *error)
{
    return error_set(error, STATUS_MEMORY,
                     "GPU %d: %s needs %.1f MiB, and %.1f MiB are free, of which it may take nine "
                     "tenths",
                     device->index, what, (double)bytes / 0x1p20, (double)memory / 0x1p20);
}

static enum status create_divided(struct gpu_placement *placement, const struct gpu_device *devices,
                                  const size_t *memory, struct error *error)
{
    const struct bodies *bodies = placement->setup.bodies;
    const size_t blocks = blocks_of(placement), own = placement->own_first;
    enum status status = STATUS_OK;
    gpu_devices_connect(devices, placement->device_count);
    for (size_t d = 0; d < placement->device_count && !status; d++) {
        const size_t first =
            own + share_start(blocks, placement->device_count, d) * GPU_OBSERVER_BLOCK;
        const size_t last =
            own + share_start(blocks, placement->device_count, d + 1) * GPU_OBSERVER_BLOCK;
        const size_t end = last < placement->own_last ? last : placement->own_last;
        const size_t bytes =
            gpu_part_size(&placement->setup, &devices[d], bodies->systems, first, end);
        status = bytes > usable(memory[d])
                     ? too_little(&devices[d], "its part of the bodies", bytes, memory[d], error)
                     : add_part(placement, &devices[d], bodies->systems, first, end, error);
    }
    for (size_t p = 0; p < placement->part_count && !status; p++)
        status = gpu_exchange_upload(placement->parts[p], 0, bodies->systems, error);
    return status;
}

/* Locks the host's arrays in memory (pins them), so that copies run while kernels do. If that
 * fails, copies hold up the kernels, and nothing else changes. */
static void pin(struct gpu_placement *placement)
{
    const size_t bytes = bodies_length(placement->setup.bodies) * sizeof(double);
    double *arrays[BODIES_REALS];
    bodies_reals(placement->setup.bodies, arrays);
    for (size_t k = 0; k < BODIES_REALS; k++)
        if (!cudaHostRegister(arrays[k], bytes, cudaHostRegisterDefault))
            placement->pinned[placement->pinned_count++] = arrays[k];
    cudaGetLastError();
}

static enum status create_whole(struct gpu_placement *placement, const struct gpu_device *devices,
                                struct error *error)
{
    const size_t count = placement->setup.bodies->count;
    enum status status = STATUS_OK;
    if (placement->device_count > 1) /* unlocked memory would make the devices wait in turn */
        pin(placement);
    for (size_t d = 0; d < placement->device_count && !status; d++) {
        const size_t systems = placement->first[d + 1] - placement->first[d];
        status = add_part(placement, &devices[d], systems, 0, count, error);
        if (!status)
            status = gpu_exchange_upload(placement->parts[d], placement->first[d], systems, error);
    }
    return status;
}

/* Returns the most systems of a batch with which all batches under way fit into a device. */
static size_t batch_size(const struct gpu_placement *placement, const struct gpu_device *device,
                         size_t memory)
{
    const size_t count = placement->setup.bodies->count;
    size_t fits = 0, too_many = placement->setup.bodies->systems + 1;
    while (too_many - fits > 1) {
        const size_t middle = fits + (too_many - fits) / 2;
        if (placement->batches * gpu_part_size(&placement->setup, device, middle, 0, count) <=
            usable(memory))
            fits = middle;
        else
            too_many = middle;
    }
    return fits;
}

static bool batches_fit(const struct gpu_placement *placement, const struct gpu_device *devices,
                        const size_t *memory)
{
    for (size_t d = 0; d < placement->device_count; d++)
        if (batch_size(placement, &devices[d], memory[d]) == 0)
            return false;
    return true;
}

/* Creates the parts of the mode GPU_STREAMED, one for each batch under way: three on every device,
 * or fewer if there is no room for three. Batches are so small that each part takes two of them. */
static enum status create_streamed(struct gpu_placement *placement,
                                   const struct gpu_device *devices, const size_t *memory,
                                   struct error *error)
{
    const size_t count = placement->setup.bodies->count;
    enum status status = STATUS_OK;
    placement->batches = GPU_MAX_BATCHES;
    while (placement->batches > 1 && !batches_fit(placement, devices, memory))
        placement->batches--;
    for (size_t d = 0; d < placement->device_count && !status; d++) {
        const size_t systems = placement->first[d + 1] - placement->first[d];
        const size_t sixth = (systems + 2 * placement->batches - 1) / (2 * placement->batches);
        const size_t fits = batch_size(placement, &devices[d], memory[d]);
        const size_t batch = fits < sixth ? fits : sixth;
        if (batch == 0)
            return too_little(&devices[d], "a system",
                              gpu_part_size(&placement->setup, &devices[d], 1, 0, count), memory[d],
                              error);
        for (size_t k = 0; k < placement->batches && !status; k++)
            status = add_part(placement, &devices[d], batch, 0, count, error);
    }
    pin(placement);
    return status;
}

static enum status free_memory(const struct gpu_device *device, size_t *memory, struct error *error)
{
    size_t all;
    int code = cudaSetDevice(device->index);
    if (!code)
        code = cudaMemGetInfo(memory, &all);
    return gpu_check(code, device->index, "asking for its memory", error);
}

/* Tells whether each device has room for its systems. */
static bool all_fit(const struct gpu_placement *placement, const struct gpu_device *devices,
                    const size_t *memory)
{
    bool fits = true;
    for (size_t d = 0; d < placement->device_count; d++)
        fits &= gpu_part_size(&placement->setup, &devices[d],
                              placement->first[d + 1] - placement->first[d], 0,
                              placement->setup.bodies->count) <= usable(memory[d]);
    return fits;
}

/* Chooses the mode, and creates its parts: divided if there are fewer systems than devices or other
 * processes move bodies of the same systems; whole if all systems fit into the devices' memory and
 * are not to be streamed; else streamed. STATUS_CONFIG if divided systems are to be streamed. */
static enum status create_parts(struct gpu_placement *placement, const struct gpu_device *devices,
                                bool stream, struct error *error)
{
    const struct bodies *bodies = placement->setup.bodies;
    size_t memory[GPU_MAX_PARTS] = { 0 };
    for (size_t d = 0; d < placement->device_count; d++) {
        if (free_memory(&devices[d], &memory[d], error))
            return error->status;
    }
    if (placement->device_count > bodies->systems || placement->setup.peers) {
        if (stream)
            return error_set(error, STATUS_CONFIG,
                             "compute.stream = true: whole systems pass through a GPU, and here %s "
                             "each system",
                             placement->setup.peers ? "ranks divide" : "several GPUs divide");
        placement->mode = GPU_DIVIDED;
        return create_divided(placement, devices, memory, error);
    }
    for (size_t d = 0; d <= placement->device_count; d++)
        placement->first[d] = share_start(bodies->systems, placement->device_count, d);
    /* Steps that can be interrupted need room for a copy of the bodies. And those of batches cannot
     * be taken back, since the host's arrays have the steps of the batches before. */
    bool fits = !stream && all_fit(placement, devices, memory);
    if (!fits) {
        placement->setup.interruption = NULL;
        fits = !stream && all_fit(placement, devices, memory);
    }
    placement->mode = fits ? GPU_WHOLE : GPU_STREAMED;
    return fits ? create_whole(placement, devices, error)
                : create_streamed(placement, devices, memory, error);
}

/* Returns the number of devices, up to `wanted`, for which there is work: each must get a system or
 * a block of bodies. */
static size_t useful_devices(const struct gpu_placement *placement, size_t wanted)
{
    const struct bodies *bodies = placement->setup.bodies;
    const size_t blocks = blocks_of(placement) > 0 ? blocks_of(placement) : 1;
    size_t most = bodies->systems > blocks || placement->setup.kernel->facts->third_law
                      ? bodies->systems
                      : blocks;
    if (placement->setup.peers)
        most = blocks;
    most = most < GPU_MAX_PARTS / GPU_MAX_BATCHES ? most : GPU_MAX_PARTS / GPU_MAX_BATCHES;
    return wanted < most ? wanted : most;
}

/* Writes the names of the devices: "NVIDIA H200", "2 x NVIDIA H200", or each name if they differ;
 * and that systems are streamed. */
static void describe_devices(struct gpu_placement *placement, const struct gpu_device *devices)
{
    char *const words = placement->device;
    const size_t count = placement->device_count, size = sizeof placement->device;
    bool alike = true;
    for (size_t d = 1; d < count; d++)
        alike &= strcmp(devices[d].name, devices[0].name) == 0;
    if (count > 1 && alike)
        snprintf(words, size, "%zu x %s", count, devices[0].name);
    for (size_t d = 0; d < count && (count == 1 || !alike); d++)
        snprintf(words + strlen(words), size - strlen(words), "%s%s", d > 0 ? ", " : "",
                 devices[d].name);
    if (placement->mode == GPU_STREAMED)
        snprintf(words + strlen(words), size - strlen(words), ", systems in batches");
    snprintf(placement->isa, sizeof placement->isa, "%s", devices[0].isa);
}

/* Finds `wanted` devices (0: all), but only as many as are useful. Process number `node_rank` of
 * this machine takes those that follow the devices of process node_rank - 1; behind the last device
 * of the machine follows the first one again. */
static enum status find_devices(struct gpu_placement *placement, int wanted, int node_rank,
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
    placement->device_count =
        useful_devices(placement, wanted > 0 ? (size_t)wanted : (size_t)count);
    for (size_t d = 0; d < placement->device_count && !status; d++)
        status = gpu_device_find((node_rank * wanted + (int)d) % count, &devices[d], error);
    return status;
}

/* --- making it ---------------------------------------------------------------------------------*/

enum status gpu_placement_probe(struct error *error)
{
    int count;
    if (gpu_device_count(&count, error))
        return error->status;
    cudaError_t code = cudaSetDevice(0);
    if (!code)
        code = gpu_rate(GPU_OPERATION_SINGLE, 1, GPU_RATE_OPERATIONS, NULL, NULL);
    if (!code)
        code = cudaStreamSynchronize(NULL);
    return gpu_check((int)code, 0, "launching a kernel to try it", error);
}

/* The least number of pairs of an evaluation of forces that can be interrupted: some hundredths of
 * a second of work of an H200. With fewer, a run that looks between two calls of advance() answers
 * soon. */
static const double LONG_SUM = 5e10;

/* Lets steps be interrupted if their forces take long (or if the interruption has a function
 * `agree`, as in tests), in one process with one device: another device would wait while the host
 * waits for this one, and another process would keep the steps that this one takes back. */
static void allow_interruption(struct gpu_placement *placement, int ranks)
{
    const struct gpu_setup *const setup = &placement->setup;
    struct interruption *const interruption = setup->physics->interruption;
    const double pairs =
        reference_pairs((double)setup->bodies->systems, (double)setup->bodies->count);
    if (interruption && (pairs >= LONG_SUM || interruption->agree) && ranks <= 1 &&
        placement->device_count == 1)
        placement->setup.interruption = interruption;
}

/* Finds which bodies of every system this process moves: those of its share without padding, or all
 * if `share` is NULL. */
static void take_share(struct gpu_placement *placement, const struct force_share *share)
{
    const size_t count = placement->setup.bodies->count;
    placement->own_last = share && share->last < count ? share->last : count;
    placement->own_first =
        share ? share->first < placement->own_last ? share->first : placement->own_last : 0;
}

static enum status unknown_kernel(const char *name, struct error *error)
{
    const char *all[GPU_KERNELS + 1] = { NULL };
    struct text names = { 0 };
    for (int id = 0; id < GPU_KERNELS; id++)
        all[id] = gpu_catalog[id].name;
    text_quoted(&names, all);
    error_set(error, STATUS_CONFIG, "compute.kernel = \"%s\": the cuda backend has the kernels %s",
              name, names.failed ? "of `orrery info compute.kernel`" : names.bytes);
    text_free(&names);
    return error->status;
}

/* Finds the kernel to use. Kernels of the third law need all bodies of a system on one device: not
 * if ranks divide the bodies (`shared`), nor if there are more devices than systems.
 * STATUS_CONFIG. */
static enum status choose_kernel(const struct backend_options *options,
                                 const struct physics *physics, const struct bodies *bodies,
                                 bool shared, const struct gpu_kernel **kernel, struct error *error)
{
    const char *name = options->force.kernel;
    int devices = options->devices;
    enum gpu_kernel_id id = gpu_catalog_find(name);
    if (devices == 0 && gpu_device_count(&devices, error))
        return error->status;
    if (strcmp(name, "auto") == 0)
        id = gpu_catalog_choose(bodies->count, !shared && bodies->systems >= (size_t)devices);
    if (id == GPU_KERNELS)
        return unknown_kernel(name, error);
    *kernel = gpu_kernel_of(id);
    if (direct_check_precision(&options->force, error))
        return error->status;
    const struct gpu_kernel_facts *const facts = (*kernel)->facts;
    if (shared && (facts->third_law || facts->portable))
        return error_set(error, STATUS_CONFIG,
                         "compute.kernel = \"%s\": on a GPU it needs all bodies of a system, and "
                         "ranks divide them; \"blocked\" does not",
                         name);
    const bool own_steps = integrator_chooses_steps(options->integrator);
    if (facts->portable && (physics->external || own_steps))
        return error_set(error, STATUS_CONFIG,
                         "compute.kernel = \"%s\": on a GPU %s have other last bits than on a "
                         "CPU; choose another kernel, or backend \"openmp\"",
                         name,
                         own_steps ? "the sums of integrators that choose their own steps"
                                   : "external fields and rotating frames");
    return STATUS_OK;
}

enum status gpu_placement_init(struct gpu_placement *placement,
                               const struct backend_options *options, const struct physics *physics,
                               struct bodies *bodies, struct error *error)
{
    const struct gpu_kernel *kernel = NULL;
    struct gpu_device devices[GPU_MAX_PARTS];
    /* Few bodies are moved faster than they are gathered, so every process moves all of them. */
    const bool shared = options->peers && bodies->count > GPU_RESIDENT_ALONE;
    *placement = (struct gpu_placement){ 0 };
    if (choose_kernel(options, physics, bodies, shared, &kernel, error) ||
        gpu_setup_init(kernel, options->force.precision, physics, bodies, &placement->setup, error))
        return error->status;
    placement->setup.registers = integrator_has_registers(options->integrator);
    take_share(placement, shared ? &options->force.share : NULL);
    if ((shared && gpu_setup_share(&placement->setup, options->peers, error)) ||
        find_devices(placement, options->devices, options->node_rank, devices, error))
        return error->status;
    allow_interruption(placement, options->ranks);
    if (create_parts(placement, devices, options->stream, error))
        return error->status;
    describe_devices(placement, devices);
    const struct gpu_team all = { placement->parts, placement->part_count };
    return gpu_part_each(&all, gpu_steps_try, error);
}

void gpu_placement_clear(struct gpu_placement *placement)
{
    for (size_t p = 0; p < placement->part_count; p++)
        gpu_part_destroy(placement->parts[p]);
    for (size_t k = 0; k < placement->pinned_count; k++)
        cudaHostUnregister(placement->pinned[k]);
    gpu_setup_free(&placement->setup);
}

/* --- going through the systems -----------------------------------------------------------------*/

static enum status wait_all(struct gpu_placement *placement, bool *non_finite, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t p = 0; p < placement->part_count && !status; p++)
        status = gpu_part_wait(placement->parts[p], non_finite, error);
    return status;
}

/* Queues the copies to a device, and the work, for one batch of its systems after another, in the
 * device's parts by turns. The work of a part waits for earlier work of that part, not for that of
 * others, so that copies and work of several batches overlap. */
static enum status stream_device(struct gpu_placement *placement, size_t device, gpu_queue *queue,
                                 void *context, struct error *error)
{
    enum status status = STATUS_OK;
    struct gpu_part **const parts = &placement->parts[device * placement->batches];
    size_t batch = 0;
    for (size_t s = placement->first[device]; s < placement->first[device + 1] && !status;
         batch++) {
        struct gpu_part *part = parts[batch % placement->batches];
        const struct gpu_team team = { &part, 1 };
        const size_t left = placement->first[device + 1] - s;
        const size_t systems = left < part->capacity ? left : part->capacity;
        status = gpu_exchange_upload(part, s, systems, error);
        if (!status)
            status = queue(context, &team, error);
        s += systems;
    }
    return status;
}

enum status gpu_placement_run(struct gpu_placement *placement, gpu_queue *queue, void *context,
                              bool *non_finite, struct error *error)
{
    enum status status = STATUS_OK;
    if (placement->mode == GPU_DIVIDED) {
        const struct gpu_team team = { placement->parts, placement->part_count };
        status = queue(context, &team, error);
    }
    for (size_t p = 0; p < placement->part_count && placement->mode == GPU_WHOLE && !status; p++) {
        const struct gpu_team team = { &placement->parts[p], 1 };
        status = queue(context, &team, error);
    }
    for (size_t d = 0; d < placement->device_count && placement->mode == GPU_STREAMED && !status;
         d++)
        status = stream_device(placement, d, queue, context, error);
    return status ? status : wait_all(placement, non_finite, error);
}
