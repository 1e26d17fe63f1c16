/* When things happen: triggers, and the next step at which any of them fires. */
#ifndef ORRERY_RUN_SCHEDULE_H
#define ORRERY_RUN_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fires at step 0, at every multiple of `every`, and at the last step of the run. */
struct trigger {
    uint64_t every; /* steps, at least 1 */
};

bool trigger_fires(struct trigger trigger, uint64_t step, uint64_t last);

/* How often it fires in the steps after `step`, up to `last`. */
uint64_t trigger_events(struct trigger trigger, uint64_t step, uint64_t last);

/* The first step after `step` at which one of the triggers fires; `last` where none does before. */
uint64_t schedule_next(const struct trigger *triggers, size_t count, uint64_t step, uint64_t last);

#ifdef __cplusplus
}
#endif

#endif
