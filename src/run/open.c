/* Opening the files of a run, new or continued. */
#include "run/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "output/csv.h"
#include "run/estimate.h"
#include "run/failure.h"
#include "run/provenance.h"
#include "run/restart.h"
#include "run/save.h"

static enum status write_config(struct run *run, struct error *error)
{
    struct text echo = { 0 };
    config_echo(run->experiment.config, &echo);
    const enum status status = echo.failed ? error_set(error, STATUS_MEMORY, "out of memory")
                                           : directory_replace_file(run->directory, "run.cfg",
                                                                    echo.bytes, echo.length, error);
    text_free(&echo);
    return status;
}

/* A file <name>.csv, new or continued. */
static enum status open_table(struct run *run, const struct diagnostic *diagnostic,
                              const char *kind, size_t index, struct stream **stream,
                              struct error *error)
{
    char name[EXPERIMENT_NAME_SIZE + 8];
    snprintf(name, sizeof name, "%s.csv", diagnostic->name);
    struct stream_mark mark;
    if (run->checkpoint && restart_mark(run, kind, index, &mark, error))
        return error->status;
    if (stream_open(run->directory, name, run->checkpoint ? &mark : NULL, stream, error))
        return error->status;
    if (!run->checkpoint)
        csv_header(*stream, diagnostic->columns, diagnostic->column_count,
                   run->experiment.bodies->systems > 1 && strcmp(kind, "series") == 0,
                   run->experiment.physics.units);
    return STATUS_OK;
}

static enum status open_series(struct run *run, struct error *error)
{
    for (size_t i = 0; i < run->diagnostic_count; i++) {
        struct run_diagnostic *slot = &run->diagnostics[i];
        if (open_table(run, slot->diagnostic, "series", i, &slot->stream, error))
            return error->status;
        if (slot->aggregate && open_table(run, aggregate_diagnostic(slot->aggregate), "aggregate",
                                          i, &slot->aggregate_stream, error))
            return error->status;
    }
    return STATUS_OK;
}

/* Only once all files have been found as the checkpoint says they are. */
static enum status trim_files(struct run *run, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < run->diagnostic_count && !status; i++) {
        struct run_diagnostic *slot = &run->diagnostics[i];
        status = stream_trim(slot->stream, error);
        if (!status && slot->aggregate_stream)
            status = stream_trim(slot->aggregate_stream, error);
    }
    for (size_t i = 0; i < run->output_count && !status; i++) {
        struct output *output = run->outputs[i];
        if (output->stream)
            status = stream_trim(output->stream, error);
        if (!status && output->class_->trim && !run->done_before)
            status = output->class_->trim(output, error);
    }
    failure_forget(run);
    return status;
}

static void note_start(struct run *run)
{
    const struct backend_description *d = &run->description;
    const struct bodies *bodies = run->experiment.bodies;
    char team[BACKEND_TEAM_SIZE], step[UNITS_TEXT_SIZE];
    if (run->early_log.length > 0)
        stream_write(run->log, run->early_log.bytes, run->early_log.length);
    text_free(&run->early_log);
    stream_print(run->log,
                 "%s %s: %zu x %zu bodies, %s, %" PRIu64 " steps of %s; %s, %s, %s, %s, "
                 "%s\n",
                 run->start_stamp, run->experiment.name, bodies->systems, bodies->count,
                 run->experiment.integrator->variant.name, run->experiment.steps,
                 units_time(run->experiment.physics.units, run->experiment.step, 6, step),
                 d->backend, d->kernel, d->isa, precision_names[d->precision],
                 backend_team(d, team));
    if (d->choice && d->choice[0])
        stream_print(run->log, "%s backend auto: %s\n", run->start_stamp, d->choice);
    if (run->continued_from)
        run_notice(run, "restart: goes on from %s, step %" PRIu64 " of %" PRIu64,
                   run->continued_from, run->step, run->experiment.steps);
    char note[EXPERIMENT_NOTE_SIZE];
    if (experiment_end_note(&run->experiment, note)[0])
        run_notice(run, "%s", note);
    if (run->experiment.identical)
        run_warning(run,
                    "warning: all %zu systems are the same: this start draws nothing from the "
                    "seed, so an ensemble of it has no scatter",
                    bodies->systems);
    if (run->experiment.coincident > 0)
        run_notice(run, "warning: pairs of bodies at the same position: %zu",
                   run->experiment.coincident);
}

static enum status check_disk(struct run *run, struct error *error)
{
    const double needed = estimate_disk_bytes(run);
    const double room = directory_free_bytes(run->directory);
    if (needed <= room)
        return STATUS_OK;
    return error_set(error, STATUS_CANT_CREATE,
                     "%s: the run would write %.3g GB, the disk has %.3g GB free",
                     directory_path(run->directory), 1e-9 * needed, 1e-9 * room);
}

/* The manifest first: whatever is written later can be found and removed by it. */
static enum status open_manifest(struct run *run, struct error *error)
{
    char buffer[RUN_DIRECTORY_SIZE];
    const enum directory_mode mode = run->options.force ? DIRECTORY_FORCE : DIRECTORY_NEW;
    if ((!run->directory &&
         directory_open(run_directory(run, buffer), mode, &run->directory, error)) ||
        check_disk(run, error) || provenance_claim(run, error) ||
        provenance_write(run, PROVENANCE_RUNNING, STATUS_OK, error))
        return error->status;
    run->manifest_written = true;
    return STATUS_OK;
}

/* A run that is done: its files are as they should be, and nothing is added to them. */
static enum status note_done(struct run *run)
{
    text_free(&run->early_log);
    checkpoint_close(run->checkpoint);
    run->checkpoint = NULL;
    run->checkpointed = run->manifest_written = true;
    char time[UNITS_TEXT_SIZE];
    run_notice(run, "restart: the run is done already: step %" PRIu64 ", t = %s", run->step,
               run_time_text(run, 6, time));
    return STATUS_OK;
}

/* A restart takes the bodies from its checkpoint, so what they came from stays the same. */
static void note_input(struct run *run)
{
    const char *path = input_path(run->experiment.config);
    const char *before = json_string_value(json_object_get(run->before, "bodies_hash"));
    if (run->checkpoint)
        snprintf(run->bodies_hash, sizeof run->bodies_hash, "%s", before ? before : "");
    else if (path)
        input_hash(path, run->bodies_hash);
}

enum status run_open_files(struct run *run, struct error *error)
{
    const bool continues = run->checkpoint != NULL;
    note_input(run);
    if (!continues && open_manifest(run, error))
        return error->status;
    run->checkpointed = continues;
    if (open_series(run, error) || run_open_outputs(run, run->directory, error) ||
        stream_append(run->directory, "run.log", &run->log, error) ||
        (continues && trim_files(run, error)))
        return error->status;
    if (run->done_before)
        return note_done(run);
    if (write_config(run, error))
        return error->status;
    run->manifest_written = true;
    if (continues)
        directory_take(run->directory, "stop"); /* meant for the one that ended by itself */
    if (run->early_log.failed)
        return error_set(error, STATUS_MEMORY, "out of memory");
    note_start(run);
    if (stream_flush(run->log, true, error)) /* no restart is silent, whatever comes next */
        return error->status;
    checkpoint_close(run->checkpoint);
    run->checkpoint = NULL;
    run->last_checkpoint = clock_seconds();
    /* A run that goes further has cut off rows that its checkpoint has marked. */
    if ((!continues || run->goes_further) && save_checkpoint(run, error))
        return error->status;
    run->checkpointed = true;
    return provenance_write(run, PROVENANCE_RUNNING, STATUS_OK, error);
}
