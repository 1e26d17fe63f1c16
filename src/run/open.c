#include "run/phases.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/csv.h"
#include "output/run-fields.h"
#include "run/record.h"

static enum status write_config(struct run *run, struct error *error)
{
    struct text echo = { 0 };
    config_echo(run->experiment.config, &echo);
    const enum status status = echo.failed ? error_memory(error)
                                           : directory_replace_file(run->files.directory, "run.cfg",
                                                                    echo.bytes, echo.length, error);
    text_free(&echo);
    return status;
}

/* Opens the file <name>.csv of a diagnostic, or of its statistics over systems (`kind`), new or
 * continued. */
static enum status open_table(struct run *run, const struct diagnostic *diagnostic,
                              const char *kind, size_t index, struct stream **stream,
                              struct error *error)
{
    char name[OUTPUT_NAME_SIZE];
    snprintf(name, sizeof name, "%s.csv", diagnostic->name);
    struct stream_mark mark;
    if (run->continuation.checkpoint && restart_mark(run, kind, index, &mark, error))
        return error->status;
    if (stream_open(run->files.directory, name, run->continuation.checkpoint ? &mark : NULL, stream,
                    error))
        return error->status;
    const bool rows_of_systems = strcmp(kind, "series") == 0;
    if (!run->continuation.checkpoint)
        csv_header(*stream, diagnostic->columns, diagnostic->column_count,
                   run->simulation->bodies->systems > 1 && rows_of_systems,
                   body_files_systems(&run->experiment.body_files) > 0 && rows_of_systems,
                   run->simulation->physics.units);
    return STATUS_OK;
}

static enum status open_series(struct run *run, struct error *error)
{
    for (size_t i = 0; i < run->observers.diagnostic_count; i++) {
        struct observed_diagnostic *observed = &run->observers.diagnostics[i];
        if (open_table(run, observed->diagnostic, "series", i, &observed->stream, error))
            return error->status;
        if (observed->aggregate && open_table(run, aggregate_diagnostic(observed->aggregate),
                                              "aggregate", i, &observed->aggregate_stream, error))
            return error->status;
    }
    return STATUS_OK;
}

/* File names that no output may have: those of the run's own files and its report, of control
 * files, of outputs with a file for each event, of files being written, and of those that are
 * compressed at the end. */
static const char *const taken_names[] = { "run.json",   "run.cfg",  "run.log",  "run.lock",
                                           "checkpoint", "stop",     "*.orr",    "*.orr.prev",
                                           "*.tmp",      "plots",    "report.*", "failure.*",
                                           "*.hdf5",     "*.vtkhdf", "*.gz" };

static void check_output_file(const struct observers *observers, size_t index,
                              const struct section *section, struct error *error)
{
    const char *file = observers->outputs[index].file;
    for (size_t k = 0; k < COUNT_OF(taken_names); k++)
        if (fnmatch(taken_names[k], file, 0) == 0)
            section_error(section, "file", error, "is a name that the run itself uses");
    for (size_t k = 0; k < index; k++)
        if (observers->outputs[k].file && strcmp(observers->outputs[k].file, file) == 0)
            section_error(section, "file", error, "another output writes it already");
    const char *suffix = strrchr(file, '.');
    if (!suffix || strcmp(suffix, ".csv") != 0)
        return;
    for (size_t k = 0; k < observers->diagnostic_count; k++)
        if (observers_writes(&observers->diagnostics[k], file, (size_t)(suffix - file)))
            section_error(section, "file", error, "a diagnostic writes it already");
}

/* Counts the events of an output in the whole run: those before the checkpoint, and those to come.
 * STATUS_CONFIG if the output would write too many files. */
static enum status count_events(const struct schedule *schedule, size_t index,
                                struct observed_output *observed, const struct section *section,
                                struct error *error)
{
    static const uint64_t most = 1000000;
    const struct trigger trigger = *schedule_output(schedule, index);
    const bool now =
        !schedule->events_done && trigger_fires(trigger, schedule->step, schedule->last);
    observed->events =
        observed->output->written + now + trigger_events(trigger, schedule->step, schedule->last);
    if (!observed->output->class_->event_file || observed->events <= most)
        return STATUS_OK;
    return section_error(section, "every", error,
                         "would write %" PRIu64 " files; at most %" PRIu64 " are allowed",
                         observed->events, most);
}

/* Refuses a file in the place of one that the continued run has yet to write, unless run.json lists
 * it: then the run wrote it after the checkpoint and may replace it. */
static enum status check_place(const struct run *run, const char *name, struct error *error)
{
    const struct directory *const directory = run->files.directory;
    if (!directory_has(directory, name) || directory_replaceable(directory, name, error) ||
        continuation_owns(&run->continuation, name))
        return error->status;
    return error_set(error, STATUS_CANT_CREATE,
                     "%s/%s: is there already, and run.json does not say that it belongs to the "
                     "run; move it away",
                     directory_path(directory), name);
}

static enum status check_places(const struct run *run, size_t index, struct error *error)
{
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    const struct observed_output *observed = &run->observers.outputs[index];
    const struct output_class *class_ = observed->output->class_;
    for (uint64_t event = observed->output->written;
         class_->event_file && event < observed->events && !error->status; event++) {
        char name[OUTPUT_NAME_SIZE];
        class_->event_file(section, event, name);
        check_place(run, name, error);
    }
    return error->status;
}

/* Opens an output in the directory, new or continued; if `directory` is NULL, only checks its
 * parameters. */
static enum status open_output(struct run *run, size_t index, struct directory *directory,
                               struct error *error)
{
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    struct observed_output *observed = &run->observers.outputs[index];
    const struct stream_mark *continued = NULL;
    struct stream_mark mark;
    if (directory && run->continuation.checkpoint) {
        if (restart_mark(run, "output", index, &mark, error))
            return error->status;
        continued = &mark;
    }
    if (observed->output && observed->output->class_->close(observed->output, error))
        return error->status;
    observed->output = NULL;
    if (output_find(section)->open(section, directory, continued, &observed->output, error))
        return error->status;
    if (continued && observed->output->class_->event_file && restart_files(run, index, error))
        return error->status;
    observed->file = observed->output->file;
    check_output_file(&run->observers, index, section, error);
    if (count_events(&run->schedule, index, observed, section, error) || !continued)
        return error->status;
    return check_places(run, index, error);
}

enum status open_outputs(struct run *run, struct directory *directory, struct error *error)
{
    for (size_t i = 0; i < run->observers.output_count; i++) {
        const struct section *section = config_item(run->experiment.config, "outputs", i);
        schedule_output(&run->schedule, i)->every = (uint64_t)section_integer(section, "every");
        open_output(run, i, directory, error); /* goes on after an error, to report every error */
    }
    return error->status;
}

static void note_start(struct run *run)
{
    const struct backend_description *d = &run->simulation->description;
    const struct bodies *bodies = run->simulation->bodies;
    char team[BACKEND_TEAM_SIZE], step[UNITS_TEXT_SIZE];
    if (run->files.early_log.length > 0)
        stream_write(run->files.log, run->files.early_log.bytes, run->files.early_log.length);
    text_free(&run->files.early_log);
    stream_print(run->files.log,
                 "%s %s: %zu x %zu bodies, %s, %" PRIu64 " steps of %s; %s, %s, %s, %s, "
                 "%s\n",
                 run->clocks.stamp, run->experiment.name, bodies->systems, bodies->count,
                 run->simulation->integrator->variant.name, run->schedule.last,
                 units_time(run->simulation->physics.units, run->simulation->step, 6, step),
                 d->backend, d->kernel, d->isa, precision_names[d->precision],
                 backend_team(d, team));
    if (d->device && d->device[0])
        stream_print(run->files.log, "%s device: %s\n", run->clocks.stamp, d->device);
    if (d->choice && d->choice[0])
        stream_print(run->files.log, "%s backend auto: %s\n", run->clocks.stamp, d->choice);
    if (run->continuation.from)
        run_notice(run, "restart: goes on from %s, step %" PRIu64 " of %" PRIu64,
                   run->continuation.from, run->schedule.step, run->schedule.last);
    char note[EXPERIMENT_NOTE_SIZE];
    if (experiment_end_note(&run->experiment, note)[0])
        run_notice(run, "%s", note);
    if (run->experiment.identical)
        run_warning(run, "warning: " EXPERIMENT_IDENTICAL, bodies->systems,
                    experiment_why_identical(&run->experiment));
    const struct initial_warnings *warnings = &run->experiment.warnings;
    if (warnings->coincident > 0)
        run_warning(run, "warning: pairs of bodies at the same position: %zu",
                    warnings->coincident);
    for (size_t k = 0; k < INITIAL_FILE_WARNINGS; k++)
        if (warnings->files[k].count > 0)
            run_warning(run, "warning: %s", warnings->files[k].words);
}

static enum status check_disk(struct run *run, struct error *error)
{
    const struct estimated estimated = run_estimated(run);
    const double needed = estimate_disk_bytes(&estimated);
    const double room = directory_free_bytes(run->files.directory);
    if (needed <= room)
        return STATUS_OK;
    return error_set(error, STATUS_CANT_CREATE,
                     "%s: the run would write %.3g GB, the disk has %.3g GB free",
                     directory_path(run->files.directory), 1e-9 * needed, 1e-9 * room);
}

/* Opens the directory of a new run and writes run.json before anything else, so that all files
 * written later can be found and removed by it. */
static enum status open_manifest(struct run *run, struct error *error)
{
    char buffer[EXPERIMENT_DIRECTORY_SIZE];
    const enum directory_mode mode = run->options.force ? DIRECTORY_FORCE : DIRECTORY_NEW;
    if ((!run->files.directory &&
         directory_open(experiment_directory(&run->experiment, run->options.directory, buffer),
                        mode, &run->files.directory, error)) ||
        check_disk(run, error) || provenance_claim(run, error) ||
        provenance_write(run, NULL, error))
        return error->status;
    run->files.manifest_written = true;
    return STATUS_OK;
}

/* Notes that the continued run was done before: its files stay as they are. */
static enum status note_done(struct run *run)
{
    text_free(&run->files.early_log);
    continuation_close(&run->continuation);
    /* A run with --force that was killed before it began may have left run.json.orrery.tmp, which
     * nothing will replace any more. */
    directory_replace_forget(run->files.directory, "run.json");
    run->autosave.any = run->files.manifest_written = true;
    char time[UNITS_TEXT_SIZE];
    run_notice(run, "restart: the run is done already: step %" PRIu64 ", t = %s",
               run->schedule.step, run_time_text(run, 6, time));
    return STATUS_OK;
}

/* Refuses files of bodies with other names than when the run began, since rows name the files.
 * `before` is the list of the old names in run.json. */
static enum status check_names(const struct run *run, const json_t *before, struct error *error)
{
    const struct section *bodies = config_section(run->experiment.config, "bodies");
    for (size_t s = 0; s < json_array_size(before); s++) {
        const char *now = body_files_name(&run->experiment.body_files, s);
        const char *then =
            json_string_value(run_field(json_array_get(before, s), FIELD_MEMBER_FILE));
        if (then && strcmp(then, now) != 0)
            return section_error(bodies, run->experiment.body_files.key, error,
                                 "system %zu came from %s when the run began, not from %s", s + 1,
                                 then, now[0] ? now : "bodies.file");
    }
    return STATUS_OK;
}

/* Refuses files of bodies with other bytes than when the run began, when their hash was `then`. A
 * restart takes the bodies from the checkpoint, but measures the scales of its results on the
 * bodies in the files. */
static enum status check_content(const struct run *run, const char *then, struct error *error)
{
    const char *models[INPUT_MODELS];
    const struct body_files files = input_files(run->experiment.config, models);
    const struct section *bodies = config_section(run->experiment.config, "bodies");
    char now[INPUT_HASH_SIZE];
    input_hash_all(&files, now);
    if (!then || !then[0] || !now[0] || strcmp(then, now) == 0)
        return STATUS_OK;
    if (files.paths == models)
        return section_error(bodies, NULL, error,
                             "the files of its models have other bytes than when the run began");
    return section_error(bodies, files.key, error, "has other bytes than when the run began");
}

/* Notes names and hash of the files that the bodies come from; on a restart takes both from
 * run.json and checks that they have not changed. */
static enum status note_input(struct run *run, struct error *error)
{
    const json_t *before = run->continuation.before;
    const char *hash = json_string_value(run_field(before, FIELD_BODIES_HASH));
    if (run->continuation.checkpoint) {
        if (check_content(run, hash, error))
            return error->status;
        snprintf(run->files.bodies_hash, sizeof run->files.bodies_hash, "%s", hash ? hash : "");
        run->files.members = json_incref(run_field(before, FIELD_MEMBERS));
        return check_names(run, run->files.members, error);
    }
    const char *models[INPUT_MODELS];
    const struct body_files files = input_files(run->experiment.config, models);
    input_hash_all(&files, run->files.bodies_hash);
    run->files.members = input_members(&run->experiment.body_files);
    return STATUS_OK;
}

/* Opens the files of diagnostics and outputs. Those of a continued run are read up to the marks of
 * the checkpoint, and unpacked if they were compressed, which takes a while if they are long. */
static enum status open_streams(struct run *run, struct error *error)
{
    char reason[ENDING_REASON_SIZE] = "";
    directory_lend(run->files.directory, &run->interruption);
    if (!open_series(run, error))
        open_outputs(run, run->files.directory, error);
    directory_lend(run->files.directory, NULL);
    if (error->status != STATUS_STOPPED)
        return error->status;
    ending_wanted(run, 0.0, reason);
    error_clear(error);
    return error_set(
        error, STATUS_STOPPED,
        "%s: stopped by %s while it read what the run had written; nothing was changed",
        directory_path(run->files.directory), reason);
}

enum status open_files(struct run *run, struct error *error)
{
    const bool continues = run->continuation.checkpoint != NULL;
    if (note_input(run, error) || (!continues && open_manifest(run, error)))
        return error->status;
    run->autosave.any = continues;
    if (continues && !run->continuation.done && check_place(run, failure_name, error))
        return error->status;
    if (open_streams(run, error) ||
        stream_append(run->files.directory, "run.log", &run->files.log, error))
        return error->status;
    /* Files are cut off at the marks of the checkpoint only after all of them were found to have
     * the bytes that it says, and no foreign file is in the way. */
    if (continues && observers_trim(&run->observers, !run->continuation.done, error))
        return error->status;
    if (continues)
        failure_forget(run);
    if (run->continuation.done)
        return note_done(run);
    if (write_config(run, error))
        return error->status;
    run->files.manifest_written = true;
    /* A file `stop` may have been meant for an earlier run. */
    directory_take(run->files.directory, "stop");
    if (run->files.early_log.failed)
        return error_memory(error);
    note_start(run);
    if (stream_flush(run->files.log, true, error)) /* so that the log tells of every restart */
        return error->status;
    continuation_close(&run->continuation);
    run->autosave.last = clock_seconds();
    /* A run that goes beyond its old end has just cut off the rows written there, which its old
     * checkpoint still counts: it needs a new checkpoint. */
    if ((!continues || run->continuation.goes_further) && save_checkpoint(run, error))
        return error->status;
    run->autosave.any = true;
    return provenance_write(run, NULL, error);
}
