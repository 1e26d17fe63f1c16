#include "part.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "base/clock.h"
#include "base/interruption.h"
#include "base/memory.h"
#include "external/external.h"

static const double SPIN_SECONDS = 1e-4;

/* --- memory ------------------------------------------------------------------------------------*/

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Cuts the sum of a body into up to GPU_MAX_SEGMENTS segments of bodies j; into fewer where the
 * bodies of a system would have more than 2^23 segments together. */
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
        .stride = (uint32_t)round_up(bodies->count, setup->kernel->facts->padding),
        .first = (uint32_t)first,
        .last = (uint32_t)last,
    };
    cut_segments(&shape);
    return shape;
}

/* The arguments of at_once(): a force kernel, and a call of it that is never launched. */
struct fit_context {
    cudaError_t (*sum)(const struct gpu_sum_call *call, unsigned *slots);
    struct gpu_sum_call call;
};

static unsigned at_once(const void *context, const struct gpu_tuning *tuning)
{
    const struct fit_context *fit = context;
    struct gpu_sum_call call = fit->call;
    unsigned found = 0, slots;
    call.tuning = *tuning;
    call.tuning.split = 1;
    call.at_once = &found;
    call.distances = 1;
    if (fit->sum(&call, &slots) == cudaSuccess)
        return found;
    cudaGetLastError(); /* clears the error; it comes again when the kernel is launched */
    return 0;
}

static struct gpu_tuning_problem problem_of(const struct gpu_part *part)
{
    const struct gpu_shape *shape = &part->shape;
    return (struct gpu_tuning_problem){
        .systems = shape->systems,
        .bodies = shape->last - shape->first,
        .segments = shape->segments,
        .segment = shape->segment,
        .multiprocessors = part->device.multiprocessors,
    };
}

static struct gpu_tuning fit(const struct gpu_part *part, const struct gpu_interaction *interaction,
                             cudaError_t (*sum)(const struct gpu_sum_call *, unsigned *),
                             const struct gpu_tuning_row *row)
{
    const struct fit_context context = { sum,
                                         { .shape = part->shape, .interaction = *interaction } };
    struct gpu_tuning_problem problem = problem_of(part);
    problem.at_once = at_once;
    problem.context = &context;
    return gpu_tuning_fit(row, &problem, NULL);
}

/* Returns the launch of gpu_resident(). */
static struct gpu_tuning fit_resident(const struct gpu_part *part)
{
    const struct gpu_setup *setup = part->setup;
    const struct gpu_tuning_problem problem = problem_of(part);
    const struct gpu_range any = { 1, GPU_RESIDENT_MOST },
                           one = { setup->resident_bodies, setup->resident_bodies };
    return gpu_tuning_resident(&part->force.tuning, setup->interaction.precision, &problem,
                               setup->resident_bodies > 0 ? one : any);
}

/* The arrays that steps change: positions, velocities and accelerations. */
enum { KEPT = 9 };

/* Returns the number of bodies of a block of gpu_step(); 0 if it does not take the part's steps: if
 * these may be interrupted, or the launch of the force kernel is prescribed, or other devices or
 * processes move other bodies, or there are external fields, which gpu_step() does not know. */
static unsigned bodies_of_step(const struct gpu_part *part)
{
    const struct gpu_setup *setup = part->setup;
    const struct gpu_shape *shape = &part->shape;
    if (setup->steps == GPU_STEPS_APART || setup->interruption || setup->tuning || setup->peers ||
        shape->first > 0 || shape->last < shape->count || !setup->kernel->facts->resident ||
        setup->physics->external)
        return 0;
    return gpu_tuning_step(shape->systems, shape->count, part->device.multiprocessors);
}

static void lay_out_state(struct gpu_arena *arena, struct gpu_state *state, size_t length)
{
    double **const arrays[] = { &state->m,  &state->x,  &state->y,  &state->z,  &state->vx,
                                &state->vy, &state->vz, &state->ax, &state->ay, &state->az };
    for (size_t k = 0; k < COUNT_OF(arrays); k++)
        *arrays[k] = gpu_arena_take(arena, length, sizeof(double));
}

static void lay_out_registers(struct gpu_arena *arena, struct gpu_state *state, size_t length)
{
    for (size_t k = 0; k < STAGE_REGISTERS; k++)
        for (size_t c = 0; c < 3; c++)
            state->registers[k][c] = gpu_arena_take(arena, length, sizeof(double));
}

static size_t slots_of(const struct gpu_shape *shape, const struct gpu_tuning *tuning)
{
    const unsigned split = (unsigned)tuning->split;
    return gpu_slot_count(shape->segments, split < shape->segments ? split : shape->segments);
}

/* Returns the length of the array `partial`, in doubles: enough for the slots of the force's sums,
 * and for those of the potentials, which have two components. */
static size_t partial_length(const struct gpu_part *part)
{
    const struct gpu_shape *shape = &part->shape;
    const size_t length = (size_t)shape->systems * (shape->last - shape->first);
    const size_t forces =
        (size_t)part->setup->kernel->components * slots_of(shape, &part->force.tuning);
    const size_t potentials = 2 * slots_of(shape, &part->observed.tuning);
    return length * (forces > potentials ? forces : potentials);
}

/* Returns the number of distances between tiles for which gpu_symmetric() gets room: all, or one
 * more than fit into 256 MiB. */
static unsigned distances_of(const struct gpu_part *part)
{
    const enum precision precision = part->setup->interaction.precision;
    const size_t one = gpu_symmetric_size(&part->shape, precision);
    const size_t all = gpu_symmetric_distances(&part->shape, &part->force.tuning);
    const size_t most = ((size_t)1 << 28) / one + 1;
    return (unsigned)(all < most ? all : most);
}

static void lay_out(struct gpu_part *part, struct gpu_arena *arena)
{
    const struct gpu_setup *setup = part->setup;
    const size_t length = (size_t)part->shape.systems * part->shape.stride;
    const size_t source = gpu_source_size(setup->interaction.precision);
    lay_out_state(arena, &part->state, length);
    if (setup->interruption)
        part->before = gpu_arena_take(arena, KEPT * length, sizeof(double));
    if (setup->registers)
        lay_out_registers(arena, &part->state, length);
    part->force.unit_mass = gpu_arena_take(arena, part->shape.systems, sizeof(double));
    part->force.factor = gpu_arena_take(arena, part->shape.systems, sizeof(double));
    part->force.sources = gpu_arena_take(arena, length, source);
    if (part->force.bodies > 0)
        part->force.next = gpu_arena_take(arena, length, source);
    if (part->observed.in_floats) {
        part->observed.unit_mass = gpu_arena_take(arena, part->shape.systems, sizeof(double));
        part->observed.sources = gpu_arena_take(arena, length, gpu_source_floats_size);
    } else if (setup->interaction.precision != PRECISION_DOUBLE)
        part->observed.sources = gpu_arena_take(arena, length, gpu_source_size(PRECISION_DOUBLE));
    part->partial = gpu_arena_take(arena, partial_length(part), sizeof(double));
    if (setup->kernel->facts->third_law) {
        part->force.distances = distances_of(part);
        part->force.sides =
            gpu_arena_take(arena, part->force.distances,
                           gpu_symmetric_size(&part->shape, setup->interaction.precision));
    }
    part->observed.phi = gpu_arena_take(arena, length, sizeof(double));
    part->observed.psi = gpu_arena_take(arena, length, sizeof(double));
    if (setup->masses)
        part->observed.masses = gpu_arena_take(arena, length, sizeof(double));
    const struct external *const external = setup->physics->external;
    if (external) {
        part->fields.list = gpu_arena_take(arena, external->count, sizeof *external->fields);
        part->fields.count = external->count;
        memcpy(part->fields.center, external->center, sizeof external->center);
    }
    part->observed.blocks =
        gpu_arena_take(arena, gpu_conserved_blocks_count(&part->shape), sizeof(double));
    part->observed.sums =
        gpu_arena_take(arena, (size_t)part->shape.systems * GPU_SUM_COUNT, sizeof(double));
    part->non_finite = gpu_arena_take(arena, 1, sizeof *part->non_finite);
}

/* Tells whether potentials are computed in pairs of floats: where that is several times as fast as
 * in fp64, in systems of more than a few bodies, whose energies may be watched to the last digit.
 */
static bool in_floats(const struct gpu_part *part)
{
    const struct gpu_setup *const setup = part->setup;
    if (setup->energies == GPU_ENERGIES_DOUBLE || setup->kernel->facts->portable ||
        setup->interaction.floats.inverse_length == 0)
        return false;
    return setup->energies == GPU_ENERGIES_FLOATS ||
           (part->device.fp64_ratio >= GPU_FP64_SLOW && part->shape.count >= GPU_FLOATS_FROM);
}

static void plan(struct gpu_part *part, const struct gpu_setup *setup,
                 const struct gpu_device *device, size_t systems, size_t first, size_t last)
{
    *part = (struct gpu_part){ .setup = setup, .device = *device, .capacity = systems };
    part->shape = make_shape(setup, systems, first, last);
    const size_t bodies = systems * setup->bodies->count;
    struct gpu_tuning_table table;
    gpu_tuning_load(device, NULL, &table);
    const struct gpu_tuning_row *row =
        setup->row
            ? setup->row
            : gpu_tuning_find(&table, setup->kernel->id, setup->interaction.precision, bodies);
    struct gpu_tuning_row potentials =
        *gpu_tuning_find(&table, GPU_BLOCKED, PRECISION_DOUBLE, bodies);
    struct gpu_interaction full = setup->interaction;
    full.precision = PRECISION_DOUBLE;
    part->observed.in_floats = in_floats(part);
    if (part->observed.in_floats) /* what was measured for fp64 means nothing to it */
        potentials.tuning = gpu_catalog[GPU_BLOCKED].limits[PRECISION_DOUBLE].start;
    potentials.tuning.bodies = 1; /* these kernels are compiled for 1 alone */
    cudaSetDevice(device->index); /* if this fails, the calls after it fail, too */
    part->force.tuning =
        setup->tuning ? *setup->tuning : fit(part, &setup->interaction, setup->kernel->sum, row);
    part->resident.tuning = setup->tuning ? *setup->tuning : fit_resident(part);
    part->observed.tuning =
        fit(part, &full, part->observed.in_floats ? gpu_potentials_in_floats : gpu_potentials,
            &potentials);
    part->force.bodies = bodies_of_step(part);
}

size_t gpu_part_size(const struct gpu_setup *setup, const struct gpu_device *device, size_t systems,
                     size_t first, size_t last)
{
    struct gpu_part part;
    struct gpu_arena arena = { 0 };
    plan(&part, setup, device, systems, first, last);
    lay_out(&part, &arena);
    return arena.used;
}

/* --- life --------------------------------------------------------------------------------------*/

enum status gpu_part_check(const struct gpu_part *part, cudaError_t code, const char *doing,
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
        return error_memory(error);
    plan(part, setup, device, systems, first, last);
    struct gpu_arena arena = { 0 };
    lay_out(part, &arena);
    char doing[64];
    snprintf(doing, sizeof doing, "allocating %.1f MiB", (double)arena.used / 0x1p20);
    cudaError_t code = cudaSetDevice(device->index);
    if (!code)
        code = cudaMalloc(&part->memory, arena.used);
    if (!code) {
        snprintf(doing, sizeof doing, "making its stream and events");
        code = cudaMallocHost((void **)&part->on_host, sizeof *part->on_host);
    }
    if (!code)
        code = cudaStreamCreateWithFlags(&part->stream, cudaStreamNonBlocking);
    if (!code)
        code = cudaEventCreateWithFlags(&part->ready, cudaEventDisableTiming);
    if (!code)
        code = cudaEventCreateWithFlags(&part->copied, cudaEventDisableTiming);
    if (!code)
        code =
            cudaEventCreateWithFlags(&part->done, cudaEventDisableTiming | cudaEventBlockingSync);
    for (int k = 0; k < 2 && setup->interruption && !code; k++)
        code = cudaEventCreateWithFlags(&part->launched[k],
                                        cudaEventDisableTiming | cudaEventBlockingSync);
    if (!code) {
        arena = (struct gpu_arena){ .base = part->memory };
        lay_out(part, &arena);
        snprintf(doing, sizeof doing, "clearing a flag");
        code = cudaMemsetAsync(part->non_finite, 0xff, sizeof *part->non_finite, part->stream);
    }
    if (code) {
        gpu_part_destroy(part);
        return gpu_check((int)code, device->index, doing, error);
    }
    *result = part;
    return STATUS_OK;
}

/* Frees the part. Errors are ignored: they come after a failure of the device, which was reported
 * when it happened. */
void gpu_part_destroy(struct gpu_part *part)
{
    if (!part)
        return;
    cudaSetDevice(part->device.index);
    for (size_t k = 0; k < COUNT_OF(part->graphs); k++)
        if (part->graphs[k].graph)
            cudaGraphExecDestroy(part->graphs[k].graph);
    if (part->ready)
        cudaEventDestroy(part->ready);
    if (part->copied)
        cudaEventDestroy(part->copied);
    if (part->done)
        cudaEventDestroy(part->done);
    for (int k = 0; k < 2; k++)
        if (part->launched[k])
            cudaEventDestroy(part->launched[k]);
    if (part->stream)
        cudaStreamDestroy(part->stream);
    cudaFreeHost(part->on_host);
    cudaFree(part->memory);
    free(part);
}

/* Waits for the work of a part: asks again and again for SPIN_SECONDS, because a short wait is
 * worth a core, and then sleeps. */
static cudaError_t wait(struct gpu_part *part)
{
    const double end = clock_seconds() + SPIN_SECONDS;
    cudaError_t code = cudaEventRecord(part->done, part->stream);
    while (!code && clock_seconds() < end) {
        code = cudaEventQuery(part->done);
        if (code != cudaErrorNotReady)
            return code;
        code = cudaSuccess;
    }
    return code ? code : cudaEventSynchronize(part->done);
}

enum status gpu_part_wait(struct gpu_part *part, bool *non_finite, struct error *error)
{
    cudaError_t code = cudaSetDevice(part->device.index);
    /* The copy goes to locked memory of the host; a copy to other memory would keep the core busy
     * until it is done. */
    if (!code && non_finite)
        code = cudaMemcpyAsync(part->on_host, part->non_finite, sizeof *part->on_host,
                               cudaMemcpyDeviceToHost, part->stream);
    if (!code)
        code = wait(part);
    if (!code && non_finite)
        *non_finite |= *part->on_host != ~0ULL;
    return gpu_part_check(part, code, "computing", error);
}

/* --- interruptions -----------------------------------------------------------------------------*/

bool gpu_part_stopped(void *context)
{
    struct gpu_part *const part = context;
    cudaEvent_t *const launched = part->launched, last = launched[0];
    launched[0] = launched[1];
    launched[1] = last;
    /* An error comes again at the end of the work. */
    cudaEventRecord(launched[1], part->stream);
    cudaEventSynchronize(launched[0]);
    return interruption_raised(part->setup->interruption);
}

/* Copies the state of all bodies, whose arrays follow one another, to `before` or back. */
static enum status copy_before(struct gpu_part *part, double *to, const double *from,
                               struct error *error)
{
    static_assert(GPU_GRANULE * sizeof(double) == GPU_ARENA_ALIGNMENT, "there are no gaps");
    const size_t length = (size_t)part->shape.systems * part->shape.stride;
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code && part->before)
        code = cudaMemcpyAsync(to, from, KEPT * length * sizeof *to, cudaMemcpyDeviceToDevice,
                               part->stream);
    return gpu_part_check(part, code, "copying its bodies", error);
}

enum status gpu_part_keep(struct gpu_part *part, struct error *error)
{
    return copy_before(part, part->before, part->state.x, error);
}

enum status gpu_part_restore(struct gpu_part *part, struct error *error)
{
    part->force.sources_current = false;
    part->force.later = false;
    part->force.slots = 0;
    if (copy_before(part, part->state.x, part->before, error))
        return error->status;
    return gpu_part_check(
        part, cudaMemsetAsync(part->non_finite, 0xff, sizeof *part->non_finite, part->stream),
        "clearing a flag", error);
}

/* --- copies ------------------------------------------------------------------------------------*/

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

enum status gpu_part_upload(struct gpu_part *part, size_t first_system, size_t systems,
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

enum status gpu_part_upload_positions(struct gpu_part *part, struct error *error)
{
    part->force.sources_current = false;
    return transfer_state(part, cudaMemcpyHostToDevice, POSITIONS, 3, "copying positions to it",
                          error);
}

enum status gpu_part_upload_observed(struct gpu_part *part, struct error *error)
{
    static const char doing[] = "copying velocities to it";
    double *const from[] = { part->setup->phi, part->setup->psi };
    double *const to[] = { part->observed.phi, part->observed.psi };
    if (transfer_state(part, cudaMemcpyHostToDevice, VELOCITIES, 3, doing, error))
        return error->status;
    return transfer(part, cudaMemcpyHostToDevice, from, to, COUNT_OF(from), doing, error);
}

enum status gpu_part_download_positions(struct gpu_part *part, struct error *error)
{
    return transfer_state(part, cudaMemcpyDeviceToHost, POSITIONS, 3, "copying positions from it",
                          error);
}

enum status gpu_part_download_velocities(struct gpu_part *part, struct error *error)
{
    return transfer_state(part, cudaMemcpyDeviceToHost, VELOCITIES, 3, "copying velocities from it",
                          error);
}

enum status gpu_part_download_state(struct gpu_part *part, struct error *error)
{
    const enum status status = gpu_part_download_positions(part, error);
    return status ? status : gpu_part_download_velocities(part, error);
}

enum status gpu_part_download_accelerations(struct gpu_part *part, struct error *error)
{
    return transfer_state(part, cudaMemcpyDeviceToHost, ACCELERATIONS, 3,
                          "copying accelerations from it", error);
}

enum status gpu_part_download_potentials(struct gpu_part *part, double *phi, double *psi,
                                         struct error *error)
{
    double *const to[] = { phi, psi }, *const from[] = { part->observed.phi, part->observed.psi };
    return transfer(part, cudaMemcpyDeviceToHost, to, from, COUNT_OF(to),
                    "copying potentials from it", error);
}
