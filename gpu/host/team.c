#include "team.h"

#include "base/memory.h"
#include "exchange.h"
#include "force/direct/reference.h"
#include "work.h"

/* --- steps -------------------------------------------------------------------------------------*/

static enum status take_moves(const struct gpu_team *team, const struct stage_pass *pass,
                              struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_work_move(team->parts[p], pass, error);
    return pass->drifts ? gpu_exchange_sources(team, status, error) : status;
}

static enum status take_pass(const struct gpu_team *team, const struct stage_pass *pass,
                             struct error *error)
{
    const enum status status = take_moves(team, pass, error);
    return !status && pass->force ? gpu_part_each(team, gpu_work_force, error) : status;
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
    const enum status status = gpu_part_each(team, gpu_work_sum, error);
    return status ? status : take_moves(team, &nothing, error);
}

enum status gpu_team_potentials(const struct gpu_team *team, struct error *error)
{
    const enum status status = gpu_exchange_positions(team, error);
    return status ? status : gpu_part_each(team, gpu_work_potentials, error);
}

enum status gpu_team_conserved(const struct gpu_team *team, double *sums, struct error *error)
{
    enum status status = gpu_exchange_observed(team, gpu_team_potentials(team, error), error);
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_work_conserved_blocks(team->parts[p], error);
    if (!status)
        status = gpu_exchange_blocks(team, error);
    return status ? status : gpu_work_conserved(team->parts[0], sums, error);
}
