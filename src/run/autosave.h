/* When a run saves its checkpoints, and what the last one holds. */
#ifndef ORRERY_RUN_AUTOSAVE_H
#define ORRERY_RUN_AUTOSAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "config/configuration.h"
#include "observation/schedule.h"

struct kept;

struct autosave {
    bool wanted;    /* by the schedule, a signal or a control file */
    bool any;       /* one was saved: a restart is possible */
    double last;    /* clock_seconds() when the clock last had one saved */
    double longest; /* seconds that the slowest one took */
    /* The step of the last checkpoint, which holds the state before or after its events. */
    bool saved, saved_events;
    uint64_t saved_step;
    struct kept *before_last; /* see save_keep_early(); NULL where it is not needed */
};

/* Tells whether one is due, by the clock of the group `checkpoint` or because it is wanted. Then
 * it no longer is. */
bool autosave_due(struct autosave *autosave, const struct section *checkpoint, double now);

/* Tells whether the last one is of this very moment. */
bool autosave_is_current(const struct autosave *autosave, const struct schedule *schedule);
/* Notes that a checkpoint is written now, and took `seconds` seconds. */
void autosave_note(struct autosave *autosave, const struct schedule *schedule, double seconds);

#endif
