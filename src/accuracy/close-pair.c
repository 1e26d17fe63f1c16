#include "accuracy/close-pair.h"

#include <math.h>
#include <stdio.h>

#include "space/nearest.h"

const struct close_pair close_pair_none = { { NAN, NAN }, NAN, INFINITY, NAN };

enum status close_pair_find(const struct moment *now, size_t system, struct close_pair *pair,
                            struct error *error)
{
    struct nearest_pair nearest;
    if (nearest_pair(now->physics, now->bodies, system, NEAREST_IN_TIME, &nearest, error))
        return error->status;
    const int64_t *id = now->bodies->id + system * now->bodies->stride;
    *pair = close_pair_none;
    if (nearest.found)
        *pair = (struct close_pair){ { (double)id[nearest.i], (double)id[nearest.j] },
                                     nearest.distance,
                                     nearest.time_scale / now->dt,
                                     now->time };
    return STATUS_OK;
}

const char *close_pair_text(const struct units *units, const struct close_pair *pair,
                            double advised, char buffer[CLOSE_PAIR_TEXT_SIZE])
{
    char distance[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE], period[80] = "", advice[32] = "";
    const double steps = 2.0 * M_PI * pair->steps;
    if (steps < advised)
        snprintf(advice, sizeof advice, " (%g are advised)", advised);
    if (advised > 0.0) /* those of the grid say nothing of them */
        snprintf(period, sizeof period, ", where a circular orbit would take %.3g steps%s", steps,
                 advice);
    snprintf(buffer, CLOSE_PAIR_TEXT_SIZE, "bodies %.0f and %.0f, %s apart at t = %s%s",
             pair->ids[0], pair->ids[1], units_length(units, pair->distance, 3, distance),
             units_time(units, pair->time, 6, time), period);
    return buffer;
}
