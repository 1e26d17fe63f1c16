#include "config.h"

#include "force/direct/direct.h"

#include <omp.h>
#include <string.h>

#include "base/barrier.h"
#include "force/direct/reference.h"
#include "force/direct/tournament.h"

/*
 * Sums by Newton's third law: a system is cut into tiles of consecutive bodies, and pairs of tiles
 * are summed in the rounds of a tournament. The terms of a body in one round are summed by
 * themselves, and then the sums of the rounds are added to the body's total, one after another.
 * Which thread or process takes a pair of tiles, and how many rounds are summed before their sums
 * are added to the totals, changes no bit.
 *
 * If there are several processes, each takes some consecutive rounds and keeps their sums apart.
 * Then the totals go from process to process, and each adds its rounds to them, so that the rounds
 * are added in the same order as by a single process. The totals go up, from the first process to
 * the last, for the next rounds down, then up again: the last process of such a passage is the
 * first one of the next and has the totals at hand.
 */

/* A wave: rounds that follow one another and whose sums are kept apart until they are added to the
 * totals. Work is counted in units, one for each tile of a round, since each tile appears once in a
 * round. */
struct wave {
    size_t first, rounds;
    size_t first_unit, last_unit; /* units of this process: [first_unit, last_unit) of round `first`
                                     and those after it */
    size_t index;                 /* number of this process in the row along which the totals go */
    size_t before, after; /* the processes from which and to which the totals go in that row */
};

/* --- waves ------------------------------------------------------------------------------------ */

/* Finds this process's share of wave `number`. The units of the wave's rounds are divided evenly
 * among the processes, so that neighbours may share a round. The sums of the pairs that a process
 * has not done are 0, and change nothing. */
static void divide_wave(const struct direct *direct, size_t number, struct wave *wave)
{
    const struct force_share *const share = &direct->base.options.share;
    const size_t tiles = direct->tiles, first = share_start(tiles, direct->laps, number);
    const size_t end = share_start(tiles, direct->laps, number + 1);
    const size_t up = share->part + 1, down = share->part - 1; /* neighbours, if they exist */
    const bool upwards = number % 2 == 0;
    const size_t index = upwards ? share->part : share->parts - 1 - share->part;
    struct tournament own = tournament_start(tiles, first, end - first);
    tournament_share(&own, index, share->parts);
    const size_t start = (own.round - first) * tiles;
    *wave = (struct wave){
        .first = own.round,
        .rounds = (own.last + tiles - 1) / tiles - (own.round - first),
        .first_unit = own.first - start,
        .last_unit = own.last - start,
        .index = index,
        .before = upwards ? down : up,
        .after = upwards ? up : down,
    };
}

/* Finds the rounds of wave `number` (from 0) and this process's part in them; returns false past
 * the last wave. */
static bool tiles_find_wave(const struct direct *direct, size_t number, struct wave *wave)
{
    if (direct->base.options.share.parts > 1) {
        if (number < direct->laps)
            divide_wave(direct, number, wave);
        return number < direct->laps;
    }
    const size_t first = number * direct->wave;
    const size_t left = first < direct->tiles ? direct->tiles - first : 0;
    const size_t rounds = left < direct->wave ? left : direct->wave;
    *wave = (struct wave){ .first = first, .rounds = rounds, .last_unit = rounds * direct->tiles };
    return rounds > 0;
}

/* --- sums of tiles ---------------------------------------------------------------------------- */

static struct range tile_range(const struct system_sum *sum, size_t tile)
{
    const size_t first = tile * sum->direct->tile, last = first + sum->direct->tile;
    const size_t length = sum->packing.packed.length;
    return (struct range){ first, last < length ? last : length };
}

static void clear_sums(const struct system_sum *sum, const struct sums *sums, struct range range)
{
    const size_t size = sum->direct->precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float);
    const size_t start = range.first * size, bytes = (range.last - range.first) * size;
    memset((char *)sums->x + start, 0, bytes);
    memset((char *)sums->y + start, 0, bytes);
    memset((char *)sums->z + start, 0, bytes);
}

/* Clears all sums of a wave if other processes sum some pairs of its rounds, which then count as 0
 * here; otherwise the thread that takes a pair of tiles clears their sums. */
static void clear_wave(const struct system_sum *sum, const struct wave *wave)
{
    if (wave->last_unit - wave->first_unit == wave->rounds * sum->direct->tiles)
        return;
    for (size_t round = 0; round < wave->rounds; round++)
        clear_sums(sum, &sum->scratch->rounds[round], sum->all);
    team_wait(&sum->team);
}

/* Splits a range at body `at`, if `at` is within it; returns the number of parts, 1 or 2. The
 * second part may have padding. */
static size_t cut_range(struct range range, size_t at, struct range parts[2])
{
    const bool both = range.first < at && at < range.last;
    parts[0] = (struct range){ range.first, both ? at : range.last };
    parts[1] = (struct range){ at, range.last };
    return both ? 2 : 1;
}

/* Copies of two tiles' totals along one axis, kept while the sums of a round are made in the arrays
 * of the totals. */
struct saved {
    double i[TILE_MOST], j[TILE_MOST];
};

static void save(const struct system_sum *sum, struct range i, struct range j, struct saved *saved)
{
    for (int axis = 0; axis < 3; axis++) {
        const double *const total = sum->total[axis];
        memcpy(saved[axis].i, total + i.first, (i.last - i.first) * sizeof *total);
        memcpy(saved[axis].j, total + j.first, (j.last - j.first) * sizeof *total);
    }
}

CLONE_FOR_VECTORS
static void add_to_saved(const double *restrict saved, double *restrict total, struct range range)
{
    const size_t count = range.last - range.first;
    double *restrict const sums = total + range.first;
#pragma omp simd
    for (size_t k = 0; k < count; k++)
        sums[k] = saved[k] + sums[k];
}

/* Adds the sums of a round, which were made in the arrays of the totals, to the saved totals, and
 * puts the results into the arrays. The bits are the same as if the sums had been made
 * elsewhere. */
static void add_saved(const struct system_sum *sum, struct range i, struct range j,
                      const struct saved *saved)
{
    for (int axis = 0; axis < 3; axis++) {
        add_to_saved(saved[axis].i, sum->total[axis], i);
        if (i.first != j.first)
            add_to_saved(saved[axis].j, sum->total[axis], j);
    }
}

/* Sums this thread's pairs of tiles of a wave. Kernels for equal masses would give the padding a
 * mass, too: a range with padding takes the kernel for any masses. */
static void tiles_sum_wave(const struct system_sum *sum, const struct wave *wave)
{
    const struct packed *const packed = &sum->packing.packed;
    const struct force_kernels *const kernels = sum->kernels;
    const struct sums *const rounds = sum->scratch->rounds;
    const size_t full = packed->count / BODIES_PADDING * BODIES_PADDING;
    const size_t equal = sum->masses == MASSES_EQUAL ? full : 0; /* bodies of equal masses */
    struct tournament pairs = tournament_start(sum->direct->tiles, wave->first, wave->rounds);
    struct saved saved[3];
    clear_wave(sum, wave);
    tournament_cut(&pairs, wave->first_unit, wave->last_unit);
    tournament_share(&pairs, sum->team.rank, sum->team.size);
    while (tournament_next(&pairs) &&
           !interruption_raised(sum->direct->base.physics.interruption)) {
        const struct range i = tile_range(sum, pairs.i), j = tile_range(sum, pairs.j);
        struct sums own = { sum->total[0], sum->total[1], sum->total[2] };
        struct range i_parts[2], j_parts[2];
        const size_t i_count = cut_range(i, equal, i_parts), j_count = cut_range(j, equal, j_parts);
        if (rounds)
            own = rounds[pairs.round - wave->first];
        else
            save(sum, i, j, saved);
        clear_sums(sum, &own, i);
        clear_sums(sum, &own, j);
        if (pairs.i == pairs.j)
            kernels->tile_self[sum->form][i.last > packed->count ? MASSES_ANY : sum->masses](
                packed, i, &own);
        for (size_t n = 0; n < i_count * j_count && pairs.i != pairs.j; n++) {
            const struct range a = i_parts[n / j_count], b = j_parts[n % j_count];
            const int masses = a.last > equal || b.last > equal ? MASSES_ANY : MASSES_EQUAL;
            kernels->tile_pair[sum->form][masses](packed, a, b, &own);
        }
        if (!rounds)
            add_saved(sum, i, j, saved);
    }
}

/* --- from sums to totals ---------------------------------------------------------------------- */

/* Returns the part of a range of bodies that this thread takes. Threads get whole blocks of 32
 * bodies: two vectors of 16. */
static struct range team_share(const struct team *team, struct range range)
{
    enum { BLOCK = 32 };
    if (team->size == 1 && team->rank == 0)
        return range;
    if (team->rank >= team->size)
        return (struct range){ range.last, range.last };
    const size_t blocks = (range.last - range.first + BLOCK - 1) / BLOCK;
    const size_t first = range.first + share_start(blocks, team->size, team->rank) * BLOCK;
    const size_t last = range.first + share_start(blocks, team->size, team->rank + 1) * BLOCK;
    return (struct range){ first, last < range.last ? last : range.last };
}

/* Adds the sums of this process's rounds to the totals of some bodies. The totals come from the
 * process before in the row of processes, and then go to the process after. */
static void pass_slice(const struct system_sum *sum, const struct wave *wave, struct range slice)
{
    const struct force_share *const share = &sum->direct->base.options.share;
    const struct force_relay *const relay = share->relay;
    double *const totals[3] = { sum->total[0] + slice.first, sum->total[1] + slice.first,
                                sum->total[2] + slice.first };
    const size_t count = slice.last - slice.first;
    if (wave->index > 0) {
        if (sum->team.rank == 0)
            relay->receive(relay->context, wave->before, totals, count);
        team_wait(&sum->team);
    }
    sum->kernels->reduce(team_share(&sum->team, slice), sum->scratch->rounds, wave->rounds,
                         sum->total);
    if (wave->index + 1 < share->parts) {
        team_wait(&sum->team);
        if (sum->team.rank == 0)
            relay->send(relay->context, wave->after, totals, count);
    }
}

/* Adds the sums of a wave to the totals, which with several processes go from process to process.
 * After the last wave the process force->holder has the totals; those of the others are
 * incomplete. */
static void tiles_add_wave(const struct system_sum *sum, const struct wave *wave)
{
    /* Bodies whose totals go from process to process in one message: while those of some bodies are
     * on their way, sums are added to others. Measured, like the sizes in direct.c. */
    enum { SLICE = 4096 };
    const size_t length = sum->packing.packed.length;
    if (sum->direct->base.options.share.parts == 1) {
        sum->kernels->reduce(sum->all, sum->scratch->rounds, wave->rounds, sum->total);
        return;
    }
    for (size_t i = 0; i < length; i += SLICE)
        pass_slice(sum, wave, (struct range){ i, i + SLICE < length ? i + SLICE : length });
}

/* --- packing ---------------------------------------------------------------------------------- */

/* The least number of pairs of a system for each thread of a team: with fewer, waiting for another
 * thread costs more than its help. Measured, like the sizes in direct.c. */
enum { PAIRS_PER_THREAD = 16384 };

/* Finds the team of threads that works on an item, this thread's place in it, and the scratch
 * memory. */
static struct system_sum find_team(struct direct *direct, const struct bodies *bodies,
                                   const struct force_item *item)
{
    const size_t rank = (size_t)omp_get_thread_num(), size = (size_t)omp_get_num_threads();
    const double useful = 1 + reference_pairs(1, (double)bodies->count) / PAIRS_PER_THREAD;
    struct system_sum sum = { .direct = direct, .bodies = bodies, .team = { 0, 1, NULL } };
    sum.scratch = &direct->scratch[item->by_team || size > direct->scratches ? 0 : rank];
    if (item->by_team)
        sum.team = (struct team){ rank, useful < (double)size ? (size_t)useful : size,
                                  &direct->base.barrier };
    return sum;
}

/* Packs the bodies of a system for this thread's part in its sums, unless the kernel takes them as
 * they are. Ends with a barrier of the team. */
static void pack(struct system_sum *sum, enum precision precision, size_t system)
{
    const struct force *const force = &sum->direct->base;
    const struct force_share *const share = &force->options.share;
    const bool portable = sum->direct->kernel == FORCE_PORTABLE;
    sum->packing = (struct packing){ .precision = precision, .packed = sum->scratch->packed };
    if (portable)
        packing_lend(&sum->packing, &force->physics, sum->bodies, system);
    else
        packing_open(&sum->packing, &force->physics, sum->bodies, system);
    sum->all = team_share(&sum->team, (struct range){ 0, sum->bodies->stride });
    sum->mine = team_share(&sum->team, (struct range){ share->first, share->last });
    if (!portable)
        packing_fill(&sum->packing, sum->bodies, sum->all);
    sum->kernels = &sum->direct->kernels->force[precision];
    sum->factor = portable ? 1 : sum->kernels->factor;
    sum->form = force->physics.boundary == BOUNDARY_PERIODIC ? FORM_PERIODIC : FORM_OPEN;
    sum->masses = sum->packing.packed.equal ? MASSES_EQUAL : MASSES_ANY;
    double *const a[3] = { sum->bodies->ax, sum->bodies->ay, sum->bodies->az };
    for (int axis = 0; axis < 3; axis++)
        sum->total[axis] = a[axis] + sum->packing.first;
    team_wait(&sum->team);
}

/* --- unpacking -------------------------------------------------------------------------------- */

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

/* Turns the sums of a range of bodies into accelerations in the units of the run. With `forces` the
 * sums are forces, from kernels that use the third law, and are divided by the masses. */
static void write_accelerations(const struct system_sum *sum, struct range range, bool forces)
{
    const struct bodies *const bodies = sum->bodies;
    const double unit = sum->direct->base.physics.gravitational_constant * sum->factor *
                        packing_force_unit(&sum->packing);
    const size_t count = bodies->count;
    const struct range full = { range.first, range.last < count ? range.last : count };
    for (int axis = 0; axis < 3; axis++) {
        double *const a = sum->total[axis];
        if (forces && !sum->packing.packed.equal)
            scale_by_mass(a, unit, bodies->m + sum->packing.first, sum->packing.mass_scale, full);
        else
            scale(a, unit, full);
        for (size_t i = full.last > range.first ? full.last : range.first; i < range.last; i++)
            a[i] = 0;
    }
}

static void clear_totals(const struct system_sum *sum, struct range range)
{
    for (int axis = 0; axis < 3; axis++)
        memset(sum->total[axis] + range.first, 0, (range.last - range.first) * sizeof(double));
}

/* Bodies that are summed between two tests for an interruption: whole blocks of every kernel. */
enum { PART = 1024 };

/* Returns the part of `range` that begins at `first`: PART bodies, or all that are left if nothing
 * can interrupt the sums; none if they are interrupted. */
static struct range next_part(const struct system_sum *sum, struct range range, size_t first)
{
    struct interruption *const interruption = sum->direct->base.physics.interruption;
    if (interruption_raised(interruption))
        return (struct range){ range.last, range.last };
    const bool whole = !interruption || range.last - first <= PART;
    return (struct range){ first, whole ? range.last : first + PART };
}

/* Sums the pulls of all bodies on those of a range, by the chosen kernel; by the plain kernel if
 * the symmetric one is chosen, for a system in which a mass is too small for the third law. */
static void sum_over_all(const struct system_sum *sum, struct range range)
{
    const enum force_kernel_id asked = sum->direct->kernel;
    const enum force_kernel_id kernel = asked == FORCE_SYMMETRIC ? FORCE_PLAIN : asked;
    kernel_plain *const add = kernel == FORCE_PORTABLE
                                  ? sum->direct->kernels->portable[sum->form]
                                  : sum->kernels->sum[kernel][sum->form][sum->masses];
    struct range part = next_part(sum, range, range.first);
    clear_totals(sum, range);
    for (; part.first < part.last; part = next_part(sum, range, part.last))
        add(&sum->packing.packed, part, sum->total);
    write_accelerations(sum, range, false);
}

/* --- accelerations and potentials ------------------------------------------------------------- */

/* Computes accelerations. If one process is to hold those of all bodies (force->held), a system in
 * which a mass is too small for the third law is summed by that process alone. */
void direct_accelerations(struct force *force, const struct bodies *bodies,
                          const struct force_item *item)
{
    struct direct *const direct = (struct direct *)force;
    const bool holds = !force->held || force->options.share.part == force->holder;
    if (item->batch) {
        batch_accelerations(&direct->scratch[omp_get_thread_num()].batch, &force->physics);
        return;
    }
    struct system_sum sum = find_team(direct, bodies, item);
    struct wave wave;
    for (size_t s = item->first; s < item->last; s++) {
        team_wait(&sum.team); /* now all bodies have been moved, and no thread uses the scratch */
        if (direct->kernel == FORCE_REFERENCE) {
            if (sum.team.rank == 0)
                reference_accelerations_of(&force->physics, bodies, s, 0, bodies->count);
            continue;
        }
        pack(&sum, direct->precision, s);
        if (direct->kernel != FORCE_SYMMETRIC || !sum.packing.massive) {
            if (holds)
                sum_over_all(&sum, force->held ? sum.all : sum.mine);
            continue;
        }
        const bool in_place = !sum.scratch->rounds;
        clear_totals(&sum, sum.all);
        for (size_t number = 0; tiles_find_wave(direct, number, &wave); number++) {
            if (number > 0 || in_place)
                team_wait(&sum.team);
            tiles_sum_wave(&sum, &wave);
            if (in_place)
                continue;
            team_wait(&sum.team);
            tiles_add_wave(&sum, &wave);
        }
        if (force->held || in_place)
            team_wait(&sum.team);
        if (holds)
            write_accelerations(&sum, sum.all, true);
    }
    team_wait(&sum.team);
}

static void write_potentials(const struct system_sum *sum, double *phi, double *psi)
{
    const double unit =
        -sum->direct->base.physics.gravitational_constant * packing_potential_unit(&sum->packing);
    for (size_t i = sum->mine.first; i < sum->mine.last; i++) {
        const bool padding = i >= sum->bodies->count;
        phi[i] = padding ? 0 : unit * phi[i];
        psi[i] = padding ? 0 : unit * psi[i];
    }
}

void direct_potentials(struct force *force, const struct bodies *bodies,
                       const struct force_item *item, double *phi, double *psi)
{
    struct direct *const direct = (struct direct *)force;
    struct system_sum sum = find_team(direct, bodies, item);
    for (size_t s = item->first; s < item->last; s++) {
        team_wait(&sum.team);
        if (direct->kernel == FORCE_REFERENCE) {
            if (sum.team.rank == 0)
                reference_potentials_of(&force->physics, bodies, s, 0, bodies->count, phi, psi);
            continue;
        }
        pack(&sum, PRECISION_DOUBLE, s);
        double *const own[] = { phi + sum.packing.first, psi + sum.packing.first };
        kernel_potential *const add = direct->kernel == FORCE_PORTABLE
                                          ? direct->kernels->portable_potential[sum.form]
                                          : direct->kernels->potential[sum.form];
        struct range part = next_part(&sum, sum.mine, sum.mine.first);
        for (; part.first < part.last; part = next_part(&sum, sum.mine, part.last))
            add(&sum.packing.packed, part, own[0], own[1]);
        write_potentials(&sum, own[0], own[1]);
    }
    team_wait(&sum.team);
}
