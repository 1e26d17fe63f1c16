/*
 * All CPU cores: one team of threads for a whole advance. Each thread takes systems of its own
 * through all steps of the advance, some at a time, and all threads together do the rest. There a
 * thread moves the same bodies all the time; data crosses threads only in the force, which has the
 * barriers. Kicks and drifts between two forces go over memory together. Every body's sums are the
 * force kernel's, so that the bits do not depend on the number of threads. Systems of very few
 * bodies have kernels of their own (small.h).
 */
#include "config.h"

#include <omp.h>
#include <string.h>

#include "backend/host.h"
#include "backend/small.h"
#include "base/barrier.h"
#include "base/cores.h"
#include "base/memory.h"

struct openmp {
    struct host host;
    struct force *force;
    const struct small_kernels *small; /* NULL: the bodies are many, or a kernel was asked for */
    enum precision precision;
    struct barrier barrier; /* around what one thread exchanges with them */
};

enum {
    MOVE_BLOCK = 256,         /* bodies: nine arrays of it stay in the first-level cache */
    PAIRS_PER_THREAD = 100000 /* some 20 us of work, or another thread costs more than it gives */
};

/* Kicks and drifts that wait to be done in one go: the end of a step and the start of the next. */
struct moves {
    size_t count;
    struct stage stages[2 * INTEGRATOR_MAX_STAGES];
};

/* Run by every thread of the team. The bodies of other processes come before the sums, and after
 * them the accelerations of all bodies go to their owners, if one process has them. */
static void exchange_and_sum(struct openmp *openmp)
{
    const struct host *host = &openmp->host;
    const struct backend_exchange *exchange = host->exchange;
    barrier_wait(&openmp->barrier);
#pragma omp master
    host_gather_positions(host);
    force_accelerations(openmp->force, host->bodies);
    size_t holder;
    if (force_has_holder(openmp->force, &holder)) {
        double *const a[] = { host->bodies->ax, host->bodies->ay, host->bodies->az };
#pragma omp master
        exchange->scatter(exchange->context, holder, a, COUNT_OF(a));
        barrier_wait(&openmp->barrier);
    }
}

static void evaluate_forces(struct openmp *openmp, const struct force_turn *turn)
{
    if (openmp->host.exchange)
        exchange_and_sum(openmp);
    else
        force_accelerations_of(openmp->force, openmp->host.bodies, turn);
}

/* The turns of this thread of the team; where processes exchange bodies, these are all in one. */
static bool next_turn(const struct openmp *openmp, size_t number, struct force_turn *turn)
{
    const struct host *host = &openmp->host;
    if (!host->exchange)
        return force_turn(openmp->force, host->bodies, number, turn);
    *turn = (struct force_turn){ 0, host->bodies->systems, true, NULL };
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
    if (host->exchange)
        exchange_and_sum(openmp);
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

static enum status openmp_probe(struct error *error)
{
    (void)error;
    return STATUS_OK;
}

/* Threads asked for, or as many as have enough to do. */
static int team_size(const struct force_options *force, const struct bodies *bodies)
{
    if (force->threads > 0)
        return force->threads;
    const double parts = force->share.parts > 1 ? (double)force->share.parts : 1;
    const double pairs =
        (double)bodies->systems * (double)bodies->count * (double)bodies->count / parts;
    const int cores = cores_available();
    return pairs < (double)cores * PAIRS_PER_THREAD ? 1 + (int)(pairs / PAIRS_PER_THREAD) : cores;
}

static enum status openmp_create(const struct backend_options *options,
                                 const struct physics *physics, struct bodies *bodies,
                                 struct backend **backend, struct error *error)
{
    *backend = NULL;
    struct backend_options own = *options;
    own.force.threads = team_size(&options->force, bodies);
    struct host *host;
    enum status status = host_create(sizeof(struct openmp), &backend_openmp, &sums, &own, physics,
                                     bodies, &host, error);
    if (status)
        return status;
    struct openmp *openmp = (struct openmp *)host;
    openmp->precision = own.force.precision;
    status = force_create(&own.force, physics, bodies, &openmp->force, error);
    if (status) {
        host_destroy(host);
        return status;
    }
    if (!strcmp(own.force.kernel, "auto"))
        openmp->small = small_find(force_isa(openmp->force), bodies);
    if (openmp->small) { /* every process moves all of them: less work than to exchange them */
        host->first = 0;
        host->last = bodies->stride;
        host->exchange = NULL;
    }
    *backend = &host->backend;
    return STATUS_OK;
}

/* What this thread moves, of the process's bodies of a turn's systems taken together. */
static void share(const struct host *host, const struct force_turn *turn, size_t *first,
                  size_t *last)
{
    /* whole cache lines of every array */
    const size_t lines = (turn->last - turn->first) * (host->last - host->first) / BODIES_PADDING;
    const size_t thread = turn->together ? (size_t)omp_get_thread_num() : 0;
    const size_t threads = turn->together ? (size_t)omp_get_num_threads() : 1;
    *first = lines * thread / threads * BODIES_PADDING;
    *last = lines * (thread + 1) / threads * BODIES_PADDING;
}

static inline void add_scaled(double *restrict sum, double h, const double *restrict rate,
                              size_t first, size_t last)
{
#pragma omp simd
    for (size_t i = first; i < last; i++)
        sum[i] += h * rate[i];
}

/* Two of these in one go over memory, with the bits of one after the other. */
static inline void add_twice(double *restrict sum, double h, double g, const double *restrict rate,
                             size_t first, size_t last)
{
#pragma omp simd
    for (size_t i = first; i < last; i++)
        sum[i] = (sum[i] + h * rate[i]) + g * rate[i];
}

CLONE_FOR_VECTORS
static void move_block(const struct bodies *b, const struct moves *moves, double dt, size_t first,
                       size_t last)
{
    double *const x[3] = { b->x, b->y, b->z }, *const v[3] = { b->vx, b->vy, b->vz };
    const double *const a[3] = { b->ax, b->ay, b->az };
    for (size_t k = 0; k < moves->count; k++) {
        const struct stage *const stage = &moves->stages[k];
        const bool kick = stage->verb == VERB_KICK;
        const bool twice = k + 1 < moves->count && stage[1].verb == stage->verb;
        for (int axis = 0; axis < 3; axis++) {
            double *const sum = kick ? v[axis] : x[axis];
            const double *const rate = kick ? a[axis] : v[axis];
            if (twice)
                add_twice(sum, stage->coefficient * dt, stage[1].coefficient * dt, rate, first,
                          last);
            else
                add_scaled(sum, stage->coefficient * dt, rate, first, last);
        }
        k += twice;
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void move_range(const struct bodies *bodies, const struct moves *moves, double dt,
                       size_t first, size_t last)
{
    for (size_t i = first; i < last; i += MOVE_BLOCK)
        move_block(bodies, moves, dt, i, smaller(last, i + MOVE_BLOCK));
}

static void move_systems(const struct host *host, const struct force_turn *turn,
                         const struct moves *moves, double dt)
{
    const struct bodies *bodies = host->bodies;
    const size_t own = host->last - host->first; /* of each system */
    size_t start, end;
    share(host, turn, &start, &end);
    while (start < end && moves->count > 0) {
        const size_t next = smaller(end, (start / own + 1) * own);
        const size_t system = (turn->first + start / own) * bodies->stride;
        const size_t first = host->first + start % own;
        const size_t last = smaller(first + next - start, bodies->count);
        move_range(bodies, moves, dt, system + first, system + last);
        start = next;
    }
}

/* Does the waiting moves on this thread's bodies; padding stays at rest. */
static void move(const struct host *host, const struct force_turn *turn, struct moves *moves,
                 double dt)
{
    if (turn->abreast)
        move_range(turn->abreast, moves, dt, 0, turn->abreast->count);
    else
        move_systems(host, turn, moves, dt);
    moves->count = 0;
}

/* Run by all threads whose turn it is. `current`: the forces are a(x) at the start; the result says
 * so of the end. */
static bool advance_turn(struct openmp *openmp, const struct force_turn *turn,
                         const struct integrator *integrator, double dt, uint64_t steps,
                         bool current)
{
    struct moves moves = { .count = 0 };
    if (integrator_needs_initial_force(integrator) && steps > 0 && !current) {
        evaluate_forces(openmp, turn);
        current = true;
    }
    for (uint64_t step = 0; step < steps; step++)
        for (size_t k = 0; k < integrator->stage_count; k++) {
            const struct stage *stage = &integrator->stages[k];
            if (stage->verb != VERB_FORCE) {
                moves.stages[moves.count++] = *stage;
                current &= stage->verb != VERB_DRIFT;
            } else if (!current) {
                move(&openmp->host, turn, &moves, dt);
                evaluate_forces(openmp, turn);
                current = true;
            }
        }
    move(&openmp->host, turn, &moves, dt);
    return current;
}

/* Run by every thread of the team. */
static bool advance_team(struct openmp *openmp, const struct integrator *integrator, double dt,
                         uint64_t steps, bool before)
{
    bool after = before;
    struct force_turn turn;
    for (size_t k = 0; next_turn(openmp, k, &turn); k++) {
        force_open_turn(openmp->force, openmp->host.bodies, &turn);
        after = advance_turn(openmp, &turn, integrator, dt, steps, before);
        force_close_turn(openmp->force, openmp->host.bodies, &turn);
    }
    return after;
}

/* The same for systems of few bodies, all of which stand alike. */
static bool advance_small(struct openmp *openmp, const struct integrator *integrator, double dt,
                          uint64_t steps, bool current)
{
    const struct host *host = &openmp->host;
    const size_t systems = host->bodies->systems;
    bool after = current;
#pragma omp parallel for num_threads(host->threads) if (host->threads > 1) reduction(& : after)
    for (size_t s = 0; s < systems; s++)
        after =
            openmp->small->advance(host->physics, host->bodies, s, integrator, dt, steps, current);
    return after;
}

static enum status openmp_advance(struct backend *backend, const struct integrator *integrator,
                                  double dt, uint64_t steps, struct error *error)
{
    struct openmp *openmp = (struct openmp *)backend;
    const bool before = openmp->host.forces_current;
    bool after = before;
    if (openmp->small) {
        after = advance_small(openmp, integrator, dt, steps, before);
    } else {
#pragma omp parallel num_threads(openmp->host.threads)
        {
            const bool current = advance_team(openmp, integrator, dt, steps, before);
#pragma omp master
            after = current;
        }
    }
    openmp->host.forces_current = after;
    return host_check(&openmp->host, error);
}

static void openmp_describe(const struct backend *backend, struct backend_description *description)
{
    const struct openmp *openmp = (const struct openmp *)backend;
    *description = (struct backend_description){
        .backend = backend->class_->variant.name,
        .kernel = openmp->small ? "small" : force_kernel(openmp->force),
        .isa = force_isa(openmp->force),
        .device = "",
        .choice = backend->choice,
        .precision = openmp->precision,
        .origin = openmp->small ? ORIGIN_EXACT : force_origin(openmp->force),
        .threads = openmp->host.threads,
    };
}

static void openmp_destroy(struct backend *backend)
{
    if (!backend)
        return;
    force_destroy(((struct openmp *)backend)->force);
    host_destroy((struct host *)backend);
}

const struct backend_class backend_openmp = {
    .variant = { .name = "openmp", .help = "All CPU cores, by the fastest kernel they run." },
    .probe = openmp_probe,
    .create = openmp_create,
    .advance = openmp_advance,
    .fetch = host_fetch,
    .accelerations = host_accelerations,
    .potentials = host_potentials,
    .conserved = host_conserved,
    .describe = openmp_describe,
    .destroy = openmp_destroy,
};
