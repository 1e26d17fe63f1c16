/*
 * A round-robin tournament of tiles: every tile is paired with every other one, and with itself,
 * once. In round r tile i goes with the tile j for which i + j = r modulo the number of tiles. So
 * no tile has two partners in one round, and sums that a round keeps for itself have one writer,
 * whoever it is; added up round by round, their bits depend on the schedule alone.
 */
#ifndef ORRERY_FORCE_DIRECT_TOURNAMENT_H
#define ORRERY_FORCE_DIRECT_TOURNAMENT_H

#include <stdbool.h>
#include <stddef.h>

/* A walk through pairs of tiles; round, i <= j is the one at hand. */
struct tournament {
    size_t tiles;
    size_t round, i, j;
    /* Work is counted in units, `tiles` of them a round: a pair of two tiles takes two, that of a
     * tile with itself one. */
    size_t first, last; /* units of the walk, counted from the first round */
    size_t unit, next;  /* where the walk stands: units, and the tile to look at */
};

/* All rounds together are as many as there are tiles. */
struct tournament tournament_start(size_t tiles, size_t first_round, size_t rounds);

/*
 * Keeps what falls to one of the workers: all get equal numbers of units, but for one; those from
 * number `workers` on get none. May be done again, to divide one's part among several.
 */
void tournament_share(struct tournament *tournament, size_t worker, size_t workers);

/* Keeps units [first, last) of the walk, counted from its first round; before it is divided. */
void tournament_cut(struct tournament *tournament, size_t first, size_t last);

/* Goes to the first, the next pair; false when there is none. */
bool tournament_next(struct tournament *tournament);

#endif
