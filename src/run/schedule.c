#include "run/schedule.h"

bool trigger_fires(struct trigger trigger, uint64_t step, uint64_t last)
{
    return step % trigger.every == 0 || step == last;
}

uint64_t trigger_events(struct trigger trigger, uint64_t step, uint64_t last)
{
    if (step >= last)
        return 0;
    return last / trigger.every - step / trigger.every + (last % trigger.every != 0);
}

uint64_t schedule_next(const struct trigger *triggers, size_t count, uint64_t step, uint64_t last)
{
    uint64_t next = last;
    for (size_t i = 0; i < count; i++) {
        const uint64_t wait = triggers[i].every - step % triggers[i].every;
        if (wait < next - step)
            next = step + wait;
    }
    return next;
}
