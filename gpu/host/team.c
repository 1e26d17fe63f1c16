#include "team.h"

#include "backend/backend.h"
#include "base/memory.h"
#include "force/direct/reference.h"
#include "work.h"

enum status gpu_team_each(const struct gpu_team *team,
                          enum status (*what)(struct gpu_part *, struct error *),
                          struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t p = 0; p < team->count && !status; p++)
        status = what(team->parts[p], error);
    return status;
}

/* --- copies between parts ----------------------------------------------------------------------*/

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
    if (team->count == 1)
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
    return gpu_check((int)code, team->parts[0]->device.index, "exchanging bodies", error);
}

static enum status copy_positions(const struct gpu_team *team, struct error *error)
{
    enum status status = STATUS_OK;
    for (int which = SHARED_X; which <= SHARED_Z && !status; which++)
        status = copy_between_parts(team, (enum shared)which, error);
    return status;
}

/* --- all-gather with other processes -----------------------------------------------------------*/

static bool is_shared(const struct gpu_team *team)
{
    return team->parts[0]->setup->peers != NULL;
}

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
    return status ? status : gpu_team_each(team, upload, error);
}

static enum status share_positions(const struct gpu_team *team, enum status status,
                                   struct error *error)
{
    const struct bodies *b = team->parts[0]->setup->bodies;
    double *const positions[] = { b->x, b->y, b->z };
    if (!status)
        status = gpu_team_each(team, gpu_part_download_positions, error);
    return share(team, positions, COUNT_OF(positions), gpu_part_upload_positions, status, error);
}

/* Exchanges velocities, phi and psi with the other processes: with the positions, these make up the
 * conserved sums over all bodies. */
static enum status share_observed(const struct gpu_team *team, enum status status,
                                  struct error *error)
{
    const struct gpu_setup *setup = team->parts[0]->setup;
    const struct bodies *b = setup->bodies;
    double *const observed[] = { b->vx, b->vy, b->vz, setup->phi, setup->psi };
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_part_download_potentials(team->parts[p], setup->phi, setup->psi, error);
    if (!status)
        status = gpu_team_each(team, gpu_part_download_velocities, error);
    return share(team, observed, COUNT_OF(observed), gpu_part_upload_observed, status, error);
}

/* --- steps -------------------------------------------------------------------------------------*/

static enum status take_moves(const struct gpu_team *team, const struct stage_pass *pass,
                              struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_work_move(team->parts[p], pass, error);
    if (pass->drifts && is_shared(team))
        return share_positions(team, status, error);
    return !status && pass->drifts ? copy_between_parts(team, SHARED_SOURCES, error) : status;
}

static enum status take_pass(const struct gpu_team *team, const struct stage_pass *pass,
                             struct error *error)
{
    const enum status status = take_moves(team, pass, error);
    return !status && pass->force ? gpu_team_each(team, gpu_work_force, error) : status;
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
    return team->count == 1 && !is_shared(team) && !team->parts[0]->setup->interruption &&
           pairs < 1e9 && cycles >= 2 * GRAPH_CYCLES;
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
        return gpu_check((int)code, part->device.index, "recording a graph", error);
    for (int k = 0; k < GRAPH_CYCLES && !status; k++)
        status = take_cycle(team, program, error);
    code = cudaStreamEndCapture(part->stream, graph);
    return status ? status : gpu_check((int)code, part->device.index, "recording a graph", error);
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
    return gpu_check((int)code, part->device.index, "making a graph", error);
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
    return gpu_check((int)code, part->device.index, "starting a graph", error);
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

enum status gpu_team_advance(const struct gpu_team *team, const struct stage_program *program,
                             uint64_t steps, bool current, struct error *error)
{
    enum status status = STATUS_OK;
    bool done = false;
    if (steps == 0)
        return STATUS_OK;
    if (team->count == 1)
        status = gpu_work_resident(team->parts[0], program, steps, current, &done, error);
    if (!status && !done && program->needs_forces && !current)
        status = gpu_team_accelerations(team, error);
    return status || done ? status : take_steps(team, program, steps, error);
}

/* --- observers ---------------------------------------------------------------------------------*/

enum status gpu_team_accelerations(const struct gpu_team *team, struct error *error)
{
    static const struct stage_pass nothing = { .count = 0 };
    const enum status status = gpu_team_each(team, gpu_work_sum, error);
    return status ? status : take_moves(team, &nothing, error);
}

enum status gpu_team_potentials(const struct gpu_team *team, struct error *error)
{
    const enum status status = is_shared(team) ? STATUS_OK : copy_positions(team, error);
    return status ? status : gpu_team_each(team, gpu_work_potentials, error);
}

enum status gpu_team_conserved(const struct gpu_team *team, double *sums, struct error *error)
{
    enum status status = gpu_team_potentials(team, error);
    const bool shared = is_shared(team);
    if (shared)
        status = share_observed(team, status, error);
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_work_conserved_blocks(team->parts[p], shared, error);
    if (!status && !shared)
        status = copy_between_parts(team, SHARED_BLOCKS, error);
    return status ? status : gpu_work_conserved(team->parts[0], sums, error);
}
