#include "part.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    part->resident = setup->tuning ? *setup->tuning : fit_resident(part);
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
    const cudaEvent_t events[] = { part->ready, part->copied, part->done, part->launched[0],
                                   part->launched[1] };
    for (size_t k = 0; k < COUNT_OF(events); k++)
        if (events[k])
            cudaEventDestroy(events[k]);
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

enum status gpu_part_each(const struct gpu_team *team,
                          enum status (*what)(struct gpu_part *, struct error *),
                          struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t p = 0; p < team->count && !status; p++)
        status = what(team->parts[p], error);
    return status;
}

/* --- interruptions -----------------------------------------------------------------------------*/

/* Tells whether an interruption of a part is asked for. First waits until the device has done what
 * was queued before the last call: so it has work meanwhile, but never much of it. */
static bool stopped(void *context)
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

/* --- arguments of kernels ----------------------------------------------------------------------*/

struct gpu_units gpu_part_units(const struct gpu_part *part)
{
    return (struct gpu_units){ .mass = part->force.unit_mass, .factor = part->force.factor };
}

cudaError_t gpu_part_pack(struct gpu_part *part)
{
    if (part->force.sources_current)
        return cudaSuccess;
    const struct gpu_units units = gpu_part_units(part);
    void *const arrays[] = { part->force.sources, part->force.next }; /* moves pack no masses */
    cudaError_t code = cudaSuccess;
    part->force.sources_current = true;
    for (size_t k = 0; k < COUNT_OF(arrays) && arrays[k] && !code; k++)
        code = gpu_pack(&part->shape, &part->setup->interaction, &part->state, &units, arrays[k],
                        part->stream);
    return code;
}

struct gpu_sum_call gpu_part_sum_call(const struct gpu_part *part)
{
    return (struct gpu_sum_call){
        .shape = part->shape,
        .interaction = part->setup->interaction,
        .sources = part->force.sources,
        .partial = part->partial,
        .sides = part->force.sides,
        .distances = part->force.distances,
        .tuning = part->force.tuning,
        .stream = part->stream,
        .stopped = part->setup->interruption ? stopped : NULL,
        .context = (void *)part,
    };
}
