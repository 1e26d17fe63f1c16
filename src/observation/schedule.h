/* When things happen: triggers, and the next step at which any of them fires. */
#ifndef ORRERY_OBSERVATION_SCHEDULE_H
#define ORRERY_OBSERVATION_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Fires at step 0, at every multiple of `every`, and at the last step of the run. */
struct trigger {
    uint64_t every; /* steps, at least 1 */
};

bool trigger_fires(struct trigger trigger, uint64_t step, uint64_t last);

/* Counts the events of a trigger in the steps after `step`, up to `last`. */
uint64_t trigger_events(struct trigger trigger, uint64_t step, uint64_t last);

/* The first step after `step` at which one of the triggers fires; `last` where none does before. */
uint64_t trigger_next(const struct trigger *triggers, size_t count, uint64_t step, uint64_t last);

/* The triggers of a run: these, and behind them those of its diagnostics and of its outputs. */
enum {
    SCHEDULE_CHECKPOINT,
    SCHEDULE_WATCH,  /* looks at the bodies */
    SCHEDULE_ENERGY, /* is judged by the watch; at steps that become rarer */
    SCHEDULE_OBSERVERS
};

/* The position of a run between its first and its last step, and its events. */
struct schedule {
    uint64_t step;       /* reached */
    uint64_t first_step; /* where this process began */
    uint64_t last;       /* where the run ends */
    uint64_t planned;    /* where the config has it end: later, where stop_when has ended it */
    bool events_done;    /* those of `step` have happened */
    struct trigger *triggers;
    size_t count, diagnostics; /* triggers; how many of them are of diagnostics */
};

/* At step 0 of `steps`; triggers fire at the ends alone until their `every` is set. STATUS_MEMORY.
 */
enum status schedule_create(size_t diagnostics, size_t outputs, uint64_t steps,
                            struct schedule *schedule, struct error *error);
void schedule_destroy(struct schedule *schedule);

/* The triggers of a diagnostic and of an output. */
struct trigger *schedule_diagnostic(const struct schedule *schedule, size_t index);
struct trigger *schedule_output(const struct schedule *schedule, size_t index);

/* Returns how often the trigger fires in the whole run, as a real number. */
double schedule_events(const struct schedule *schedule, const struct trigger *trigger);

/* The first step after the present one at which anything happens. */
uint64_t schedule_next(const struct schedule *schedule);
/* Tells whether it fires at the step that was reached, and not before the run was cut short
 * there. */
bool schedule_fires(const struct schedule *schedule, const struct trigger *trigger);
/* Tells whether anything happens at this step only because it is the last one that was planned. */
bool schedule_off_cadence(const struct schedule *schedule);

/* Advances the schedule by `steps` steps. */
void schedule_advance(struct schedule *schedule, uint64_t steps);
/* Makes this step the last one. */
void schedule_cut(struct schedule *schedule);

#endif
