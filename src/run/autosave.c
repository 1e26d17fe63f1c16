#include "run/autosave.h"

#include <math.h>

bool autosave_due(struct autosave *autosave, const struct section *checkpoint, double now)
{
    const bool late = section_has(checkpoint, "every_minutes") &&
                      now - autosave->last >= 60.0 * section_real(checkpoint, "every_minutes");
    if (!late && !autosave->wanted)
        return false;
    autosave->wanted = false;
    autosave->last = now;
    return true;
}

bool autosave_is_current(const struct autosave *autosave, const struct schedule *schedule)
{
    return autosave->saved && autosave->saved_step == schedule->step &&
           autosave->saved_events == schedule->events_done;
}

void autosave_note(struct autosave *autosave, const struct schedule *schedule, double seconds)
{
    autosave->longest = fmax(autosave->longest, seconds);
    autosave->saved = true;
    autosave->saved_step = schedule->step;
    autosave->saved_events = schedule->events_done;
}
