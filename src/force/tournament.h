/*
 * Every tile meets every other one, and itself, once: in round r tile i meets the tile j for which
 * i + j = r modulo the number of tiles. So no tile has two partners in one round, and sums that a
 * round keeps for itself have one writer, whoever it is; added up round by round, their bits
 * depend on the schedule alone.
 */
#ifndef ORRERY_FORCE_TOURNAMENT_H
#define ORRERY_FORCE_TOURNAMENT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A walk through meetings; round, i <= j is the one at hand. */
struct tournament {
    size_t tiles;
    size_t round, i, j;
    /* Work is counted in units, `tiles` of them a round: a meeting of two tiles takes two, that of
     * a tile with itself one. */
    size_t first, last; /* units of the walk, counted from the first round */
    size_t unit, next;  /* where the walk stands: units, and the tile to look at */
};

/* All rounds together are as many as there are tiles. */
struct tournament tournament_start(size_t tiles, size_t first_round, size_t rounds);

/*
 * Keeps what falls to one of the players: all get equal numbers of units, but for one; those from
 * number `players` on get none. May be done again, to deal one's part among several.
 */
void tournament_deal(struct tournament *tournament, size_t player, size_t players);

/* Keeps units [first, last) of the walk, counted from its first round; before it is dealt. */
void tournament_cut(struct tournament *tournament, size_t first, size_t last);

/* Goes to the first, the next meeting; false when there is none. */
bool tournament_next(struct tournament *tournament);

#ifdef __cplusplus
}
#endif

#endif
