/* The steps at which there are events: triggers, and the next step at which any of them fires. */
#ifndef ORRERY_OBSERVATION_SCHEDULE_H
#define ORRERY_OBSERVATION_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* A trigger fires at step 0, at every multiple of `every`, and at the last step of the run. */
struct trigger {
    uint64_t every; /* steps, at least 1 */
};

bool trigger_fires(struct trigger trigger, uint64_t step, uint64_t last);

/* Counts the events of a trigger in the steps after `step`, up to `last`. */
uint64_t trigger_events(struct trigger trigger, uint64_t step, uint64_t last);

/* Returns the first step after `step` at which one of the triggers fires; at most `last`. */
uint64_t trigger_next(const struct trigger *triggers, size_t count, uint64_t step, uint64_t last);

/* The indices of a run's triggers; behind these are those of its diagnostics and of its outputs. */
enum {
    SCHEDULE_CHECKPOINT,
    SCHEDULE_WATCH,  /* the watch checks the bodies */
    SCHEDULE_ENERGY, /* the watch judges the energy, at steps that become rarer */
    SCHEDULE_OBSERVERS
};

/* The position of a run between its first and its last step, and its events. */
struct schedule {
    uint64_t step;       /* the step reached */
    uint64_t first_step; /* the step where this process began */
    uint64_t last;       /* the step where the run ends */
    uint64_t planned;    /* the step where the config ends the run: later than `last` if stop_when
                            has ended it */
    bool events_done;    /* the events of `step` have happened */
    struct trigger *triggers;
    size_t count, diagnostics; /* number of triggers, and of those of diagnostics */
};

/* Creates a schedule at step 0 of `steps`. Triggers fire only at both ends until their `every` is
 * set. STATUS_MEMORY. */
enum status schedule_create(size_t diagnostics, size_t outputs, uint64_t steps,
                            struct schedule *schedule, struct error *error);
void schedule_destroy(struct schedule *schedule);

/* Return the trigger of a diagnostic, and that of an output. */
struct trigger *schedule_diagnostic(const struct schedule *schedule, size_t index);
struct trigger *schedule_output(const struct schedule *schedule, size_t index);

/* Returns how often the trigger fires in the whole run. */
double schedule_events(const struct schedule *schedule, const struct trigger *trigger);

/* Returns the first step after the present one at which any trigger fires. */
uint64_t schedule_next(const struct schedule *schedule);
/* Tells whether the trigger fires at the step that was reached, and has not fired there before the
 * run was cut short. */
bool schedule_fires(const struct schedule *schedule, const struct trigger *trigger);
/* Tells whether a trigger fires at this step only because it is the last one that was planned. */
bool schedule_off_cadence(const struct schedule *schedule);

/* Advances the schedule by `steps` steps. */
void schedule_advance(struct schedule *schedule, uint64_t steps);
/* Makes this step the last one. */
void schedule_cut(struct schedule *schedule);

#endif
