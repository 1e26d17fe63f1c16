#include "run/phases.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/build.h"
#include "base/document.h"
#include "base/memory.h"
#include "force/direct/direct.h"
#include "output/run-fields.h"
#include "run/change.h"
#include "run/record.h"
#include "run/run.h"

/* --- the content of a checkpoint -------------------------------------------------------------- */

const char content_early[] = "early:";
const char content_files[] = "files";
const char content_legs[] = "legs";

const char *content_name(const char *prefix, const char *kind, size_t index,
                         char buffer[CHECKPOINT_NAME_SIZE])
{
    snprintf(buffer, CHECKPOINT_NAME_SIZE, "%s%s:%zu", prefix, kind, index);
    return buffer;
}

const char *content_build(const struct run *run, char buffer[CONTENT_BUILD_SIZE])
{
    const struct backend_description *d = &run->simulation->description;
    const uint32_t hash = direct_estimates(d->isa);
    char machine[CONTENT_BUILD_SIZE / 2] = "", estimates[32] = "";
    if (hash != 0)
        snprintf(estimates, sizeof estimates, " (1/sqrt %08" PRIx32 ")", hash);
    /* The kernel `portable` gives the same bits on every machine, except in external fields: their
     * logarithms and sines are rounded differently by different libraries. */
    if (strcmp(d->kernel, force_kernel_names[FORCE_PORTABLE]) != 0 ||
        run->simulation->physics.external)
        snprintf(machine, sizeof machine, " %s %s%s %s", d->backend, d->isa, estimates,
                 d->device ? d->device : "");
    snprintf(buffer, CONTENT_BUILD_SIZE, "orrery %s %s, %s %s; %s%s %s", build_version(),
             build_commit(), build_compiler(), build_options(), d->kernel, machine,
             precision_names[d->precision]);
    return buffer;
}

void content_visit_state(const struct run *run,
                         void (*visit)(void *context, const char *kind, size_t index,
                                       double *numbers, size_t count),
                         void *context)
{
    for (size_t i = 0; i < run->observers.diagnostic_count; i++) {
        const struct observed_diagnostic *observed = &run->observers.diagnostics[i];
        visit(context, "diagnostic", i, observed->diagnostic->state,
              observed->diagnostic->state_count);
        visit(context, "row", i, observed->last_row, observed->diagnostic->column_count);
        if (observed->aggregate)
            visit(context, "aggregate-row", i, aggregate_last_row(observed->aggregate),
                  aggregate_diagnostic(observed->aggregate)->column_count);
    }
    for (size_t i = 0; i < run->criteria.expect.count; i++)
        visit(context, "expect", i, run->criteria.expect.criteria[i].state, CRITERION_STATE);
    visit(context, "member_error", 0, run->ensemble.largest_error,
          run->simulation->bodies->systems);
    size_t length;
    double *watched = watch_state(run->observers.watch, &length);
    visit(context, "watch", 0, watched, length);
}

enum status content_get_json(const struct checkpoint *checkpoint, const char *name,
                             struct json_t **json, struct error *error)
{
    bool no_memory;
    char *text = checkpoint_get_text(checkpoint, name, error);
    *json = NULL;
    if (!text)
        return error->status;
    *json = document_parse(text, strlen(text), &no_memory);
    free(text);
    return !*json && no_memory ? error_memory(error) : STATUS_OK;
}

/* --- opening ---------------------------------------------------------------------------------- */

enum status restart_open(struct run *run, struct error *error)
{
    struct error newest = { 0 }, previous = { 0 };
    run->continuation.from = checkpoint_name;
    if (checkpoint_open(run->files.directory, checkpoint_name, &run->continuation.checkpoint,
                        &newest) == STATUS_OK)
        return STATUS_OK;
    if (newest.status == STATUS_MEMORY)
        return error_set(error, STATUS_MEMORY, "%s", newest.text);
    if (directory_replaceable(run->files.directory, checkpoint_name,
                              error)) /* no later checkpoint could replace it */
        return error->status;
    run->continuation.newest_damaged = true;
    run->continuation.from = checkpoint_previous;
    if (checkpoint_open(run->files.directory, checkpoint_previous, &run->continuation.checkpoint,
                        &previous) != STATUS_OK)
        return error_set(error, previous.status == STATUS_MEMORY ? STATUS_MEMORY : STATUS_DATA,
                         "%s\n%s", newest.text, previous.text);
    run_warning(run, "WARNING: %s; going on from the previous one, %s", newest.text,
                checkpoint_previous);
    return STATUS_OK;
}

/* --- comparing -------------------------------------------------------------------------------- */

struct loading {
    struct run *run;
    struct error *error;
    const json_t *before; /* the config with which the run began */
};

/* Tells whether the change only gives time.step the value of the grid step with which the run
 * began. */
static bool names_old_grid(const struct loading *loading, const struct change *change)
{
    return strcmp(change->path, "time.step") == 0 &&
           loading->run->experiment.simulation.step ==
               change_old_grid(loading->run->experiment.config, loading->before);
}

/* Refuses another stop_when after a condition of it has ended the run: the rows of that last step
 * are in the files already. */
static void judge_stop_when(const struct loading *loading)
{
    const struct run *const run = loading->run;
    char *ended_by = checkpoint_get_text(run->continuation.checkpoint, "ended_by", loading->error);
    if (ended_by && ended_by[0])
        error_set(loading->error, STATUS_CONFIG,
                  "%s: stop_when has ended the run (%s), which no other stop_when can continue; "
                  "begin anew with --force",
                  config_path(run->experiment.config), ended_by);
    free(ended_by);
}

static void judge_change(void *context, const struct change *change)
{
    const struct loading *loading = context;
    struct run *run = loading->run;
    if (change->kind == CHANGE_EXPERIMENT && !names_old_grid(loading, change)) {
        error_set(loading->error, STATUS_CONFIG, "%s: %s was %s when the run began, now it is %s",
                  config_path(run->experiment.config), change->path, change->before, change->now);
        return;
    }
    if (change->kind == CHANGE_END)
        change_check_end(run->experiment.config, loading->before, loading->error);
    if (strncmp(change->path, "stop_when", strlen("stop_when")) == 0)
        judge_stop_when(loading);
    if (loading->error->status)
        return;
    run->continuation.changed = true;
    run_notice(run, "restart: %s was %s, is %s", change->path, change->before, change->now);
}

enum status restart_compare(struct run *run, struct error *error)
{
    json_t *before;
    if (content_get_json(run->continuation.checkpoint, "config", &before, error))
        return error->status;
    struct loading loading = { run, error, before };
    if (before)
        change_visit(before, run->experiment.config, judge_change, &loading, error);
    else
        error_set(error, STATUS_DATA, "%s: its section 'config' is not JSON", checkpoint_name);
    json_decref(before);
    return error->status;
}

/* --- loading ---------------------------------------------------------------------------------- */

/* Loads the condition of stop_when that has ended the run, if any has: then the run stays ended. */
static enum status load_end(struct run *run, struct error *error)
{
    char *ended_by = checkpoint_get_text(run->continuation.checkpoint, "ended_by", error);
    if (!ended_by)
        return error->status;
    snprintf(run->criteria.ended_by, sizeof run->criteria.ended_by, "%s", ended_by);
    free(ended_by);
    if (run->criteria.ended_by[0]) {
        schedule_cut(&run->schedule);
        if (run->continuation.changed)
            run_notice(run, "restart: stop_when has ended the run: %s", run->criteria.ended_by);
    }
    return STATUS_OK;
}

/* Refuses an end before the step `reached`: later rows would stay in the files, and contradict the
 * config. */
static enum status check_end(const struct run *run, uint64_t reached, struct error *error)
{
    if (reached <= run->schedule.last)
        return STATUS_OK;
    char time[UNITS_TEXT_SIZE];
    return section_error(config_section(run->experiment.config, "time"), "end", error,
                         "the run has reached t = %s (step %" PRIu64
                         ") already; give it no earlier end, or begin anew with --force",
                         units_time(run->simulation->physics.units,
                                    (double)reached * run->simulation->step, 6, time),
                         reached);
}

/* Tells whether the run has come to its end, with a config that has not changed since. */
static bool is_done(const struct run *run)
{
    const json_t *code = run_field(run->continuation.before, FIELD_EXIT_STATUS);
    return json_is_integer(code) && !run->continuation.changed && run->autosave.saved &&
           run->schedule.events_done && run->schedule.step == run->schedule.last &&
           (json_integer_value(code) == STATUS_OK ||
            json_integer_value(code) == STATUS_EXPECT_FAILED);
}

/* Loads the section `counts`, and sets the schedule and the state of the continuation by it. */
static enum status load_counts(struct run *run, struct error *error)
{
    const struct bodies *bodies = run->simulation->bodies;
    uint64_t counts[COUNTS];
    if (checkpoint_get_words(run->continuation.checkpoint, "counts", counts, 1, COUNTS, 0, error))
        return error->status;
    if (counts[COUNT_SYSTEMS] != bodies->systems || counts[COUNT_BODIES] != bodies->count)
        return error_set(error, STATUS_CONFIG,
                         "%s: holds %" PRIu64 " systems of %" PRIu64
                         " bodies, the config describes %zu of %zu",
                         checkpoint_name, counts[COUNT_SYSTEMS], counts[COUNT_BODIES],
                         bodies->systems, bodies->count);
    run->schedule.step = run->schedule.first_step = run->simulation->steps = counts[COUNT_STEP];
    if (check_end(run, run->schedule.step, error) || load_end(run, error))
        return error->status;
    /* If the run goes beyond its old end, the events there are taken back if some happened only
     * because it was the end. */
    run->continuation.goes_further = counts[COUNT_EARLY] && run->schedule.last > run->schedule.step;
    run->schedule.events_done = counts[COUNT_EVENTS] && !run->continuation.goes_further;
    run->continuation.other_bits = !counts[COUNT_BITWISE];
    run->autosave.saved = !run->continuation.newest_damaged && !run->continuation.goes_further;
    run->autosave.saved_step = run->schedule.step;
    run->autosave.saved_events = run->schedule.events_done;
    run->continuation.done = is_done(run);
    return STATUS_OK;
}

enum status restart_load_bodies(struct run *run, struct error *error)
{
    struct bodies *bodies = run->simulation->bodies;
    if (load_counts(run, error))
        return error->status;
    struct saved_array arrays[SAVED_ARRAYS];
    saved_arrays(bodies, arrays);
    for (size_t k = 0; k < SAVED_ARRAYS; k++)
        checkpoint_get_words(run->continuation.checkpoint, arrays[k].name, arrays[k].values,
                             bodies->systems, bodies->count, bodies->stride, error);
    checkpoint_get_words(run->continuation.checkpoint, "first", run->simulation->first, 1,
                         bodies->systems * CONSERVED_REALS, 0, error);
    return error->status ? error->status : legs_load(run, error);
}

enum status restart_load_integrator(struct run *run, struct error *error)
{
    return saved_get_adaptive(run->continuation.checkpoint, "", run->simulation->backend, error);
}

enum status restart_step(const struct checkpoint *checkpoint, uint64_t *step, struct error *error)
{
    uint64_t counts[COUNTS];
    if (checkpoint_get_words(checkpoint, "counts", counts, 1, COUNTS, 0, error))
        return error->status;
    *step = counts[COUNT_STEP];
    return STATUS_OK;
}

bool restart_same_build(const struct run *run, const struct checkpoint *checkpoint)
{
    struct error ignored = { 0 };
    char *before = checkpoint_get_text(checkpoint, "build", &ignored), now[CONTENT_BUILD_SIZE];
    const bool same = before && strcmp(before, content_build(run, now)) == 0;
    free(before);
    return same;
}

static void compare_array(const struct bodies *b, const struct saved_array *array,
                          const uint64_t *expected, struct restart_difference *difference)
{
    for (size_t s = 0; s < b->systems; s++)
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++) {
            if (memcmp((const char *)array->values + i * sizeof *expected, &expected[i],
                       sizeof *expected) == 0)
                continue;
            if (difference->values++ == 0) {
                difference->array = array->name;
                difference->id = b->id[i];
            }
        }
}

enum status restart_differences(const struct run *run, const struct checkpoint *checkpoint,
                                struct restart_difference *difference, struct error *error)
{
    const struct bodies *b = run->simulation->bodies;
    *difference = (struct restart_difference){ 0 };
    uint64_t *expected = memory_array(bodies_length(b), sizeof *expected, error);
    struct saved_array arrays[SAVED_ARRAYS];
    saved_arrays(b, arrays);
    for (size_t k = 0; k < SAVED_ARRAYS && !error->status; k++)
        if (checkpoint_get_words(checkpoint, arrays[k].name, expected, b->systems, b->count,
                                 b->stride, error) == STATUS_OK)
            compare_array(b, &arrays[k], expected, difference);
    memory_free(expected);
    size_t different = 0;
    if (!error->status)
        saved_compare_adaptive(checkpoint, "", run->simulation->backend, &different, error);
    if (different > 0 && difference->values == 0) {
        difference->array = "the integrator's state";
        difference->id = RESTART_NO_BODY;
    }
    difference->values += different;
    return error->status;
}

/* Returns the prefix of the sections with the state that this restart loads: that from before the
 * events of the old end if the run goes beyond the old end. */
static const char *state_prefix(const struct run *run)
{
    return run->continuation.goes_further ? content_early : "";
}

static enum status load_words(const struct run *run, const char *kind, size_t index, void *words,
                              size_t count, struct error *error)
{
    char name[CHECKPOINT_NAME_SIZE];
    content_name(state_prefix(run), kind, index, name);
    return checkpoint_get_words(run->continuation.checkpoint, name, words, 1, count, 0, error);
}

static void load_state(void *context, const char *kind, size_t index, double *numbers, size_t count)
{
    const struct loading *loading = context;
    load_words(loading->run, kind, index, numbers, count, loading->error);
}

enum status restart_load_observers(struct run *run, struct error *error)
{
    struct loading loading = { .run = run, .error = error };
    content_visit_state(run, load_state, &loading);
    if (error->status)
        return error->status;
    char *before = checkpoint_get_text(run->continuation.checkpoint, "build", error),
         now[CONTENT_BUILD_SIZE];
    if (!before)
        return error->status;
    if (strcmp(before, content_build(run, now)) != 0) {
        run->continuation.other_bits = true;
        run_warning(run, "warning: not bitwise: begun by %s; now %s", before, now);
    }
    free(before);
    return STATUS_OK;
}

enum status restart_files(const struct run *run, size_t index, struct error *error)
{
    struct output *output = run->observers.outputs[index].output;
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    if (output->written > SIZE_MAX / 4)
        return error_set(error, STATUS_DATA, "%s: counts too many files", checkpoint_name);
    const size_t count = 2 * (size_t)output->written;
    uint64_t *marks = memory_array(count, sizeof *marks, error);
    if (marks && load_words(run, content_files, index, marks, count, error) == STATUS_OK)
        output_resume_files(output, section, run->files.directory, marks, error);
    memory_free(marks);
    return error->status;
}

enum status restart_mark(const struct run *run, const char *kind, size_t index,
                         struct stream_mark *mark, struct error *error)
{
    uint64_t values[2];
    if (load_words(run, kind, index, values, COUNT_OF(values), error))
        return error->status;
    *mark = (struct stream_mark){ values[0], values[1] };
    return STATUS_OK;
}
