/* What happens at a step: bodies are observed, rows and frames written, criteria judged. */
#include "run/parts.h"

#include <math.h>
#include <string.h>

#include "diagnostics/resolution.h"
#include "output/csv.h"
#include "run/replay.h"
#include "run/save.h"
#include "run/shadow.h"

struct moment run_moment(const struct run *run)
{
    return (struct moment){ .step = run->step,
                            .time = run_time(run),
                            .dt = run->experiment.step,
                            .threads = run->description.threads,
                            .physics = &run->experiment.physics,
                            .bodies = run->experiment.bodies,
                            .conserved = run->conserved,
                            .phi = run->phi,
                            .psi = run->psi };
}

/* Gets from the backend what the observers of this event need, once for all of them. */
enum status run_observe(struct run *run, unsigned needs, struct error *error)
{
    struct backend *backend = run->backend;
    const struct backend_class *class_ = backend->class_;
    enum status status = STATUS_OK;
    if (needs & NEED_STATE)
        status = class_->fetch(backend, error);
    if (!status && (needs & NEED_CONSERVED))
        status = class_->conserved(backend, run->conserved, error);
    if (!status && (needs & NEED_POTENTIALS))
        status = class_->potentials(backend, run->phi, run->psi, error);
    if (!status && (needs & NEED_ACCELERATIONS))
        status = class_->accelerations(backend, error);
    return status;
}

/* Where a diagnostic's rows go. */
struct row_target {
    struct run *run;
    size_t diagnostic;
    const struct moment *now;
};

/* Shows a row to `expect` and to `stop_when`; that of a system of several, counted from 1, or 0. */
static void judge_row(struct run *run, size_t diagnostic, size_t system, double time,
                      const double *values)
{
    expectations_system_row(&run->expectations, diagnostic, system, time, values);
    const struct criterion *met = expectations_met(&run->stops, diagnostic, time, values);
    if (met && !run->ended_by[0])
        criterion_text(met, run->ended_by);
}

static enum status take_row(void *context, size_t system, const double *values, struct error *error)
{
    (void)error;
    const struct row_target *target = context;
    struct run *run = target->run;
    struct run_diagnostic *diagnostic = &run->diagnostics[target->diagnostic];
    const size_t count = diagnostic->diagnostic->column_count;
    const bool several = run->experiment.bodies->systems > 1;
    csv_row(diagnostic->stream, target->now, several, system, values, count);
    judge_row(run, target->diagnostic, several ? system + 1 : 0, target->now->time, values);
    if (system == 0)
        memcpy(diagnostic->last_row, values, count * sizeof *values);
    if (diagnostic->aggregate)
        aggregate_take(diagnostic->aggregate, system, values);
    return STATUS_OK;
}

/* The statistics over the members, once all of them have been measured. */
static void write_aggregate(struct run *run, size_t index, const struct moment *now)
{
    struct run_diagnostic *slot = &run->diagnostics[index];
    const struct diagnostic *statistics = aggregate_diagnostic(slot->aggregate);
    for (size_t k = 0; k < statistics->row_count; k++) {
        const double *row = aggregate_row(slot->aggregate, k, run->left_out);
        csv_row(slot->aggregate_stream, now, false, 0, row, statistics->column_count);
        judge_row(run, run->diagnostic_count + index, 0, now->time, row);
    }
}

void run_leave_out(struct run *run)
{
    const struct section *section = config_section(run->experiment.config, "ensemble");
    const double limit = section_has(section, "energy_error_limit")
                             ? section_real(section, "energy_error_limit")
                             : INFINITY;
    for (size_t s = 0; s < run->experiment.bodies->systems; s++)
        run->left_out[s] = isfinite(limit) && !(run->member_error[s] <= limit);
}

/* Which members still count. */
static void judge_members(struct run *run)
{
    for (size_t s = 0; s < run->experiment.bodies->systems; s++) {
        const double error = fabs(run_energy_error(run, s));
        /* Not fmax(): once undefined, it stays so. */
        if (isnan(error) || error > run->member_error[s])
            run->member_error[s] = error;
    }
    run_leave_out(run);
}

static enum status measure(struct run *run, size_t index, const struct moment *now,
                           struct error *error)
{
    struct diagnostic *diagnostic = run->diagnostics[index].diagnostic;
    if (diagnostic == run->trust && shadow_fetch(run, error))
        return error->status;
    struct row_target target = { run, index, now };
    const struct row_sink sink = { take_row, &target };
    if (diagnostic_measure(diagnostic, now, &sink, error) ||
        (diagnostic == run->energy_budget && replay_interval(run, error)))
        return error->status;
    if (run->diagnostics[index].aggregate)
        write_aggregate(run, index, now);
    return STATUS_OK;
}

/* At this step, and not before the run was cut short here. */
static bool fires(const struct run *run, size_t trigger)
{
    const struct trigger t = run->triggers[trigger];
    return trigger_fires(t, run->step, run->experiment.steps) &&
           !(run->planned_steps && trigger_fires(t, run->step, run->planned_steps));
}

/* The triggers behind those of diagnostics and outputs. */
size_t run_checkpoint_trigger(const struct run *run)
{
    return run->diagnostic_count + run->output_count;
}

size_t run_watch_trigger(const struct run *run)
{
    return run_checkpoint_trigger(run) + 1;
}

/* The steps at which the watch judges the energy; they become rarer. */
static size_t judging_trigger(const struct run *run)
{
    return run_watch_trigger(run) + 1;
}

size_t run_trigger_count(const struct run *run)
{
    return judging_trigger(run) + 1;
}

uint64_t run_next_event(struct run *run)
{
    run->triggers[judging_trigger(run)].every = watch_stride(run->watch, run->step);
    return schedule_next(run->triggers, run_trigger_count(run), run->step, run->experiment.steps);
}

static void tell_warning(void *context, const char *line)
{
    run_notice(context, "%s", line);
}

/* Does anything happen at this step only because it is the last one? */
static bool off_cadence(const struct run *run)
{
    for (size_t i = 0; i < run_trigger_count(run); i++)
        if (i != run_checkpoint_trigger(run) && run->step % run->triggers[i].every != 0)
            return true;
    return false;
}

/* What the observers of this step need. */
static unsigned needs_now(const struct run *run)
{
    unsigned needs = run->step == run->experiment.steps ? NEED_CONSERVED : 0; /* the summary's */
    for (size_t i = 0; i < run->diagnostic_count; i++)
        if (fires(run, i))
            needs |= run->diagnostics[i].diagnostic->needs |
                     (run->diagnostics[i].aggregate ? NEED_CONSERVED : 0);
    for (size_t i = 0; i < run->output_count; i++)
        needs |= fires(run, run->diagnostic_count + i) ? run->outputs[i]->needs : 0;
    if (fires(run, run_watch_trigger(run)))
        needs |= NEED_STATE;
    if (fires(run, judging_trigger(run)))
        needs |= NEED_CONSERVED;
    if (needs & NEED_CONSERVED)
        needs |= NEED_STATE; /* the watch names bodies */
    return needs;
}

/* Rows and frames of this step. */
static enum status show_bodies(struct run *run, const struct moment *now, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < run->diagnostic_count && !status; i++)
        if (fires(run, i))
            status = measure(run, i, now, error);
    for (size_t i = 0; i < run->output_count && !status; i++)
        if (fires(run, run->diagnostic_count + i))
            status = run->outputs[i]->class_->write(run->outputs[i], now, error);
    return status;
}

/* Said once, as soon as it is so. */
static enum status look_at_resolution(struct run *run, struct error *error)
{
    struct resolution worst;
    char text[RESOLUTION_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    if (run->unresolved || !fires(run, run_watch_trigger(run)))
        return STATUS_OK;
    if (resolution_measure(&run->experiment.physics, run->experiment.bodies, &run->description,
                           &worst, error))
        return error->status;
    if (resolution_text(&worst, run->description.precision, text)[0]) {
        run_warning(run, "warning: t = %s: %s", run_time_text(run, 6, time), text);
        run->unresolved = true;
    }
    return STATUS_OK;
}

/* Everything that happens at the step that was reached. */
static enum status fire_events(struct run *run, struct error *error)
{
    run->triggers[judging_trigger(run)].every = watch_stride(run->watch, run->step);
    if (run->step == run->experiment.steps && !run->planned_steps && off_cadence(run) &&
        save_remember(run, error))
        return error->status;
    const unsigned needs = needs_now(run);
    if (run_observe(run, needs, error))
        return error->status;
    const struct moment now = run_moment(run);
    /* First the watch: numbers that mean nothing become no rows. */
    if (watch_look(run->watch, &now, needs, run->step == run->experiment.steps, tell_warning, run,
                   error))
        return error->status;
    if (look_at_resolution(run, error))
        return error->status;
    if (needs & NEED_CONSERVED)
        judge_members(run);
    if (show_bodies(run, &now, error))
        return error->status;
    run->events_done = true;
    if (run->step > 0 && run->step < run->experiment.steps &&
        fires(run, run_checkpoint_trigger(run)))
        run->checkpoint_wanted = true; /* the last step has its own */
    return STATUS_OK;
}

/* A condition of stop_when was met: this is the last step, and all that belongs to it happens. */
static enum status end_here(struct run *run, struct error *error)
{
    char time[UNITS_TEXT_SIZE];
    run_notice(run, "stop_when: %s at t = %s: the run ends here", run->ended_by,
               run_time_text(run, 6, time));
    run->planned_steps = run->experiment.steps;
    run->experiment.steps = run->step;
    return fire_events(run, error);
}

enum status run_events(struct run *run, struct error *error)
{
    const enum status status = fire_events(run, error);
    if (status || !run->ended_by[0] || run->step == run->experiment.steps)
        return status;
    return end_here(run, error);
}

static enum status flush_series(const struct run_diagnostic *slot, bool to_disk,
                                struct error *error)
{
    const enum status status = stream_flush(slot->stream, to_disk, error);
    return status || !slot->aggregate_stream ? status
                                             : stream_flush(slot->aggregate_stream, to_disk, error);
}

enum status run_flush(struct run *run, bool to_disk, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < run->diagnostic_count && !status; i++)
        status = flush_series(&run->diagnostics[i], to_disk, error);
    for (size_t i = 0; i < run->output_count && !status; i++)
        if (run->outputs[i]->stream)
            status = stream_flush(run->outputs[i]->stream, to_disk, error);
    return status ? status : stream_flush(run->log, to_disk, error);
}
