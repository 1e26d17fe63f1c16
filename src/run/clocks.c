#include "run/clocks.h"

void clocks_start(struct clocks *clocks)
{
    *clocks = (struct clocks){ .started = clock_seconds(), .cpu_started = clock_cpu_seconds() };
    clock_stamp(clocks->stamp);
}

void clocks_stop(struct clocks *clocks)
{
    clocks->ended = clock_seconds();
    clocks->cpu_ended = clock_cpu_seconds();
}

double clocks_wall(const struct clocks *clocks)
{
    return (clocks->ended > 0.0 ? clocks->ended : clock_seconds()) - clocks->started;
}

double clocks_cpu(const struct clocks *clocks)
{
    return (clocks->cpu_ended > 0.0 ? clocks->cpu_ended : clock_cpu_seconds()) -
           clocks->cpu_started;
}
