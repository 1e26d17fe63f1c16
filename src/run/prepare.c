#include "run/phases.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy/copies.h"
#include "base/memory.h"
#include "initial/initial.h"
#include "output/run-fields.h"
#include "run/signals.h"

static enum status allocate_arrays(struct run *run, struct error *error)
{
    struct observers *observers = &run->observers;
    const size_t length = bodies_length(run->simulation->bodies);
    if (!(observers_needs(observers) & NEED_POTENTIALS))
        return STATUS_OK;
    observers->phi = memory_array(length, sizeof *observers->phi, error);
    observers->psi = observers->phi ? memory_array(length, sizeof *observers->psi, error) : NULL;
    return observers->psi ? STATUS_OK : error->status;
}

static void check_name(const struct run *run, size_t index, const struct section *section,
                       struct error *error)
{
    const struct observed_diagnostic *mine = &run->observers.diagnostics[index];
    const char *name = mine->diagnostic->name;
    for (size_t i = 0; i < index; i++) {
        const struct observed_diagnostic *other = &run->observers.diagnostics[i];
        const char *others = other->diagnostic ? other->diagnostic->name : "";
        if (observers_writes(other, name, strlen(name)))
            section_error(section, NULL, error, "%s.csv is there already; give this one a `name`",
                          name);
        else if (observers_writes(mine, others, strlen(others)))
            section_error(section, NULL, error,
                          "%s.csv, its statistics over systems, is there already; give this one a "
                          "`name`",
                          others);
    }
}

/* Sets how often a diagnostic is measured, checks its name and makes room for its last row. */
static void fill_slot(struct run *run, size_t index, const struct section *section,
                      struct error *error)
{
    struct observed_diagnostic *observed = &run->observers.diagnostics[index];
    schedule_diagnostic(&run->schedule, index)->every = (uint64_t)section_integer(section, "every");
    check_name(run, index, section, error);
    const size_t columns = observed->diagnostic->column_count;
    observed->last_row = memory_array(columns, sizeof *observed->last_row, error);
    for (size_t k = 0; observed->last_row && k < columns; k++)
        observed->last_row[k] = NAN;
}

/* Creates the diagnostics of the groups `energy_budget` and `trust`, at the indices from `next` on.
 * They get no statistics over systems: for `trust`, a mean over horizons would leave out those that
 * lie beyond the end of the run. */
static enum status create_own_diagnostics(struct run *run, bool measure_first, size_t next,
                                          struct error *error)
{
    const struct config *config = run->experiment.config;
    struct observed_diagnostic *all = run->observers.diagnostics;
    if (copies_replayed(config)) {
        const struct moment start = run_moment(run);
        const enum status made = replay_diagnostic(&run->replays, &start, error);
        run->observers.energy_budget = all[next].diagnostic = run->replays.budget;
        if (!made)
            fill_slot(run, next, config_section(config, "energy_budget"), error);
        next++;
    }
    if (copies_shadowed(config)) {
        const struct section *const section = config_section(config, "trust");
        const bool measure = measure_first && !run->continuation.checkpoint;
        struct diagnostic **const trust = &all[next].diagnostic;
        if (!shadow_diagnostic(section, run->simulation, run->schedule.step, measure, trust, error))
            fill_slot(run, next, section, error);
        run->observers.trust = *trust;
    }
    return error->status;
}

/* Creates the diagnostics of the config's list, and behind them those that have groups of their
 * own. */
static enum status create_diagnostics(struct run *run, bool measure_first, struct error *error)
{
    const struct config *config = run->experiment.config;
    const struct moment start = run_moment(run);
    const size_t listed = config_count(config, "diagnostics"), systems = start.bodies->systems;
    for (size_t i = 0; i < listed; i++) {
        const struct section *section = config_item(config, "diagnostics", i);
        struct observed_diagnostic *observed = &run->observers.diagnostics[i];
        if (diagnostic_create(section, &start, &observed->diagnostic, error))
            continue; /* the next diagnostic may have an error to report as well */
        if (systems > 1)
            aggregate_create(observed->diagnostic, systems, &observed->aggregate, error);
        fill_slot(run, i, section, error);
    }
    return create_own_diagnostics(run, measure_first, listed, error);
}

/* Creates the parts of the run whose size follows from config and bodies: observers, schedule and
 * ensemble. */
static enum status create_parts(struct run *run, struct error *error)
{
    const struct config *config = run->experiment.config;
    const struct section *ensemble = config_section(config, "ensemble");
    const struct section *checkpoint = config_section(config, "checkpoint");
    const size_t diagnostics =
        config_count(config, "diagnostics") + copies_shadowed(config) + copies_replayed(config);
    const size_t outputs = config_count(config, "outputs");
    const double limit = section_has(ensemble, "energy_error_limit")
                             ? section_real(ensemble, "energy_error_limit")
                             : INFINITY;
    if (observers_create(diagnostics, outputs, &run->observers, error) ||
        schedule_create(diagnostics, outputs, run->experiment.steps, &run->schedule, error) ||
        ensemble_create(run->simulation, limit, &run->ensemble, error))
        return error->status;
    if (section_has(checkpoint, "every_steps"))
        run->schedule.triggers[SCHEDULE_CHECKPOINT].every =
            (uint64_t)section_integer(checkpoint, "every_steps");
    return STATUS_OK;
}

static enum status create_watch(struct run *run, struct error *error)
{
    const struct section *section = config_section(run->experiment.config, "watch");
    const struct moment start = run_moment(run);
    const struct watch_method method = { run->simulation->description.force,
                                         run->simulation->integrator,
                                         (double)run->experiment.steps };
    struct watch **watch = &run->observers.watch;
    if (watch_create(section, &start, &method, watch, error))
        return error->status;
    run->schedule.triggers[SCHEDULE_WATCH].every = watch_every(*watch);
    run->schedule.triggers[SCHEDULE_ENERGY].every = watch_stride(*watch, run->schedule.step);
    return STATUS_OK;
}

/* Refuses a criterion that asks for a horizon (a time until which orbits are accurate or
 * reproducible) later than the end: the run could not show it. */
static void check_horizons(const struct run *run, struct error *error)
{
    const double end = (double)run->schedule.planned * run->simulation->step;
    for (size_t i = 0; i < run->criteria.expect.count; i++) {
        const struct criterion *c = &run->criteria.expect.criteria[i];
        char time[UNITS_TEXT_SIZE], least[UNITS_TEXT_SIZE];
        const struct units *units = run->simulation->physics.units;
        if (run_horizon_beyond(run, c, end))
            section_error(c->section, NULL, error,
                          "the run ends at t = %s and cannot show that %s is at least %s",
                          units_time(units, end, 6, time), c->quantity,
                          units_time(units, c->lowest, 6, least));
    }
}

/* Creates the criteria and the quantities that are shown, from columns of the diagnostics and of
 * the statistics over systems. */
static enum status create_criteria(struct run *run, struct error *error)
{
    const size_t count = run->observers.diagnostic_count;
    const struct diagnostic **diagnostics = calloc(count + 1, 2 * sizeof(*diagnostics));
    if (!diagnostics)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        const struct observed_diagnostic *observed = &run->observers.diagnostics[i];
        diagnostics[i] = observed->diagnostic;
        diagnostics[count + i] =
            observed->aggregate ? aggregate_diagnostic(observed->aggregate) : NULL;
    }
    criteria_create(run->experiment.config, run->simulation->physics.units, diagnostics, 2 * count,
                    &run->criteria, error);
    show_create(run->options.show, diagnostics,
                run->simulation->bodies->systems > 1 ? diagnostics + count : NULL, count,
                run->simulation->physics.units, &run->show, error);
    free(diagnostics);
    if (!error->status)
        check_horizons(run, error);
    return error->status;
}

/*
 * Opens the run in the directory, for --restart, and loads the bodies of its checkpoint. A run that
 * ended before its first checkpoint has no results yet; it begins anew.
 */
static enum status open_checkpoint(struct run *run, struct error *error)
{
    char buffer[EXPERIMENT_DIRECTORY_SIZE];
    struct error missing = { 0 };
    const char *path = experiment_directory(&run->experiment, run->options.directory, buffer);
    if (directory_open(path, DIRECTORY_RESUME, &run->files.directory, &missing)) {
        if (missing.status != STATUS_NO_INPUT || !run->options.restart_if_any)
            return error_pass(error, &missing);
        run_notice(run, "restart: %s holds no run, so it begins here", path);
        return STATUS_OK;
    }
    if (provenance_resume(run, error))
        return error->status;
    if (!run->autosave.any && !directory_has(run->files.directory, checkpoint_name) &&
        !directory_has(run->files.directory, checkpoint_previous)) {
        run_notice(run, "restart: %s holds no checkpoint yet, the run begins anew",
                   directory_path(run->files.directory));
        continuation_forget(&run->continuation);
        return STATUS_OK;
    }
    if (restart_open(run, error) || restart_compare(run, error))
        return error->status;
    return restart_load_bodies(run, error);
}

static enum status load_state(struct run *run, struct error *error)
{
    if (!run->continuation.checkpoint || restart_load_observers(run, error))
        return error->status;
    ensemble_leave_out(&run->ensemble);
    return STATUS_OK;
}

/* Creates the backend. Too little memory on a GPU is reported at the config key that sets the
 * number of bodies, as too little memory of the host is. */
static enum status create_backend(struct run *run, struct error *error)
{
    struct experiment *x = &run->experiment;
    const struct section *bodies = config_section(x->config, "bodies");
    struct error refused = { 0 };
    char reason[512];
    const enum status status = simulation_start(run->simulation, &refused);
    if (status != STATUS_MEMORY || strncmp(refused.text, "GPU ", 4) != 0)
        return error_pass(error, &refused);
    snprintf(reason, sizeof reason, "%zu x %zu bodies: %.400s", x->simulation.bodies->systems,
             x->simulation.bodies->count, refused.text);
    return section_refuse(bodies, initial_count_name(bodies), status, error, reason);
}

/* Measures the error of the forces at the start; for a run that is continued takes it from its
 * run.json, if that can be read. */
static enum status find_kernel_error(struct run *run, struct error *error)
{
    const json_t *const before = run->continuation.before;
    const json_t *const whole = run_field(before, FIELD_FORCE_ERROR_WHOLE);
    if (!kernel_error_counts(run->simulation))
        return STATUS_OK;
    if (!run->continuation.checkpoint || !json_is_number(whole))
        return kernel_error_measure(run->simulation, &run->kernel_error, error);
    run->kernel_error = (struct kernel_error){ .whole = json_number_value(whole),
                                               .bias = json_number_value(
                                                   run_field(before, FIELD_FORCE_ERROR_BIAS)) };
    return STATUS_OK;
}

static enum status find_structure(struct run *run, struct error *error)
{
    return time_scales_structure(&run->simulation->physics, run->simulation->bodies, 0,
                                 &run->structure, error);
}

static enum status prepare_all(struct run *run, const struct config *config, bool measure,
                               struct error *error)
{
    const bool restart = run->options.restart; /* open_checkpoint() replaces the initial bodies */
    if (experiment_create(config, &run->interruption, &run->experiment, error) ||
        proportions_find(&run->experiment, &run->proportions, error))
        return error->status;
    run->replays = (struct replays){ .config = config, .original = run->simulation };
    scales_measure(run->simulation->bodies, &run->scales);
    units_behind(run->simulation->physics.units, (struct dimension)DIMENSION_TIME, run->time_unit);
    if (measure && restart && find_structure(run, error))
        return error->status;
    if (create_parts(run, error) || (restart && replay_keep_start(&run->replays, error)) ||
        (restart && open_checkpoint(run, error)) || create_backend(run, error) ||
        (run->continuation.checkpoint && restart_load_integrator(run, error)))
        return error->status;
    /* This takes long for many bodies, so a new run does it only after the backend was created: too
     * little memory on a GPU is reported at once. */
    if (measure && !restart && find_structure(run, error))
        return error->status;
    if (measure && run_observe(run, NEED_STATE | NEED_CONSERVED, error))
        return error->status;
    if (measure && find_kernel_error(run, error))
        return error->status;
    if (!run->continuation.checkpoint)
        memcpy(run->simulation->first, run->simulation->now,
               run->simulation->bodies->systems * sizeof *run->simulation->first);
    create_diagnostics(run, measure, error);
    open_outputs(run, NULL, error);
    if (error->status || create_criteria(run, error) || create_watch(run, error) ||
        allocate_arrays(run, error) || load_state(run, error))
        return error->status;
    return run->observers.trust && measure
               ? shadow_create(config, run->simulation, run->observers.trust,
                               run->continuation.checkpoint, &run->shadows, error)
               : STATUS_OK;
}

/* Signals and time limits interrupt the preparation too, which takes a while for many bodies. */
enum status prepare_whole(struct run *run, const struct config *config, bool measure,
                          struct error *error)
{
    char reason[ENDING_REASON_SIZE] = "";
    ending_begin(run);
    enum status status = attempt_choose(run, config, error);
    if (!status)
        status = prepare_all(run, run->chosen ? run->chosen : config, measure, error);
    if (!interruption_noticed(&run->interruption) && (status || !signals_stop()))
        return status;
    ending_wanted(run, 0.0, reason);
    error_clear(error); /* errors of interrupted sums, which mean nothing */
    if (run->why_again[0])
        return error_set(error, STATUS_STOPPED,
                         "%s: stopped by %s before it began anew; the same command with --restart "
                         "continues it",
                         directory_path(run->files.directory), reason);
    return error_set(error, STATUS_STOPPED,
                     "stopped by %s before the run began; nothing was written", reason);
}

enum status prepare_bare(struct run *run, const struct config *config, struct error *error)
{
    if (directory_open(run->options.directory, DIRECTORY_RESUME, &run->files.directory, error) ||
        experiment_create(config, NULL, &run->experiment, error) || create_parts(run, error))
        return error->status;
    return provenance_resume(run, error);
}
