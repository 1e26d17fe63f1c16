#include "config.h"

#include "force/direct/tiles.h"

#include <string.h>

#include "base/barrier.h"

/* --- the tournament --------------------------------------------------------------------------- */

/*
 * A round-robin tournament of tiles: every tile is paired with every other one, and with itself,
 * once. In round r tile i goes with the tile j for which i + j = r modulo the number of tiles. So
 * no tile has two partners in one round, and sums that a round keeps for itself have one writer,
 * whoever it is; added up round by round, their bits depend on the schedule alone.
 */
struct tournament {
    size_t tiles;
    size_t round, i, j; /* the pair at hand, i <= j */
    /* A pair of two tiles takes two units, that of a tile with itself one: `tiles` a round. */
    size_t first, last; /* units of the walk, counted from the first round */
    size_t unit, next;  /* where the walk stands: units, and the tile to look at */
};

/* Starts with all units of some rounds; all rounds together are as many as there are tiles. */
static struct tournament start_tournament(size_t tiles, size_t first_round, size_t rounds)
{
    return (struct tournament){ .tiles = tiles, .round = first_round, .last = rounds * tiles };
}

/* Keeps units [first, last) of the walk, counted from its first round. */
static void cut_tournament(struct tournament *t, size_t first, size_t last)
{
    t->round += first / t->tiles - t->first / t->tiles;
    t->first = first;
    t->last = last;
    t->unit = first / t->tiles * t->tiles;
}

/* Keeps what falls to one of the workers: all get equal numbers of units, but for one; those from
 * number `workers` on get none. May be done again, to divide one's part among several. */
static void share_tournament(struct tournament *t, size_t worker, size_t workers)
{
    const size_t first = t->first, units = worker < workers ? t->last - first : 0;
    cut_tournament(t, first + share_start(units, workers, worker),
                   first + share_start(units, workers, worker + 1));
}

/* Goes to the first, the next pair; false when there is none. */
static bool next_pair(struct tournament *t)
{
    while (t->unit < t->last) {
        if (t->next == t->tiles) {
            t->next = 0;
            t->round++;
        }
        t->i = t->next++;
        t->j = t->round >= t->i ? t->round - t->i : t->round + t->tiles - t->i;
        if (t->j < t->i)
            continue;
        const size_t unit = t->unit;
        t->unit += t->i == t->j ? 1 : 2;
        if (unit >= t->first)
            return true;
    }
    return false;
}

/* --- waves ------------------------------------------------------------------------------------ */

/* The units of a wave's rounds are divided evenly among the processes: neighbours share a round.
 * What one of them has not done is 0, and changes nothing. */
static void divide_wave(const struct direct *direct, size_t number, struct wave *wave)
{
    const struct force_share *const share = &direct->base.options.share;
    const size_t tiles = direct->tiles;
    const size_t first = share_start(tiles, direct->laps, number);
    const size_t end = share_start(tiles, direct->laps, number + 1);
    const size_t up = share->part + 1, down = share->part - 1; /* the latter may be none */
    const bool upwards = number % 2 == 0;
    const size_t index = upwards ? share->part : share->parts - 1 - share->part;
    struct tournament own = start_tournament(tiles, first, end - first);
    share_tournament(&own, index, share->parts);
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

bool tiles_find_wave(const struct direct *direct, size_t number, struct wave *wave)
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

/* The thread that takes a tile clears its sums; where other processes take some of them, all have
 * to be cleared. */
static void clear_wave(const struct system_sum *sum, const struct wave *wave)
{
    if (wave->last_unit - wave->first_unit == wave->rounds * sum->direct->tiles)
        return;
    for (size_t round = 0; round < wave->rounds; round++)
        clear_sums(sum, &sum->scratch->rounds[round], sum->all);
    team_wait(&sum->team);
}

/* A range in two parts, of which only the second, from body `at` on, has padding; or in one. */
static size_t cut_range(struct range range, size_t at, struct range parts[2])
{
    const bool both = range.first < at && at < range.last;
    parts[0] = (struct range){ range.first, both ? at : range.last };
    parts[1] = (struct range){ at, range.last };
    return both ? 2 : 1;
}

/* One axis of two tiles' totals, while the sums of a round are made in their arrays. */
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

/* The bits are those of a sum that was made elsewhere and added to the totals. */
static void add_saved(const struct system_sum *sum, struct range i, struct range j,
                      const struct saved *saved)
{
    for (int axis = 0; axis < 3; axis++) {
        add_to_saved(saved[axis].i, sum->total[axis], i);
        if (i.first != j.first)
            add_to_saved(saved[axis].j, sum->total[axis], j);
    }
}

/* Kernels for equal masses know nothing of padding: where there is some, masses count. */
void tiles_sum_wave(const struct system_sum *sum, const struct wave *wave)
{
    const struct packed *const packed = &sum->packing.packed;
    const struct force_kernels *const kernels = sum->kernels;
    const struct sums *const rounds = sum->scratch->rounds;
    const size_t full = packed->count / BODIES_PADDING * BODIES_PADDING;
    const size_t equal = sum->masses == MASSES_EQUAL ? full : 0; /* bodies of equal masses */
    struct tournament pairs = start_tournament(sum->direct->tiles, wave->first, wave->rounds);
    struct saved saved[3];
    clear_wave(sum, wave);
    cut_tournament(&pairs, wave->first_unit, wave->last_unit);
    share_tournament(&pairs, sum->team.rank, sum->team.size);
    while (next_pair(&pairs) && !interruption_raised(sum->direct->base.physics.interruption)) {
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

struct range team_share(const struct team *team, struct range range)
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

/* Adds this process's rounds to the totals of some bodies, which come from the process before and
 * go to the one after. */
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

void tiles_add_wave(const struct system_sum *sum, const struct wave *wave)
{
    /* Bodies whose sums go from process to process together: while some are on their way, others
     * are added. Measured, like the sizes in direct.c. */
    enum { SLICE = 4096 };
    const size_t length = sum->packing.packed.length;
    if (sum->direct->base.options.share.parts == 1) {
        sum->kernels->reduce(sum->all, sum->scratch->rounds, wave->rounds, sum->total);
        return;
    }
    for (size_t i = 0; i < length; i += SLICE)
        pass_slice(sum, wave, (struct range){ i, i + SLICE < length ? i + SLICE : length });
}
