/* The pair of a system that moves fastest, as the watch names it. */
#ifndef ORRERY_ACCURACY_CLOSE_PAIR_H
#define ORRERY_ACCURACY_CLOSE_PAIR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "model/units.h"

/* All numbers, so that it can be part of a state; undefined where there was no pair. */
struct close_pair {
    double ids[2];
    double distance;
    double steps; /* of the period of a circular orbit of its size, over 2 pi; infinite: no pair */
    double time;
};

extern const struct close_pair close_pair_none;

/* The one with the shortest orbital period at this moment. STATUS_MEMORY. */
enum status close_pair_find(const struct moment *now, size_t system, struct close_pair *pair,
                            struct error *error);

/* "bodies 3 and 7, 0.01 apart at t = 2, where a circular orbit would take 12 steps (200 are
 * advised)"; the advice where there are fewer, and no steps where `advised` is 0: the integrator
 * has its own. */
enum { CLOSE_PAIR_TEXT_SIZE = 320 };
const char *close_pair_text(const struct units *units, const struct close_pair *pair,
                            double advised, char buffer[CLOSE_PAIR_TEXT_SIZE]);

#endif
