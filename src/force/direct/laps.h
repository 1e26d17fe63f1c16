/*
 * Sums by Newton's third law over one system, by several processes. Each does some rounds that
 * follow one another, and keeps their sums apart. Then the totals go from process to process, and
 * each adds its rounds to them, so that they are added in the order of one process alone. Where
 * this takes too many rounds to keep, there are several laps: up, from the first process to the
 * last, down, up again. The last one of a lap is the first one of the next and has the totals at
 * hand.
 */
#ifndef ORRERY_FORCE_DIRECT_LAPS_H
#define ORRERY_FORCE_DIRECT_LAPS_H

#include "force/direct/task.h"

/* Adds all forces to the totals of the process that force_has_holder() names; what the others have
 * in theirs is a part of the sums. */
void laps_sum(const struct task *task);

#endif
