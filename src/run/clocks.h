/* The clocks of one leg of a run: how long this process has been at it. */
#ifndef ORRERY_RUN_CLOCKS_H
#define ORRERY_RUN_CLOCKS_H

#include "base/clock.h"

/* In seconds; moments are those of clock_seconds() and clock_cpu_seconds(). */
struct clocks {
    double started, cpu_started;
    double ended, cpu_ended;      /* when all was done but to say so; 0 before */
    double advance_seconds;       /* spent in the backend's advance */
    char stamp[CLOCK_STAMP_SIZE]; /* of the start */
};

void clocks_start(struct clocks *clocks);
void clocks_stop(struct clocks *clocks);

/* Seconds until the end, or until now. */
double clocks_wall(const struct clocks *clocks);
double clocks_cpu(const struct clocks *clocks); /* of all threads of the process */

#endif
