#include "run/run.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/build.h"
#include "base/clock.h"
#include "base/document.h"
#include "machine/cores.h"
#include "output/run-fields.h"
#include "run/parts.h"
#include "run/phases.h"
#include "run/signals.h"

static bool asked_to_stop(void *context)
{
    struct run *const run = context;
    char reason[ENDING_REASON_SIZE] = "";
    return ending_wanted(run, 0.0, reason) || directory_has(run->files.directory, "stop");
}

/* Finishes (some formats compress) the files of outputs after the last frame. STATUS_STOPPED if a
 * signal, time limit or control file asks to stop meanwhile; a restart then does the rest. */
static enum status finish_outputs(struct run *run, struct error *error)
{
    /* Length of a file, in bytes, from which compression takes so long that a notice is shown. */
    static const uint64_t takes_a_while = 1 << 26;
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

/* Tells whether the run did what it should; only then an error while closing its files becomes its
 * status. */
static bool went_well(enum status status)
{
    return status == STATUS_OK || status == STATUS_EXPECT_FAILED || status == STATUS_STOPPED;
}

/* Adds an error of closing files to `error`, and returns the status of run and closing together. */
static enum status worse(enum status status, const struct error *late, struct error *error)
{
    if (error_pass(error, late) == STATUS_OK)
        return status;
    return went_well(status) ? late->status : status;
}

static bool is_recorded(const struct run *run, enum status status)
{
    return run->continuation.done &&
           json_integer_value(run_field(run->continuation.before, FIELD_EXIT_STATUS)) ==
               (json_int_t)status;
}

/* Checks and finishes the files of the run; reports if somebody has removed or cut one while the
 * run went on. */
static void finish_files(struct run *run, enum status status, struct error *error)
{
    const struct config *config = run->experiment.config;
    if (!run->files.log) /* it ended before all files of the run were open */
        return;
    if (went_well(status) && run_flush(run, false, error) == STATUS_OK)
        observers_look(&run->observers, config, run->files.directory, error);
    if ((status == STATUS_OK || status == STATUS_EXPECT_FAILED) && !error->status)
        finish_outputs(run, error);
}

/* Decides the verdict, closes all that is open, and writes into run.json how the run ended. */
static enum status finish(struct run *run, enum status status, struct error *error)
{
    if (!status)
        status = verdict_status(run);
    struct error closing = { 0 }, writing = { 0 };
    run->phase = RUN_ENDS;
    if (status == STATUS_NUMERICAL && failure_save(run, &closing) == STATUS_OK)
        run_notice(run, "the bodies as they are now: %s/%s", directory_path(run->files.directory),
                   failure_name);
    if (run->continuation.done)
        verdict_recall(run);
    else
        verdict_make(run, status, error->lines > 0 ? error->text : NULL);
    if (run->verdict.bytes && run->files.log && !run->continuation.done)
        files_log(&run->files, run->verdict.bytes);
    finish_files(run, status, &closing);
    if (run->files.log && error->lines > 0)
        files_log(&run->files, error->text);
    observers_close(&run->observers, &closing);
    files_close(&run->files, &closing);
    status = worse(status, &closing, error);
    clocks_stop(&run->clocks);
    const struct provenance_end end = { status, error->lines > 0 ? error->text : NULL };
    if (run->files.manifest_written && !is_recorded(run, status))
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

/* Frees all that the run has created, but not its choice of integrator and step. */
static void clear(struct run *run)
{
    observers_close(&run->observers, &(struct error){ 0 }); /* finish() has reported the errors that
                                                               matter */
    shadow_destroy(run->shadows);
    observers_destroy(&run->observers);
    criteria_destroy(&run->criteria);
    show_destroy(&run->show);
    schedule_destroy(&run->schedule);
    ensemble_destroy(&run->ensemble);
    continuation_destroy(&run->continuation);
    save_free(run->autosave.before_last);
    text_free(&run->verdict);
    files_destroy(&run->files);
    simulation_destroy(&run->replays.start);
    experiment_destroy(&run->experiment);
    config_free(run->chosen);
}

/* Prepares the run anew with the next choice of integrator and step; it will replace the files
 * written so far. It keeps its directory meanwhile, and if it cannot be prepared, run.json, which
 * the attempt before has written, says so. */
static enum status begin_anew(struct run *run, struct error *error)
{
    struct run fresh = {
        .options = run->options,
        .choice = run->choice,
        .exhausted = run->exhausted,
        .files = { .directory = run->files.directory, .manifest_written = true },
    };
    const struct config *const given = run->given;
    memcpy(fresh.why_again, run->why_again, sizeof fresh.why_again);
    run->files.directory = NULL;
    clear(run);
    fresh.options.force = true;
    fresh.options.restart = false;
    *run = fresh;
    run->simulation = &run->experiment.simulation;
    if (run->why_again[0])
        run_notice(run, "%s", run->why_again);
    clocks_start(&run->clocks);
    return prepare_whole(run, given, true, error) ? provenance_break_off(run, error) : STATUS_OK;
}

enum status run_execute(struct run *run, struct error *error)
{
    signals_catch(); /* until run_destroy() signals only ask the run to end; before, a signal may
                        end the process, since nothing is written yet */
    clocks_start(&run->clocks);
    enum status status = STATUS_OK;
    do {
        run->continuation.work = run_work(run).sums;
        run->work_before = attempt_work(run);
        status = open_files(run, error);
        /* Searches for neighbours take the number of threads that OpenMP has. */
        const int before = cores_limit_threads(run->simulation->options.force.threads);
        if (!status)
            status = loop_run(run, error);
        cores_limit_threads(before);
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
    choice_destroy(&run->choice);
    free(run);
    signals_release(); /* last, so that no signal ends the process before */
}

/* --- verification ----------------------------------------------------------------------------- */

/* The seconds that a call of the backend shall take, so that progress is shown between calls. */
static const double call_seconds = 0.2;

/* A verification: the run, its checkpoints (the earlier one in run->continuation), and the
 * result. */
struct replay {
    struct run *run;
    struct checkpoint *target; /* the later checkpoint, checkpoint.orr, whose bits must come out */
    struct verification *result;
    void (*progress)(void *context, double done);
    void *context;
};

static enum status nothing_to_verify(const struct run *run, const char *why, struct error *error)
{
    return error_set(error, STATUS_NO_INPUT, "%s: nothing to verify: %s",
                     directory_path(run->files.directory), why);
}

static enum status open_states(struct replay *replay, struct error *error)
{
    struct run *run = replay->run;
    uint64_t to;
    if (!directory_has(run->files.directory, checkpoint_previous))
        return nothing_to_verify(run, "it has no checkpoint.orr.prev yet", error);
    if (checkpoint_open(run->files.directory, checkpoint_name, &replay->target, error) ||
        checkpoint_open(run->files.directory, checkpoint_previous, &run->continuation.checkpoint,
                        error) ||
        restart_compare(run, error) || restart_load_bodies(run, error) ||
        restart_step(replay->target, &to, error))
        return error->status;
    replay->result->from = run->schedule.step;
    replay->result->to = to;
    if (to > run->schedule.step)
        return STATUS_OK;
    return nothing_to_verify(run, "both checkpoints are of the same step", error);
}

static enum status compute(struct replay *replay, struct error *error)
{
    struct run *run = replay->run;
    const struct verification *result = replay->result;
    enum status status = STATUS_OK;
    for (uint64_t batch_steps = 1; run->schedule.step < result->to && !status;) {
        const uint64_t left = result->to - run->schedule.step;
        const uint64_t steps = left < batch_steps ? left : batch_steps;
        const double before = clock_seconds();
        status = simulation_advance(run->simulation, steps, error);
        run->schedule.step += steps;
        if (clock_seconds() - before < call_seconds)
            batch_steps *= 2;
        if (replay->progress)
            replay->progress(replay->context, (double)(run->schedule.step - result->from) /
                                                  (double)(result->to - result->from));
    }
    return status ? status : simulation_fetch(run->simulation, error);
}

/* Returns the member "verified" for run.json. */
static json_t *certificate(const struct replay *replay)
{
    const struct verification *result = replay->result;
    const struct backend_description *d = &replay->run->simulation->description;
    char host[RUN_HOST_SIZE], stamp[CLOCK_STAMP_SIZE];
    return DOCUMENT(
        { "equal", json_boolean(result->difference.values == 0) },
        { "from_step", json_integer((json_int_t)result->from) },
        { "to_step", json_integer((json_int_t)result->to) },
        { "different_numbers", json_integer((json_int_t)result->difference.values) },
        { "when", json_string(clock_stamp(stamp)) }, { "host", json_string(run_host(host)) },
        { "version", json_string(build_version()) }, { "commit", json_string(build_commit()) },
        { "backend", json_string(d->backend) }, { "kernel", json_string(d->kernel) },
        { "isa", json_string(d->isa) }, { "threads", json_integer(d->threads) },
        { "seconds", json_real(result->seconds) });
}

static enum status judge_replay(const struct replay *replay, struct error *error)
{
    struct run *run = replay->run;
    const struct restart_difference *d = &replay->result->difference;
    if (d->values > 0 && !replay->result->same_build)
        return error_set(error, STATUS_UNAVAILABLE,
                         "%s: %zu numbers differ, but another build or kind of machine had "
                         "computed them; verify with that one",
                         directory_path(run->files.directory), d->values);
    if (provenance_add(run, "verified", certificate(replay), error))
        return error->status;
    if (d->values == 0)
        return STATUS_OK;
    char name[BODIES_NAME_SIZE];
    if (d->id != RESTART_NO_BODY)
        bodies_name(run->simulation->bodies, d->id, name);
    return error_set(error, STATUS_EXPECT_FAILED,
                     "%s: steps %" PRIu64 " to %" PRIu64 " do not come out with the same bits: %zu "
                     "numbers differ, the first is %s%s%s",
                     directory_path(run->files.directory), replay->result->from, replay->result->to,
                     d->values, d->array, d->id != RESTART_NO_BODY ? " of " : "",
                     d->id != RESTART_NO_BODY ? name : "");
}

static enum status replay_run(struct replay *replay, struct error *error)
{
    struct run *run = replay->run;
    if (open_states(replay, error) || simulation_start(run->simulation, error) ||
        restart_load_integrator(run, error))
        return error->status;
    replay->result->same_build = restart_same_build(run, replay->target) &&
                                 restart_same_build(run, run->continuation.checkpoint);
    const double start = clock_seconds();
    if (compute(replay, error))
        return error->status;
    replay->result->seconds = clock_seconds() - start;
    if (restart_differences(run, replay->target, &replay->result->difference, error))
        return error->status;
    return judge_replay(replay, error);
}

enum status verify_run(const struct config *config, const char *directory,
                       void (*progress)(void *context, double done), void *context,
                       struct verification *verification, struct error *error)
{
    *verification = (struct verification){ 0 };
    struct run *run = create(error);
    struct replay replay = { run, NULL, verification, progress, context };
    if (run) {
        run->options.directory = directory;
        if (prepare_bare(run, config, error) == STATUS_OK)
            replay_run(&replay, error);
    }
    checkpoint_close(replay.target);
    run_destroy(run);
    return error->status;
}
