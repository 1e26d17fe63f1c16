#include "steps.h"

#include "exchange.h"
#include "external/external.h"
#include "force/direct/reference.h"

/* --- a part ------------------------------------------------------------------------------------*/

enum status gpu_steps_sum(struct gpu_part *part, struct error *error)
{
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = gpu_part_pack(part);
    const struct gpu_sum_call call = gpu_part_sum_call(part);
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

/* Sums the force as gpu_steps_sum() does, or leaves the sums to the next move, if one launch does
 * both. */
static enum status sum_force(struct gpu_part *part, struct error *error)
{
    if (part->force.bodies == 0)
        return gpu_steps_sum(part, error);
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
        .units = gpu_part_units(part),
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
        code = gpu_part_pack(part);
    if (!code)
        code = gpu_step(&call);
    if (pass->drifts) {
        force->next = force->sources;
        force->sources = call.move.sources;
        force->exchanged = !force->exchanged;
    }
    return gpu_part_check(part, code, "starting a step", error);
}

/* Computes accelerations from the last sums, does the moves of a pass, and makes the sources of the
 * new positions. */
static enum status move_part(struct gpu_part *part, const struct stage_pass *pass,
                             struct error *error)
{
    const bool later = part->force.later;
    part->force.later = false;
    if (later && !pass->registers) {
        part->force.slots = 0;
        return take_step(part, pass, error);
    }
    if (later && gpu_steps_sum(part, error))
        return error->status;
    struct gpu_move_call call = move_call(part, pass);
    part->force.slots = 0;
    find_drifts(part, &call);
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = gpu_part_pack(part);
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

/* Takes `steps` whole steps by gpu_resident(), which keeps each system in a block; if the systems
 * are too large or too few for that, *done becomes false and nothing is done. `current`: the
 * accelerations are those of the present positions. */
static enum status take_resident(struct gpu_part *part, const struct stage_program *program,
                                 uint64_t steps, bool current, bool *done, struct error *error)
{
    *done = stays_resident(part);
    if (!*done)
        return STATUS_OK;
    struct gpu_resident_call call = {
        .shape = part->shape,
        .interaction = part->setup->interaction,
        .state = part->state,
        .units = gpu_part_units(part),
        .current = current,
        .fields = part->fields,
        .program = *program,
        .non_finite = part->non_finite,
        .tuning = part->resident,
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

/* --- a trial -----------------------------------------------------------------------------------*/

/* Returns a call for the force on the first bodies of one system: as many as the kernel's padding
 * (a tile, or 32), and no more than those for whose sums the part has room. */
static struct gpu_sum_call first_sums(const struct gpu_part *part)
{
    struct gpu_sum_call call = gpu_part_sum_call(part);
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

enum status gpu_steps_try(struct gpu_part *part, struct error *error)
{
    const struct gpu_sum_call call = first_sums(part);
    const struct stage_program nothing = { .count = 0 };
    unsigned slots;
    bool resident;
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = part->setup->kernel->sum(&call, &slots);
    if (!code && take_resident(part, &nothing, 1, true, &resident, error))
        return error->status;
    if (!code)
        code = try_step(part);
    if (!code)
        code = cudaMemsetAsync(part->non_finite, 0xff, sizeof *part->non_finite, part->stream);
    if (!code)
        code = cudaStreamSynchronize(part->stream);
    return gpu_part_check(part, code, "launching a kernel to try it", error);
}

/* --- a team ------------------------------------------------------------------------------------*/

static enum status take_moves(const struct gpu_team *team, const struct stage_pass *pass,
                              struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t p = 0; p < team->count && !status; p++)
        status = move_part(team->parts[p], pass, error);
    return pass->drifts ? gpu_exchange_sources(team, status, error) : status;
}

static enum status take_pass(const struct gpu_team *team, const struct stage_pass *pass,
                             struct error *error)
{
    const enum status status = take_moves(team, pass, error);
    return !status && pass->force ? gpu_part_each(team, sum_force, error) : status;
}

/* Takes passes [first, last) of the program. A pass is some moves (kicks and drifts) and perhaps a
 * force evaluation. */
static enum status take_passes(const struct gpu_team *team, const struct stage_program *program,
                               size_t first, size_t last, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = first; k < last && !status; k++)
        status = take_pass(team, &program->passes[k], error);
    return status;
}

/* Takes the passes from the end of one step to the end of the next (a cycle). The pass at its
 * start, number `count`, ends one step and begins the next. */
static enum status take_cycle(const struct gpu_team *team, const struct stage_program *program,
                              struct error *error)
{
    const enum status status = take_pass(team, &program->passes[program->count], error);
    return status ? status : take_passes(team, program, 1, program->count, error);
}

/* --- graphs ------------------------------------------------------------------------------------*/

enum { GRAPH_CYCLES = 16 };

/* Tells whether a CUDA graph of many launches saves time: it does if a step takes less than some
 * tenths of a millisecond, most of which is the cost of launches. */
static bool wants_graph(const struct gpu_team *team, uint64_t cycles)
{
    const struct gpu_shape *shape = &team->parts[0]->shape;
    const double pairs = reference_pairs(shape->systems, shape->count);
    return team->count == 1 && !team->parts[0]->setup->peers &&
           !team->parts[0]->setup->interruption && pairs < 1e9 && cycles >= 2 * GRAPH_CYCLES;
}

static enum status capture(const struct gpu_team *team, const struct stage_program *program,
                           cudaGraph_t *graph, struct error *error)
{
    const struct gpu_part *part = team->parts[0];
    enum status status = STATUS_OK;
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = cudaStreamBeginCapture(part->stream, cudaStreamCaptureModeThreadLocal);
    if (code)
        return gpu_part_check(part, code, "recording a graph", error);
    for (int k = 0; k < GRAPH_CYCLES && !status; k++)
        status = take_cycle(team, program, error);
    code = cudaStreamEndCapture(part->stream, graph);
    return status ? status : gpu_part_check(part, code, "recording a graph", error);
}

/* Returns the part's graph for the array in which the sources are. They change places an even
 * number of times in GRAPH_CYCLES cycles. */
static struct gpu_part_graph *graph_of(struct gpu_part *part)
{
    return &part->graphs[part->force.exchanged];
}

/* Makes the part's graph of GRAPH_CYCLES cycles, unless it has one for this integrator, step and
 * number of systems. */
static enum status prepare_graph(const struct gpu_team *team, const struct stage_program *program,
                                 struct error *error)
{
    struct gpu_part *part = team->parts[0];
    struct gpu_part_graph *own = graph_of(part);
    if (own->graph && own->integrator == program->integrator && own->dt == program->dt &&
        own->systems == part->shape.systems)
        return STATUS_OK;
    cudaGraph_t graph = NULL;
    const enum status status = capture(team, program, &graph, error);
    if (status) {
        if (graph)
            cudaGraphDestroy(graph);
        return status;
    }
    if (own->graph)
        cudaGraphExecDestroy(own->graph);
    *own = (struct gpu_part_graph){ .integrator = program->integrator,
                                    .dt = program->dt,
                                    .systems = part->shape.systems };
    const cudaError_t code = cudaGraphInstantiateWithFlags(&own->graph, graph, 0);
    cudaGraphDestroy(graph);
    return gpu_part_check(part, code, "making a graph", error);
}

/* Takes cycles by launches of the graph, GRAPH_CYCLES cycles at a time, if that pays; *cycles
 * becomes the number of cycles that are left. */
static enum status take_graphs(const struct gpu_team *team, const struct stage_program *program,
                               uint64_t *cycles, struct error *error)
{
    if (!wants_graph(team, *cycles))
        return STATUS_OK;
    struct gpu_part *part = team->parts[0];
    if (prepare_graph(team, program, error))
        return error->status;
    cudaError_t code = cudaSuccess;
    for (; *cycles >= GRAPH_CYCLES && !code; *cycles -= GRAPH_CYCLES)
        code = cudaGraphLaunch(graph_of(part)->graph, part->stream);
    return gpu_part_check(part, code, "starting a graph", error);
}

/* Takes `steps` steps: the passes of the first, then cycles (take_cycle()), by graphs where
 * possible, then the last pass. A graph begins with a move that uses the force sums before it. If
 * there are none (slots = 0), because the forces at the start were current, one cycle without a
 * graph makes them first. */
static enum status take_steps(const struct gpu_team *team, const struct stage_program *program,
                              uint64_t steps, struct error *error)
{
    uint64_t cycles = steps - 1;
    enum status status = take_passes(team, program, program->first, program->count, error);
    if (!status && cycles > 0 && team->parts[0]->force.slots == 0) {
        status = take_cycle(team, program, error);
        cycles--;
    }
    if (!status)
        status = take_graphs(team, program, &cycles, error);
    for (; cycles > 0 && !status; cycles--)
        status = take_cycle(team, program, error);
    return status ? status : take_pass(team, &program->passes[program->count + 1], error);
}

/* --- steps -------------------------------------------------------------------------------------*/

enum status gpu_steps_accelerations(const struct gpu_team *team, struct error *error)
{
    static const struct stage_pass nothing = { .count = 0 };
    const enum status status = gpu_part_each(team, gpu_steps_sum, error);
    return status ? status : take_moves(team, &nothing, error);
}

enum status gpu_steps_advance(const struct gpu_team *team, const struct stage_program *program,
                              uint64_t steps, bool current, struct error *error)
{
    enum status status = STATUS_OK;
    bool done = false;
    if (steps == 0)
        return STATUS_OK;
    if (team->count == 1)
        status = take_resident(team->parts[0], program, steps, current, &done, error);
    if (!status && !done && program->needs_forces && !current)
        status = gpu_steps_accelerations(team, error);
    return status || done ? status : take_steps(team, program, steps, error);
}
