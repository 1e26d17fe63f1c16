#include "team.h"

#include <string.h>

#include "backend/backend.h"
#include "base/memory.h"
#include "work.h"

/* --- the exchange ------------------------------------------------------------------------------*/

/* An array of every part, of which a part has computed its own elements: one of `size` bytes for
 * every `bodies` bodies. */
struct exchanged {
    void *(*array)(const struct gpu_part *part);
    size_t size;
    size_t bodies;
};

static size_t elements(size_t bodies, const struct exchanged *what)
{
    return (bodies + what->bodies - 1) / what->bodies;
}

static cudaError_t copy_slice(const struct gpu_part *from, struct gpu_part *to,
                              const struct exchanged *what)
{
    const struct gpu_shape *shape = &from->shape;
    const size_t pitch = elements(what->bodies == 1 ? shape->stride : shape->count, what);
    const size_t first = elements(shape->first, what), last = elements(shape->last, what);
    cudaError_t code = cudaSuccess;
    for (size_t s = 0; s < shape->systems && !code; s++) {
        const size_t offset = (s * pitch + first) * what->size;
        code = cudaMemcpyPeerAsync((char *)what->array(to) + offset, to->device.index,
                                   (char *)what->array(from) + offset, from->device.index,
                                   (last - first) * what->size, to->stream);
    }
    return code;
}

/* Every part fetches what the others have, when they have it; and they go on when it is fetched. */
static cudaError_t fetch_slices(const struct gpu_team *team, struct gpu_part *to,
                                const struct exchanged *what)
{
    cudaError_t code = cudaSetDevice(to->device.index);
    for (size_t p = 0; p < team->count && !code; p++) {
        if (team->parts[p] == to)
            continue;
        code = cudaStreamWaitEvent(to->stream, team->parts[p]->ready, 0);
        if (!code)
            code = copy_slice(team->parts[p], to, what);
    }
    return code ? code : cudaEventRecord(to->copied, to->stream);
}

static enum status exchange(const struct gpu_team *team, const struct exchanged *what,
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
        code = fetch_slices(team, team->parts[p], what);
    for (size_t p = 0; p < team->count * team->count && !code; p++) {
        struct gpu_part *waiting = team->parts[p / team->count];
        const struct gpu_part *other = team->parts[p % team->count];
        code = cudaSetDevice(waiting->device.index);
        if (!code && waiting != other)
            code = cudaStreamWaitEvent(waiting->stream, other->copied, 0);
    }
    return gpu_check((int)code, team->parts[0]->device.index, "exchanging bodies", error);
}

static void *sources_of(const struct gpu_part *part)
{
    return part->sources;
}

static enum status exchange_sources(const struct gpu_team *team, struct error *error)
{
    const struct exchanged sources = { sources_of,
                                       gpu_source_size(team->parts[0]->setup->law.precision), 1 };
    return exchange(team, &sources, error);
}

static void *x_of(const struct gpu_part *part)
{
    return part->state.x;
}

static void *y_of(const struct gpu_part *part)
{
    return part->state.y;
}

static void *z_of(const struct gpu_part *part)
{
    return part->state.z;
}

static enum status exchange_positions(const struct gpu_team *team, struct error *error)
{
    static const struct exchanged positions[] = { { x_of, sizeof(double), 1 },
                                                  { y_of, sizeof(double), 1 },
                                                  { z_of, sizeof(double), 1 } };
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(positions) && !status; k++)
        status = exchange(team, &positions[k], error);
    return status;
}

/* --- the exchange with other processes ---------------------------------------------------------*/

static bool is_shared(const struct gpu_team *team)
{
    return team->parts[0]->setup->exchange != NULL;
}

/* From everyone to everyone, when the host has what the parts gave it. Whoever has failed takes
 * part too, or the others would wait for it for ever. */
static enum status share(const struct gpu_team *team, double *const arrays[], size_t count,
                         enum status (*upload)(struct gpu_part *, struct error *),
                         enum status status, struct error *error)
{
    const struct backend_exchange *exchange = team->parts[0]->setup->exchange;
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_part_wait(team->parts[p], NULL, error);
    exchange->gather(exchange->context, arrays, count);
    for (size_t p = 0; p < team->count && !status; p++)
        status = upload(team->parts[p], error);
    return status;
}

static enum status share_positions(const struct gpu_team *team, enum status status,
                                   struct error *error)
{
    const struct bodies *b = team->parts[0]->setup->bodies;
    double *const positions[] = { b->x, b->y, b->z };
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_part_download_positions(team->parts[p], error);
    return share(team, positions, COUNT_OF(positions), gpu_part_upload_positions, status, error);
}

/* What the sums over all bodies need beside the positions. */
static enum status share_observed(const struct gpu_team *team, enum status status,
                                  struct error *error)
{
    const struct gpu_setup *setup = team->parts[0]->setup;
    const struct bodies *b = setup->bodies;
    double *const observed[] = { b->vx, b->vy, b->vz, setup->phi, setup->psi };
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_part_download_potentials(team->parts[p], setup->phi, setup->psi, error);
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_part_download_velocities(team->parts[p], error);
    return share(team, observed, COUNT_OF(observed), gpu_part_upload_observed, status, error);
}

/* --- steps -------------------------------------------------------------------------------------*/

/* Kicks and drifts that wait to be done in one launch. */
struct queue {
    const struct gpu_team *team;
    double dt;
    struct gpu_move moves[GPU_MOVES];
    size_t count;
};

static enum status flush(struct queue *queue, struct error *error)
{
    const struct gpu_team *team = queue->team;
    bool drifted = false;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < queue->count; k++)
        drifted |= queue->moves[k].verb == VERB_DRIFT;
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_work_move(team->parts[p], queue->moves, queue->count, error);
    queue->count = 0;
    if (drifted && is_shared(team))
        return share_positions(team, status, error);
    return !status && drifted ? exchange_sources(team, error) : status;
}

static enum status take_force(struct queue *queue, struct error *error)
{
    const struct gpu_team *team = queue->team;
    enum status status =
        queue->count > 0 || team->parts[0]->slots > 0 ? flush(queue, error) : STATUS_OK;
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_work_sum(team->parts[p], error);
    return status;
}

static enum status take_stage(struct queue *queue, const struct stage *stage, struct error *error)
{
    if (stage->verb == VERB_FORCE)
        return take_force(queue, error);
    queue->moves[queue->count++] =
        (struct gpu_move){ .verb = stage->verb, .h = stage->coefficient * queue->dt };
    return queue->count == GPU_MOVES ? flush(queue, error) : STATUS_OK;
}

static enum status take_stages(struct queue *queue, const struct integrator *integrator,
                               size_t from, size_t to, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = from; k < to && !status; k++)
        status = take_stage(queue, &integrator->stages[k], error);
    return status;
}

/* The stage after the first force. */
static size_t after_first_force(const struct integrator *integrator)
{
    size_t k = 0;
    while (k < integrator->stage_count && integrator->stages[k].verb != VERB_FORCE)
        k++;
    return k < integrator->stage_count ? k + 1 : k;
}

/* From one step's first force to the next step's. */
static enum status take_cycle(struct queue *queue, const struct integrator *integrator,
                              struct error *error)
{
    const size_t turn = after_first_force(integrator);
    const enum status status = take_stages(queue, integrator, turn, integrator->stage_count, error);
    return status ? status : take_stages(queue, integrator, 0, turn, error);
}

/* --- graphs ------------------------------------------------------------------------------------*/

enum { GRAPH_CYCLES = 16 };

/* Where a step takes less than some tenths of a millisecond, launches are what it costs. */
static bool wants_graph(const struct gpu_team *team, uint64_t cycles)
{
    const struct gpu_shape *shape = &team->parts[0]->shape;
    const double pairs = (double)shape->systems * shape->count * shape->count;
    return team->count == 1 && !is_shared(team) && pairs < 1e9 && cycles >= 2 * GRAPH_CYCLES;
}

static enum status capture(struct queue *queue, const struct integrator *integrator,
                           cudaGraph_t *graph, struct error *error)
{
    struct gpu_part *part = queue->team->parts[0];
    enum status status = STATUS_OK;
    cudaError_t code = cudaSetDevice(part->device.index);
    if (!code)
        code = cudaStreamBeginCapture(part->stream, cudaStreamCaptureModeThreadLocal);
    if (code)
        return gpu_check((int)code, part->device.index, "recording a graph", error);
    for (int k = 0; k < GRAPH_CYCLES && !status; k++)
        status = take_cycle(queue, integrator, error);
    code = cudaStreamEndCapture(part->stream, graph);
    return status ? status : gpu_check((int)code, part->device.index, "recording a graph", error);
}

/* The graph of GRAPH_CYCLES cycles, made where the last one does not fit. */
static enum status prepare_graph(struct queue *queue, const struct integrator *integrator,
                                 struct error *error)
{
    struct gpu_part *part = queue->team->parts[0];
    struct gpu_graph *own = &part->graph;
    if (own->graph && own->integrator == integrator && own->dt == queue->dt &&
        own->systems == part->shape.systems)
        return STATUS_OK;
    cudaGraph_t graph = NULL;
    const enum status status = capture(queue, integrator, &graph, error);
    if (status) {
        if (graph)
            cudaGraphDestroy(graph);
        return status;
    }
    if (own->graph)
        cudaGraphExecDestroy(own->graph);
    *own = (struct gpu_graph){ .integrator = integrator,
                               .dt = queue->dt,
                               .systems = part->shape.systems };
    const cudaError_t code = cudaGraphInstantiateWithFlags(&own->graph, graph, 0);
    cudaGraphDestroy(graph);
    return gpu_check((int)code, part->device.index, "making a graph", error);
}

/* As many cycles as graphs can take; *cycles is what they leave. */
static enum status take_graphs(struct queue *queue, const struct integrator *integrator,
                               uint64_t *cycles, struct error *error)
{
    if (!wants_graph(queue->team, *cycles))
        return STATUS_OK;
    struct gpu_part *part = queue->team->parts[0];
    const enum status status = prepare_graph(queue, integrator, error);
    if (status)
        return status;
    cudaError_t code = cudaSuccess;
    for (; *cycles >= GRAPH_CYCLES && !code; *cycles -= GRAPH_CYCLES)
        code = cudaGraphLaunch(part->graph.graph, part->stream);
    return gpu_check((int)code, part->device.index, "starting a graph", error);
}

static enum status take_steps(struct queue *queue, const struct integrator *integrator,
                              uint64_t steps, struct error *error)
{
    const size_t turn = after_first_force(integrator);
    uint64_t cycles = steps - 1;
    enum status status = take_stages(queue, integrator, 0, turn, error);
    if (!status)
        status = take_graphs(queue, integrator, &cycles, error);
    for (; cycles > 0 && !status; cycles--)
        status = take_cycle(queue, integrator, error);
    if (!status)
        status = take_stages(queue, integrator, turn, integrator->stage_count, error);
    return status ? status : flush(queue, error);
}

bool gpu_forces_current(const struct integrator *integrator)
{
    bool current = false;
    for (size_t k = 0; k < integrator->stage_count; k++)
        if (integrator->stages[k].verb != VERB_KICK)
            current = integrator->stages[k].verb == VERB_FORCE;
    return current;
}

enum status gpu_team_advance(const struct gpu_team *team, const struct integrator *integrator,
                             double dt, uint64_t steps, bool current, struct error *error)
{
    enum status status = STATUS_OK;
    if (steps == 0)
        return STATUS_OK;
    if (integrator_needs_initial_force(integrator) && !current)
        status = gpu_team_accelerations(team, error);
    bool done = false;
    if (!status && team->count == 1)
        status = gpu_work_resident(team->parts[0], integrator, dt, steps, &done, error);
    struct queue queue = { .team = team, .dt = dt };
    return status || done ? status : take_steps(&queue, integrator, steps, error);
}

/* --- observers ---------------------------------------------------------------------------------*/

enum status gpu_team_accelerations(const struct gpu_team *team, struct error *error)
{
    struct queue queue = { .team = team };
    const enum status status = take_force(&queue, error);
    return status ? status : flush(&queue, error);
}

enum status gpu_team_potentials(const struct gpu_team *team, struct error *error)
{
    enum status status = is_shared(team) ? STATUS_OK : exchange_positions(team, error);
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_work_potentials(team->parts[p], error);
    return status;
}

static void *blocks_of(const struct gpu_part *part)
{
    return part->blocks;
}

enum status gpu_team_conserved(const struct gpu_team *team, double *sums, struct error *error)
{
    static const struct exchanged blocks = { blocks_of, GPU_SUM_COUNT * sizeof(double),
                                             GPU_OBSERVER_BLOCK };
    enum status status = gpu_team_potentials(team, error);
    const bool shared = is_shared(team);
    if (shared)
        status = share_observed(team, status, error);
    for (size_t p = 0; p < team->count && !status; p++)
        status = gpu_work_conserved_blocks(team->parts[p], shared, error);
    if (!status && !shared)
        status = exchange(team, &blocks, error);
    return status ? status : gpu_work_conserved(team->parts[0], sums, error);
}
