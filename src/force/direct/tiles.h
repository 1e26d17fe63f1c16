/*
 * Sums by Newton's third law, tile by tile, in the rounds of a tournament. A body's terms of a
 * round are summed by themselves, and then the rounds, one after another. Which thread or process
 * takes a pair of tiles, and how many rounds make a wave, changes no bit.
 *
 * Several processes take each some rounds of a wave that follow one another, and keep their sums
 * apart. Then the totals go from process to process, and each adds its rounds to them, so that they
 * are added in the order of one process alone: up, from the first process to the last, down with
 * the next wave, up again. The last one of a wave is the first one of the next and has the totals
 * at hand.
 */
#ifndef ORRERY_FORCE_DIRECT_TILES_H
#define ORRERY_FORCE_DIRECT_TILES_H

#include "force/direct/direct.h"

/* Rounds that follow one another and whose sums are kept apart until they are added to the totals.
 * Work is counted in units, one for each tile of a round. */
struct wave {
    size_t first, rounds;
    size_t first_unit, last_unit; /* this process's units, from the beginning of round `first` */
    size_t index;                 /* of this process in the row that the totals go along */
    size_t before, after;         /* the processes beside it in that row */
};

/* The bodies of a range that this thread takes. Threads get whole blocks of bodies: two vectors of
 * 16. */
struct range team_share(const struct team *team, struct range range);

/* Finds wave number 0, 1, ... of this process; false past the last one. */
bool tiles_find_wave(const struct direct *direct, size_t number, struct wave *wave);

/* Makes the sums of a wave in sum->scratch->rounds; where there are none, adds them to the totals
 * at once. Every thread of the team calls it, and waits before and after. */
void tiles_sum_wave(const struct system_sum *sum, const struct wave *wave);

/* Adds the sums of a wave to the totals, which go from process to process. With several processes
 * the totals are those of force->holder after the last wave; the others' are a part of them.
 */
void tiles_add_wave(const struct system_sum *sum, const struct wave *wave);

#endif
