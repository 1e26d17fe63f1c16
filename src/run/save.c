#include "run/save.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "output/checkpoint.h"
#include "run/content.h"
#include "run/legs.h"
#include "run/shadow.h"

/* --- memory ------------------------------------------------------------------------------------
 */

/*
 * What must survive beside the bodies: where each file stands, and what diagnostics and criteria
 * remember. A copy, so that the state before the events of the last step can be kept.
 */
struct save_memory {
    size_t count, room;
    struct {
        char name[CHECKPOINT_NAME_SIZE];
        size_t length;
        uint64_t *words;
    } items[];
};

void save_forget(struct save_memory *memory)
{
    for (size_t k = 0; memory && k < memory->count; k++)
        free(memory->items[k].words);
    free(memory);
}

/* Copies 64-bit numbers of either kind; false without memory. */
static bool keep(struct save_memory *memory, const char *prefix, const char *kind, size_t index,
                 const void *words, size_t length)
{
    assert(memory->count < memory->room);
    uint64_t *copy = malloc(memory_bytes(length + 1, sizeof *copy));
    if (!copy)
        return false;
    if (length > 0)
        memcpy(copy, words, length * sizeof *copy);
    const size_t k = memory->count++;
    content_name(prefix, kind, index, memory->items[k].name);
    memory->items[k].length = length;
    memory->items[k].words = copy;
    return true;
}

static bool keep_stream(struct save_memory *memory, const char *prefix, const char *kind,
                        size_t index, const struct stream *stream)
{
    if (!stream)
        return true;
    const struct stream_mark mark = stream_mark(stream);
    const uint64_t values[] = { mark.length, mark.hash };
    return keep(memory, prefix, kind, index, values, COUNT_OF(values));
}

/* The length and the hash of each file, where each event has one. */
static bool keep_files(struct save_memory *memory, const char *prefix, size_t index,
                       const struct output *output)
{
    uint64_t *marks = calloc(output->written + 1, sizeof(uint64_t[2]));
    for (uint64_t i = 0; marks && i < output->written; i++) {
        marks[2 * i] = output->files[i].mark.length;
        marks[2 * i + 1] = output->files[i].mark.hash;
    }
    const bool kept =
        marks && keep(memory, prefix, content_files, index, marks, 2 * output->written);
    free(marks);
    return kept;
}

/* Where each event has a file, the number of files stands in the place of the length. */
static bool keep_output(struct save_memory *memory, const char *prefix, size_t index,
                        const struct output *output)
{
    const uint64_t values[] = { output->written, 0 };
    if (output->grows)
        return keep_stream(memory, prefix, "output", index, output->stream);
    return keep(memory, prefix, "output", index, values, COUNT_OF(values)) &&
           keep_files(memory, prefix, index, output);
}

static bool keep_aggregate(struct save_memory *memory, const char *prefix, size_t index,
                           const struct run_diagnostic *slot)
{
    return !slot->aggregate ||
           keep(memory, prefix, content_aggregate_row, index, aggregate_last_row(slot->aggregate),
                aggregate_diagnostic(slot->aggregate)->column_count);
}

static bool keep_diagnostic(struct save_memory *memory, const char *prefix, size_t index,
                            const struct run_diagnostic *slot)
{
    const struct diagnostic *d = slot->diagnostic;
    return keep(memory, prefix, "diagnostic", index, d->memory, d->memory_count) &&
           keep(memory, prefix, "row", index, slot->last_row, d->column_count) &&
           keep_stream(memory, prefix, "series", index, slot->stream) &&
           keep_stream(memory, prefix, "aggregate", index, slot->aggregate_stream) &&
           keep_aggregate(memory, prefix, index, slot);
}

static bool keep_criterion(struct save_memory *memory, const char *prefix, size_t index,
                           const struct criterion *c)
{
    const double values[CRITERION_MEMORY] = { c->rows, c->worst, c->failures, c->first_failure };
    const double systems[CRITERION_SYSTEMS] = { c->worst_system, c->failed_system };
    return keep(memory, prefix, "expect", index, values, COUNT_OF(values)) &&
           keep(memory, prefix, content_systems, index, systems, COUNT_OF(systems));
}

/* All of it as it is now; NULL without memory. */
static struct save_memory *remember(const struct run *run, const char *prefix)
{
    const size_t systems = run->experiment.bodies->systems;
    const size_t room =
        5 * run->diagnostic_count + 2 * run->output_count + 2 * run->expectations.count + 2;
    struct save_memory *memory = calloc(1, sizeof *memory + room * sizeof *memory->items);
    if (!memory)
        return NULL;
    memory->room = room;
    bool kept = true;
    for (size_t i = 0; i < run->diagnostic_count; i++)
        kept &= keep_diagnostic(memory, prefix, i, &run->diagnostics[i]);
    for (size_t i = 0; i < run->output_count; i++)
        kept &= keep_output(memory, prefix, i, run->outputs[i]);
    for (size_t i = 0; i < run->expectations.count; i++)
        kept &= keep_criterion(memory, prefix, i, &run->expectations.criteria[i]);
    kept &= keep(memory, prefix, "member_error", 0, run->member_error, systems);
    size_t length;
    const double *watched = watch_memory(run->watch, &length);
    kept &= keep(memory, prefix, "watch", 0, watched, length);
    if (kept)
        return memory;
    save_forget(memory);
    return NULL;
}

enum status save_remember(struct run *run, struct error *error)
{
    save_forget(run->before_last);
    run->before_last = remember(run, content_early);
    return run->before_last ? STATUS_OK : error_set(error, STATUS_MEMORY, "out of memory");
}

static void put_memory(struct checkpoint_writer *writer, const struct save_memory *memory)
{
    for (size_t k = 0; memory && k < memory->count; k++)
        checkpoint_put_words(writer, memory->items[k].name, memory->items[k].words, 1,
                             memory->items[k].length, 0);
}

/* --- saving ------------------------------------------------------------------------------------
 */

static void put_state(struct checkpoint_writer *writer, const struct run *run)
{
    const struct bodies *bodies = run->experiment.bodies;
    const uint64_t counts[COUNTS] = {
        [COUNT_SYSTEMS] = bodies->systems, [COUNT_BODIES] = bodies->count,
        [COUNT_STEP] = run->step,          [COUNT_EVENTS] = run->events_done,
        [COUNT_BITWISE] = run->bitwise,    [COUNT_EARLY] = run->before_last != NULL,
    };
    checkpoint_put_words(writer, "counts", counts, 1, COUNTS, 0);
    struct content_array arrays[CONTENT_ARRAYS];
    content_arrays(bodies, arrays);
    for (size_t k = 0; k < CONTENT_ARRAYS; k++)
        checkpoint_put_words(writer, arrays[k].name, arrays[k].values, bodies->systems,
                             bodies->count, bodies->stride);
    checkpoint_put_words(writer, "first", run->first, 1, bodies->systems * CONSERVED_REALS, 0);
}

/* Takes the document over. */
static enum status put_document(struct checkpoint_writer *writer, const char *name,
                                json_t *document, struct error *error)
{
    char *text =
        document ? document_print(document, JSON_REAL_PRECISION(17) | JSON_SORT_KEYS) : NULL;
    json_decref(document);
    if (!text)
        return error_set(error, STATUS_MEMORY, "out of memory");
    checkpoint_put_text(writer, name, text);
    free(text);
    return STATUS_OK;
}

static enum status put_texts(struct checkpoint_writer *writer, const struct run *run,
                             struct error *error)
{
    if (put_document(writer, "config", config_json(run->experiment.config), error) ||
        put_document(writer, content_legs, legs_json(run), error))
        return error->status;
    char build[CONTENT_BUILD_SIZE];
    checkpoint_put_text(writer, "build", content_build(run, build));
    checkpoint_put_text(writer, "ended_by", run->ended_by);
    return STATUS_OK;
}

static enum status save_once(struct run *run, const struct save_memory *memory, struct error *error)
{
    struct checkpoint_writer *writer;
    if (checkpoint_begin(run->directory, &writer, error))
        return error->status;
    if (put_texts(writer, run, error)) {
        checkpoint_abandon(writer);
        return error->status;
    }
    put_state(writer, run);
    shadow_put(writer, run);
    put_memory(writer, memory);
    put_memory(writer, run->before_last);
    return checkpoint_commit(writer, !run->newest_damaged, error);
}

static enum status save(struct run *run, struct error *error)
{
    struct save_memory *memory = remember(run, "");
    if (!memory)
        return error_set(error, STATUS_MEMORY, "out of memory");
    struct error first = { 0 };
    enum status status = save_once(run, memory, &first);
    if (status) {
        run_notice(run, "%s; trying once more", first.text);
        status = save_once(run, memory, error);
    }
    save_forget(memory);
    return status;
}

enum status save_checkpoint(struct run *run, struct error *error)
{
    if (run->saved && run->saved_step == run->step && run->saved_events == run->events_done)
        return STATUS_OK;
    const double start = clock_seconds();
    /* The outputs must be at least as long on the disk as the checkpoint says. */
    if (run->backend->class_->fetch(run->backend, error) || shadow_fetch(run, error) ||
        run_flush(run, true, error))
        return error->status;
    const size_t bad = bodies_not_finite(run->experiment.bodies);
    if (bad < bodies_length(run->experiment.bodies))
        return error_set(error, STATUS_NUMERICAL,
                         "body %" PRId64 " is no longer finite at step %" PRIu64
                         "; the last checkpoint is kept",
                         run->experiment.bodies->id[bad], run->step);
    if (save(run, error))
        return error->status;
    run->save_seconds = fmax(run->save_seconds, clock_seconds() - start);
    run->saved = true;
    run->saved_step = run->step;
    run->saved_events = run->events_done;
    run->newest_damaged = false;
    return STATUS_OK;
}
