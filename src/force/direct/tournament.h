/*
 * A round-robin tournament of tiles: every tile is paired with every other one, and with itself,
 * once. In round r tile i is paired with the tile j for which i + j = r modulo the number of tiles.
 * So no tile has two partners in one round, and the sums of a round for a tile are written by one
 * thread, whichever it is; added up round by round, their bits depend on the order of rounds alone.
 */
#ifndef ORRERY_FORCE_DIRECT_TOURNAMENT_H
#define ORRERY_FORCE_DIRECT_TOURNAMENT_H

#include <stdbool.h>
#include <stddef.h>

struct tournament {
    size_t tiles;
    size_t round, i, j; /* the present pair of tiles, i <= j, and its round */
    /* A pair of two tiles takes two units, that of a tile with itself one, so a round has `tiles`
     * units. */
    size_t first, last; /* units to go through, counted from the first round */
    size_t unit, next;  /* the next unit, and the next tile */
};

/* Returns a tournament that goes through all units of `rounds` rounds, beginning with round
 * `first_round`. There are as many rounds as tiles. */
struct tournament tournament_start(size_t tiles, size_t first_round, size_t rounds);

/* Restricts a tournament to its units [first, last), counted from its first round. */
void tournament_cut(struct tournament *t, size_t first, size_t last);

/* Restricts a tournament to the share of one worker (a thread or a process) of `workers`. Shares
 * differ by one unit at most; workers from number `workers` on get none. A share can be divided
 * again. */
void tournament_share(struct tournament *t, size_t worker, size_t workers);

/* Goes to the next pair of tiles, in the beginning to the first; returns false if there is none. */
bool tournament_next(struct tournament *t);

#endif
