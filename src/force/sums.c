/* The sums over pairs: systems to threads, tiles to rounds, sums to accelerations. */
#include "config.h"

#include <omp.h>
#include <string.h>

#include "force/packing.h"
#include "force/plan.h"
#include "force/reference.h"
#include "force/tournament.h"

/* Measured, as the sizes in force.c, and like them a matter of the problem alone where they decide
 * bits. */
enum {
    BLOCK = 32,              /* bodies that are dealt to threads together; two vectors of 16 */
    PAIRS_PER_THREAD = 16384 /* below, waiting for another thread costs more than its help */
};

/* --- sums over one system ----------------------------------------------------------------------
 */

/* The threads that work together on one system, and this one among them. */
struct crew {
    size_t rank, size;       /* ranks from size on only wait */
    struct barrier *barrier; /* NULL: there are no others to wait for */
};

static void crew_wait(const struct crew *crew)
{
    if (crew->barrier)
        barrier_wait(crew->barrier);
}

/* The part of a range of bodies that is this thread's. */
static struct range crew_share(const struct crew *crew, struct range range)
{
    if (crew->size == 1 && crew->rank == 0)
        return range;
    if (crew->rank >= crew->size)
        return (struct range){ range.last, range.last };
    const size_t blocks = (range.last - range.first + BLOCK - 1) / BLOCK;
    const size_t first = range.first + blocks * crew->rank / crew->size * BLOCK;
    const size_t last = range.first + blocks * (crew->rank + 1) / crew->size * BLOCK;
    return (struct range){ first, last < range.last ? last : range.last };
}

/* One evaluation on one system by one crew. */
struct task {
    struct force *force;
    const struct bodies *bodies;
    struct scratch *scratch;
    struct crew crew;
    struct packing packing;
    struct range all;  /* this thread's part of all bodies */
    struct range mine; /* and of those whose sums this process makes */
    double *total[3];  /* the system's accelerations, where their sums are made */
    const struct force_kernels *kernels;
    int form, masses;
};

static struct range tile_range(const struct task *task, size_t tile)
{
    const size_t first = tile * task->force->tile, last = first + task->force->tile;
    const size_t length = task->packing.packed.length;
    return (struct range){ first, last < length ? last : length };
}

static void clear(const struct task *task, const struct sums *sums, struct range range)
{
    const size_t size = task->force->precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float);
    const size_t start = range.first * size, bytes = (range.last - range.first) * size;
    memset((char *)sums->x + start, 0, bytes);
    memset((char *)sums->y + start, 0, bytes);
    memset((char *)sums->z + start, 0, bytes);
}

/* Kernels for equal masses know nothing of padding: where there is some, masses count. */
static void meet(const struct task *task, struct range i, struct range j, const struct sums *sums)
{
    const size_t full = task->packing.packed.count / BODIES_PADDING * BODIES_PADDING;
    int masses = task->masses;
    if (masses == MASSES_EQUAL && (i.last > full || j.last > full)) {
        const struct range i_full = { i.first, i.first < full && i.last > full ? full : i.last };
        const struct range j_full = { j.first, j.first < full && j.last > full ? full : j.last };
        if (i_full.last < i.last) {
            meet(task, i_full, j, sums);
            meet(task, (struct range){ full, i.last }, j, sums);
            return;
        }
        if (j_full.last < j.last) {
            meet(task, i, j_full, sums);
            meet(task, i, (struct range){ full, j.last }, sums);
            return;
        }
        masses = MASSES_ANY;
    }
    task->kernels->meet[task->form][masses](&task->packing.packed, i, j, sums);
}

static void within(const struct task *task, struct range i, const struct sums *sums)
{
    const bool padded = i.last > task->packing.packed.count;
    const int masses = padded ? MASSES_ANY : task->masses;
    task->kernels->within[task->form][masses](&task->packing.packed, i, sums);
}

/* Some rounds, one after another, and what is played of them; in units (see tournament.h). */
struct wave {
    size_t first, rounds;
    size_t first_unit, last_unit;
};

/* Whoever plays a tile clears its sums; where others play some of them, all have to be cleared. */
static void clear_wave(const struct task *task, const struct wave *wave)
{
    if (wave->last_unit - wave->first_unit == wave->rounds * task->force->tiles ||
        !task->scratch->rounds)
        return;
    for (size_t round = 0; round < wave->rounds; round++)
        clear(task, &task->scratch->rounds[round], task->all);
    crew_wait(&task->crew);
}

static void play_wave(const struct task *task, const struct wave *wave)
{
    struct tournament meeting = tournament_start(task->force->tiles, wave->first, wave->rounds);
    tournament_cut(&meeting, wave->first_unit, wave->last_unit);
    tournament_deal(&meeting, task->crew.rank, task->crew.size);
    while (tournament_next(&meeting)) {
        const struct range i = tile_range(task, meeting.i), j = tile_range(task, meeting.j);
        struct sums sums = { task->total[0], task->total[1], task->total[2] };
        if (task->scratch->rounds) {
            sums = task->scratch->rounds[meeting.round - wave->first];
            clear(task, &sums, i);
            clear(task, &sums, j);
        }
        if (meeting.i == meeting.j)
            within(task, i, &sums);
        else
            meet(task, i, j, &sums);
    }
}

/* Processes share the tournament by whole rounds, but for the first and the last one of each. */
static void sum_symmetric(const struct task *task)
{
    const struct force *const force = task->force;
    struct tournament own = tournament_start(force->tiles, 0, force->tiles);
    tournament_deal(&own, force->share.part, force->share.parts);
    const size_t end = (own.last + force->tiles - 1) / force->tiles;
    for (size_t first = own.round; first < end; first += force->wave) {
        const size_t rounds = end - first < force->wave ? end - first : force->wave;
        const size_t start = first * force->tiles, stop = (first + rounds) * force->tiles;
        const struct wave wave = {
            .first = first,
            .rounds = rounds,
            .first_unit = own.first > start ? own.first - start : 0,
            .last_unit = (own.last < stop ? own.last : stop) - start,
        };
        if (first > own.round || !task->scratch->rounds)
            crew_wait(&task->crew);
        clear_wave(task, &wave);
        play_wave(task, &wave);
        if (!task->scratch->rounds)
            continue;
        crew_wait(&task->crew);
        task->kernels->gather(task->all, task->scratch->rounds, rounds, task->total);
    }
    if (!task->scratch->rounds)
        crew_wait(&task->crew);
}

CLONE_FOR_VECTORS
static void scale(double *a, double unit, struct range range)
{
#pragma omp simd
    for (size_t i = range.first; i < range.last; i++)
        a[i] = unit * a[i];
}

CLONE_FOR_VECTORS
static void scale_by_mass(double *restrict a, double unit, const double *restrict m,
                          double mass_scale, struct range range)
{
#pragma omp simd
    for (size_t i = range.first; i < range.last; i++)
        a[i] = unit * (a[i] / (m[i] * mass_scale));
}

/* From sums to accelerations in true units; the third law's sums are forces. */
static void write_accelerations(const struct task *task, struct range range, bool forces)
{
    const struct bodies *const bodies = task->bodies;
    const double unit = task->force->physics.gravitational_constant * task->kernels->factor *
                        packing_force_unit(&task->packing);
    const size_t count = bodies->count;
    const struct range full = { range.first, range.last < count ? range.last : count };
    for (int axis = 0; axis < 3; axis++) {
        double *const a = task->total[axis];
        if (forces && !task->packing.packed.equal)
            scale_by_mass(a, unit, bodies->m + task->packing.first, task->packing.mass_scale, full);
        else
            scale(a, unit, full);
        for (size_t i = full.last > range.first ? full.last : range.first; i < range.last; i++)
            a[i] = 0;
    }
}

static void open_task(struct task *task, enum precision precision, size_t system)
{
    const struct force *const force = task->force;
    task->packing = (struct packing){ .precision = precision, .packed = task->scratch->packed };
    packing_open(&task->packing, &force->physics, task->bodies, system);
    task->all = crew_share(&task->crew, (struct range){ 0, task->bodies->stride });
    task->mine = crew_share(&task->crew, (struct range){ force->share.first, force->share.last });
    packing_fill(&task->packing, task->bodies, task->all);
    task->kernels = &force->kernels->force[precision];
    task->form = force->physics.boundary == BOUNDARY_PERIODIC ? FORM_PERIODIC : FORM_OPEN;
    task->masses = task->packing.packed.equal ? MASSES_EQUAL : MASSES_ANY;
    double *const a[3] = { task->bodies->ax, task->bodies->ay, task->bodies->az };
    for (int axis = 0; axis < 3; axis++)
        task->total[axis] = a[axis] + task->packing.first;
    crew_wait(&task->crew);
}

/* For what adds to the system's accelerations. */
static void clear_totals(const struct task *task, struct range range)
{
    for (int axis = 0; axis < 3; axis++)
        memset(task->total[axis] + range.first, 0, (range.last - range.first) * sizeof(double));
}

static struct range overlap(struct range a, struct range b)
{
    const size_t first = a.first > b.first ? a.first : b.first;
    const size_t last = a.last < b.last ? a.last : b.last;
    return (struct range){ first, last > first ? last : first };
}

/* Where sums are partial but this system has not the masses for it, a process's term is the
 * accelerations of its own bodies, and 0 for the others. */
static void sum_forces(struct task *task, size_t system)
{
    open_task(task, task->force->precision, system);
    const bool symmetric = task->force->symmetric && task->packing.massive;
    const bool partial = force_is_partial(task->force);
    const struct range written = symmetric || partial ? task->all : task->mine;
    clear_totals(task, written);
    if (symmetric) {
        sum_symmetric(task);
    } else {
        const struct range own = { task->force->share.first, task->force->share.last };
        task->kernels->plain[task->form][task->masses](
            &task->packing.packed, partial ? overlap(task->all, own) : task->mine, task->total);
    }
    write_accelerations(task, written, symmetric);
}

static void sum_potentials(struct task *task, size_t system, double *phi, double *psi)
{
    open_task(task, PRECISION_DOUBLE, system);
    const double unit =
        -task->force->physics.gravitational_constant * packing_potential_unit(&task->packing);
    phi += task->packing.first;
    psi += task->packing.first;
    task->force->kernels->potential[task->form](&task->packing.packed, task->mine, phi, psi);
    for (size_t i = task->mine.first; i < task->mine.last; i++) {
        const bool padding = i >= task->bodies->count;
        phi[i] = padding ? 0 : unit * phi[i];
        psi[i] = padding ? 0 : unit * psi[i];
    }
}

/* --- all systems -------------------------------------------------------------------------------
 */

/* Does each thread of the team have a scratch of its own? */
static bool has_scratches(const struct force *force)
{
    return (size_t)omp_get_num_threads() <= force->scratches && !force->reference;
}

bool force_turn(const struct force *force, const struct bodies *bodies, size_t number,
                struct force_turn *turn)
{
    const size_t rank = (size_t)omp_get_thread_num(), size = (size_t)omp_get_num_threads();
    const size_t alone = has_scratches(force) ? bodies->systems / size : 0;
    const size_t batches = force->abreast ? alone / force->abreast : 0;
    const size_t batched = batches * force->abreast, last = batches + alone - batched;
    const size_t first = number < batches ? number * force->abreast : batched + number - batches;
    const size_t count = number < batches ? force->abreast : 1;
    *turn = (struct force_turn){ rank * alone + first, rank * alone + first + count, false, NULL };
    if (number < last)
        return true;
    *turn = (struct force_turn){ size * alone, bodies->systems, true, NULL };
    return number == last && turn->first < turn->last;
}

/* Of all systems. */
static void sum_reference(const struct force *force, const struct bodies *bodies, double *phi,
                          double *psi)
{
    if (omp_get_thread_num() != 0)
        return;
    if (phi)
        reference_potentials(&force->physics, bodies, phi, psi);
    else
        reference_accelerations(&force->physics, bodies);
}

/* A system's bits are the same whether one thread works on it or all, alone or abreast. */
static void sum_turn(struct force *force, const struct bodies *bodies,
                     const struct force_turn *turn, double *phi, double *psi)
{
    const size_t rank = (size_t)omp_get_thread_num(), size = (size_t)omp_get_num_threads();
    const double useful = 1 + (double)bodies->count * (double)bodies->count / PAIRS_PER_THREAD;
    struct task task = { .force = force, .bodies = bodies, .crew = { 0, 1, NULL } };
    task.scratch = &force->scratch[turn->together || !has_scratches(force) ? 0 : rank];
    if (turn->together)
        task.crew =
            (struct crew){ rank, useful < (double)size ? (size_t)useful : size, &force->barrier };
    crew_wait(&task.crew); /* until all bodies are in place and nobody uses the scratch */
    if (force->reference)
        sum_reference(force, bodies, phi, psi);
    for (size_t s = turn->first; s < turn->last && !force->reference; s++) {
        if (s > turn->first)
            crew_wait(&task.crew);
        phi ? sum_potentials(&task, s, phi, psi) : sum_forces(&task, s);
    }
    crew_wait(&task.crew);
}

static struct batch *own_batch(struct force *force)
{
    return &force->scratch[omp_get_thread_num()].batch;
}

void force_open_turn(struct force *force, const struct bodies *bodies, struct force_turn *turn)
{
    if (turn->together || turn->last - turn->first == 1)
        return;
    batch_open(own_batch(force), bodies, turn->first);
    turn->abreast = own_batch(force)->bodies;
}

void force_close_turn(struct force *force, const struct bodies *bodies, struct force_turn *turn)
{
    if (turn->abreast)
        batch_close(own_batch(force), bodies, turn->first);
    turn->abreast = NULL;
}

void force_accelerations_of(struct force *force, const struct bodies *bodies,
                            const struct force_turn *turn)
{
    if (turn->abreast)
        batch_accelerations(own_batch(force), &force->physics);
    else
        sum_turn(force, bodies, turn, NULL, NULL);
}

void force_accelerations(struct force *force, const struct bodies *bodies)
{
    struct force_turn turn;
    barrier_wait(&force->barrier);
    for (size_t k = 0; force_turn(force, bodies, k, &turn); k++) {
        force_open_turn(force, bodies, &turn);
        force_accelerations_of(force, bodies, &turn);
        force_close_turn(force, bodies, &turn);
    }
    barrier_wait(&force->barrier);
}

void force_potentials(struct force *force, const struct bodies *bodies, double *phi, double *psi)
{
    struct force_turn turn;
    barrier_wait(&force->barrier);
    for (size_t k = 0; force_turn(force, bodies, k, &turn); k++)
        sum_turn(force, bodies, &turn, phi, psi);
    barrier_wait(&force->barrier);
}
