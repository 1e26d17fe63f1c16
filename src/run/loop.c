#include "run/phases.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "output/directory.h"
#include "run/signals.h"

/* The seconds that one call of the backend shall take, so that signals, control files and progress
 * are served between calls. */
static const double call_seconds = 0.1;
/* A checkpoint is saved before events that are expected to take longer than these seconds, and
 * longer than `rare_saving` times the saving of a checkpoint. */
static const double long_events_seconds = ENDING_LONG_EVENTS, rare_saving = 10.0;
/* The seconds between two moments at which rows and frames are handed to the operating system. */
static const double flush_seconds = 1.0;

/* The memory of the loop from one call of the backend to the next: how many steps a call makes, and
 * when the loop last looked for signals, control files and time limits. */
struct poll {
    uint64_t batch_steps; /* steps of the run in a call of the backend */
    double last_control;  /* clock_seconds() when control files were last looked for */
    double last_flush;
    double last_stop;    /* clock_seconds() when the loop last looked whether to stop; 0 before */
    double longest_wait; /* longest time between two looks whether to stop, in seconds */
    bool costly;         /* the run costs far more than expected, and stops early */
    char reason[ENDING_REASON_SIZE]; /* signal, file or limit that ends the run early, or "" */
};

static bool should_stop(const struct run *run, struct poll *poll)
{
    const double now = clock_seconds();
    if (poll->last_stop > 0.0)
        poll->longest_wait = fmax(poll->longest_wait, now - poll->last_stop);
    poll->last_stop = now;
    if (!poll->reason[0] && attempt_costs_too_much(run)) {
        snprintf(poll->reason, sizeof poll->reason, "its cost");
        poll->costly = true;
    }
    return ending_wanted(run, poll->longest_wait, poll->reason);
}

/* Saves a checkpoint if one is due by the clock or was asked for. Called only between events. */
static enum status save_if_due(struct run *run, struct error *error)
{
    if (signals_checkpoint())
        run->autosave.wanted = true;
    const struct section *section = config_section(run->experiment.config, "checkpoint");
    return autosave_due(&run->autosave, section, clock_seconds()) ? save_checkpoint(run, error)
                                                                  : STATUS_OK;
}

static void show_progress(const struct run *run)
{
    const struct run_progress progress = { .name = run->experiment.name,
                                           .units = run->simulation->physics.units,
                                           .seconds = clocks_wall(&run->clocks),
                                           .time = run_time(run),
                                           .rate = run_rate(run),
                                           .first_step = run->schedule.first_step,
                                           .step = run->schedule.step,
                                           .last = run->schedule.last };
    if (run->options.progress)
        run->options.progress(run->options.context, &progress);
}

/* Writes the progress into the lock file, for programs that look at the directory meanwhile. */
static void leave_progress(const struct run *run)
{
    const struct progress progress = { .first_step = run->schedule.first_step,
                                       .step = run->schedule.step,
                                       .last = run->schedule.last,
                                       .seconds = clocks_wall(&run->clocks),
                                       .rate = run_rate(run) };
    progress_write(run->files.directory, &progress);
}

/* Serves requests (signals, control files) after a call of the backend that took `seconds`, and
 * adapts the number of steps in a call. */
static enum status serve(struct run *run, struct poll *poll, double seconds, struct error *error)
{
    if (seconds < 0.5 * call_seconds)
        poll->batch_steps *= 2;
    else if (seconds > 2.0 * call_seconds && poll->batch_steps > 1)
        poll->batch_steps /= 2;
    show_progress(run);
    const double now = clock_seconds();
    if (now - poll->last_control >= call_seconds) {
        poll->last_control = now;
        ending_take_files(run, poll->reason);
    }
    if (now - poll->last_flush < flush_seconds)
        return STATUS_OK;
    poll->last_flush = now;
    if (run_flush(run, false, error) == STATUS_OK)
        leave_progress(run); /* readers of the lock file then find all rows up to this step */
    return error->status;
}

/* Returns how many of the `steps` steps of the last call were done: all of them or, if an
 * integrator that chooses its own steps could not go on, those up to the time that it reached. */
static uint64_t steps_done(const struct run *run, uint64_t steps)
{
    const struct work_done own = run_work(run).sums;
    if (!own.stuck)
        return steps;
    const double done = floor(own.time / run->simulation->step) - (double)run->schedule.step;
    return (uint64_t)fmin(fmax(done, 0.0), (double)steps);
}

/* Serves the signal or control file that has interrupted a step, which the backend has undone. */
static enum status serve_interruption(struct run *run, struct poll *poll, struct error *error)
{
    error_clear(error);
    interruption_lower(&run->interruption);
    ending_take_files(run, poll->reason);
    return save_if_due(run, error);
}

/* Advances bodies and shadows (copies of the run that show how errors grow) by `steps` steps. If a
 * step is interrupted, both stay as they were before the call. */
static enum status advance(struct run *run, uint64_t steps, struct poll *poll, struct error *error)
{
    const double before = clock_seconds();
    run->phase = RUN_STEPS;
    enum status status = simulation_advance(run->simulation, steps, error);
    run->phase = RUN_OBSERVES;
    run->clocks.advance_seconds += clock_seconds() - before;
    if (status == STATUS_STOPPED) {
        poll->batch_steps = 1;
        return serve_interruption(run, poll, error);
    }
    if (!status)
        status = shadow_advance(run->shadows, steps, error);
    schedule_advance(&run->schedule, steps_done(run, steps));
    return status;
}

/* Advances to step `next`, unless something asks to stop before. */
static enum status advance_to(struct run *run, uint64_t next, struct poll *poll,
                              struct error *error)
{
    enum status status = STATUS_OK;
    while (run->schedule.step < next && !status && !should_stop(run, poll)) {
        const uint64_t left = next - run->schedule.step;
        const uint64_t steps = left < poll->batch_steps ? left : poll->batch_steps;
        if (shadow_adjust(run->shadows, error))
            return error->status;
        const double before = clock_seconds();
        const bool whole = steps == poll->batch_steps; /* if not, the time of the call does not tell
                                                          whether to change batch_steps */
        status = advance(run, steps, poll, error);
        const double seconds = clock_seconds() - before;
        if (!status)
            status = serve(run, poll, whole ? seconds : call_seconds, error);
        if (!status && run->schedule.step < next)
            status = save_if_due(run, error);
    }
    return status;
}

/* Makes the events of a step happen. Before events that take long a checkpoint is saved, from which
 * they can be repeated if they are interrupted, and which also serves requests for a checkpoint
 * during the events. */
static enum status observe(struct run *run, struct error *error)
{
    const double usual = fmax(long_events_seconds, rare_saving * run->autosave.longest);
    if (events_seconds(run) > usual && save_checkpoint(run, error))
        return error->status;
    run->events_began = clock_seconds();
    run->phase = RUN_OBSERVES;
    const enum status status = events_happen(run, error);
    if (!interruption_noticed(&run->interruption))
        return status;
    error_clear(error); /* errors of interrupted sums, which mean nothing */
    return interruption_status(&run->interruption, error);
}

/* Ends the run early between events, after a checkpoint from which it can be continued. */
static enum status stop_early(struct run *run, const struct poll *poll, struct error *error)
{
    char why[CHOICE_DEARER_SIZE] = "";
    run->phase = RUN_ENDS;
    if (save_checkpoint(run, error))
        return error->status;
    if (poll->costly)
        attempt_cost_text(run, why);
    return error_set(error, STATUS_STOPPED,
                     "%s: stopped by %s at step %" PRIu64 " of %" PRIu64
                     "%s%s; the same command with --restart continues it",
                     directory_path(run->files.directory), poll->reason, run->schedule.step,
                     run->schedule.last, why[0] ? ": " : "", why);
}

/* Ends the run during the events of a step. Since rows of this step may be written, no checkpoint
 * is saved; a restart continues the run from its last checkpoint. */
static enum status stop_within(struct run *run, struct poll *poll, struct error *error)
{
    run->phase = RUN_ENDS;
    interruption_lower(&run->interruption);
    ending_take_files(run, poll->reason);
    if (!ending_wanted(run, poll->longest_wait, poll->reason))
        /* The file `stop`, which interrupted the run, was removed meanwhile. */
        snprintf(poll->reason, sizeof poll->reason, "the file `stop`");
    error_clear(error);
    return error_set(error, STATUS_STOPPED,
                     "%s: stopped by %s while step %" PRIu64 " of %" PRIu64
                     " was observed; the same command with --restart continues it from step "
                     "%" PRIu64,
                     directory_path(run->files.directory), poll->reason, run->schedule.step,
                     run->schedule.last, run->autosave.saved_step);
}

static enum status follow(struct run *run, struct poll *poll, struct error *error)
{
    const struct schedule *schedule = &run->schedule;
    run->phase = RUN_OBSERVES;
    enum status status =
        replay_resume(&run->replays, schedule->step, schedule->last, schedule->events_done, error);
    if (!status && !schedule->events_done)
        status = observe(run, error);
    while (!status && schedule->step < schedule->last) {
        const uint64_t next = events_next(run);
        status = advance_to(run, next, poll, error);
        if (!status && schedule->step == next)
            status = observe(run, error);
        if (!status && schedule->step < schedule->last && should_stop(run, poll))
            return stop_early(run, poll, error);
        if (!status)
            status = save_if_due(run, error);
    }
    return status ? status : save_checkpoint(run, error);
}

enum status loop_run(struct run *run, struct error *error)
{
    struct poll poll = { .batch_steps = 1, .last_flush = clock_seconds() };
    leave_progress(run);
    const enum status status = follow(run, &poll, error);
    const bool within = status == STATUS_STOPPED && run->phase != RUN_ENDS;
    return within ? stop_within(run, &poll, error) : status;
}

/* --- requests of the outside ------------------------------------------------------------------ */

/* The seconds before a time limit that are kept for the last messages and the end of the
 * process. */
static const double way_out_seconds = 0.25;

/* Tells whether the time limit could come within `wait` seconds plus those that a last checkpoint
 * and the closing of files take. */
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

/* Tells whether a step shall be interrupted because a checkpoint is asked for. That happens at most
 * once in a step: a checkpoint that was saved when the step began serves all requests before it
 * ends. */
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

/* Tells whether events may go on although the run is to stop: in their first half second, since to
 * end them costs less than to repeat the steps since the last checkpoint. */
static bool lets_events_end(const struct run *run)
{
    return run->phase == RUN_OBSERVES && clock_seconds() - run->events_began < ENDING_LONG_EVENTS;
}

/* Tells whether the work of the run shall be interrupted (struct interruption). Any thread calls it
 * while it computes. */
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
