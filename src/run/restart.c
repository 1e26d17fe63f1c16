#include "run/restart.h"

#include <assert.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/build.h"
#include "base/memory.h"

/* --- what a checkpoint holds -------------------------------------------------------------------
 */

enum {
    CRITERION_MEMORY = 4,
    BUILD_TEXT_SIZE = 1024,
    CONSERVED_REALS = sizeof(struct conserved) / sizeof(double)
};

/* The section `counts`. */
enum { COUNT_SYSTEMS, COUNT_BODIES, COUNT_STEP, COUNT_EVENTS, COUNT_BITWISE, COUNT_EARLY, COUNTS };

/* The arrays of bodies that make the state; accelerations follow from them. */
struct named_array {
    const char *name;
    void *values;
};

enum { STATE_ARRAYS = 8 };

static void state_arrays(const struct bodies *b, struct named_array arrays[STATE_ARRAYS])
{
    const struct named_array all[STATE_ARRAYS] = {
        { "mass", b->m }, { "x", b->x },   { "y", b->y },   { "z", b->z },
        { "vx", b->vx },  { "vy", b->vy }, { "vz", b->vz }, { "id", b->id },
    };
    memcpy(arrays, all, sizeof all);
}

static const char early[] = "early:";

/* "output:2", "early:row:0": by the index in the config, since names have no bound. */
static const char *section_name(const char *prefix, const char *kind, size_t index,
                                char buffer[CHECKPOINT_NAME_SIZE])
{
    snprintf(buffer, CHECKPOINT_NAME_SIZE, "%s%s:%zu", prefix, kind, index);
    return buffer;
}

/* Everything that decides bits beside the config: if it is the same, a restart is exact. */
static const char *build_text(const struct run *run, char buffer[BUILD_TEXT_SIZE])
{
    const struct backend_description *d = &run->description;
    char terms[48] = "";
    if (d->terms > 1)
        snprintf(terms, sizeof terms, ", terms of %d ranks", d->terms);
    snprintf(buffer, BUILD_TEXT_SIZE, "orrery %s %s, %s %s; %s %s %s %s %s%s", build_version(),
             build_commit(), build_compiler(), build_options(), d->backend, d->kernel, d->isa,
             d->device ? d->device : "", precision_names[d->precision], terms);
    return buffer;
}

/* --- memory ------------------------------------------------------------------------------------
 */

/*
 * What must survive beside the bodies: where each file stands, and what diagnostics and criteria
 * remember. A copy, so that the state before the events of the last step can be kept.
 */
struct restart_memory {
    size_t count, room;
    struct {
        char name[CHECKPOINT_NAME_SIZE];
        size_t length;
        uint64_t *words;
    } items[];
};

void restart_forget(struct restart_memory *memory)
{
    for (size_t k = 0; memory && k < memory->count; k++)
        free(memory->items[k].words);
    free(memory);
}

/* Copies 64-bit numbers of either kind; false without memory. */
static bool keep(struct restart_memory *memory, const char *prefix, const char *kind, size_t index,
                 const void *words, size_t length)
{
    assert(memory->count < memory->room);
    uint64_t *copy = malloc((length + 1) * sizeof *copy);
    if (!copy)
        return false;
    if (length > 0)
        memcpy(copy, words, length * sizeof *copy);
    const size_t k = memory->count++;
    section_name(prefix, kind, index, memory->items[k].name);
    memory->items[k].length = length;
    memory->items[k].words = copy;
    return true;
}

static bool keep_stream(struct restart_memory *memory, const char *prefix, const char *kind,
                        size_t index, const struct stream *stream)
{
    if (!stream)
        return true;
    const struct stream_mark mark = stream_mark(stream);
    const uint64_t values[] = { mark.length, mark.hash };
    return keep(memory, prefix, kind, index, values, COUNT_OF(values));
}

/* Where each event has a file, the number of files stands in the place of the length. */
static bool keep_output(struct restart_memory *memory, const char *prefix, size_t index,
                        const struct output *output)
{
    const uint64_t values[] = { output->written, 0 };
    return output->grows ? keep_stream(memory, prefix, "output", index, output->stream)
                         : keep(memory, prefix, "output", index, values, COUNT_OF(values));
}

static bool keep_diagnostic(struct restart_memory *memory, const char *prefix, size_t index,
                            const struct run_diagnostic *slot)
{
    const struct diagnostic *d = slot->diagnostic;
    return keep(memory, prefix, "diagnostic", index, d->memory, d->memory_count) &&
           keep(memory, prefix, "row", index, slot->last_row, d->column_count) &&
           keep_stream(memory, prefix, "series", index, slot->stream) &&
           keep_stream(memory, prefix, "aggregate", index, slot->aggregate_stream);
}

static bool keep_criterion(struct restart_memory *memory, const char *prefix, size_t index,
                           const struct criterion *c)
{
    const double values[CRITERION_MEMORY] = { c->rows, c->worst, c->failures, c->first_failure };
    return keep(memory, prefix, "expect", index, values, COUNT_OF(values));
}

/* All of it as it is now; NULL without memory. */
static struct restart_memory *remember(const struct run *run, const char *prefix)
{
    const size_t systems = run->experiment.bodies->systems;
    const size_t room = 4 * run->diagnostic_count + run->output_count + run->expectations.count + 2;
    struct restart_memory *memory = calloc(1, sizeof *memory + room * sizeof *memory->items);
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
    restart_forget(memory);
    return NULL;
}

enum status restart_remember(struct run *run, struct error *error)
{
    restart_forget(run->before_last);
    run->before_last = remember(run, early);
    return run->before_last ? STATUS_OK : error_set(error, STATUS_MEMORY, "out of memory");
}

static void put_memory(struct checkpoint_writer *writer, const struct restart_memory *memory)
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
    struct named_array arrays[STATE_ARRAYS];
    state_arrays(bodies, arrays);
    for (size_t k = 0; k < STATE_ARRAYS; k++)
        checkpoint_put_words(writer, arrays[k].name, arrays[k].values, bodies->systems,
                             bodies->count, bodies->stride);
    checkpoint_put_words(writer, "first", run->first, 1, bodies->systems * CONSERVED_REALS, 0);
}

static enum status put_config(struct checkpoint_writer *writer, const struct run *run,
                              struct error *error)
{
    json_t *config = config_json(run->experiment.config);
    char *text = config ? json_dumps(config, JSON_REAL_PRECISION(17) | JSON_SORT_KEYS) : NULL;
    json_decref(config);
    if (!text)
        return error_set(error, STATUS_MEMORY, "out of memory");
    checkpoint_put_text(writer, "config", text);
    free(text);
    char build[BUILD_TEXT_SIZE];
    checkpoint_put_text(writer, "build", build_text(run, build));
    checkpoint_put_text(writer, "ended_by", run->ended_by);
    return STATUS_OK;
}

static enum status save_once(struct run *run, const struct restart_memory *memory,
                             struct error *error)
{
    struct checkpoint_writer *writer;
    if (checkpoint_begin(run->directory, &writer, error))
        return error->status;
    if (put_config(writer, run, error)) {
        checkpoint_abandon(writer);
        return error->status;
    }
    put_state(writer, run);
    put_memory(writer, memory);
    put_memory(writer, run->before_last);
    return checkpoint_commit(writer, !run->newest_damaged, error);
}

static enum status save(struct run *run, struct error *error)
{
    struct restart_memory *memory = remember(run, "");
    if (!memory)
        return error_set(error, STATUS_MEMORY, "out of memory");
    struct error first = { 0 };
    enum status status = save_once(run, memory, &first);
    if (status) {
        run_notice(run, "%s; trying once more", first.text);
        status = save_once(run, memory, error);
    }
    restart_forget(memory);
    return status;
}

enum status restart_save(struct run *run, struct error *error)
{
    if (run->saved && run->saved_step == run->step && run->saved_events == run->events_done)
        return STATUS_OK;
    const double start = clock_seconds();
    /* The outputs must be at least as long on the disk as the checkpoint says. */
    if (run->backend->class_->fetch(run->backend, error) || run_flush(run, true, error))
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

/* --- opening -----------------------------------------------------------------------------------
 */

enum status restart_open(struct run *run, struct error *error)
{
    struct error newest = { 0 }, previous = { 0 };
    run->continued_from = checkpoint_name;
    if (checkpoint_open(run->directory, checkpoint_name, &run->checkpoint, &newest) == STATUS_OK)
        return STATUS_OK;
    run->newest_damaged = true;
    run->continued_from = checkpoint_previous;
    if (checkpoint_open(run->directory, checkpoint_previous, &run->checkpoint, &previous) !=
        STATUS_OK)
        return error_set(error, STATUS_DATA, "%s\n%s", newest.text, previous.text);
    run_warning(run, "WARNING: %s; going on from the previous one, %s", newest.text,
                checkpoint_previous);
    return STATUS_OK;
}

/* --- comparing ---------------------------------------------------------------------------------
 */

/* Keys that a restart may change. The file of bodies may have moved: they are in the checkpoint. */
static const char *const free_keys[] = {
    "name",
    "time.end",
    "diagnostics.*.every",
    "outputs.*.every",
    "outputs.*.compress",
    "checkpoint.*",
    "compute.backend",
    "compute.threads",
    "compute.kernel",
    "compute.isa",
    "bodies.file",
    "watch.*",
    "stop_when.*",
};

static bool may_change(const char *path)
{
    for (size_t i = 0; i < COUNT_OF(free_keys); i++)
        if (fnmatch(free_keys[i], path, 0) == 0)
            return true;
    return false;
}

enum { PATH_SIZE = 256 };

/* A value as text; the caller frees. */
static char *value_text(const json_t *value)
{
    return value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17))
                 : strdup("unset");
}

static void report_difference(struct run *run, const char *path, const json_t *before,
                              const json_t *now, struct error *error)
{
    char *old = value_text(before), *new = value_text(now);
    if (may_change(path))
        run_notice(run, "restart: %s was %s, is %s", path, old ? old : "?", new ? new : "?");
    else
        error_set(error, STATUS_CONFIG, "%s: %s was %s when the run began, now it is %s",
                  config_path(run->experiment.config), path, old ? old : "?", new ? new : "?");
    free(old);
    free(new);
}

static void compare(struct run *run, const char *path, const json_t *before, const json_t *now,
                    struct error *error);

/* The members of both objects, each once. */
static void compare_objects(struct run *run, const char *path, const json_t *before,
                            const json_t *now, struct error *error)
{
    const json_t *const sides[] = { before, now };
    for (size_t side = 0; side < 2; side++) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)sides[side], key, value)
        {
            if (side == 1 && json_object_get(before, key))
                continue;
            char inner[PATH_SIZE];
            snprintf(inner, sizeof inner, "%s%s%s", path, path[0] ? "." : "", key);
            compare(run, inner, json_object_get(before, key), json_object_get(now, key), error);
        }
    }
}

static void compare(struct run *run, const char *path, const json_t *before, const json_t *now,
                    struct error *error)
{
    if (before && now && json_equal(before, now))
        return;
    if (json_is_object(before) && json_is_object(now)) {
        compare_objects(run, path, before, now, error);
        return;
    }
    if (json_is_array(before) && json_is_array(now) &&
        json_array_size(before) == json_array_size(now) &&
        json_is_object(json_array_get(before, 0))) {
        for (size_t i = 0; i < json_array_size(before); i++) {
            char inner[PATH_SIZE];
            snprintf(inner, sizeof inner, "%s.%zu", path, i);
            compare(run, inner, json_array_get(before, i), json_array_get(now, i), error);
        }
        return;
    }
    report_difference(run, path, before, now, error);
}

enum status restart_compare(struct run *run, struct error *error)
{
    char *text = checkpoint_get_text(run->checkpoint, "config", error);
    if (!text)
        return error->status;
    json_t *before = json_loads(text, 0, NULL);
    free(text);
    /* Through text and back, so that both sides are made alike. */
    json_t *config = config_json(run->experiment.config);
    char *now_text = config ? json_dumps(config, JSON_REAL_PRECISION(17)) : NULL;
    json_t *now = now_text ? json_loads(now_text, 0, NULL) : NULL;
    free(now_text);
    json_decref(config);
    if (before && now)
        compare(run, "", before, now, error);
    else
        error_set(error, STATUS_DATA, "%s: its section 'config' is not JSON", checkpoint_name);
    json_decref(before);
    json_decref(now);
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
    if (load_end(run, error))
        return error->status;
    /* A run that goes further has no events at the old end, unless their cadence says so. */
    run->goes_further = counts[COUNT_EARLY] && run->experiment.steps > run->step;
    run->events_done = counts[COUNT_EVENTS] && !run->goes_further;
    run->bitwise = counts[COUNT_BITWISE];
    run->saved = !run->newest_damaged && !run->goes_further;
    run->saved_step = run->step;
    run->saved_events = run->events_done;
    return STATUS_OK;
}

enum status restart_load_state(struct run *run, struct error *error)
{
    struct bodies *bodies = run->experiment.bodies;
    if (load_counts(run, error))
        return error->status;
    struct named_array arrays[STATE_ARRAYS];
    state_arrays(bodies, arrays);
    for (size_t k = 0; k < STATE_ARRAYS; k++)
        checkpoint_get_words(run->checkpoint, arrays[k].name, arrays[k].values, bodies->systems,
                             bodies->count, bodies->stride, error);
    checkpoint_get_words(run->checkpoint, "first", run->first, 1, bodies->systems * CONSERVED_REALS,
                         0, error);
    return error->status;
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
    char *before = checkpoint_get_text(checkpoint, "build", &ignored), now[BUILD_TEXT_SIZE];
    const bool same = before && strcmp(before, build_text(run, now)) == 0;
    free(before);
    return same;
}

static void compare_array(const struct bodies *b, const struct named_array *array,
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
    struct named_array arrays[STATE_ARRAYS];
    state_arrays(b, arrays);
    for (size_t k = 0; k < STATE_ARRAYS && !error->status; k++)
        if (checkpoint_get_words(checkpoint, arrays[k].name, expected, b->systems, b->count,
                                 b->stride, error) == STATUS_OK)
            compare_array(b, &arrays[k], expected, difference);
    memory_free(expected);
    return error->status;
}

/* What the memory of this restart is called in the checkpoint. */
static const char *memory_prefix(const struct run *run)
{
    return run->goes_further ? early : "";
}

static void load_diagnostic(struct run *run, size_t index, struct error *error)
{
    struct diagnostic *d = run->diagnostics[index].diagnostic;
    char name[CHECKPOINT_NAME_SIZE];
    checkpoint_get_words(run->checkpoint,
                         section_name(memory_prefix(run), "diagnostic", index, name), d->memory, 1,
                         d->memory_count, 0, error);
    checkpoint_get_words(run->checkpoint, section_name(memory_prefix(run), "row", index, name),
                         run->diagnostics[index].last_row, 1, d->column_count, 0, error);
}

static void load_criterion(struct run *run, size_t index, struct error *error)
{
    double values[CRITERION_MEMORY];
    char name[CHECKPOINT_NAME_SIZE];
    if (checkpoint_get_words(run->checkpoint,
                             section_name(memory_prefix(run), "expect", index, name), values, 1,
                             CRITERION_MEMORY, 0, error))
        return;
    struct criterion *c = &run->expectations.criteria[index];
    c->rows = values[0];
    c->worst = values[1];
    c->failures = values[2];
    c->first_failure = values[3];
}

enum status restart_load_memory(struct run *run, struct error *error)
{
    for (size_t i = 0; i < run->diagnostic_count; i++)
        load_diagnostic(run, i, error);
    for (size_t i = 0; i < run->expectations.count; i++)
        load_criterion(run, i, error);
    char name[CHECKPOINT_NAME_SIZE];
    checkpoint_get_words(run->checkpoint, section_name(memory_prefix(run), "member_error", 0, name),
                         run->member_error, 1, run->experiment.bodies->systems, 0, error);
    size_t length;
    double *memory = watch_memory(run->watch, &length);
    checkpoint_get_words(run->checkpoint, section_name(memory_prefix(run), "watch", 0, name),
                         memory, 1, length, 0, error);
    if (error->status)
        return error->status;
    char *before = checkpoint_get_text(run->checkpoint, "build", error), now[BUILD_TEXT_SIZE];
    if (!before)
        return error->status;
    if (strcmp(before, build_text(run, now)) != 0) {
        run->bitwise = false;
        run_warning(run, "warning: not bitwise: begun by %s; now %s", before, now);
    }
    free(before);
    return STATUS_OK;
}

enum status restart_mark(const struct run *run, const char *kind, size_t index,
                         struct stream_mark *mark, struct error *error)
{
    char name[CHECKPOINT_NAME_SIZE];
    uint64_t values[2];
    if (checkpoint_get_words(run->checkpoint, section_name(memory_prefix(run), kind, index, name),
                             values, 1, 2, 0, error))
        return error->status;
    *mark = (struct stream_mark){ values[0], values[1] };
    return STATUS_OK;
}
