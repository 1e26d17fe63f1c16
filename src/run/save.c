#include "run/phases.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "base/text.h"
#include "output/checkpoint.h"
#include "run/record.h"

/* --- what is saved ---------------------------------------------------------------------------- */

/* The state besides the bodies that must survive a restart: the mark (length and hash) of each
 * file, and the state of all observers. It is a copy, since a checkpoint may have to hold the state
 * from before the events of the last step, which change the original. */
struct saved_state {
    const char *prefix; /* prefix of the names of its sections: "" or content_early */
    bool failed;        /* memory was exhausted */
    size_t count, room;
    struct {
        char name[CHECKPOINT_NAME_SIZE];
        size_t length;
        uint64_t *words;
    } items[];
};

void save_free(struct saved_state *saved)
{
    for (size_t k = 0; saved && k < saved->count; k++)
        free(saved->items[k].words);
    free(saved);
}

/* Adds a copy of `length` 64-bit numbers, real or integer, as the section that `kind` and `index`
 * name. */
static void copy_words(struct saved_state *saved, const char *kind, size_t index, const void *words,
                       size_t length)
{
    assert(saved->count < saved->room);
    uint64_t *copy = malloc(memory_bytes(length + 1, sizeof *copy));
    saved->failed |= !copy;
    if (!copy)
        return;
    if (length > 0)
        memcpy(copy, words, length * sizeof *copy);
    const size_t k = saved->count++;
    content_name(saved->prefix, kind, index, saved->items[k].name);
    saved->items[k].length = length;
    saved->items[k].words = copy;
}

static void copy_numbers(void *context, const char *kind, size_t index, double *numbers,
                         size_t count)
{
    copy_words(context, kind, index, numbers, count);
}

static void copy_mark(struct saved_state *saved, const char *kind, size_t index,
                      const struct stream *stream)
{
    if (!stream)
        return;
    const struct stream_mark mark = stream_mark(stream);
    const uint64_t values[] = { mark.length, mark.hash };
    copy_words(saved, kind, index, values, COUNT_OF(values));
}

/* Copies the marks (length and hash) of the files of an output that writes a file at each event. In
 * the section "output", where other outputs have the mark of their file, the number of the files
 * takes the place of the length. */
static void copy_files(struct saved_state *saved, size_t index, const struct output *output)
{
    const uint64_t values[] = { output->written, 0 };
    copy_words(saved, "output", index, values, COUNT_OF(values));
    uint64_t *marks = calloc(output->written + 1, sizeof(uint64_t[2]));
    for (uint64_t i = 0; marks && i < output->written; i++) {
        marks[2 * i] = output->files[i].mark.length;
        marks[2 * i + 1] = output->files[i].mark.hash;
    }
    if (marks)
        copy_words(saved, content_files, index, marks, 2 * output->written);
    saved->failed |= !marks;
    free(marks);
}

static struct saved_state *copy_state(const struct run *run, const char *prefix)
{
    const struct observers *observers = &run->observers;
    const size_t room = 5 * observers->diagnostic_count + 2 * observers->output_count +
                        run->criteria.expect.count + 2;
    struct saved_state *saved = calloc(1, sizeof *saved + room * sizeof *saved->items);
    if (!saved)
        return NULL;
    saved->prefix = prefix;
    saved->room = room;
    content_visit_state(run, copy_numbers, saved);
    for (size_t i = 0; i < observers->diagnostic_count; i++) {
        copy_mark(saved, "series", i, observers->diagnostics[i].stream);
        copy_mark(saved, "aggregate", i, observers->diagnostics[i].aggregate_stream);
    }
    for (size_t i = 0; i < observers->output_count; i++) {
        const struct output *output = observers->outputs[i].output;
        if (output->grows)
            copy_mark(saved, "output", i, output->stream);
        else
            copy_files(saved, i, output);
    }
    if (!saved->failed)
        return saved;
    save_free(saved);
    return NULL;
}

enum status save_keep_early(struct run *run, struct error *error)
{
    save_free(run->autosave.before_last);
    run->autosave.before_last = copy_state(run, content_early);
    return run->autosave.before_last ? STATUS_OK : error_memory(error);
}

static void put_saved(struct checkpoint_writer *writer, const struct saved_state *saved)
{
    for (size_t k = 0; saved && k < saved->count; k++)
        checkpoint_put_words(writer, saved->items[k].name, saved->items[k].words, 1,
                             saved->items[k].length, 0);
}

/* --- saving ----------------------------------------------------------------------------------- */

static void put_state(struct checkpoint_writer *writer, const struct run *run)
{
    const struct bodies *bodies = run->simulation->bodies;
    const uint64_t counts[COUNTS] = {
        [COUNT_SYSTEMS] = bodies->systems,
        [COUNT_BODIES] = bodies->count,
        [COUNT_STEP] = run->schedule.step,
        [COUNT_EVENTS] = run->schedule.events_done,
        [COUNT_BITWISE] = !run->continuation.other_bits,
        [COUNT_EARLY] = run->autosave.before_last != NULL,
    };
    checkpoint_put_words(writer, "counts", counts, 1, COUNTS, 0);
    struct saved_array arrays[SAVED_ARRAYS];
    saved_arrays(bodies, arrays);
    for (size_t k = 0; k < SAVED_ARRAYS; k++)
        checkpoint_put_words(writer, arrays[k].name, arrays[k].values, bodies->systems,
                             bodies->count, bodies->stride);
    saved_put_adaptive(writer, "", run->simulation->backend);
    checkpoint_put_words(writer, "first", run->simulation->first, 1,
                         bodies->systems * CONSERVED_REALS, 0);
}

/* Writes a JSON document as a section of text, and frees it. STATUS_MEMORY. */
static enum status put_document(struct checkpoint_writer *writer, const char *name,
                                json_t *document, struct error *error)
{
    char *text =
        document ? document_print(document, JSON_REAL_PRECISION(17) | JSON_SORT_KEYS) : NULL;
    json_decref(document);
    if (!text)
        return error_memory(error);
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
    checkpoint_put_text(writer, "ended_by", run->criteria.ended_by);
    return STATUS_OK;
}

static enum status save_once(struct run *run, const struct saved_state *saved, struct error *error)
{
    struct checkpoint_writer *writer;
    if (checkpoint_begin(run->files.directory, &writer, error))
        return error->status;
    if (put_texts(writer, run, error)) {
        checkpoint_abandon(writer);
        return error->status;
    }
    put_state(writer, run);
    shadow_put(writer, run->shadows);
    put_saved(writer, saved);
    put_saved(writer, run->autosave.before_last);
    return checkpoint_commit(writer, !run->continuation.newest_damaged, error);
}

static enum status save(struct run *run, struct error *error)
{
    struct saved_state *saved = copy_state(run, "");
    if (!saved)
        return error_memory(error);
    struct error first = { 0 };
    enum status status = save_once(run, saved, &first);
    if (status) {
        run_notice(run, "%s; trying once more", first.text);
        status = save_once(run, saved, error);
    }
    save_free(saved);
    return status;
}

enum status save_checkpoint(struct run *run, struct error *error)
{
    if (autosave_is_current(&run->autosave, &run->schedule))
        return STATUS_OK;
    const double start = clock_seconds();
    /* The other files go to the disk first: a restart needs them at least as long as the checkpoint
     * says. */
    if (simulation_fetch(run->simulation, error) || shadow_fetch(run->shadows, error) ||
        run_flush(run, true, error))
        return error->status;
    const struct bodies *const bodies = run->simulation->bodies;
    const size_t length = bodies_length(bodies), bad = bodies_not_finite(bodies, 0, length);
    char name[BODIES_NAME_SIZE];
    if (bad < length)
        return error_set(error, STATUS_NUMERICAL,
                         "%s is no longer finite at step %" PRIu64 "; the last checkpoint is kept",
                         bodies_name(bodies, bodies->id[bad], name), run->schedule.step);
    if (save(run, error))
        return error->status;
    autosave_note(&run->autosave, &run->schedule, clock_seconds() - start);
    run->continuation.newest_damaged = false;
    return STATUS_OK;
}

/* --- the last frame of a run whose numbers failed --------------------------------------------- */

const char failure_name[] = "failure.xyz";

static void write_body(struct stream *stream, const struct bodies *b, size_t i)
{
    const double values[] = { b->x[i], b->y[i], b->z[i], b->vx[i], b->vy[i], b->vz[i], b->m[i] };
    stream_write(stream, "X", 1);
    for (size_t k = 0; k < COUNT_OF(values); k++) {
        stream_write(stream, " ", 1);
        stream_real(stream, text_plain(values[k]), 17);
    }
    stream_print(stream, " %" PRId64 " %zu %d\n", b->id[i], i / b->stride + 1, bodies_finite(b, i));
}

void failure_forget(struct run *run)
{
    if (continuation_owns(&run->continuation, failure_name))
        directory_take(run->files.directory, failure_name);
}

enum status failure_save(struct run *run, struct error *error)
{
    const struct bodies *b = run->simulation->bodies;
    struct stream *stream;
    const struct work_done own = run_work(run).sums;
    if (simulation_fetch(run->simulation, error))
        return error->status;
    failure_forget(run);
    /* run.json lists the file before it is there: so it belongs to a run that is killed meanwhile.
     */
    run->files.failed = !directory_has(run->files.directory, failure_name);
    if ((run->files.failed && provenance_write(run, NULL, error)) ||
        stream_open(run->files.directory, failure_name, NULL, &stream, error)) {
        run->files.failed = false;
        return error->status;
    }
    stream_print(stream,
                 "%zu\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1:id:I:1:cluster:I:1:"
                 "finite:I:1 Time=%.17g Step=%" PRIu64 "\n",
                 b->systems * b->count, own.stuck ? own.time : run_time(run), run->schedule.step);
    for (size_t s = 0; s < b->systems; s++)
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++)
            write_body(stream, b, i);
    return stream_close(stream, error);
}
