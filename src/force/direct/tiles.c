#include "config.h"

#include "force/direct/tiles.h"

#include <string.h>

#include "force/direct/tournament.h"

static struct range tile_range(const struct task *task, size_t tile)
{
    const size_t first = tile * task->force->tile, last = first + task->force->tile;
    const size_t length = task->packing.packed.length;
    return (struct range){ first, last < length ? last : length };
}

static void clear_sums(const struct task *task, const struct sums *sums, struct range range)
{
    const size_t size = task->force->precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float);
    const size_t start = range.first * size, bytes = (range.last - range.first) * size;
    memset((char *)sums->x + start, 0, bytes);
    memset((char *)sums->y + start, 0, bytes);
    memset((char *)sums->z + start, 0, bytes);
}

/* Kernels for equal masses know nothing of padding: where there is some, masses count. */
static void update_pair(const struct task *task, struct range i, struct range j,
                        const struct sums *sums)
{
    const size_t full = task->packing.packed.count / BODIES_PADDING * BODIES_PADDING;
    int masses = task->masses;
    if (masses == MASSES_EQUAL && (i.last > full || j.last > full)) {
        const struct range i_full = { i.first, i.first < full && i.last > full ? full : i.last };
        const struct range j_full = { j.first, j.first < full && j.last > full ? full : j.last };
        if (i_full.last < i.last) {
            update_pair(task, i_full, j, sums);
            update_pair(task, (struct range){ full, i.last }, j, sums);
            return;
        }
        if (j_full.last < j.last) {
            update_pair(task, i, j_full, sums);
            update_pair(task, i, (struct range){ full, j.last }, sums);
            return;
        }
        masses = MASSES_ANY;
    }
    task->kernels->tile_pair[task->form][masses](&task->packing.packed, i, j, sums);
}

static void update_self(const struct task *task, struct range i, const struct sums *sums)
{
    const bool padded = i.last > task->packing.packed.count;
    const int masses = padded ? MASSES_ANY : task->masses;
    task->kernels->tile_self[task->form][masses](&task->packing.packed, i, sums);
}

/* All terms of a round that the bodies of two tiles have, or of one with itself. */
static void sum_pair(const struct task *task, struct range i, struct range j,
                     const struct sums *sums)
{
    clear_sums(task, sums, i);
    clear_sums(task, sums, j);
    if (i.first == j.first)
        update_self(task, i, sums);
    else
        update_pair(task, i, j, sums);
}

/* One axis of two tiles' totals, while the sums of a round are made in their arrays. */
struct saved {
    double i[TILE_MOST], j[TILE_MOST];
};

static void save(double *saved, const double *total, struct range range)
{
    memcpy(saved, total + range.first, (range.last - range.first) * sizeof *saved);
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

/* sum_pair() in the arrays of the totals, with the bits of a sum made elsewhere and added to them.
 */
static void sum_pair_in_place(const struct task *task, struct range i, struct range j)
{
    const struct sums sums = { task->total[0], task->total[1], task->total[2] };
    struct saved saved[3];
    for (int axis = 0; axis < 3; axis++) {
        save(saved[axis].i, task->total[axis], i);
        save(saved[axis].j, task->total[axis], j);
    }
    sum_pair(task, i, j, &sums);
    for (int axis = 0; axis < 3; axis++) {
        add_to_saved(saved[axis].i, task->total[axis], i);
        if (i.first != j.first)
            add_to_saved(saved[axis].j, task->total[axis], j);
    }
}

/* The thread that takes a tile clears its sums; where other processes take some of them, all have
 * to be cleared. */
static void clear_wave(const struct task *task, const struct wave *wave)
{
    if (wave->last_unit - wave->first_unit == wave->rounds * task->force->tiles)
        return;
    for (size_t round = 0; round < wave->rounds; round++)
        clear_sums(task, &task->scratch->rounds[round], task->all);
    team_wait(&task->team);
}

void tiles_sum_wave(const struct task *task, const struct wave *wave)
{
    struct tournament pairs = tournament_start(task->force->tiles, wave->first, wave->rounds);
    clear_wave(task, wave);
    tournament_cut(&pairs, wave->first_unit, wave->last_unit);
    tournament_share(&pairs, task->team.rank, task->team.size);
    while (tournament_next(&pairs)) {
        const struct range i = tile_range(task, pairs.i), j = tile_range(task, pairs.j);
        if (task->scratch->rounds)
            sum_pair(task, i, j, &task->scratch->rounds[pairs.round - wave->first]);
        else
            sum_pair_in_place(task, i, j);
    }
}

void tiles_sum(const struct task *task)
{
    const size_t tiles = task->force->tiles, most = task->force->wave;
    for (size_t first = 0; first < tiles; first += most) {
        const size_t rounds = tiles - first < most ? tiles - first : most;
        if (first > 0 || !task->scratch->rounds)
            team_wait(&task->team);
        tiles_sum_wave(task, &(struct wave){ first, rounds, 0, rounds * tiles });
        if (!task->scratch->rounds)
            continue;
        team_wait(&task->team);
        task->kernels->reduce(task->all, task->scratch->rounds, rounds, task->total);
    }
    if (!task->scratch->rounds)
        team_wait(&task->team);
}
