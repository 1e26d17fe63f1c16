#include "force/direct/laps.h"

#include "base/share.h"
#include "force/direct/tiles.h"
#include "force/direct/tournament.h"

/* Bodies whose sums go from process to process together: while some are on their way, others are
 * added. Measured, like the sizes in force.c. */
enum { SLICE = 4096 };

/* What is this process's part in one of them? */
struct lap {
    struct wave wave;
    size_t index;         /* in the row of the processes */
    size_t before, after; /* the processes beside it */
};

/* The units of a lap's rounds are divided evenly: neighbours share a round. What one of them has
 * not done is 0, and changes nothing. */
static struct lap find_lap(const struct force *force, size_t number)
{
    const struct force_share *const share = &force->share;
    const size_t tiles = force->tiles;
    const size_t first = share_start(tiles, force->laps, number);
    const size_t end = share_start(tiles, force->laps, number + 1);
    const size_t up = share->part + 1, down = share->part - 1; /* the latter may be none */
    const bool upwards = number % 2 == 0;
    const size_t index = upwards ? share->part : share->parts - 1 - share->part;
    struct tournament own = tournament_start(tiles, first, end - first);
    tournament_share(&own, index, share->parts);
    const size_t start = (own.round - first) * tiles;
    return (struct lap){
        .wave = { .first = own.round,
                  .rounds = (own.last + tiles - 1) / tiles - (own.round - first),
                  .first_unit = own.first - start,
                  .last_unit = own.last - start },
        .index = index,
        .before = upwards ? down : up,
        .after = upwards ? up : down,
    };
}

static void pass_slice(const struct task *task, const struct lap *lap, struct range slice)
{
    const struct force_share *const share = &task->force->share;
    const struct force_relay *const relay = share->relay;
    double *const sums[3] = { task->total[0] + slice.first, task->total[1] + slice.first,
                              task->total[2] + slice.first };
    const size_t count = slice.last - slice.first;
    if (lap->index > 0) {
        if (task->team.rank == 0)
            relay->receive(relay->context, lap->before, sums, count);
        team_wait(&task->team);
    }
    task->kernels->reduce(team_share(&task->team, slice), task->scratch->rounds, lap->wave.rounds,
                          task->total);
    if (lap->index + 1 < share->parts) {
        team_wait(&task->team);
        if (task->team.rank == 0)
            relay->send(relay->context, lap->after, sums, count);
    }
}

void laps_sum(const struct task *task)
{
    const size_t length = task->packing.packed.length;
    for (size_t number = 0; number < task->force->laps; number++) {
        const struct lap lap = find_lap(task->force, number);
        if (number > 0)
            team_wait(&task->team);
        tiles_sum_wave(task, &lap.wave);
        team_wait(&task->team);
        for (size_t i = 0; i < length; i += SLICE)
            pass_slice(task, &lap, (struct range){ i, i + SLICE < length ? i + SLICE : length });
    }
    team_wait(&task->team);
}
