#include "run/phases.h"

#include <math.h>
#include <string.h>

#include "accuracy/resolution.h"
#include "formats/csv.h"

/* The context of take_row(): the diagnostic (an index) that makes the rows, and the moment that
 * they show. */
struct row_target {
    struct run *run;
    size_t diagnostic;
    const struct moment *now;
};

static enum status take_row(void *context, size_t system, const double *values, struct error *error)
{
    (void)error;
    const struct row_target *target = context;
    struct run *run = target->run;
    struct observed_diagnostic *observed = &run->observers.diagnostics[target->diagnostic];
    const size_t count = observed->diagnostic->column_count;
    const bool several = run->simulation->bodies->systems > 1;
    const char *file = body_files_name(&run->experiment.body_files, system);
    csv_row(observed->stream, target->now, several, system, file, values, count);
    criteria_row(&run->criteria, target->diagnostic, several ? system + 1 : 0, target->now->time,
                 values, run->ensemble.largest_error[system]);
    show_take(&run->show, target->diagnostic, values);
    if (system == 0)
        memcpy(observed->last_row, values, count * sizeof *values);
    if (observed->aggregate)
        aggregate_take(observed->aggregate, system, values);
    return STATUS_OK;
}

/* A moment in seconds by the clock and in seconds of processor time, of which a stopped process
 * uses none. */
struct instant {
    double wall, cpu;
};

static struct instant instant_now(void)
{
    return (struct instant){ clock_seconds(), clock_cpu_seconds() };
}

/* Raises *longest to the seconds since `then`, by the clock or by processor time, whichever shows
 * less. */
static void note_seconds(struct instant then, double *longest)
{
    const struct instant now = instant_now();
    *longest = fmax(*longest, fmin(now.wall - then.wall, now.cpu - then.cpu));
}

static void write_aggregate(struct run *run, size_t index, const struct moment *now)
{
    struct observed_diagnostic *observed = &run->observers.diagnostics[index];
    const struct diagnostic *statistics = aggregate_diagnostic(observed->aggregate);
    for (size_t k = 0; k < statistics->row_count; k++) {
        const double *row = aggregate_row(observed->aggregate, k, run->ensemble.left_out);
        csv_row(observed->aggregate_stream, now, false, 0, "", row, statistics->column_count);
        criteria_row(&run->criteria, run->observers.diagnostic_count + index, 0, now->time, row,
                     0.0);
        show_take(&run->show, run->observers.diagnostic_count + index, row);
    }
}

static enum status measure_diagnostic(struct run *run, size_t index, const struct moment *now,
                                      struct error *error)
{
    struct observed_diagnostic *observed = &run->observers.diagnostics[index];
    if (observed->diagnostic == run->observers.trust && shadow_fetch(run->shadows, error))
        return error->status;
    struct row_target target = { run, index, now };
    const struct row_sink sink = { take_row, &target };
    const struct instant start = instant_now();
    if (diagnostic_measure(observed->diagnostic, now, &sink, error) ||
        (observed->diagnostic == run->observers.energy_budget &&
         replay_interval(&run->replays, run->schedule.step, run->schedule.last, error)))
        return error->status;
    note_seconds(start, &observed->seconds);
    if (observed->aggregate)
        write_aggregate(run, index, now);
    return STATUS_OK;
}

/* --- what is due ------------------------------------------------------------------------------ */

static bool fires(const struct run *run, size_t trigger)
{
    return schedule_fires(&run->schedule, &run->schedule.triggers[trigger]);
}

static bool measures(const struct run *run, size_t diagnostic)
{
    return schedule_fires(&run->schedule, schedule_diagnostic(&run->schedule, diagnostic));
}

static bool writes(const struct run *run, size_t output)
{
    return schedule_fires(&run->schedule, schedule_output(&run->schedule, output));
}

static void schedule_energy(struct run *run)
{
    run->schedule.triggers[SCHEDULE_ENERGY].every =
        watch_stride(run->observers.watch, run->schedule.step);
}

uint64_t events_next(struct run *run)
{
    schedule_energy(run);
    const uint64_t next = schedule_next(&run->schedule);
    const uint64_t look = watch_next(run->observers.watch, run->schedule.step);
    return look < next ? look : next;
}

static bool judges(const struct run *run)
{
    const uint64_t step = run->schedule.step;
    return fires(run, SCHEDULE_ENERGY) ||
           (step > 0 && watch_next(run->observers.watch, step - 1) == step);
}

static bool asks_error(const struct run *run)
{
    return !isnan(accuracy_target(run->experiment.config).error);
}

/* Returns the data that diagnostics, outputs and accuracy watch need at this step (enum need,
 * or-ed). */
static unsigned needs_now(const struct run *run)
{
    const struct observers *observers = &run->observers;
    /* The summary shows the energy error at the end. */
    unsigned needs = run->schedule.step == run->schedule.last ? NEED_CONSERVED : 0;
    for (size_t i = 0; i < observers->diagnostic_count; i++)
        if (measures(run, i))
            needs |= observers->diagnostics[i].diagnostic->needs |
                     (observers->diagnostics[i].aggregate || asks_error(run) ? NEED_CONSERVED : 0);
    for (size_t i = 0; i < observers->output_count; i++)
        needs |= writes(run, i)
                     ? observers->outputs[i].output->needs | (asks_error(run) ? NEED_CONSERVED : 0)
                     : 0;
    if (fires(run, SCHEDULE_WATCH))
        needs |= NEED_STATE;
    if (judges(run))
        needs |= NEED_CONSERVED;
    if (watch_audits(observers->watch, run->schedule.step,
                     run->schedule.step == run->schedule.last))
        needs |= NEED_STATE | NEED_ACCELERATIONS;
    if (needs & NEED_CONSERVED)
        needs |= NEED_STATE; /* the accuracy watch names bodies in its messages */
    return needs;
}

/* --- how long that takes ---------------------------------------------------------------------- */

/* The number of pair interactions up to which even the slowest diagnostic takes a second or two. */
static const double little_work = 1e8;

/* Tells whether a diagnostic that was not measured before may take long. "energy-budget" computes
 * its next interval of the run in advance, with half the step (twice the steps) and, if the run's
 * forces are no direct sums in double, once more with those: 3 times the interval's steps. */
static bool may_be_long(const struct run *run, size_t diagnostic)
{
    const struct diagnostic *const d = run->observers.diagnostics[diagnostic].diagnostic;
    const uint64_t steps = d == run->observers.energy_budget ? 3 * replay_steps(&run->replays) : 1;
    return experiment_interactions(&run->experiment, steps) > little_work;
}

double events_seconds(const struct run *run)
{
    double seconds = run->observers.seconds;
    for (size_t i = 0; i < run->observers.diagnostic_count; i++) {
        if (!measures(run, i))
            continue;
        const double before = run->observers.diagnostics[i].seconds;
        seconds += before == 0.0 && may_be_long(run, i) ? INFINITY : before;
    }
    return seconds;
}

/* --- events ----------------------------------------------------------------------------------- */

static void tell_warning(void *context, const char *line)
{
    run_warning(context, "%s", line);
}

/* Hands the quantities of --show that were measured at this step to the function `row` of the
 * options. */
static void tell_row(const struct run *run)
{
    const struct run_row row = { .step = run->schedule.step,
                                 .last = run->schedule.planned,
                                 .time = run_time(run),
                                 .units = run->simulation->physics.units,
                                 .cells = run->show.cells,
                                 .count = run->show.count };
    if (run->options.row && show_due(&run->show))
        run->options.row(run->options.context, &row);
}

static enum status show_bodies(struct run *run, const struct moment *now, struct error *error)
{
    enum status status = STATUS_OK;
    show_begin(&run->show);
    for (size_t i = 0; i < run->observers.diagnostic_count && !status; i++)
        if (measures(run, i))
            status = measure_diagnostic(run, i, now, error);
    if (!status)
        tell_row(run);
    for (size_t i = 0; i < run->observers.output_count && !status; i++) {
        struct output *output = run->observers.outputs[i].output;
        if (writes(run, i))
            status = output->class_->write(output, now, error);
    }
    return status;
}

/* Warns, once after each start or restart, if the precision of the forces does not resolve the
 * separation of a pair. */
static enum status look_at_resolution(struct run *run, struct error *error)
{
    struct resolution worst;
    char text[RESOLUTION_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    if (run->observers.unresolved || !fires(run, SCHEDULE_WATCH))
        return STATUS_OK;
    if (resolution_measure(&run->simulation->physics, run->simulation->bodies,
                           &run->simulation->description, &worst, error))
        return error->status;
    if (resolution_text(&worst, run->simulation->bodies, run->simulation->description.precision,
                        text)[0]) {
        run_warning(run, "warning: t = %s: %s", run_time_text(run, 6, time), text);
        run->observers.unresolved = true;
    }
    return STATUS_OK;
}

static enum status fire_events(struct run *run, struct error *error)
{
    struct schedule *schedule = &run->schedule;
    schedule_energy(run);
    if (schedule_off_cadence(schedule) && save_keep_early(run, error))
        return error->status;
    const unsigned needs = needs_now(run);
    const struct instant start = instant_now();
    if (run_observe(run, needs, error))
        return error->status;
    note_seconds(start, &run->observers.seconds);
    const struct moment now = run_moment(run);
    /* The accuracy watch comes first, so that numbers that are not finite become no rows. */
    if (watch_check(run->observers.watch, &now, needs, schedule->step == schedule->last,
                    tell_warning, run, error) ||
        look_at_resolution(run, error))
        return error->status;
    if (needs & NEED_CONSERVED)
        ensemble_judge(&run->ensemble);
    if (attempt_judge(run, error))
        return error->status;
    if (show_bodies(run, &now, error))
        return error->status;
    schedule->events_done = true;
    if (schedule->step > 0 && schedule->step < schedule->last && fires(run, SCHEDULE_CHECKPOINT))
        run->autosave.wanted = true; /* after the last step a checkpoint is saved anyway */
    return STATUS_OK;
}

/* Forgets the rows seen by criteria that ask for a horizon (a time until which orbits are accurate
 * or reproducible) later than the end, since stop_when has ended the run before that horizon could
 * be reached. */
static void drop_horizons(struct run *run)
{
    for (size_t i = 0; i < run->criteria.expect.count; i++) {
        struct criterion *const c = &run->criteria.expect.criteria[i];
        if (run_horizon_beyond(run, c, run_time(run)) && c->failures == 0)
            c->rows = 0; /* without rows the criterion does not hold */
    }
}

/* Makes this step the last one of the run, since a condition of stop_when was met, and makes all
 * events of a last step happen. */
static enum status end_here(struct run *run, struct error *error)
{
    char time[UNITS_TEXT_SIZE];
    run_notice(run, "stop_when: %s at t = %s: the run ends here", run->criteria.ended_by,
               run_time_text(run, 6, time));
    schedule_cut(&run->schedule);
    const enum status status = fire_events(run, error);
    drop_horizons(run);
    return status;
}

enum status events_happen(struct run *run, struct error *error)
{
    const enum status status = fire_events(run, error);
    if (status || !run->criteria.ended_by[0] || run->schedule.step == run->schedule.last)
        return status;
    return end_here(run, error);
}
