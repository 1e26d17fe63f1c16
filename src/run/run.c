#include "run/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "run/failure.h"
#include "run/parts.h"
#include "run/provenance.h"
#include "run/save.h"
#include "run/shadow.h"
#include "run/signals.h"

static void tell(struct run *run, bool loud, const char *format, va_list arguments)
{
    char line[512], stamp[CLOCK_STAMP_SIZE];
    vsnprintf(line, sizeof line, format, arguments);
    if (run->options.notice)
        run->options.notice(run->options.context, loud, line);
    if (run->done_before) /* nothing is added to its log either */
        return;
    clock_stamp(stamp);
    if (run->log)
        stream_print(run->log, "%s %s\n", stamp, line);
    else
        text_print(&run->early_log, "%s %s\n", stamp, line);
}

void run_notice(struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(run, false, format, arguments);
    va_end(arguments);
}

void run_warning(struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(run, true, format, arguments);
    va_end(arguments);
}

double run_time(const struct run *run)
{
    return (double)run->step * run->experiment.step;
}

const char *run_time_text(const struct run *run, int digits, char buffer[UNITS_TEXT_SIZE])
{
    return units_time(run->experiment.physics.units, run_time(run), digits, buffer);
}

double run_rate(const struct run *run)
{
    if (run->advance_seconds <= 0.0)
        return 0.0;
    return experiment_interactions(&run->experiment, run->step - run->first_step) /
           run->advance_seconds;
}

double run_energy_error(const struct run *run, size_t system)
{
    const double first = run->first[system].kinetic + run->first[system].potential;
    const double now = run->conserved[system].kinetic + run->conserved[system].potential;
    return first != 0.0 ? (now - first) / fabs(first) : NAN;
}

size_t run_worst_system(const struct run *run)
{
    size_t worst = 0;
    for (size_t s = 1; s < run->experiment.bodies->systems; s++) {
        const double error = run_energy_error(run, s), most = run_energy_error(run, worst);
        /* Not fmax(): one that is undefined is the worst. */
        if (!isnan(most) && (isnan(error) || fabs(error) > fabs(most)))
            worst = s;
    }
    return worst;
}

const char *run_directory(const struct run *run, char buffer[RUN_DIRECTORY_SIZE])
{
    if (run->options.directory)
        return run->options.directory;
    snprintf(buffer, RUN_DIRECTORY_SIZE, "%s.run", run->experiment.name);
    return buffer;
}

static enum status close_files(struct run *run, struct error *error)
{
    for (size_t i = 0; run->diagnostics && i < run->diagnostic_count; i++) {
        stream_close(run->diagnostics[i].stream, error);
        stream_close(run->diagnostics[i].aggregate_stream, error);
        run->diagnostics[i].stream = run->diagnostics[i].aggregate_stream = NULL;
    }
    for (size_t i = 0; run->outputs && i < run->output_count; i++) {
        if (run->outputs[i] && run->outputs[i]->class_->event_file)
            run->output_events[i] = run->outputs[i]->written;
        if (run->outputs[i])
            run->outputs[i]->class_->close(run->outputs[i], error);
        run->outputs[i] = NULL;
    }
    stream_close(run->log, error);
    run->log = NULL;
    return error->status;
}

static bool asked_to_stop(void)
{
    return signals_stop() != 0;
}

/* What outputs do to their files once nothing is added to them. A signal leaves it to a restart:
 * a run is not finished before (STATUS_STOPPED). */
static enum status finish_outputs(struct run *run, struct error *error)
{
    static const uint64_t takes_a_while = 1 << 26; /* bytes */
    bool all_done = true;
    for (size_t i = 0; i < run->output_count; i++) {
        struct output *output = run->outputs[i];
        bool done;
        char name[OUTPUT_NAME_SIZE];
        if (!output || !output->class_->finish)
            continue;
        if (stream_mark(output->stream).length >= takes_a_while &&
            output->class_->finished_file(config_item(run->experiment.config, "outputs", i), name))
            run_notice(run, "writing %s/%s", directory_path(run->directory), name);
        output->class_->finish(output, asked_to_stop, &done, error);
        all_done = all_done && done;
    }
    if (all_done || error->status)
        return error->status;
    return error_set(error, STATUS_STOPPED,
                     "%s: stopped by signal %d while it compressed its files; the same command "
                     "with --restart does the rest",
                     directory_path(run->directory), signals_stop());
}

/* Are the files that the run has written still there? Who removed or cut one while the run went on
 * must hear of it. */
static enum status look_at_files(const struct run *run, struct error *error)
{
    for (size_t i = 0; i < run->diagnostic_count; i++) {
        const struct run_diagnostic *slot = &run->diagnostics[i];
        if (slot->stream)
            stream_look(slot->stream, run->directory, error);
        if (slot->aggregate_stream)
            stream_look(slot->aggregate_stream, run->directory, error);
    }
    for (size_t i = 0; i < run->output_count; i++)
        if (run->outputs[i])
            output_look(run->outputs[i], config_item(run->experiment.config, "outputs", i),
                        run->directory, error);
    return error->status;
}

/* Statuses of a run that did what it should; an error on the way out takes their place. */
static bool went_well(enum status status)
{
    return status == STATUS_OK || status == STATUS_EXPECT_FAILED || status == STATUS_STOPPED;
}

/* Adds a failure of the way out to what is reported. */
static enum status worse(enum status status, const struct error *late, struct error *error)
{
    if (!late->status)
        return status;
    error_set(error, late->status, "%s", late->text);
    return went_well(status) ? late->status : status;
}

/* run.json says so already: as the run was done before, so it is now. */
static bool is_told(const struct run *run, enum status status)
{
    return run->done_before &&
           json_integer_value(json_object_get(run->before, "exit_status")) == (json_int_t)status;
}

/* The last words: whatever was open is closed and run.json says how it ended. */
static enum status finish(struct run *run, enum status status, struct error *error)
{
    if (!status &&
        (!expectations_hold(&run->expectations) || !watch_holds(run->watch, run->left_out)))
        status = STATUS_EXPECT_FAILED;
    struct error closing = { 0 }, writing = { 0 };
    if (status == STATUS_NUMERICAL && failure_save(run, &closing) == STATUS_OK)
        run_notice(run, "the bodies as they are now: %s/%s", directory_path(run->directory),
                   failure_name);
    if (went_well(status) && run_flush(run, false, &closing) == STATUS_OK)
        look_at_files(run, &closing);
    if ((status == STATUS_OK || status == STATUS_EXPECT_FAILED) && !closing.status)
        finish_outputs(run, &closing);
    if (run->log && error->lines > 0)
        stream_print(run->log, "%.400s\n", error->text);
    close_files(run, &closing);
    status = worse(status, &closing, error);
    run->error_text = error->lines > 0 ? error->text : NULL;
    run->ended = clock_seconds();
    run->cpu_ended = clock_cpu_seconds();
    if (run->manifest_written && !is_told(run, status))
        provenance_write(run, PROVENANCE_ENDED, status, &writing);
    return worse(status, &writing, error);
}

enum status run_execute(struct run *run, struct error *error)
{
    run->started = clock_seconds();
    run->cpu_started = clock_cpu_seconds();
    clock_stamp(run->start_stamp);
    enum status status = run_open_files(run, error);
    if (!status)
        status = run_loop(run, error);
    return finish(run, status, error);
}

void run_destroy(struct run *run)
{
    if (!run)
        return;
    struct error ignored = { 0 }; /* whatever mattered was reported by finish() */
    close_files(run, &ignored);
    shadow_destroy(run);
    for (size_t i = 0; run->diagnostics && i < run->diagnostic_count; i++) {
        struct diagnostic *diagnostic = run->diagnostics[i].diagnostic;
        if (diagnostic)
            diagnostic->class_->destroy(diagnostic);
        aggregate_destroy(run->diagnostics[i].aggregate);
        memory_free(run->diagnostics[i].last_row);
    }
    expectations_destroy(&run->expectations);
    expectations_destroy(&run->stops);
    watch_destroy(run->watch);
    free(run->diagnostics);
    free(run->outputs);
    free(run->output_files);
    free(run->output_events);
    free(run->triggers);
    free(run->conserved);
    free(run->first);
    free(run->member_error);
    free(run->left_out);
    memory_free(run->phi);
    memory_free(run->psi);
    if (run->backend)
        run->backend->class_->destroy(run->backend);
    checkpoint_close(run->checkpoint);
    save_forget(run->before_last);
    json_decref(run->before);
    json_decref(run->legs_before);
    text_free(&run->early_log);
    directory_close(run->directory);
    experiment_destroy(&run->experiment);
    free(run);
    signals_release(); /* until here a signal does not end the process */
}
