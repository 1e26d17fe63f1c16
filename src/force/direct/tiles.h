/*
 * Sums by Newton's third law, tile by tile. A body's terms of a round of the tournament are summed
 * by themselves, and then the rounds, one after another. Which thread takes a pair of tiles, and
 * how many rounds make a wave, changes no bit.
 */
#ifndef ORRERY_FORCE_DIRECT_TILES_H
#define ORRERY_FORCE_DIRECT_TILES_H

#include "force/direct/task.h"

/* Some rounds, one after another, and what is done of them; in units (see tournament.h). */
struct wave {
    size_t first, rounds;
    size_t first_unit, last_unit;
};

/* The sums of the rounds of a wave, in task->scratch->rounds; or, where there are none, added to
 * the totals at once. */
void tiles_sum_wave(const struct task *task, const struct wave *wave);

/* Adds all forces to the totals of the system. */
void tiles_sum(const struct task *task);

#endif
