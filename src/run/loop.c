/* The loop: advance to the next step at which anything happens, and let it happen. */
#include "run/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "run/save.h"
#include "run/shadow.h"
#include "run/signals.h"

/* For the last words and the end of the process, when time is short. */
static const double way_out_seconds = 0.25;
/* The backend is called for about this long at a time, so that signals, control files and progress
 * are served. */
static const double chunk_seconds = 0.1;
/* How often rows and frames are handed to the system. */
static const double beat_seconds = 1.0;

/* Things that happen by the clock, between two calls of the backend. */
struct pulse {
    uint64_t chunk; /* steps a call */
    double last_look, last_beat;
};

/* Could the time run out before the next look, with the checkpoint and the files to be closed? */
static bool deadline_is_near(struct run *run)
{
    const double now = clock_seconds();
    if (run->last_look > 0.0)
        run->longest_wait = fmax(run->longest_wait, now - run->last_look);
    run->last_look = now;
    return run->options.deadline > 0.0 &&
           now + run->longest_wait + 2.0 * run->save_seconds + way_out_seconds >=
               run->options.deadline;
}

/* Why the run should end now, into run->stop_reason; false if it should go on. */
static bool should_stop(struct run *run)
{
    const bool late = deadline_is_near(run);
    if (signals_stop())
        snprintf(run->stop_reason, sizeof run->stop_reason, "signal %d", signals_stop());
    else if (late)
        snprintf(run->stop_reason, sizeof run->stop_reason, "the time limit");
    return run->stop_reason[0] != '\0';
}

static void look_for_control_files(struct run *run)
{
    if (directory_take(run->directory, "stop"))
        snprintf(run->stop_reason, sizeof run->stop_reason, "the file `stop`");
    if (directory_take(run->directory, "checkpoint"))
        run->checkpoint_wanted = true;
}

/* A checkpoint, if one is due by the clock or was asked for. Only between events. */
static enum status save_if_due(struct run *run, struct error *error)
{
    const struct section *section = config_section(run->experiment.config, "checkpoint");
    const double now = clock_seconds();
    if (section_has(section, "every_minutes") &&
        now - run->last_checkpoint >= 60.0 * section_real(section, "every_minutes"))
        run->checkpoint_wanted = true;
    if (signals_checkpoint())
        run->checkpoint_wanted = true;
    if (!run->checkpoint_wanted)
        return STATUS_OK;
    run->checkpoint_wanted = false;
    run->last_checkpoint = now;
    return save_checkpoint(run, error);
}

static enum status beat(struct run *run, struct pulse *pulse, double seconds, struct error *error)
{
    if (seconds < 0.5 * chunk_seconds)
        pulse->chunk *= 2;
    else if (seconds > 2.0 * chunk_seconds && pulse->chunk > 1)
        pulse->chunk /= 2;
    if (run->options.progress)
        run->options.progress(run->options.context, run);
    const double now = clock_seconds();
    if (now - pulse->last_look >= chunk_seconds) {
        pulse->last_look = now;
        look_for_control_files(run);
    }
    if (now - pulse->last_beat < beat_seconds)
        return STATUS_OK;
    pulse->last_beat = now;
    return run_flush(run, false, error);
}

/* On to step `next`, unless something asks to stop before. */
static enum status advance_to(struct run *run, uint64_t next, struct pulse *pulse,
                              struct error *error)
{
    enum status status = STATUS_OK;
    while (run->step < next && !status && !should_stop(run)) {
        const uint64_t left = next - run->step;
        const uint64_t steps = left < pulse->chunk ? left : pulse->chunk;
        if (shadow_adjust(run, error))
            return error->status;
        const double before = clock_seconds();
        status = run->backend->class_->advance(run->backend, run->experiment.integrator,
                                               run->experiment.step, steps, error);
        run->advance_seconds += clock_seconds() - before;
        if (!status)
            status = shadow_advance(run, steps, error);
        const double seconds = clock_seconds() - before;
        run->step += steps;
        run->events_done = false;
        if (!status)
            status = beat(run, pulse, steps == pulse->chunk ? seconds : chunk_seconds, error);
        if (!status && run->step < next)
            status = save_if_due(run, error);
    }
    return status;
}

/* The state is safe, and can be continued. */
static enum status stop_early(struct run *run, struct error *error)
{
    if (save_checkpoint(run, error))
        return error->status;
    return error_set(error, STATUS_STOPPED,
                     "%s: stopped by %s at step %" PRIu64 " of %" PRIu64
                     "; the same command with --restart continues it",
                     directory_path(run->directory), run->stop_reason, run->step,
                     run->experiment.steps);
}

enum status run_loop(struct run *run, struct error *error)
{
    struct pulse pulse = { .chunk = 1, .last_beat = clock_seconds() };
    enum status status = run->events_done ? STATUS_OK : run_events(run, error);
    while (!status && run->step < run->experiment.steps) {
        const uint64_t next = run_next_event(run);
        status = advance_to(run, next, &pulse, error);
        if (!status && run->step == next)
            status = run_events(run, error);
        if (!status && run->step < run->experiment.steps && should_stop(run))
            return stop_early(run, error);
        if (!status)
            status = save_if_due(run, error);
    }
    return status ? status : save_checkpoint(run, error);
}
