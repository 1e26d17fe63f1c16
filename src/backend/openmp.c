/* The backend for all CPU cores: one team of threads makes a whole advance or, if it may be
 * interrupted, one step. Each thread first takes systems of its own, some at a time, through all of
 * these steps; all threads take the remaining systems together. In systems taken together each
 * thread moves the same bodies in every step, and needs data of other threads only for the forces,
 * before and after which are barriers. The moves between two forces are made in one pass over
 * memory. The order in which the forces on a body are summed does not depend on threads, so neither
 * do the bits of the result. Systems of very few bodies have kernels of their own (small.h). */
#include "config.h"

#include <omp.h>
#include <string.h>

#include "backend/host.h"
#include "backend/small.h"
#include "base/barrier.h"
#include "base/memory.h"
#include "external/external.h"
#include "machine/cores.h"

struct openmp {
    struct host host;
    struct force *force;
    const struct small_kernels *small; /* kernels for few bodies; NULL: `force` is used */
    struct barrier barrier;            /* around communication with other processes */
};

enum {
    MOVE_BLOCK = 256,         /* bodies of which nine arrays fit into the first-level cache */
    PAIRS_PER_THREAD = 100000 /* pairs for 20 us of work; for less a further thread does not pay */
};

/* Computes the forces; every thread of the team calls it. First the positions of the bodies of
 * other processes are gathered. If only one process has the accelerations of all bodies after the
 * sums (a kernel with the third law), it sends them to the processes that own the bodies. */
static void gather_and_sum(struct openmp *openmp)
{
    const struct host *host = &openmp->host;
    const struct backend_peers *peers = host->peers;
    barrier_wait(&openmp->barrier);
#pragma omp master
    host_gather_positions(host);
    force_accelerations(openmp->force, host->bodies);
    if (openmp->force->held) {
        double *const a[] = { host->bodies->ax, host->bodies->ay, host->bodies->az };
#pragma omp master
        peers->scatter(peers->context, openmp->force->holder, a, COUNT_OF(a));
        barrier_wait(&openmp->barrier);
    }
}

/* Finds work item `number` (some systems) of this thread of the team; returns false if there is
 * none. If processes divide the bodies, all systems are one item. */
static bool next_item(const struct openmp *openmp, size_t number, struct force_item *item)
{
    const struct host *host = &openmp->host;
    if (!host->peers)
        return force_find_item(openmp->force, host->bodies, number, item);
    *item = (struct force_item){ 0, host->bodies->systems, true, NULL };
    return number == 0;
}

static void sum_accelerations(struct host *host)
{
    struct openmp *openmp = (struct openmp *)host;
    if (openmp->small) {
        for (size_t s = 0; s < host->bodies->systems; s++)
            openmp->small->accelerations(host->physics, host->bodies, s);
        return;
    }
#pragma omp parallel num_threads(host->threads)
    if (host->peers)
        gather_and_sum(openmp);
    else
        force_accelerations(openmp->force, host->bodies);
}

static void sum_potentials(struct host *host, double *phi, double *psi)
{
    struct openmp *openmp = (struct openmp *)host;
    host_gather_positions(host);
#pragma omp parallel num_threads(host->threads)
    force_potentials(openmp->force, host->bodies, phi, psi);
}

static const struct host_sums sums = { sum_accelerations, sum_potentials };

static const struct small_kernels *const small_kernels[] = {
#define ROW(family, set, registers, ...) FORCE_ISA_##family(&small_##registers),
    FORCE_ISAS(ROW)
#undef ROW
};

/* Returns the kernels of an instruction set; NULL if there are none or a system has more than
 * SMALL_COUNT bodies. */
static const struct small_kernels *small_find(const char *isa, const struct bodies *bodies)
{
    const int row = force_isa_row(isa);
    return row < 0 || bodies->count > SMALL_COUNT ? NULL : small_kernels[row];
}

/* Returns the number of threads that the options ask for; for 0, as many as there are cores and
 * work for. */
static int team_size(const struct force_options *force, const struct bodies *bodies)
{
    if (force->threads > 0)
        return force->threads;
    const double parts = force->share.parts > 1 ? (double)force->share.parts : 1;
    const double pairs = force_work(force, (double)bodies->systems, (double)bodies->count) / parts;
    const int cores = cores_available();
    return pairs < (double)cores * PAIRS_PER_THREAD ? 1 + (int)(pairs / PAIRS_PER_THREAD) : cores;
}

static void openmp_destroy(struct backend *backend)
{
    if (!backend)
        return;
    struct force *const force = ((struct openmp *)backend)->force;
    host_destroy((struct host *)backend);
    force_destroy(force);
}

static enum status openmp_create(const struct backend_options *options,
                                 const struct physics *physics, struct bodies *bodies,
                                 struct backend **backend, struct error *error)
{
    *backend = NULL;
    struct backend_options own = *options;
    own.force.threads = team_size(&options->force, bodies);
    struct host *host;
    if (host_create(sizeof(struct openmp), &backend_openmp, &sums, &own, physics, bodies, &host,
                    error))
        return error->status;
    struct openmp *openmp = (struct openmp *)host;
    const enum status status =
        force_create(&own.force, host->physics, bodies, &openmp->force, error);
    if (!status && openmp->force->method == &force_direct && !strcmp(own.force.kernel, "auto") &&
        !physics->external)
        openmp->small = small_find(openmp->force->isa, bodies);
    if (status || host_create_adaptive(host, &own, physics, openmp->force, error) ||
        (!openmp->small &&
         (host_create_registers(host, &own, error) || host_create_before(host, error)))) {
        openmp_destroy(&host->backend);
        return error->status;
    }
    if (openmp->small) { /* each process moves all bodies, which is less work than to gather them */
        host->first = 0;
        host->last = bodies->stride;
        host->peers = NULL;
    }
    *backend = &host->backend;
    return STATUS_OK;
}

/* Sets the range [*first, *last) of bodies that this thread moves, numbered over all systems of a
 * work item one after the other; of each system only the bodies of this process count. */
static void share(const struct host *host, const struct force_item *item, size_t *first,
                  size_t *last)
{
    /* Shares are whole cache lines of every array, so that no two threads write one line. */
    const size_t lines = (item->last - item->first) * (host->last - host->first) / BODIES_PADDING;
    const size_t thread = item->by_team ? (size_t)omp_get_thread_num() : 0;
    const size_t threads = item->by_team ? (size_t)omp_get_num_threads() : 1;
    *first = share_start(lines, threads, thread) * BODIES_PADDING;
    *last = share_start(lines, threads, thread + 1) * BODIES_PADDING;
}

static inline void combine(const struct stage_move *move, double *to, const double *from,
                           const double *rate, size_t first, size_t last)
{
    const double h = move->h[0], g = move->h[1];
    if (move->times == 0) {
        memcpy(to + first, from + first, (last - first) * sizeof *to);
    } else if (move->times == 1) {
#pragma omp simd
        for (size_t i = first; i < last; i++)
            to[i] = from[i] + h * rate[i];
    } else {
#pragma omp simd
        for (size_t i = first; i < last; i++)
            to[i] = (from[i] + h * rate[i]) + g * rate[i];
    }
}

CLONE_FOR_VECTORS
static void move_block(const struct host *host, const struct host_vectors *vectors,
                       const struct stage_pass *pass, size_t first, size_t last)
{
    const double rotation = host->physics->rotation;
    for (size_t k = 0; k < pass->count; k++) {
        const struct stage_move *const move = &pass->moves[k];
        const bool turns = rotation != 0.0 && move->to == VECTOR_X;
        for (unsigned n = 0; turns && n < move->times; n++)
            external_drift(rotation, host->bodies, move->h[n], first, last);
        for (int axis = 0; !turns && axis < 3; axis++)
            combine(move, vectors->of[move->to][axis], vectors->of[move->from][axis],
                    vectors->of[move->rate][axis], first, last);
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Makes all moves of a pass (kicks and drifts between two forces), block by block, so that each
 * block goes from memory to the cache once. */
static void move_range(const struct host *host, const struct host_vectors *vectors,
                       const struct stage_pass *pass, size_t first, size_t last)
{
    for (size_t i = first; i < last; i += MOVE_BLOCK)
        move_block(host, vectors, pass, i, smaller(last, i + MOVE_BLOCK));
}

/* Makes all moves of a pass for the bodies of this thread or, if `pass` is NULL, adds to ax, ay, az
 * of these bodies the accelerations by external fields. Padding is not moved. */
static void move_systems(const struct host *host, const struct force_item *item,
                         const struct stage_pass *pass)
{
    const struct bodies *bodies = host->bodies;
    const struct host_vectors vectors = host_vectors(host, bodies, 0);
    const size_t own = host->last - host->first; /* bodies of a system that this process moves */
    size_t start, end;
    share(host, item, &start, &end);
    while (start < end) {
        const size_t next = smaller(end, (start / own + 1) * own);
        const size_t system = (item->first + start / own) * bodies->stride;
        const size_t first = host->first + start % own;
        const size_t last = smaller(first + next - start, bodies->count);
        if (pass)
            move_range(host, &vectors, pass, system + first, system + last);
        else
            external_accelerate(host->physics->external, bodies, system + first, system + last);
        start = next;
    }
}

/* Makes all moves of a pass for the bodies of a work item that this thread moves; the item may be a
 * batch, a copy in which systems are interleaved. */
static void move(const struct host *host, const struct force_item *item,
                 const struct stage_pass *pass)
{
    if (!item->batch) {
        move_systems(host, item, pass);
        return;
    }
    const struct host_vectors vectors =
        host_vectors(host, item->batch, item->first * host->bodies->stride);
    move_range(host, &vectors, pass, 0, item->batch->count);
}

/* Takes the work items of one thread of the team through `steps` steps. Forces are computed after
 * the moves of each pass that asks for it, and at the start unless they are current. */
static void advance_team(struct openmp *openmp, uint64_t steps)
{
    const struct host *const host = &openmp->host;
    const struct stage_program *const program = &host->program;
    const bool missing = program->needs_forces && steps > 0 && !host->forces_current;
    struct force *const force = openmp->force;
    struct force_item item;
    for (size_t k = 0; next_item(openmp, k, &item); k++) {
        force_open_item(force, host->bodies, &item);
        struct stage_walk walk = stage_walk_begin(program, steps);
        const struct stage_pass *pass = NULL;
        do {
            if (pass)
                move(host, &item, pass);
            const bool due = pass ? pass->force : missing;
            if (!due)
                continue;
            if (host->peers)
                gather_and_sum(openmp);
            else
                force->method->accelerations(force, host->bodies, &item);
            if (host->physics->external)
                move_systems(host, &item, NULL);
        } while ((pass = stage_walk_next(program, &walk)));
        force_close_item(force, host->bodies, &item);
    }
}

/* Takes all systems, which have few bodies, through `steps` steps, each by one thread. If
 * host->forces_current, the forces of all systems are current at the start. */
static void advance_small(struct openmp *openmp, uint64_t steps)
{
    const struct host *host = &openmp->host;
#pragma omp parallel for num_threads(host->threads) if (host->threads > 1)
    for (size_t s = 0; s < host->bodies->systems; s++)
        openmp->small->advance(host->physics, host->bodies, s, &host->program, steps,
                               host->forces_current);
    if (steps > 0)
        openmp->host.forces_current = host->program.leaves_forces;
}

/* Advances by stages. One team of threads makes all steps; if the advance may be interrupted, each
 * step has a team of its own, which costs little since steps are long then. */
static enum status openmp_advance(struct backend *backend, const struct integrator *integrator,
                                  double dt, uint64_t steps, struct error *error)
{
    struct openmp *openmp = (struct openmp *)backend;
    struct host *const host = &openmp->host;
    if (integrator_chooses_steps(integrator))
        return host_advance_adaptive(host, integrator, dt, steps, error);
    host_begin(host);
    stage_program_make(&host->program, integrator, dt);
    if (openmp->small)
        advance_small(openmp, steps);
    const uint64_t left = openmp->small ? 0 : steps, each = host->before ? 1 : steps;
    for (uint64_t k = 0; k < left && !interruption_agreed(host->own.interruption); k += each) {
#pragma omp parallel num_threads(host->threads)
        advance_team(openmp, each);
        host->forces_current = host->program.leaves_forces;
    }
    return host_end(host, error);
}

static void openmp_describe(const struct backend *backend, struct backend_description *description)
{
    const struct openmp *openmp = (const struct openmp *)backend;
    /* An integrator that chooses its own steps computes forces itself, in the precision of the
     * config even for few bodies. */
    const bool small = openmp->small && !backend->adaptive;
    const enum origin origin = small ? ORIGIN_EXACT : openmp->force->origin;
    const enum precision precision = small ? PRECISION_DOUBLE : openmp->force->precision;
    *description = (struct backend_description){
        .backend = backend->class_->variant.name,
        .kernel = host_kernel(&openmp->host, small ? "small" : openmp->force->kernel),
        .isa = openmp->force->isa,
        .device = "",
        .choice = backend->choice,
        .precision = precision,
        .origin = origin,
        .force = openmp->force->options,
        .threads = openmp->host.threads,
    };
    description->force.precision = precision;
}

const struct backend_class backend_openmp = {
    .variant = { .name = "openmp", .help = "All CPU cores, by the fastest kernel they run." },
    .create = openmp_create,
    .advance = openmp_advance,
    .fetch = host_fetch,
    .accelerations = host_accelerations,
    .potentials = host_potentials,
    .conserved = host_conserved,
    .describe = openmp_describe,
    .destroy = openmp_destroy,
};
