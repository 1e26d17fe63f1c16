#include "run/phases.h"

#include <stdio.h>

#include "run/signals.h"

/* For the last words and the end of the process, when time is short. */
static const double way_out_seconds = 0.25;

/* Tells whether the time could run out within `wait` seconds, with the checkpoint and the files to
 * be closed. */
static bool deadline_is_near(const struct run *run, double wait)
{
    return run->options.deadline > 0.0 &&
           clock_seconds() + wait + 2.0 * run->autosave.longest + way_out_seconds >=
               run->options.deadline;
}

bool ending_wanted(const struct run *run, double wait, char reason[ENDING_REASON_SIZE])
{
    if (signals_stop())
        snprintf(reason, ENDING_REASON_SIZE, "signal %d", signals_stop());
    else if (deadline_is_near(run, wait))
        snprintf(reason, ENDING_REASON_SIZE, "the time limit");
    return reason[0] != '\0';
}

void ending_take_files(struct run *run, char reason[ENDING_REASON_SIZE])
{
    if (directory_take(run->files.directory, "stop"))
        snprintf(reason, ENDING_REASON_SIZE, "the file `stop`");
    if (directory_take(run->files.directory, "checkpoint"))
        run->autosave.wanted = true;
}

/* A step is worth being taken back for a checkpoint that is asked for, but no more than once: what
 * was saved when it began serves all that ask before it ends. */
static bool wants_checkpoint(struct run *run)
{
    struct directory *const directory = run->files.directory;
    if (!autosave_is_current(&run->autosave, &run->schedule))
        return run->phase == RUN_STEPS &&
               (signals_checkpoint_waits() || directory_has(directory, "checkpoint"));
    signals_checkpoint();
    directory_take(directory, "checkpoint");
    return false;
}

/* Events that are nearly over are not worth what would be done again since the last checkpoint. */
static bool lets_events_end(const struct run *run)
{
    return run->phase == RUN_OBSERVES && clock_seconds() - run->events_began < ENDING_LONG_EVENTS;
}

/* Called by any thread in the midst of the work. */
static bool asked(void *context)
{
    struct run *const run = context;
    char reason[ENDING_REASON_SIZE] = "";
    if (run->phase == RUN_ENDS || lets_events_end(run))
        return false;
    if (ending_wanted(run, 0.0, reason))
        return true;
    return run->phase != RUN_BEGINS &&
           (directory_has(run->files.directory, "stop") || wants_checkpoint(run));
}

void ending_begin(struct run *run)
{
    run->interruption = (struct interruption){ .asked = asked, .context = run };
}
