#include "run/run.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/attempt.h"
#include "run/parts.h"
#include "run/phases.h"
#include "run/provenance.h"
#include "run/signals.h"

static bool asked_to_stop(void *context)
{
    struct run *const run = context;
    char reason[ENDING_REASON_SIZE] = "";
    return ending_wanted(run, 0.0, reason) || directory_has(run->files.directory, "stop");
}

/* Finishes the files of outputs once nothing is added to them. What asks to stop leaves it to a
 * restart: a run is not finished before (STATUS_STOPPED). */
static enum status finish_outputs(struct run *run, struct error *error)
{
    static const uint64_t takes_a_while = 1 << 26; /* bytes */
    struct interruption interruption = { .asked = asked_to_stop, .context = run };
    char reason[ENDING_REASON_SIZE] = "";
    directory_lend(run->files.directory, &interruption);
    for (size_t i = 0; i < run->observers.output_count; i++) {
        struct output *output = run->observers.outputs[i].output;
        char name[OUTPUT_NAME_SIZE];
        if (!output || !output->class_->finish)
            continue;
        if (stream_mark(output->stream).length >= takes_a_while &&
            output->class_->finished_file(config_item(run->experiment.config, "outputs", i), name))
            run_notice(run, "writing %s/%s", directory_path(run->files.directory), name);
        if (output->class_->finish(output, error) == STATUS_STOPPED)
            break;
    }
    directory_lend(run->files.directory, NULL);
    if (error->status != STATUS_STOPPED)
        return error->status;
    error_clear(error);
    ending_take_files(run, reason);
    ending_wanted(run, 0.0, reason);
    return error_set(error, STATUS_STOPPED,
                     "%s: stopped by %s while it compressed its files; the same command with "
                     "--restart does the rest",
                     directory_path(run->files.directory), reason);
}

/* Statuses of a run that did what it should; an error on the way out takes their place. */
static bool went_well(enum status status)
{
    return status == STATUS_OK || status == STATUS_EXPECT_FAILED || status == STATUS_STOPPED;
}

/* Adds a failure of the way out to what is reported. */
static enum status worse(enum status status, const struct error *late, struct error *error)
{
    if (error_pass(error, late) == STATUS_OK)
        return status;
    return went_well(status) ? late->status : status;
}

/* run.json says so already: as the run was done before, so it is now. */
static bool is_told(const struct run *run, enum status status)
{
    return run->continuation.done &&
           json_integer_value(json_object_get(run->continuation.before, "exit_status")) ==
               (json_int_t)status;
}

/* Finishes the files. Whoever removed or cut one while the run went on must hear of it. */
static void finish_files(struct run *run, enum status status, struct error *error)
{
    const struct config *config = run->experiment.config;
    if (!run->files.log) /* it ended before all of them were open */
        return;
    if (went_well(status) && run_flush(run, false, error) == STATUS_OK)
        observers_look(&run->observers, config, run->files.directory, error);
    if ((status == STATUS_OK || status == STATUS_EXPECT_FAILED) && !error->status)
        finish_outputs(run, error);
}

/* The last words: whatever was open is closed and run.json says how it ended. */
static enum status finish(struct run *run, enum status status, struct error *error)
{
    if (!status && !(attempt_finding(run).severity != FINDING_FAILURE &&
                     expectations_hold(&run->criteria.expect) &&
                     watch_holds(run->observers.watch, run->ensemble.left_out)))
        status = STATUS_EXPECT_FAILED;
    struct error closing = { 0 }, writing = { 0 };
    run->phase = RUN_ENDS;
    if (status == STATUS_NUMERICAL && failure_save(run, &closing) == STATUS_OK)
        run_notice(run, "the bodies as they are now: %s/%s", directory_path(run->files.directory),
                   failure_name);
    if (run->continuation.done)
        verdict_recall(run);
    else
        verdict_make(run, status, error->lines > 0 ? error->text : NULL);
    if (run->verdict[0] && run->files.log && !run->continuation.done)
        files_log(&run->files, run->verdict);
    finish_files(run, status, &closing);
    if (run->files.log && error->lines > 0)
        stream_print(run->files.log, "%.400s\n", error->text);
    observers_close(&run->observers, &closing);
    files_close(&run->files, &closing);
    status = worse(status, &closing, error);
    clocks_stop(&run->clocks);
    const struct provenance_end end = { status, error->lines > 0 ? error->text : NULL };
    if (run->files.manifest_written && !is_told(run, status))
        provenance_write(run, &end, &writing);
    return worse(status, &writing, error);
}

static struct run *create(struct error *error)
{
    struct run *run = calloc(1, sizeof *run);
    if (run)
        run->simulation = &run->experiment.simulation;
    else
        error_memory(error);
    return run;
}

enum status run_prepare(const struct config *config, const struct run_options *options,
                        bool measure, struct run **result, struct error *error)
{
    *result = NULL;
    struct run *run = create(error);
    if (!run)
        return error->status;
    run->options = *options;
    if (prepare_whole(run, config, measure, error))
        run_destroy(run);
    else
        *result = run;
    return error->status;
}

struct run *run_open_bare(const struct config *config, const char *directory, struct error *error)
{
    struct run *run = create(error);
    if (!run)
        return NULL;
    run->options.directory = directory;
    if (prepare_bare(run, config, error) == STATUS_OK)
        return run;
    run_destroy(run);
    return NULL;
}

/* Lets go of all that the run has made. */
static void clear(struct run *run)
{
    observers_close(&run->observers, &(struct error){ 0 }); /* finish() has said what mattered */
    shadow_destroy(run->shadows);
    observers_destroy(&run->observers);
    criteria_destroy(&run->criteria);
    show_destroy(&run->show);
    schedule_destroy(&run->schedule);
    ensemble_destroy(&run->ensemble);
    continuation_destroy(&run->continuation);
    save_free(run->autosave.before_last);
    files_destroy(&run->files);
    simulation_destroy(&run->replays.start);
    experiment_destroy(&run->experiment);
    config_free(run->chosen);
}

/* Prepares the run anew with the next choice; what it has written gives way. */
static enum status begin_anew(struct run *run, struct error *error)
{
    struct run fresh = { .options = run->options,
                         .choice = run->choice,
                         .exhausted = run->exhausted };
    const struct config *const given = run->given;
    memcpy(fresh.why_again, run->why_again, sizeof fresh.why_again);
    clear(run);
    fresh.options.force = true;
    fresh.options.restart = false;
    *run = fresh;
    run->simulation = &run->experiment.simulation;
    if (run->why_again[0])
        run_notice(run, "%s", run->why_again);
    clocks_start(&run->clocks);
    return prepare_whole(run, given, true, error);
}

enum status run_execute(struct run *run, struct error *error)
{
    signals_catch(); /* until run_destroy(); nothing is written before */
    clocks_start(&run->clocks);
    enum status status = STATUS_OK;
    do {
        run->continuation.work = run_work(run).sums;
        status = open_files(run, error);
        if (!status)
            status = loop_run(run, error);
        if (!attempt_again(run, status))
            break;
        error_clear(error);
        if (begin_anew(run, error))
            return error->status;
    } while (true);
    return finish(run, status, error);
}

void run_destroy(struct run *run)
{
    if (!run)
        return;
    clear(run);
    selection_destroy(&run->choice);
    free(run);
    signals_release(); /* until here a signal does not end the process */
}
