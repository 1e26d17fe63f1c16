#include "observe.h"

#include "exchange.h"

/* Computes the potentials of gravity in pairs of floats and, where these do not reach, in fp64. */
static cudaError_t potentials_in_floats(struct gpu_part *part)
{
    const double G = part->setup->physics->gravitational_constant;
    const struct gpu_units units = { .mass = part->observed.unit_mass };
    struct gpu_sum_call call = gpu_part_sum_call(part);
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
    struct gpu_sum_call call = gpu_part_sum_call(part);
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
        code = gpu_part_pack(part);
    if (!code)
        code = (portable ? gpu_portable_potentials : gpu_potentials)(&call, &slots);
    if (!code)
        code = gpu_finish_potentials(&part->shape, part->setup->physics->gravitational_constant,
                                     part->observed.sources ? NULL : part->force.unit_mass, 1,
                                     part->partial, slots, part->observed.phi, part->observed.psi,
                                     part->stream);
    return code;
}

/* Computes the potential phi of the part's bodies and psi, their part in the virial, from the
 * positions on the device, where the results stay. */
static enum status potentials(struct gpu_part *part, struct error *error)
{
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = (part->observed.in_floats ? potentials_in_floats : potentials_in_double)(part);
    if (!code)
        code = gpu_add_potentials(&part->shape, &part->fields, &part->state, part->observed.phi,
                                  part->observed.psi, part->stream);
    return gpu_part_check(part, code, "starting the potentials", error);
}

/* Adds up mass, energies and momenta of blocks of the part's own bodies, or of all bodies if other
 * processes move some. */
static enum status sum_blocks(struct gpu_part *part, struct error *error)
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

/* Adds up all blocks of each system, into sums[systems][GPU_SUM_COUNT] on the host. */
static enum status sum_systems(struct gpu_part *part, double *sums, struct error *error)
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

enum status gpu_observe_potentials(const struct gpu_team *team, struct error *error)
{
    const enum status status = gpu_exchange_positions(team, error);
    return status ? status : gpu_part_each(team, potentials, error);
}

enum status gpu_observe_conserved(const struct gpu_team *team, double *sums, struct error *error)
{
    enum status status = gpu_exchange_observed(team, gpu_observe_potentials(team, error), error);
    for (size_t p = 0; p < team->count && !status; p++)
        status = sum_blocks(team->parts[p], error);
    if (!status)
        status = gpu_exchange_blocks(team, error);
    return status ? status : sum_systems(team->parts[0], sums, error);
}
