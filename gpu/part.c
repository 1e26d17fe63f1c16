#include "part.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

/* --- memory ------------------------------------------------------------------------------------*/

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Sums have up to GPU_MAX_SEGMENTS segments, but no more than 2^23 places in all. */
static void cut_segments(struct gpu_shape *shape)
{
    const size_t extent = round_up(shape->count, GPU_GRANULE);
    size_t wanted = ((size_t)1 << 23) / extent;
    wanted = wanted < 1 ? 1 : wanted > GPU_MAX_SEGMENTS ? GPU_MAX_SEGMENTS : wanted;
    shape->segment = (uint32_t)round_up((extent + wanted - 1) / wanted, GPU_GRANULE);
    shape->segments = (uint32_t)((extent + shape->segment - 1) / shape->segment);
}

static struct gpu_shape make_shape(const struct gpu_setup *setup, size_t systems, size_t first,
                                   size_t last)
{
    const struct bodies *bodies = setup->bodies;
    struct gpu_shape shape = {
        .systems = (uint32_t)systems,
        .count = (uint32_t)bodies->count,
        .stride = (uint32_t)round_up(bodies->count, setup->kernel->padding),
        .first = (uint32_t)first,
        .last = (uint32_t)last,
    };
    cut_segments(&shape);
    return shape;
}

static struct gpu_tuning fit(const struct gpu_part *part, const struct gpu_tuning_row *row)
{
    const struct gpu_shape *shape = &part->shape;
    return gpu_tuning_fit(row, &part->device, shape->systems, shape->last - shape->first,
                          shape->segments);
}

/* A stretch of device memory that is dealt out; without a base it only counts. */
struct stretch {
    char *base;
    size_t used;
};

static void *take(struct stretch *stretch, size_t count, size_t size)
{
    char *taken = stretch->base ? stretch->base + stretch->used : NULL;
    stretch->used += round_up(count * size, 256);
    return taken;
}

static void deal_state(struct stretch *stretch, struct gpu_state *state, size_t length)
{
    double **const arrays[] = { &state->m,  &state->x,  &state->y,  &state->z,  &state->vx,
                                &state->vy, &state->vz, &state->ax, &state->ay, &state->az };
    for (size_t k = 0; k < COUNT_OF(arrays); k++)
        *arrays[k] = take(stretch, length, sizeof(double));
}

/* Slots for the force's sums and for the potentials', which have two components. */
static size_t partial_length(const struct gpu_part *part)
{
    const struct gpu_shape *shape = &part->shape;
    const size_t length = (size_t)shape->systems * (shape->last - shape->first);
    const size_t components = (size_t)part->setup->kernel->components;
    const size_t forces = components * (part->force_tuning.split > 1 ? shape->segments : 1);
    const size_t potentials = part->potential_tuning.split > 1 ? 2 * shape->segments : 2;
    return length * (forces > potentials ? forces : potentials);
}

/* Room for so many distances of the third law: all, or what stays under 256 MiB. */
static unsigned distances_of(const struct gpu_part *part)
{
    const enum precision precision = part->setup->law.precision;
    const size_t one = gpu_symmetric_size(&part->shape, precision);
    const size_t all = gpu_symmetric_distances(&part->shape, precision);
    const size_t most = ((size_t)1 << 28) / one + 1;
    return (unsigned)(all < most ? all : most);
}

static void deal(struct gpu_part *part, struct stretch *stretch)
{
    const struct gpu_setup *setup = part->setup;
    const size_t length = (size_t)part->shape.systems * part->shape.stride;
    const size_t source = gpu_source_size(setup->law.precision);
    deal_state(stretch, &part->state, length);
    part->unit_mass = take(stretch, part->shape.systems, sizeof(double));
    part->factor = take(stretch, part->shape.systems, sizeof(double));
    part->sources = take(stretch, length, source);
    part->full_sources = setup->law.precision == PRECISION_DOUBLE
                             ? part->sources
                             : take(stretch, length, gpu_source_size(PRECISION_DOUBLE));
    part->partial = take(stretch, partial_length(part), sizeof(double));
    if (setup->kernel->mutual) {
        part->distances = distances_of(part);
        part->sides =
            take(stretch, part->distances, gpu_symmetric_size(&part->shape, setup->law.precision));
    }
    part->phi = take(stretch, length, sizeof(double));
    part->psi = take(stretch, length, sizeof(double));
    part->blocks = take(stretch, gpu_conserved_blocks_count(&part->shape), sizeof(double));
    part->sums = take(stretch, (size_t)part->shape.systems * GPU_SUM_COUNT, sizeof(double));
    part->blemish = take(stretch, 1, sizeof *part->blemish);
}

static void plan(struct gpu_part *part, const struct gpu_setup *setup,
                 const struct gpu_device *device, size_t systems, size_t first, size_t last)
{
    *part = (struct gpu_part){ .setup = setup, .device = *device, .capacity = systems };
    part->shape = make_shape(setup, systems, first, last);
    struct gpu_tuning_table table;
    gpu_tuning_load(device, NULL, &table);
    const struct gpu_tuning_row *row =
        setup->row ? setup->row
                   : gpu_tuning_find(&table, setup->kernel->name, setup->law.precision);
    part->force_tuning = setup->tuning ? *setup->tuning : fit(part, row);
    part->potential_tuning = fit(part, gpu_tuning_find(&table, "blocked", PRECISION_DOUBLE));
}

size_t gpu_part_size(const struct gpu_setup *setup, const struct gpu_device *device, size_t systems,
                     size_t first, size_t last)
{
    struct gpu_part part;
    struct stretch stretch = { 0 };
    plan(&part, setup, device, systems, first, last);
    deal(&part, &stretch);
    return stretch.used;
}

/* --- life --------------------------------------------------------------------------------------*/

static enum status check(const struct gpu_part *part, cudaError_t code, const char *doing,
                         struct error *error)
{
    return gpu_check(code, part->device.index, doing, error);
}

enum status gpu_part_create(const struct gpu_setup *setup, const struct gpu_device *device,
                            size_t systems, size_t first, size_t last, struct gpu_part **result,
                            struct error *error)
{
    *result = NULL;
    struct gpu_part *part = malloc(sizeof *part);
    if (!part)
        return error_set(error, STATUS_MEMORY, "out of memory");
    plan(part, setup, device, systems, first, last);
    struct stretch stretch = { 0 };
    deal(part, &stretch);
    char doing[64];
    snprintf(doing, sizeof doing, "allocating %.1f MiB", (double)stretch.used / 0x1p20);
    cudaError_t code = cudaSetDevice(device->index);
    if (!code)
        code = cudaMalloc(&part->memory, stretch.used);
    if (!code)
        code = cudaStreamCreateWithFlags(&part->stream, cudaStreamNonBlocking);
    if (!code)
        code = cudaEventCreateWithFlags(&part->ready, cudaEventDisableTiming);
    if (!code)
        code = cudaEventCreateWithFlags(&part->copied, cudaEventDisableTiming);
    if (code) {
        gpu_part_destroy(part);
        return gpu_check((int)code, device->index, doing, error);
    }
    stretch = (struct stretch){ .base = part->memory };
    deal(part, &stretch);
    code = cudaMemsetAsync(part->blemish, 0xff, sizeof *part->blemish, part->stream);
    *result = part;
    return gpu_check((int)code, device->index, "clearing a flag", error);
}

/* After a failure these calls fail too, and there is nobody left to tell. */
void gpu_part_destroy(struct gpu_part *part)
{
    if (!part)
        return;
    cudaSetDevice(part->device.index);
    if (part->graph.graph)
        cudaGraphExecDestroy(part->graph.graph);
    if (part->ready)
        cudaEventDestroy(part->ready);
    if (part->copied)
        cudaEventDestroy(part->copied);
    if (part->stream)
        cudaStreamDestroy(part->stream);
    cudaFree(part->memory);
    free(part);
}

enum status gpu_part_wait(struct gpu_part *part, bool *blemish, struct error *error)
{
    unsigned long long lowest = ~0ULL;
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code && blemish)
        code = cudaMemcpyAsync(&lowest, part->blemish, sizeof lowest, cudaMemcpyDeviceToHost,
                               part->stream);
    if (!code)
        code = cudaStreamSynchronize(part->stream);
    if (!code && blemish)
        *blemish |= lowest != ~0ULL;
    return check(part, code, "computing", error);
}

/* --- copies ------------------------------------------------------------------------------------*/

/* Bodies [first, first + count) of every system of the part, from or to a host array. */
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

/* The part's own bodies without padding. */
static size_t own_count(const struct gpu_part *part)
{
    const struct gpu_shape *shape = &part->shape;
    const size_t last = shape->last < shape->count ? shape->last : shape->count;
    return last > shape->first ? last - shape->first : 0;
}

/* Arrays of all bodies of the part's systems. */
static cudaError_t send(const struct gpu_part *part, double *const host[], double *const device[],
                        size_t arrays)
{
    cudaError_t code = cudaSetDevice(part->device.index);
    for (size_t k = 0; k < arrays && !code; k++)
        code =
            copy(part, host[k], device[k], 0, part->setup->bodies->count, cudaMemcpyHostToDevice);
    return code;
}

/* Arrays of the part's own bodies. */
static cudaError_t give_back(const struct gpu_part *part, double *const host[],
                             double *const device[], size_t arrays)
{
    cudaError_t code = cudaSetDevice(part->device.index);
    for (size_t k = 0; k < arrays && !code; k++)
        code = copy(part, host[k], device[k], part->shape.first, own_count(part),
                    cudaMemcpyDeviceToHost);
    return code;
}

static cudaError_t upload_units(struct gpu_part *part)
{
    const size_t size = part->shape.systems * sizeof(double);
    cudaError_t code = cudaMemcpyAsync(part->unit_mass, part->setup->unit_mass + part->first_system,
                                       size, cudaMemcpyHostToDevice, part->stream);
    if (!code)
        code = cudaMemcpyAsync(part->factor, part->setup->factor + part->first_system, size,
                               cudaMemcpyHostToDevice, part->stream);
    return code;
}

enum status gpu_part_upload(struct gpu_part *part, size_t first_system, size_t systems,
                            struct error *error)
{
    const struct bodies *host = part->setup->bodies;
    const struct gpu_state *state = &part->state;
    double *const from[] = { host->m,  host->x,  host->y,  host->z,  host->vx,
                             host->vy, host->vz, host->ax, host->ay, host->az };
    double *const to[] = { state->m,  state->x,  state->y,  state->z,  state->vx,
                           state->vy, state->vz, state->ax, state->ay, state->az };
    part->first_system = first_system;
    part->shape.systems = (uint32_t)systems;
    part->slots = 0;
    part->sources_current = false;
    cudaError_t code = send(part, from, to, COUNT_OF(from));
    if (!code)
        code = upload_units(part);
    return check(part, code, "copying bodies to it", error);
}

enum status gpu_part_upload_positions(struct gpu_part *part, struct error *error)
{
    const struct bodies *host = part->setup->bodies;
    const struct gpu_state *state = &part->state;
    double *const from[] = { host->x, host->y, host->z };
    double *const to[] = { state->x, state->y, state->z };
    part->sources_current = false;
    return check(part, send(part, from, to, COUNT_OF(from)), "copying positions to it", error);
}

enum status gpu_part_upload_observed(struct gpu_part *part, struct error *error)
{
    const struct bodies *host = part->setup->bodies;
    const struct gpu_state *state = &part->state;
    double *const from[] = { host->vx, host->vy, host->vz, part->setup->phi, part->setup->psi };
    double *const to[] = { state->vx, state->vy, state->vz, part->phi, part->psi };
    return check(part, send(part, from, to, COUNT_OF(from)), "copying velocities to it", error);
}

enum status gpu_part_download_positions(struct gpu_part *part, struct error *error)
{
    const struct bodies *host = part->setup->bodies;
    const struct gpu_state *state = &part->state;
    double *const to[] = { host->x, host->y, host->z };
    double *const from[] = { state->x, state->y, state->z };
    return check(part, give_back(part, to, from, COUNT_OF(to)), "copying positions from it", error);
}

enum status gpu_part_download_velocities(struct gpu_part *part, struct error *error)
{
    const struct bodies *host = part->setup->bodies;
    const struct gpu_state *state = &part->state;
    double *const to[] = { host->vx, host->vy, host->vz };
    double *const from[] = { state->vx, state->vy, state->vz };
    return check(part, give_back(part, to, from, COUNT_OF(to)), "copying velocities from it",
                 error);
}

enum status gpu_part_download_state(struct gpu_part *part, struct error *error)
{
    const enum status status = gpu_part_download_positions(part, error);
    return status ? status : gpu_part_download_velocities(part, error);
}

enum status gpu_part_download_accelerations(struct gpu_part *part, struct error *error)
{
    const struct bodies *host = part->setup->bodies;
    const struct gpu_state *state = &part->state;
    double *const to[] = { host->ax, host->ay, host->az };
    double *const from[] = { state->ax, state->ay, state->az };
    return check(part, give_back(part, to, from, COUNT_OF(to)), "copying accelerations from it",
                 error);
}

enum status gpu_part_download_potentials(struct gpu_part *part, double *phi, double *psi,
                                         struct error *error)
{
    double *const to[] = { phi, psi }, *const from[] = { part->phi, part->psi };
    return check(part, give_back(part, to, from, COUNT_OF(to)), "copying potentials from it",
                 error);
}
