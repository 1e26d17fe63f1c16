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

/* Counts the steps at which a trigger fires after `step`, up to and including `last`. */
uint64_t trigger_events(struct trigger trigger, uint64_t step, uint64_t last);

/* Returns the first step after `step` at which one of the triggers fires; at most `last`. */
uint64_t trigger_next(const struct trigger *triggers, size_t count, uint64_t step, uint64_t last);

/* The first triggers of a schedule; behind them are those of diagnostics, then of outputs. */
enum {
    SCHEDULE_CHECKPOINT,
    SCHEDULE_WATCH,  /* the accuracy watch checks the bodies */
    SCHEDULE_ENERGY, /* the accuracy watch judges the energy, at intervals that grow */
    SCHEDULE_OBSERVERS
};

/* The step that a run has reached, and the triggers of its events. */
struct schedule {
    uint64_t step;
    /* The step at which this process took over the run: 0, or that of the checkpoint. */
    uint64_t first_step;
    uint64_t last;    /* the step where the run ends */
    uint64_t planned; /* where the config ends the run: after `last` if stop_when has ended it */
    bool events_done; /* the events of the present step have taken place */
    struct trigger *triggers;
    size_t count, diagnostics; /* numbers of all triggers, and of those of diagnostics */
};

/* Creates a schedule that is at step 0 and ends at step `steps`. Until the caller sets its `every`,
 * a trigger fires only at these two. STATUS_MEMORY. */
enum status schedule_create(size_t diagnostics, size_t outputs, uint64_t steps,
                            struct schedule *schedule, struct error *error);
void schedule_destroy(struct schedule *schedule);

/* Return the trigger of the diagnostic, or of the output, with this index in the run. */
struct trigger *schedule_diagnostic(const struct schedule *schedule, size_t index);
struct trigger *schedule_output(const struct schedule *schedule, size_t index);

/* Returns how often the trigger fires in the whole run, from step 0 to the last step. */
double schedule_events(const struct schedule *schedule, const struct trigger *trigger);

/* Returns the first step after the present one at which any trigger fires. */
uint64_t schedule_next(const struct schedule *schedule);
/* Tells whether the trigger fires at the present step. After schedule_cut() at this step a trigger
 * fires only if it would not have done so without the cut. */
bool schedule_fires(const struct schedule *schedule, const struct trigger *trigger);
/* Tells whether the present step is the planned last one and a trigger other than the checkpoint's
 * fires only for this reason, not because the step is a multiple of its `every`. */
bool schedule_off_cadence(const struct schedule *schedule);

void schedule_advance(struct schedule *schedule, uint64_t steps);
/* Makes the present step the last one: the run ends here. */
void schedule_cut(struct schedule *schedule);

#endif
