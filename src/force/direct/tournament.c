#include "force/direct/tournament.h"

#include "base/barrier.h"

struct tournament tournament_start(size_t tiles, size_t first_round, size_t rounds)
{
    return (struct tournament){ .tiles = tiles, .round = first_round, .last = rounds * tiles };
}

void tournament_cut(struct tournament *t, size_t first, size_t last)
{
    t->round += first / t->tiles - t->first / t->tiles;
    t->first = first;
    t->last = last;
    t->unit = first / t->tiles * t->tiles;
}

void tournament_share(struct tournament *t, size_t worker, size_t workers)
{
    const size_t first = t->first, units = worker < workers ? t->last - first : 0;
    tournament_cut(t, first + share_start(units, workers, worker),
                   first + share_start(units, workers, worker + 1));
}

bool tournament_next(struct tournament *t)
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
