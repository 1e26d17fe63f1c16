#include "work.h"

#include "base/memory.h"
#include "external/external.h"
#include "force/direct/reference.h"

/* --- verbs -------------------------------------------------------------------------------------*/

static struct gpu_units units_of(const struct gpu_part *part)
{
    return (struct gpu_units){ .mass = part->force.unit_mass, .factor = part->force.factor };
}

static cudaError_t refresh_sources(struct gpu_part *part)
{
    if (part->force.sources_current)
        return cudaSuccess;
    const struct gpu_units units = units_of(part);
    void *const arrays[] = { part->force.sources, part->force.next }; /* moves pack no masses */
    cudaError_t code = cudaSuccess;
    part->force.sources_current = true;
    for (size_t k = 0; k < COUNT_OF(arrays) && arrays[k] && !code; k++)
        code = gpu_pack(&part->shape, &part->setup->interaction, &part->state, &units, arrays[k],
                        part->stream);
    return code;
}

static struct gpu_sum_call sum_call(const struct gpu_part *part)
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
        .stopped = part->setup->interruption ? gpu_part_stopped : NULL,
        .context = (void *)part,
    };
}

enum status gpu_work_sum(struct gpu_part *part, struct error *error)
{
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = refresh_sources(part);
    const struct gpu_sum_call call = sum_call(part);
    if (!code && !(call.stopped && call.stopped(call.context)))
        code = part->setup->kernel->sum(&call, &part->force.slots);
    return gpu_part_check(part, code, "starting a force kernel", error);
}

/* Computes the drifts of a pass in a rotating frame, if the frame rotates, for gpu_move(). */
static void find_drifts(const struct gpu_part *part, struct gpu_move_call *call)
{
    const double rotation = part->setup->physics->rotation;
    call->turns = rotation != 0.0;
    for (unsigned k = 0; call->turns && k < call->pass.count; k++)
        for (unsigned n = 0; n < call->pass.moves[k].times; n++)
            call->drifts[k][n] = external_drift_of(rotation, call->pass.moves[k].h[n]);
}

enum status gpu_work_force(struct gpu_part *part, struct error *error)
{
    if (part->force.bodies == 0)
        return gpu_work_sum(part, error);
    part->force.later = true;
    part->force.slots = 1;
    return STATUS_OK;
}

static struct gpu_move_call move_call(const struct gpu_part *part, const struct stage_pass *pass)
{
    return (struct gpu_move_call){
        .shape = part->shape,
        .interaction = part->setup->interaction,
        .state = part->state,
        .units = units_of(part),
        .partial = part->partial,
        .slots = part->force.slots,
        .fields = part->fields,
        .pass = *pass,
        .sources = part->force.sources,
        .non_finite = part->non_finite,
        .stream = part->stream,
    };
}

/* The CUDA version from which graphs can have launches that begin early: 12.3. */
enum { EARLY_IN_GRAPHS = 12030 };

static struct gpu_step_call step_call(const struct gpu_part *part, const struct stage_pass *pass)
{
    struct gpu_step_call call = {
        .move = move_call(part, pass),
        .sources = part->force.sources,
        .bodies = part->force.bodies,
        .early = part->setup->steps == GPU_STEPS_EARLY && part->device.driver >= EARLY_IN_GRAPHS &&
                 part->device.runtime >= EARLY_IN_GRAPHS,
    };
    call.move.sources = part->force.next;
    return call;
}

/* Sums the force and does the moves of a pass in one launch. */
static enum status take_step(struct gpu_part *part, const struct stage_pass *pass,
                             struct error *error)
{
    struct gpu_part_force *force = &part->force;
    const struct gpu_step_call call = step_call(part, pass);
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = refresh_sources(part);
    if (!code)
        code = gpu_step(&call);
    if (pass->drifts) {
        force->next = force->sources;
        force->sources = call.move.sources;
        force->exchanged = !force->exchanged;
    }
    return gpu_part_check(part, code, "starting a step", error);
}

enum status gpu_work_move(struct gpu_part *part, const struct stage_pass *pass, struct error *error)
{
    const bool later = part->force.later;
    part->force.later = false;
    if (later && !pass->registers) {
        part->force.slots = 0;
        return take_step(part, pass, error);
    }
    if (later && gpu_work_sum(part, error))
        return error->status;
    struct gpu_move_call call = move_call(part, pass);
    part->force.slots = 0;
    find_drifts(part, &call);
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = refresh_sources(part);
    if (!code)
        code = gpu_move(&call);
    return gpu_part_check(part, code, "starting a kick and drift", error);
}

/* Tells whether gpu_resident() takes the steps, with each system in one block. Rotating frames are
 * left out, since it has no drifts for them. */
static bool stays_resident(const struct gpu_part *part)
{
    const struct gpu_shape *shape = &part->shape;
    return part->setup->physics->rotation == 0.0 && part->setup->kernel->facts->resident &&
           !part->setup->peers && shape->first == 0 && shape->last == shape->count &&
           gpu_tuning_stays(shape->systems, shape->count, part->device.multiprocessors);
}

/* Returns the number of steps that one launch of gpu_resident() may take: at most some tenths of a
 * second of work. */
static uint64_t launch_steps(const struct gpu_part *part)
{
    const double pairs = reference_pairs(1, part->shape.count) + 4096;
    const double waves = 1 + (double)part->shape.systems / part->device.multiprocessors;
    const double steps = 1e9 / (pairs * waves);
    return steps < 1 ? 1 : steps > 65536 ? 65536 : (uint64_t)steps;
}

enum status gpu_work_resident(struct gpu_part *part, const struct stage_program *program,
                              uint64_t steps, bool current, bool *done, struct error *error)
{
    *done = stays_resident(part);
    if (!*done)
        return STATUS_OK;
    struct gpu_resident_call call = {
        .shape = part->shape,
        .interaction = part->setup->interaction,
        .state = part->state,
        .units = units_of(part),
        .current = current,
        .fields = part->fields,
        .program = *program,
        .non_finite = part->non_finite,
        .tuning = part->resident.tuning,
        .stream = part->stream,
    };
    part->force.sources_current = false;
    cudaError_t code = cudaSetDevice(part->device.index);
    for (uint64_t left = steps; left > 0 && !code; left -= call.steps) {
        const uint64_t most = launch_steps(part);
        call.steps = left < most ? left : most;
        code = gpu_resident(&call);
        call.current = program->leaves_forces;
    }
    return gpu_part_check(part, code, "starting the kernel of small systems", error);
}

/* --- a trial ---------------------------------------------------------------------------------*/

/* Returns a call for the force on the first bodies of one system: as many as the kernel's padding
 * (a tile, or 32), and no more than those for whose sums the part has room. */
static struct gpu_sum_call first_sums(const struct gpu_part *part)
{
    struct gpu_sum_call call = sum_call(part);
    struct gpu_shape *shape = &call.shape;
    const uint32_t least = part->setup->kernel->facts->padding, own = shape->last - shape->first;
    shape->systems = 1;
    shape->count = shape->count < least ? shape->count : least;
    shape->first = 0;
    shape->last = shape->count < own ? shape->count : own;
    if (part->setup->kernel->facts->third_law)
        shape->stride = least;
    call.distances = 1;
    return call;
}

/* Launches gpu_step() over the first bodies, without moves. */
static cudaError_t try_step(const struct gpu_part *part)
{
    static const struct stage_pass nothing = { .count = 0 };
    struct gpu_step_call call = step_call(part, &nothing);
    call.move.shape = first_sums(part).shape;
    call.move.shape.segments = 1;
    return part->force.bodies > 0 ? gpu_step(&call) : cudaSuccess;
}

enum status gpu_work_try(struct gpu_part *part, struct error *error)
{
    const struct gpu_sum_call call = first_sums(part);
    const struct stage_program nothing = { .count = 0 };
    unsigned slots;
    bool resident;
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = part->setup->kernel->sum(&call, &slots);
    if (!code && gpu_work_resident(part, &nothing, 1, true, &resident, error))
        return error->status;
    if (!code)
        code = try_step(part);
    if (!code)
        code = cudaMemsetAsync(part->non_finite, 0xff, sizeof *part->non_finite, part->stream);
    if (!code)
        code = cudaStreamSynchronize(part->stream);
    return gpu_part_check(part, code, "launching a kernel to try it", error);
}

/* --- observers ---------------------------------------------------------------------------------*/

/* Computes the potentials of gravity in pairs of floats and, where these do not reach, in fp64. */
static cudaError_t potentials_in_floats(struct gpu_part *part)
{
    const double G = part->setup->physics->gravitational_constant;
    const struct gpu_units units = { .mass = part->observed.unit_mass };
    struct gpu_sum_call call = sum_call(part);
    unsigned slots = 0;
    call.interaction.padding = 2 * GPU_FLOATS_LARGEST; /* where no body is */
    call.sources = part->observed.sources;
    call.tuning = part->observed.tuning;
    cudaError_t code = gpu_pack_floats(&part->shape, &call.interaction, &part->state, &units,
                                       part->observed.sources, part->stream);
    if (!code)
        code = gpu_potentials_in_floats(&call, &slots);
    if (!code)
        code = gpu_finish_potentials(&part->shape, G, units.mass,
                                     call.interaction.floats.inverse_length, part->partial, slots,
                                     part->observed.phi, part->observed.psi, part->stream);
    if (!code)
        code = gpu_repeat_potentials(&part->shape, &call.interaction, &part->state, G,
                                     part->observed.phi, part->observed.psi, part->stream);
    return code;
}

/* Computes the potentials of gravity in fp64. */
static cudaError_t potentials_in_double(struct gpu_part *part)
{
    struct gpu_sum_call call = sum_call(part);
    const struct gpu_units units = { .mass = NULL };
    call.interaction.precision = PRECISION_DOUBLE;
    call.interaction.padding = 0;
    call.sources = part->observed.sources ? part->observed.sources : part->force.sources;
    call.tuning = part->observed.tuning;
    unsigned slots = 0;
    const bool portable = part->setup->kernel->facts->portable;
    cudaError_t code = cudaSuccess;
    if (part->observed.sources)
        code = gpu_pack(&part->shape, &call.interaction, &part->state, &units,
                        part->observed.sources, part->stream);
    else
        code = refresh_sources(part);
    if (!code)
        code = (portable ? gpu_portable_potentials : gpu_potentials)(&call, &slots);
    if (!code)
        code = gpu_finish_potentials(&part->shape, part->setup->physics->gravitational_constant,
                                     part->observed.sources ? NULL : part->force.unit_mass, 1,
                                     part->partial, slots, part->observed.phi, part->observed.psi,
                                     part->stream);
    return code;
}

enum status gpu_work_potentials(struct gpu_part *part, struct error *error)
{
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = (part->observed.in_floats ? potentials_in_floats : potentials_in_double)(part);
    if (!code)
        code = gpu_add_potentials(&part->shape, &part->fields, &part->state, part->observed.phi,
                                  part->observed.psi, part->stream);
    return gpu_part_check(part, code, "starting the potentials", error);
}

enum status gpu_work_conserved_blocks(struct gpu_part *part, struct error *error)
{
    struct gpu_shape shape = part->shape;
    struct gpu_state state = part->state;
    cudaError_t code = cudaSetDevice(part->device.index);
    if (part->setup->peers) {
        shape.first = 0;
        shape.last = shape.count;
    }
    if (part->observed.masses)
        state.m = part->observed.masses;
    if (!code) /* a second time: energies take half of phi, which has the fields once */
        code = gpu_add_potentials(&shape, &part->fields, &state, part->observed.phi,
                                  part->observed.psi, part->stream);
    if (!code)
        code = gpu_conserved_blocks(&shape, &state, part->observed.phi, part->observed.psi,
                                    part->observed.blocks, part->stream);
    return gpu_part_check(part, code, "starting the conserved sums", error);
}

enum status gpu_work_conserved(struct gpu_part *part, double *sums, struct error *error)
{
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = gpu_conserved_systems(&part->shape, part->observed.blocks, part->observed.sums,
                                     part->stream);
    if (!code)
        code = cudaMemcpyAsync(sums + part->first_system * GPU_SUM_COUNT, part->observed.sums,
                               part->shape.systems * GPU_SUM_COUNT * sizeof(double),
                               cudaMemcpyDeviceToHost, part->stream);
    return gpu_part_check(part, code, "starting the conserved sums", error);
}
