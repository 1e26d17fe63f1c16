#include "observation/schedule.h"

#include <stdlib.h>

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

uint64_t trigger_next(const struct trigger *triggers, size_t count, uint64_t step, uint64_t last)
{
    uint64_t next = last;
    for (size_t i = 0; i < count; i++) {
        const uint64_t wait = triggers[i].every - step % triggers[i].every;
        if (wait < next - step)
            next = step + wait;
    }
    return next;
}

enum status schedule_create(size_t diagnostics, size_t outputs, uint64_t steps,
                            struct schedule *schedule, struct error *error)
{
    const size_t count = SCHEDULE_OBSERVERS + diagnostics + outputs;
    *schedule = (struct schedule){ .last = steps,
                                   .planned = steps,
                                   .triggers = calloc(count, sizeof *schedule->triggers),
                                   .count = count,
                                   .diagnostics = diagnostics };
    if (!schedule->triggers)
        return error_memory(error);
    for (size_t i = 0; i < count; i++)
        schedule->triggers[i].every = UINT64_MAX;
    return STATUS_OK;
}

void schedule_destroy(struct schedule *schedule)
{
    free(schedule->triggers);
    schedule->triggers = NULL;
}

struct trigger *schedule_diagnostic(const struct schedule *schedule, size_t index)
{
    return &schedule->triggers[SCHEDULE_OBSERVERS + index];
}

struct trigger *schedule_output(const struct schedule *schedule, size_t index)
{
    return schedule_diagnostic(schedule, schedule->diagnostics + index);
}

double schedule_events(const struct schedule *schedule, const struct trigger *trigger)
{
    return 1.0 + (double)trigger_events(*trigger, 0, schedule->last);
}

uint64_t schedule_next(const struct schedule *schedule)
{
    return trigger_next(schedule->triggers, schedule->count, schedule->step, schedule->last);
}

static bool is_cut(const struct schedule *schedule)
{
    return schedule->last != schedule->planned;
}

bool schedule_fires(const struct schedule *schedule, const struct trigger *trigger)
{
    return trigger_fires(*trigger, schedule->step, schedule->last) &&
           !(is_cut(schedule) && trigger_fires(*trigger, schedule->step, schedule->planned));
}

bool schedule_off_cadence(const struct schedule *schedule)
{
    bool off = false;
    for (size_t i = 0; i < schedule->count; i++)
        off |= i != SCHEDULE_CHECKPOINT && schedule->step % schedule->triggers[i].every != 0;
    return off && schedule->step == schedule->planned;
}

void schedule_advance(struct schedule *schedule, uint64_t steps)
{
    schedule->step += steps;
    schedule->events_done = false;
}

void schedule_cut(struct schedule *schedule)
{
    schedule->last = schedule->step;
}
