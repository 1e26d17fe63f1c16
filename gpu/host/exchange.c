#include "exchange.h"

#include "backend/backend.h"
#include "base/memory.h"
#include "external/external.h"

/* --- between host and device -------------------------------------------------------------------*/

/* Copies bodies [first, first + count) of every system of the part between an array of the host and
 * one of the device; `kind` says which way. */
static cudaError_t copy(const struct gpu_part *part, double *host, double *device, size_t first,
                        size_t count, enum cudaMemcpyKind kind)
{
    const size_t host_pitch = part->setup->bodies->stride * sizeof(double);
    const size_t device_pitch = part->shape.stride * sizeof(double);
    double *const on_host = host + part->first_system * part->setup->bodies->stride + first;
    double *const on_device = device + first;
    if (count == 0)
        return cudaSuccess;
    if (kind == cudaMemcpyHostToDevice)
        return cudaMemcpy2DAsync(on_device, device_pitch, on_host, host_pitch,
                                 count * sizeof(double), part->shape.systems, kind, part->stream);
    return cudaMemcpy2DAsync(on_host, host_pitch, on_device, device_pitch, count * sizeof(double),
                             part->shape.systems, kind, part->stream);
}

/* Returns the number of the part's own bodies in a system, without padding. */
static size_t own_count(const struct gpu_part *part)
{
    const struct gpu_shape *shape = &part->shape;
    const size_t last = shape->last < shape->count ? shape->last : shape->count;
    return last > shape->first ? last - shape->first : 0;
}

/* Copies arrays of all bodies of the part's systems to the device, or of the part's own bodies from
 * the device. `doing` names the copy in an error: "copying positions to it". */
static enum status transfer(struct gpu_part *part, enum cudaMemcpyKind kind, double *const host[],
                            double *const device[], size_t arrays, const char *doing,
                            struct error *error)
{
    const bool all = kind == cudaMemcpyHostToDevice;
    const size_t first = all ? 0 : part->shape.first;
    const size_t count = all ? part->setup->bodies->count : own_count(part);
    cudaError_t code = cudaSetDevice(part->device.index);
    for (size_t k = 0; k < arrays && !code; k++)
        code = copy(part, host[k], device[k], first, count, kind);
    return gpu_part_check(part, code, doing, error);
}

/* Indices of the first array of each vector among those of bodies_reals(): m, x y z, vx vy vz, ax
 * ay az. */
enum { POSITIONS = 1, VELOCITIES = 4, ACCELERATIONS = 7 };

/* Copies `count` arrays of the state between the host and the device; `first` is the index of the
 * first array. */
static enum status transfer_state(struct gpu_part *part, enum cudaMemcpyKind kind, size_t first,
                                  size_t count, const char *doing, struct error *error)
{
    const struct gpu_state *const state = &part->state;
    double *const device[BODIES_REALS] = { state->m,  state->x,  state->y,  state->z,  state->vx,
                                           state->vy, state->vz, state->ax, state->ay, state->az };
    double *host[BODIES_REALS];
    bodies_reals(part->setup->bodies, host);
    return transfer(part, kind, host + first, device + first, count, doing, error);
}

static cudaError_t upload_fields(struct gpu_part *part)
{
    const struct gpu_fields *const fields = &part->fields;
    if (fields->count == 0)
        return cudaSuccess;
    return cudaMemcpyAsync(fields->list, part->setup->physics->external->fields,
                           fields->count * sizeof *fields->list, cudaMemcpyHostToDevice,
                           part->stream);
}

static cudaError_t upload_units(struct gpu_part *part)
{
    const size_t size = part->shape.systems * sizeof(double);
    cudaError_t code =
        cudaMemcpyAsync(part->force.unit_mass, part->setup->unit_mass + part->first_system, size,
                        cudaMemcpyHostToDevice, part->stream);
    if (!code)
        code = cudaMemcpyAsync(part->force.factor, part->setup->factor + part->first_system, size,
                               cudaMemcpyHostToDevice, part->stream);
    if (!code && part->observed.in_floats)
        code = cudaMemcpyAsync(part->observed.unit_mass,
                               part->setup->largest_mass + part->first_system, size,
                               cudaMemcpyHostToDevice, part->stream);
    return code;
}

enum status gpu_exchange_upload(struct gpu_part *part, size_t first_system, size_t systems,
                                struct error *error)
{
    part->first_system = first_system;
    part->shape.systems = (uint32_t)systems;
    part->force.slots = 0;
    part->force.later = false;
    part->force.sources_current = false;
    enum status status = transfer_state(part, cudaMemcpyHostToDevice, 0, BODIES_REALS,
                                        "copying bodies to it", error);
    if (!status && part->setup->masses)
        status = transfer(part, cudaMemcpyHostToDevice, &part->setup->masses,
                          &part->observed.masses, 1, "copying masses to it", error);
    if (!status)
        status = gpu_part_check(part, upload_units(part), "copying bodies to it", error);
    return status ? status
                  : gpu_part_check(part, upload_fields(part), "copying fields to it", error);
}

static enum status upload_positions(struct gpu_part *part, struct error *error)
{
    part->force.sources_current = false;
    return transfer_state(part, cudaMemcpyHostToDevice, POSITIONS, 3, "copying positions to it",
                          error);
}

static enum status upload_observed(struct gpu_part *part, struct error *error)
{
    static const char doing[] = "copying velocities to it";
    double *const from[] = { part->setup->phi, part->setup->psi };
    double *const to[] = { part->observed.phi, part->observed.psi };
    if (transfer_state(part, cudaMemcpyHostToDevice, VELOCITIES, 3, doing, error))
        return error->status;
    return transfer(part, cudaMemcpyHostToDevice, from, to, COUNT_OF(from), doing, error);
}

static enum status download_positions(struct gpu_part *part, struct error *error)
{
    return transfer_state(part, cudaMemcpyDeviceToHost, POSITIONS, 3, "copying positions from it",
                          error);
}

static enum status download_velocities(struct gpu_part *part, struct error *error)
{
    return transfer_state(part, cudaMemcpyDeviceToHost, VELOCITIES, 3, "copying velocities from it",
                          error);
}

enum status gpu_exchange_download_state(struct gpu_part *part, struct error *error)
{
    const enum status status = download_positions(part, error);
    return status ? status : download_velocities(part, error);
}

enum status gpu_exchange_download_accelerations(struct gpu_part *part, struct error *error)
{
    return transfer_state(part, cudaMemcpyDeviceToHost, ACCELERATIONS, 3,
                          "copying accelerations from it", error);
}

enum status gpu_exchange_download_potentials(struct gpu_part *part, double *phi, double *psi,
                                             struct error *error)
{
    double *const to[] = { phi, psi }, *const from[] = { part->observed.phi, part->observed.psi };
    return transfer(part, cudaMemcpyDeviceToHost, to, from, COUNT_OF(to),
                    "copying potentials from it", error);
}

/* --- between parts -----------------------------------------------------------------------------*/

static bool is_shared(const struct gpu_team *team)
{
    return team->parts[0]->setup->peers != NULL;
}

/* An array that every part of a team has whole, although each computes only the elements of its own
 * bodies. It has an element of `size` bytes for every `bodies` bodies. */
struct shared_array {
    void *start;
    size_t size, bodies;
};

enum shared { SHARED_SOURCES, SHARED_X, SHARED_Y, SHARED_Z, SHARED_BLOCKS };

static struct shared_array array_of(const struct gpu_part *part, enum shared which)
{
    const struct shared_array arrays[] = {
        { part->force.sources, gpu_source_size(part->setup->interaction.precision), 1 },
        { part->state.x, sizeof(double), 1 },
        { part->state.y, sizeof(double), 1 },
        { part->state.z, sizeof(double), 1 },
        { part->observed.blocks, GPU_SUM_COUNT * sizeof(double), GPU_OBSERVER_BLOCK },
    };
    return arrays[which];
}

static size_t elements(size_t bodies, const struct shared_array *array)
{
    return (bodies + array->bodies - 1) / array->bodies;
}

static cudaError_t copy_slice(const struct gpu_part *from, struct gpu_part *to, enum shared which)
{
    const struct gpu_shape *shape = &from->shape;
    const struct shared_array source = array_of(from, which), target = array_of(to, which);
    const size_t pitch = elements(source.bodies == 1 ? shape->stride : shape->count, &source);
    const size_t first = elements(shape->first, &source), last = elements(shape->last, &source);
    cudaError_t code = cudaSuccess;
    for (size_t s = 0; s < shape->systems && !code; s++) {
        const size_t offset = (s * pitch + first) * source.size;
        code = cudaMemcpyPeerAsync((char *)target.start + offset, to->device.index,
                                   (char *)source.start + offset, from->device.index,
                                   (last - first) * source.size, to->stream);
    }
    return code;
}

/* Queues copies of the elements that the other parts compute to the part `to`, each after the event
 * `ready` of its part. The event `copied` of `to` then tells the other parts that they may change
 * their elements. */
static cudaError_t fetch_slices(const struct gpu_team *team, struct gpu_part *to, enum shared which)
{
    cudaError_t code = cudaSetDevice(to->device.index);
    for (size_t p = 0; p < team->count && !code; p++) {
        if (team->parts[p] == to)
            continue;
        code = cudaStreamWaitEvent(to->stream, team->parts[p]->ready, 0);
        if (!code)
            code = copy_slice(team->parts[p], to, which);
    }
    return code ? code : cudaEventRecord(to->copied, to->stream);
}

static enum status copy_between_parts(const struct gpu_team *team, enum shared which,
                                      struct error *error)
{
    cudaError_t code = cudaSuccess;
    if (team->count == 1 || is_shared(team))
        return STATUS_OK;
    for (size_t p = 0; p < team->count && !code; p++) {
        code = cudaSetDevice(team->parts[p]->device.index);
        if (!code)
            code = cudaEventRecord(team->parts[p]->ready, team->parts[p]->stream);
    }
    for (size_t p = 0; p < team->count && !code; p++)
        code = fetch_slices(team, team->parts[p], which);
    for (size_t p = 0, parts = team->count; p < parts * parts && !code; p++) {
        struct gpu_part *waiting = team->parts[p / parts];
        const struct gpu_part *other = team->parts[p % parts];
        code = cudaSetDevice(waiting->device.index);
        if (!code && waiting != other)
            code = cudaStreamWaitEvent(waiting->stream, other->copied, 0);
    }
    return gpu_part_check(team->parts[0], code, "exchanging bodies", error);
}

enum status gpu_exchange_positions(const struct gpu_team *team, struct error *error)
{
    enum status status = STATUS_OK;
    for (int which = SHARED_X; which <= SHARED_Z && !status; which++)
        status = copy_between_parts(team, (enum shared)which, error);
    return status;
}

enum status gpu_exchange_blocks(const struct gpu_team *team, struct error *error)
{
    return copy_between_parts(team, SHARED_BLOCKS, error);
}

/* --- between processes -------------------------------------------------------------------------*/

/* Waits until the host has the values of this process's parts, gathers the arrays from all
 * processes (each gets all of them), and uploads them. A process that has failed takes part, too,
 * or the others would wait for it for ever. */
static enum status share(const struct gpu_team *team, double *const arrays[], size_t count,
                         enum status (*upload)(struct gpu_part *, struct error *),
                         enum status status, struct error *error)
{
    const struct backend_peers *peers = team->parts[0]->setup->peers;
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_part_wait(team->parts[p], NULL, error);
    peers->all_gather(peers->context, arrays, count);
    return status ? status : gpu_part_each(team, upload, error);
}

static enum status share_positions(const struct gpu_team *team, enum status status,
                                   struct error *error)
{
    const struct bodies *b = team->parts[0]->setup->bodies;
    double *const positions[] = { b->x, b->y, b->z };
    if (!status)
        status = gpu_part_each(team, download_positions, error);
    return share(team, positions, COUNT_OF(positions), upload_positions, status, error);
}

enum status gpu_exchange_observed(const struct gpu_team *team, enum status status,
                                  struct error *error)
{
    if (!is_shared(team))
        return status;
    const struct gpu_setup *setup = team->parts[0]->setup;
    const struct bodies *b = setup->bodies;
    double *const observed[] = { b->vx, b->vy, b->vz, setup->phi, setup->psi };
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_exchange_download_potentials(team->parts[p], setup->phi, setup->psi, error);
    if (!status)
        status = gpu_part_each(team, download_velocities, error);
    return share(team, observed, COUNT_OF(observed), upload_observed, status, error);
}

enum status gpu_exchange_sources(const struct gpu_team *team, enum status status,
                                 struct error *error)
{
    if (is_shared(team))
        return share_positions(team, status, error);
    return status ? status : copy_between_parts(team, SHARED_SOURCES, error);
}
