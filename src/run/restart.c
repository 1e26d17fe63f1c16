#include "run/restart.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "run/change.h"
#include "run/content.h"
#include "run/legs.h"

/* --- opening -----------------------------------------------------------------------------------
 */

enum status restart_open(struct run *run, struct error *error)
{
    struct error newest = { 0 }, previous = { 0 };
    run->continued_from = checkpoint_name;
    if (checkpoint_open(run->directory, checkpoint_name, &run->checkpoint, &newest) == STATUS_OK)
        return STATUS_OK;
    if (newest.status == STATUS_MEMORY) /* that says nothing of the file */
        return error_set(error, STATUS_MEMORY, "%s", newest.text);
    if (directory_replaceable(run->directory, checkpoint_name, error)) /* could be no newer one */
        return error->status;
    run->newest_damaged = true;
    run->continued_from = checkpoint_previous;
    if (checkpoint_open(run->directory, checkpoint_previous, &run->checkpoint, &previous) !=
        STATUS_OK)
        return error_set(error, previous.status == STATUS_MEMORY ? STATUS_MEMORY : STATUS_DATA,
                         "%s\n%s", newest.text, previous.text);
    run_warning(run, "WARNING: %s; going on from the previous one, %s", newest.text,
                checkpoint_previous);
    return STATUS_OK;
}

/* --- comparing ---------------------------------------------------------------------------------
 */

struct comparison {
    struct run *run;
    struct error *error;
};

static void judge_change(void *context, const struct change *change)
{
    const struct comparison *comparison = context;
    struct run *run = comparison->run;
    if (change->kind == CHANGE_EXPERIMENT) {
        error_set(comparison->error, STATUS_CONFIG,
                  "%s: %s was %s when the run began, now it is %s",
                  config_path(run->experiment.config), change->path, change->before, change->now);
        return;
    }
    run->changed = true;
    run_notice(run, "restart: %s was %s, is %s", change->path, change->before, change->now);
}

enum status restart_compare(struct run *run, struct error *error)
{
    char *text = checkpoint_get_text(run->checkpoint, "config", error);
    if (!text)
        return error->status;
    bool no_memory;
    json_t *before = document_parse(text, strlen(text), &no_memory);
    free(text);
    struct comparison comparison = { run, error };
    if (before)
        change_visit(before, run->experiment.config, judge_change, &comparison, error);
    else if (no_memory)
        error_set(error, STATUS_MEMORY, "out of memory");
    else
        error_set(error, STATUS_DATA, "%s: its section 'config' is not JSON", checkpoint_name);
    json_decref(before);
    return error->status;
}

/* --- loading -----------------------------------------------------------------------------------
 */

/* A run that a condition of stop_when has ended stays ended. */
static enum status load_end(struct run *run, struct error *error)
{
    char *ended_by = checkpoint_get_text(run->checkpoint, "ended_by", error);
    if (!ended_by)
        return error->status;
    snprintf(run->ended_by, sizeof run->ended_by, "%s", ended_by);
    free(ended_by);
    if (run->ended_by[0]) {
        run->planned_steps = run->experiment.steps;
        run->experiment.steps = run->step;
    }
    return STATUS_OK;
}

/* What was computed beyond the end would stay in the files, and contradict the config. */
static enum status check_end(const struct run *run, uint64_t reached, struct error *error)
{
    if (reached <= run->experiment.steps)
        return STATUS_OK;
    char time[UNITS_TEXT_SIZE];
    return section_error(
        config_section(run->experiment.config, "time"), "end", error,
        "the run has reached t = %s (step %" PRIu64
        ") already; give it no earlier end, or begin anew with --force",
        units_time(run->experiment.physics.units, (double)reached * run->experiment.step, 6, time),
        reached);
}

/* Nothing is left to do, and nothing is to be done otherwise. */
static bool is_done(const struct run *run)
{
    const json_t *code = json_object_get(run->before, "exit_status");
    return json_is_integer(code) && !run->changed && run->saved && run->events_done &&
           run->step == run->experiment.steps &&
           (json_integer_value(code) == STATUS_OK ||
            json_integer_value(code) == STATUS_EXPECT_FAILED);
}

/* The counts, and what follows from them. */
static enum status load_counts(struct run *run, struct error *error)
{
    const struct bodies *bodies = run->experiment.bodies;
    uint64_t counts[COUNTS];
    if (checkpoint_get_words(run->checkpoint, "counts", counts, 1, COUNTS, 0, error))
        return error->status;
    if (counts[COUNT_SYSTEMS] != bodies->systems || counts[COUNT_BODIES] != bodies->count)
        return error_set(error, STATUS_CONFIG,
                         "%s: holds %" PRIu64 " systems of %" PRIu64
                         " bodies, the config describes %zu of %zu",
                         checkpoint_name, counts[COUNT_SYSTEMS], counts[COUNT_BODIES],
                         bodies->systems, bodies->count);
    run->step = run->first_step = counts[COUNT_STEP];
    if (check_end(run, run->step, error) || load_end(run, error))
        return error->status;
    /* A run that goes further has no events at the old end, unless their cadence says so. */
    run->goes_further = counts[COUNT_EARLY] && run->experiment.steps > run->step;
    run->events_done = counts[COUNT_EVENTS] && !run->goes_further;
    run->bitwise = counts[COUNT_BITWISE];
    run->saved = !run->newest_damaged && !run->goes_further;
    run->saved_step = run->step;
    run->saved_events = run->events_done;
    run->done_before = is_done(run);
    return STATUS_OK;
}

enum status restart_load_state(struct run *run, struct error *error)
{
    struct bodies *bodies = run->experiment.bodies;
    if (load_counts(run, error))
        return error->status;
    struct content_array arrays[CONTENT_ARRAYS];
    content_arrays(bodies, arrays);
    for (size_t k = 0; k < CONTENT_ARRAYS; k++)
        checkpoint_get_words(run->checkpoint, arrays[k].name, arrays[k].values, bodies->systems,
                             bodies->count, bodies->stride, error);
    checkpoint_get_words(run->checkpoint, "first", run->first, 1, bodies->systems * CONSERVED_REALS,
                         0, error);
    return error->status ? error->status : legs_load(run, error);
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

static void compare_array(const struct bodies *b, const struct content_array *array,
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
    const struct bodies *b = run->experiment.bodies;
    *difference = (struct restart_difference){ 0 };
    uint64_t *expected = memory_array(bodies_length(b), sizeof *expected, error);
    struct content_array arrays[CONTENT_ARRAYS];
    content_arrays(b, arrays);
    for (size_t k = 0; k < CONTENT_ARRAYS && !error->status; k++)
        if (checkpoint_get_words(checkpoint, arrays[k].name, expected, b->systems, b->count,
                                 b->stride, error) == STATUS_OK)
            compare_array(b, &arrays[k], expected, difference);
    memory_free(expected);
    return error->status;
}

/* What the memory of this restart is called in the checkpoint. */
static const char *memory_prefix(const struct run *run)
{
    return run->goes_further ? content_early : "";
}

static void load_diagnostic(struct run *run, size_t index, struct error *error)
{
    struct diagnostic *d = run->diagnostics[index].diagnostic;
    char name[CHECKPOINT_NAME_SIZE];
    checkpoint_get_words(run->checkpoint,
                         content_name(memory_prefix(run), "diagnostic", index, name), d->memory, 1,
                         d->memory_count, 0, error);
    checkpoint_get_words(run->checkpoint, content_name(memory_prefix(run), "row", index, name),
                         run->diagnostics[index].last_row, 1, d->column_count, 0, error);
}

static void load_aggregate(struct run *run, size_t index, struct error *error)
{
    struct aggregate *aggregate = run->diagnostics[index].aggregate;
    char name[CHECKPOINT_NAME_SIZE];
    content_name(memory_prefix(run), content_aggregate_row, index, name);
    if (aggregate && checkpoint_has(run->checkpoint, name))
        checkpoint_get_words(run->checkpoint, name, aggregate_last_row(aggregate), 1,
                             aggregate_diagnostic(aggregate)->column_count, 0, error);
}

static void load_criterion(struct run *run, size_t index, struct error *error)
{
    double values[CRITERION_MEMORY];
    char name[CHECKPOINT_NAME_SIZE];
    if (checkpoint_get_words(run->checkpoint,
                             content_name(memory_prefix(run), "expect", index, name), values, 1,
                             CRITERION_MEMORY, 0, error))
        return;
    struct criterion *c = &run->expectations.criteria[index];
    c->rows = values[0];
    c->worst = values[1];
    c->failures = values[2];
    c->first_failure = values[3];
    double systems[CRITERION_SYSTEMS];
    content_name(memory_prefix(run), content_systems, index, name);
    if (!checkpoint_has(run->checkpoint, name) ||
        checkpoint_get_words(run->checkpoint, name, systems, 1, CRITERION_SYSTEMS, 0, error))
        return;
    c->worst_system = systems[0];
    c->failed_system = systems[1];
}

enum status restart_load_memory(struct run *run, struct error *error)
{
    for (size_t i = 0; i < run->diagnostic_count; i++) {
        load_diagnostic(run, i, error);
        load_aggregate(run, i, error);
    }
    for (size_t i = 0; i < run->expectations.count; i++)
        load_criterion(run, i, error);
    char name[CHECKPOINT_NAME_SIZE];
    checkpoint_get_words(run->checkpoint, content_name(memory_prefix(run), "member_error", 0, name),
                         run->member_error, 1, run->experiment.bodies->systems, 0, error);
    size_t length;
    double *memory = watch_memory(run->watch, &length);
    checkpoint_get_words(run->checkpoint, content_name(memory_prefix(run), "watch", 0, name),
                         memory, 1, length, 0, error);
    if (error->status)
        return error->status;
    char *before = checkpoint_get_text(run->checkpoint, "build", error), now[CONTENT_BUILD_SIZE];
    if (!before)
        return error->status;
    if (strcmp(before, content_build(run, now)) != 0) {
        run->bitwise = false;
        run_warning(run, "warning: not bitwise: begun by %s; now %s", before, now);
    }
    free(before);
    return STATUS_OK;
}

enum status restart_files(const struct run *run, size_t index, struct error *error)
{
    struct output *output = run->outputs[index];
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    char name[CHECKPOINT_NAME_SIZE];
    content_name(memory_prefix(run), content_files, index, name);
    if (!checkpoint_has(run->checkpoint, name))
        return output_resume_files(output, section, run->directory, NULL, error);
    if (output->written > SIZE_MAX / 4)
        return error_set(error, STATUS_DATA, "%s: counts too many files", checkpoint_name);
    uint64_t *marks = memory_array(memory_bytes(2, output->written), sizeof *marks, error);
    if (marks && checkpoint_get_words(run->checkpoint, name, marks, 1, 2 * output->written, 0,
                                      error) == STATUS_OK)
        output_resume_files(output, section, run->directory, marks, error);
    memory_free(marks);
    return error->status;
}

enum status restart_mark(const struct run *run, const char *kind, size_t index,
                         struct stream_mark *mark, struct error *error)
{
    char name[CHECKPOINT_NAME_SIZE];
    uint64_t values[2];
    if (checkpoint_get_words(run->checkpoint, content_name(memory_prefix(run), kind, index, name),
                             values, 1, 2, 0, error))
        return error->status;
    *mark = (struct stream_mark){ values[0], values[1] };
    return STATUS_OK;
}
