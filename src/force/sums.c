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
    BLOCK = 32,               /* bodies that are dealt to threads together; two vectors of 16 */
    PAIRS_PER_THREAD = 16384, /* below, waiting for another thread costs more than its help */
    SLICE = 4096 /* bodies whose sums go from part to part together: while some are on their way,
                    others are added */
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
    if (wave->last_unit - wave->first_unit == wave->rounds * task->force->tiles)
        return;
    for (size_t round = 0; round < wave->rounds; round++)
        clear(task, &task->scratch->rounds[round], task->all);
    crew_wait(&task->crew);
}

static void play(const struct task *task, struct range i, struct range j, const struct sums *sums)
{
    clear(task, sums, i);
    clear(task, sums, j);
    if (i.first == j.first)
        within(task, i, sums);
    else
        meet(task, i, j, sums);
}

/* One axis of two tiles' totals, while their place is lent to the sums of a round. */
struct kept {
    double i[TILE_MOST], j[TILE_MOST];
};

static void keep(double *kept, const double *total, struct range range)
{
    memcpy(kept, total + range.first, (range.last - range.first) * sizeof *kept);
}

CLONE_FOR_VECTORS
static void give_back(const double *restrict kept, double *restrict total, struct range range)
{
    const size_t count = range.last - range.first;
    double *restrict const sums = total + range.first;
#pragma omp simd
    for (size_t k = 0; k < count; k++)
        sums[k] = kept[k] + sums[k];
}

/* play() where the totals stand, with the bits of a sum made elsewhere and added to them. */
static void play_direct(const struct task *task, struct range i, struct range j)
{
    const struct sums sums = { task->total[0], task->total[1], task->total[2] };
    struct kept kept[3];
    for (int axis = 0; axis < 3; axis++) {
        keep(kept[axis].i, task->total[axis], i);
        keep(kept[axis].j, task->total[axis], j);
    }
    play(task, i, j, &sums);
    for (int axis = 0; axis < 3; axis++) {
        give_back(kept[axis].i, task->total[axis], i);
        if (i.first != j.first)
            give_back(kept[axis].j, task->total[axis], j);
    }
}

static void play_wave(const struct task *task, const struct wave *wave)
{
    struct tournament meeting = tournament_start(task->force->tiles, wave->first, wave->rounds);
    tournament_cut(&meeting, wave->first_unit, wave->last_unit);
    tournament_deal(&meeting, task->crew.rank, task->crew.size);
    while (tournament_next(&meeting)) {
        const struct range i = tile_range(task, meeting.i), j = tile_range(task, meeting.j);
        if (task->scratch->rounds)
            play(task, i, j, &task->scratch->rounds[meeting.round - wave->first]);
        else
            play_direct(task, i, j);
    }
}

/* A body's terms of a round are summed by themselves, and then the rounds, one after another. Who
 * plays a round, and how many make a wave, changes no bit. */
static void sum_symmetric(const struct task *task)
{
    const size_t tiles = task->force->tiles, most = task->force->wave;
    for (size_t first = 0; first < tiles; first += most) {
        const size_t rounds = tiles - first < most ? tiles - first : most;
        if (first > 0 || !task->scratch->rounds)
            crew_wait(&task->crew);
        play_wave(task, &(struct wave){ first, rounds, 0, rounds * tiles });
        if (!task->scratch->rounds)
            continue;
        crew_wait(&task->crew);
        task->kernels->gather(task->all, task->scratch->rounds, rounds, task->total);
    }
    if (!task->scratch->rounds)
        crew_wait(&task->crew);
}

/* --- one system by several processes -----------------------------------------------------------
 *
 * Each plays some rounds that follow one another, and keeps their sums apart. Then the totals go
 * from process to process, and each adds its rounds to them, so that they are added in the order of
 * one process alone. Where this takes too many rounds to keep, there are several laps: up, from the
 * first process to the last, down, up again. The last one of a lap is the first one of the next
 * and has the totals at hand.
 */

/* What is this process's part in one of them? */
struct lap {
    struct wave wave;
    size_t place;         /* in the row of the processes */
    size_t before, after; /* the processes beside it */
};

/* The units of a lap's rounds are dealt out evenly: neighbours share a round. What one of them has
 * not played is 0, and changes nothing. */
static struct lap find_lap(const struct force *force, size_t number)
{
    const struct force_share *const share = &force->share;
    const size_t tiles = force->tiles;
    const size_t first = tiles * number / force->laps, end = tiles * (number + 1) / force->laps;
    const size_t up = share->part + 1, down = share->part - 1; /* the latter may be none */
    const bool upwards = number % 2 == 0;
    const size_t place = upwards ? share->part : share->parts - 1 - share->part;
    struct tournament own = tournament_start(tiles, first, end - first);
    tournament_deal(&own, place, share->parts);
    const size_t start = (own.round - first) * tiles;
    return (struct lap){
        .wave = { .first = own.round,
                  .rounds = (own.last + tiles - 1) / tiles - (own.round - first),
                  .first_unit = own.first - start,
                  .last_unit = own.last - start },
        .place = place,
        .before = upwards ? down : up,
        .after = upwards ? up : down,
    };
}

static void hand_on_slice(const struct task *task, const struct lap *lap, struct range slice)
{
    const struct force_share *const share = &task->force->share;
    const struct force_relay *const relay = share->relay;
    double *const sums[3] = { task->total[0] + slice.first, task->total[1] + slice.first,
                              task->total[2] + slice.first };
    const size_t count = slice.last - slice.first;
    if (lap->place > 0) {
        if (task->crew.rank == 0)
            relay->receive(relay->context, lap->before, sums, count);
        crew_wait(&task->crew);
    }
    task->kernels->gather(crew_share(&task->crew, slice), task->scratch->rounds, lap->wave.rounds,
                          task->total);
    if (lap->place + 1 < share->parts) {
        crew_wait(&task->crew);
        if (task->crew.rank == 0)
            relay->send(relay->context, lap->after, sums, count);
    }
}

static void sum_symmetric_in_parts(const struct task *task)
{
    const size_t length = task->packing.packed.length;
    for (size_t number = 0; number < task->force->laps; number++) {
        const struct lap lap = find_lap(task->force, number);
        if (number > 0)
            crew_wait(&task->crew);
        clear_wave(task, &lap.wave);
        play_wave(task, &lap.wave);
        crew_wait(&task->crew);
        for (size_t i = 0; i < length; i += SLICE)
            hand_on_slice(task, &lap, (struct range){ i, i + SLICE < length ? i + SLICE : length });
    }
    crew_wait(&task->crew);
}

/* --- accelerations and potentials of one system ------------------------------------------------
 */

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

static void sum_plain(const struct task *task, struct range range)
{
    clear_totals(task, range);
    task->kernels->plain[task->form][task->masses](&task->packing.packed, range, task->total);
    write_accelerations(task, range, false);
}

/* Where one process holds the accelerations of all bodies, a system that has not the masses for the
 * third law is summed by that one alone. */
static void sum_forces(struct task *task, size_t system)
{
    const struct force *const force = task->force;
    size_t holder;
    open_task(task, force->precision, system);
    const bool held = force_has_holder(force, &holder), holds = force->share.part == holder;
    if (!force->symmetric || !task->packing.massive) {
        if (!held || holds)
            sum_plain(task, held ? task->all : task->mine);
        return;
    }
    clear_totals(task, task->all);
    if (held)
        sum_symmetric_in_parts(task);
    else
        sum_symmetric(task);
    if (!held || holds)
        write_accelerations(task, task->all, true);
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

/* Are there sums for other processes? They take them system by system, from one thread. */
static bool hands_on(const struct force *force)
{
    size_t holder;
    return force_has_holder(force, &holder);
}

bool force_turn(const struct force *force, const struct bodies *bodies, size_t number,
                struct force_turn *turn)
{
    const size_t rank = (size_t)omp_get_thread_num(), size = (size_t)omp_get_num_threads();
    const size_t alone = has_scratches(force) && !hands_on(force) ? bodies->systems / size : 0;
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
