/* Preparing a run: everything that can be opened and checked without writing. */
#include "run/parts.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "initial/initial.h"
#include "run/provenance.h"
#include "run/replay.h"
#include "run/restart.h"
#include "run/shadow.h"
#include "run/signals.h"

/* The arrays that only some observers need. */
static enum status allocate_potentials(struct run *run, struct error *error)
{
    const struct bodies *bodies = run->experiment.bodies;
    unsigned needs = 0;
    for (size_t i = 0; i < run->output_count; i++)
        needs |= run->outputs[i]->needs;
    for (size_t i = 0; i < run->diagnostic_count; i++)
        needs |= run->diagnostics[i].diagnostic->needs;
    if (!(needs & NEED_POTENTIALS))
        return STATUS_OK;
    run->phi = memory_array(bodies_length(bodies), sizeof *run->phi, error);
    run->psi = run->phi ? memory_array(bodies_length(bodies), sizeof *run->psi, error) : NULL;
    return run->psi ? STATUS_OK : error->status;
}

static bool is_called(const struct diagnostic *diagnostic, const char *name, size_t length)
{
    return diagnostic && strlen(diagnostic->name) == length &&
           strncmp(diagnostic->name, name, length) == 0;
}

/* Does the diagnostic, or do its statistics over the systems, write the file `name`.csv? */
static bool writes(const struct run_diagnostic *slot, const char *name, size_t length)
{
    return is_called(slot->diagnostic, name, length) ||
           (slot->aggregate && is_called(aggregate_diagnostic(slot->aggregate), name, length));
}

/* Two diagnostics must not write the same file. */
static void check_name(const struct run *run, size_t index, const struct section *section,
                       struct error *error)
{
    const struct run_diagnostic *mine = &run->diagnostics[index];
    const char *name = mine->diagnostic->name;
    for (size_t i = 0; i < index; i++) {
        const struct run_diagnostic *other = &run->diagnostics[i];
        const char *others = other->diagnostic ? other->diagnostic->name : "";
        if (writes(other, name, strlen(name)))
            section_error(section, NULL, error, "%s.csv is there already; give this one a `name`",
                          name);
        else if (writes(mine, others, strlen(others)))
            section_error(section, NULL, error,
                          "%s.csv, its statistics over systems, is there already; give this one a "
                          "`name`",
                          others);
    }
}

/* What every diagnostic has beside itself. */
static void fill_slot(struct run *run, size_t index, const struct section *section,
                      struct error *error)
{
    struct run_diagnostic *slot = &run->diagnostics[index];
    run->triggers[index].every = (uint64_t)section_integer(section, "every");
    check_name(run, index, section, error);
    const size_t columns = slot->diagnostic->column_count;
    slot->last_row = memory_array(columns, sizeof *slot->last_row, error);
    for (size_t k = 0; slot->last_row && k < columns; k++)
        slot->last_row[k] = NAN;
}

/*
 * Those that groups of their own ask for, from slot `next` on. They have no statistics over
 * members: a mean of horizons of which some lie beyond the end would be of the others.
 */
static enum status create_own_diagnostics(struct run *run, bool measure_first, size_t next,
                                          struct error *error)
{
    const struct config *config = run->experiment.config;
    struct run_diagnostic *slots = run->diagnostics;
    if (replay_wanted(config)) {
        if (!replay_diagnostic(run, &slots[next].diagnostic, error))
            fill_slot(run, next, config_section(config, "energy_budget"), error);
        next++;
    }
    if (shadow_wanted(config) &&
        !shadow_diagnostic(run, measure_first, &slots[next].diagnostic, error))
        fill_slot(run, next, config_section(config, "trust"), error);
    return error->status;
}

/* Those of the list, and the run's own behind them. */
static enum status create_diagnostics(struct run *run, bool measure_first, struct error *error)
{
    const struct config *config = run->experiment.config;
    const struct moment start = run_moment(run);
    const size_t listed = config_count(config, "diagnostics"), systems = start.bodies->systems;
    for (size_t i = 0; i < listed; i++) {
        const struct section *section = config_item(config, "diagnostics", i);
        struct run_diagnostic *slot = &run->diagnostics[i];
        if (diagnostic_create(section, &start, &slot->diagnostic, error))
            continue; /* the next one may have something to report as well */
        if (systems > 1)
            aggregate_create(slot->diagnostic, systems, &slot->aggregate, error);
        fill_slot(run, i, section, error);
    }
    return create_own_diagnostics(run, measure_first, listed, error);
}

/* What an output cannot be called: the run's own files, control files, and those being written.
 */
static const char *const taken_names[] = { "run.json",   "run.cfg", "run.log",  "run.lock",
                                           "checkpoint", "stop",    "*.orr",    "*.orr.prev",
                                           "*.tmp",      "plots",   "report.*", "failure.*",
                                           "*.hdf5" };

static void check_output_file(const struct run *run, size_t index, const struct section *section,
                              struct error *error)
{
    const char *file = run->output_files[index];
    for (size_t k = 0; k < COUNT_OF(taken_names); k++)
        if (fnmatch(taken_names[k], file, 0) == 0)
            section_error(section, "file", error, "is a name that the run itself uses");
    for (size_t k = 0; k < index; k++)
        if (run->output_files[k] && strcmp(run->output_files[k], file) == 0)
            section_error(section, "file", error, "another output writes it already");
    const char *suffix = strrchr(file, '.');
    if (!suffix || strcmp(suffix, ".csv") != 0)
        return;
    for (size_t k = 0; k < run->diagnostic_count; k++)
        if (writes(&run->diagnostics[k], file, (size_t)(suffix - file)))
            section_error(section, "file", error, "a diagnostic writes it already");
}

/* How many events it has: those that the checkpoint has seen, and those that will come. */
static enum status count_events(struct run *run, size_t index, const struct section *section,
                                struct error *error)
{
    static const uint64_t most = 1000000;
    const struct output *output = run->outputs[index];
    const struct trigger trigger = run->triggers[run->diagnostic_count + index];
    const uint64_t last = run->experiment.steps;
    const bool now = !run->events_done && trigger_fires(trigger, run->step, last);
    const uint64_t count = output->written + now + trigger_events(trigger, run->step, last);
    run->output_events[index] = count;
    if (!output->class_->event_file || count <= most)
        return STATUS_OK;
    return section_error(section, "every", error,
                         "would write %" PRIu64 " files; at most %" PRIu64 " are allowed", count,
                         most);
}

/* Opens one output, or with `directory` NULL only checks its parameters. */
static enum status open_output(struct run *run, size_t index, struct directory *directory,
                               struct error *error)
{
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    struct output **output = &run->outputs[index];
    const struct stream_mark *continued = NULL;
    struct stream_mark mark;
    if (directory && run->checkpoint) {
        if (restart_mark(run, "output", index, &mark, error))
            return error->status;
        continued = &mark;
    }
    if (*output && (*output)->class_->close(*output, error))
        return error->status;
    *output = NULL;
    if (output_find(section)->open(section, directory, continued, output, error))
        return error->status;
    if (continued && (*output)->class_->event_file && restart_files(run, index, error))
        return error->status;
    run->output_files[index] = (*output)->file;
    check_output_file(run, index, section, error);
    return count_events(run, index, section, error);
}

enum status run_open_outputs(struct run *run, struct directory *directory, struct error *error)
{
    for (size_t i = 0; i < run->output_count; i++) {
        const struct section *section = config_item(run->experiment.config, "outputs", i);
        run->triggers[run->diagnostic_count + i].every =
            (uint64_t)section_integer(section, "every");
        open_output(run, i, directory, error); /* all of them, to report every error */
    }
    return error->status;
}

/* Checkpoints by steps, if they are asked for. */
static void resolve_checkpoints(struct run *run)
{
    const struct section *section = config_section(run->experiment.config, "checkpoint");
    run->triggers[run_checkpoint_trigger(run)].every =
        section_has(section, "every_steps") ? (uint64_t)section_integer(section, "every_steps")
                                            : UINT64_MAX;
}

static enum status allocate_tables(struct run *run, struct error *error)
{
    const struct config *config = run->experiment.config;
    run->diagnostic_count =
        config_count(config, "diagnostics") + shadow_wanted(config) + replay_wanted(config);
    run->output_count = config_count(config, "outputs");
    run->diagnostics = calloc(run->diagnostic_count + 1, sizeof *run->diagnostics);
    run->outputs = calloc(run->output_count + 1, sizeof(struct output *));
    run->output_files = calloc(run->output_count + 1, sizeof(char *));
    run->output_events = calloc(run->output_count + 1, sizeof *run->output_events);
    const size_t systems = run->experiment.bodies->systems;
    run->conserved = calloc(systems, sizeof *run->conserved);
    run->first = calloc(systems, sizeof *run->first);
    run->member_error = calloc(systems, sizeof *run->member_error);
    run->left_out = calloc(systems, sizeof *run->left_out);
    run->triggers = calloc(run_trigger_count(run), sizeof *run->triggers);
    if (!run->diagnostics || !run->outputs || !run->output_files || !run->output_events ||
        !run->conserved || !run->first || !run->member_error || !run->left_out || !run->triggers)
        return error_set(error, STATUS_MEMORY, "out of memory");
    resolve_checkpoints(run);
    return STATUS_OK;
}

static enum status create_watch(struct run *run, struct error *error)
{
    const struct section *section = config_section(run->experiment.config, "watch");
    const struct moment start = run_moment(run);
    const struct watch_method method = { run->description.precision, run->experiment.integrator };
    if (watch_create(section, &start, &method, &run->watch, error))
        return error->status;
    run->triggers[run_watch_trigger(run)].every = watch_every(run->watch);
    run_next_event(run); /* and that of judging the energy */
    return STATUS_OK;
}

/* A run that ends before a horizon could be reached says nothing of it: that would hold. */
static void check_horizons(const struct run *run, struct error *error)
{
    const double end = (double)run->experiment.steps * run->experiment.step;
    for (size_t i = 0; i < run->expectations.count; i++) {
        const struct criterion *c = &run->expectations.criteria[i];
        const bool horizon =
            run->trust && c->diagnostic == run->diagnostic_count - 1 && trust_is_horizon(c->column);
        char time[UNITS_TEXT_SIZE], least[UNITS_TEXT_SIZE];
        const struct units *units = run->experiment.physics.units;
        if (horizon && isfinite(c->lowest) && c->lowest > end)
            section_error(c->section, NULL, error,
                          "the run ends at t = %s and cannot show that %s is at least %s",
                          units_time(units, end, 6, time), c->quantity,
                          units_time(units, c->lowest, 6, least));
    }
}

/* Of the columns of the diagnostics and of the statistics over members. */
static enum status create_expectations(struct run *run, struct error *error)
{
    const size_t count = run->diagnostic_count;
    const struct diagnostic **diagnostics = calloc(count + 1, 2 * sizeof(*diagnostics));
    if (!diagnostics)
        return error_set(error, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const struct run_diagnostic *slot = &run->diagnostics[i];
        diagnostics[i] = slot->diagnostic;
        diagnostics[count + i] = slot->aggregate ? aggregate_diagnostic(slot->aggregate) : NULL;
    }
    /* Both, so that every error is reported in one pass. */
    const struct units *units = run->experiment.physics.units;
    expectations_create(run->experiment.config, "expect", units, diagnostics, 2 * count,
                        &run->expectations, error);
    expectations_create(run->experiment.config, "stop_when", units, diagnostics, 2 * count,
                        &run->stops, error);
    free(diagnostics);
    if (!error->status)
        check_horizons(run, error);
    return error->status;
}

/*
 * For --restart: the state of the run in the directory. A run that was ended before its first
 * checkpoint has written nothing yet; it is begun again.
 */
static enum status open_checkpoint(struct run *run, struct error *error)
{
    char buffer[RUN_DIRECTORY_SIZE];
    struct error missing = { 0 };
    const char *path = run_directory(run, buffer);
    if (directory_open(path, DIRECTORY_RESUME, &run->directory, &missing)) {
        if (missing.status != STATUS_NO_INPUT || !run->options.restart_if_any)
            return error_set(error, missing.status, "%s", missing.text);
        run_notice(run, "restart: %s holds no run, so it begins here", path);
        return STATUS_OK;
    }
    if (provenance_resume(run, error))
        return error->status;
    if (!run->checkpointed && !directory_has(run->directory, checkpoint_name)) {
        run_notice(run, "restart: %s holds no checkpoint yet, the run begins anew",
                   directory_path(run->directory));
        return STATUS_OK;
    }
    if (restart_open(run, error) || restart_compare(run, error))
        return error->status;
    return restart_load_state(run, error);
}

/* What the run knew at its checkpoint, and what follows from that. */
static enum status load_memory(struct run *run, struct error *error)
{
    if (!run->checkpoint || restart_load_memory(run, error))
        return error->status;
    run_leave_out(run);
    return STATUS_OK;
}

/* Preparing a run of many bodies takes a while. */
static enum status stopped_already(struct error *error)
{
    return signals_stop() ? error_set(error, STATUS_STOPPED,
                                      "stopped by signal %d before the run began; nothing was "
                                      "written",
                                      signals_stop())
                          : STATUS_OK;
}

/* A GPU that has not the memory: its bodies are too many, as those of a host can be. */
static enum status create_backend(struct run *run, struct error *error)
{
    struct experiment *x = &run->experiment;
    const struct section *bodies = config_section(x->config, "bodies");
    struct error refused = { 0 };
    char reason[512];
    const enum status status =
        x->backend->create(&x->backend_options, &x->physics, x->bodies, &run->backend, &refused);
    if (status != STATUS_MEMORY || strncmp(refused.text, "GPU ", 4) != 0)
        return status ? error_set(error, status, "%s", refused.text) : STATUS_OK;
    snprintf(reason, sizeof reason, "%zu x %zu bodies: %.400s", x->bodies->systems,
             x->bodies->count, refused.text);
    return section_refuse(bodies, initial_count_name(bodies), status, error, reason);
}

enum status run_prepare(const struct config *config, const struct run_options *options,
                        bool measure_first, struct run **result, struct error *error)
{
    *result = NULL;
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return error_set(error, STATUS_MEMORY, "out of memory");
    run->options = *options;
    struct experiment *experiment = &run->experiment;
    run->bitwise = true;
    if (measure_first)
        signals_catch(); /* until run_destroy() */
    if (experiment_create(config, experiment, error))
        goto fail;
    scales_measure(experiment->bodies, &run->scales);
    if (allocate_tables(run, error) || (options->restart && open_checkpoint(run, error)) ||
        create_backend(run, error) || stopped_already(error))
        goto fail;
    run->backend->class_->describe(run->backend, &run->description);
    if (measure_first &&
        (run_observe(run, NEED_STATE | NEED_CONSERVED, error) || stopped_already(error)))
        goto fail;
    if (!run->checkpoint)
        memcpy(run->first, run->conserved, run->experiment.bodies->systems * sizeof *run->first);
    create_diagnostics(run, measure_first, error);
    run_open_outputs(run, NULL, error);
    if (error->status || create_expectations(run, error) || create_watch(run, error) ||
        allocate_potentials(run, error) || load_memory(run, error) ||
        (run->trust && measure_first && shadow_create(run, error)))
        goto fail;
    *result = run;
    return STATUS_OK;
fail:
    run_destroy(run);
    return error->status;
}

struct run *run_open_bare(const struct config *config, const char *directory, struct error *error)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run) {
        error_set(error, STATUS_MEMORY, "out of memory");
        return NULL;
    }
    run->options.directory = directory;
    if (directory_open(directory, DIRECTORY_RESUME, &run->directory, error) ||
        experiment_create(config, &run->experiment, error) || allocate_tables(run, error) ||
        provenance_resume(run, error)) {
        run_destroy(run);
        return NULL;
    }
    return run;
}
