#include "run/content.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/build.h"
#include "base/document.h"
#include "base/memory.h"

void content_arrays(const struct bodies *b, struct content_array arrays[CONTENT_ARRAYS])
{
    const struct content_array all[CONTENT_ARRAYS] = {
        { "mass", b->m }, { "x", b->x },   { "y", b->y },   { "z", b->z },
        { "vx", b->vx },  { "vy", b->vy }, { "vz", b->vz }, { "id", b->id },
    };
    memcpy(arrays, all, sizeof all);
}

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
    snprintf(buffer, CONTENT_BUILD_SIZE, "orrery %s %s, %s %s; %s %s %s %s %s", build_version(),
             build_commit(), build_compiler(), build_options(), d->backend, d->kernel, d->isa,
             d->device ? d->device : "", precision_names[d->precision]);
    return buffer;
}

void content_visit_state(const struct run *run,
                         void (*visit)(void *context, const char *kind, size_t index,
                                       double *numbers, size_t count),
                         void *context)
{
    for (size_t i = 0; i < run->observers.diagnostic_count; i++) {
        const struct diagnostic_slot *slot = &run->observers.diagnostics[i];
        visit(context, "diagnostic", i, slot->diagnostic->state, slot->diagnostic->state_count);
        visit(context, "row", i, slot->last_row, slot->diagnostic->column_count);
        if (slot->aggregate)
            visit(context, "aggregate-row", i, aggregate_last_row(slot->aggregate),
                  aggregate_diagnostic(slot->aggregate)->column_count);
    }
    for (size_t i = 0; i < run->criteria.expect.count; i++)
        visit(context, "expect", i, run->criteria.expect.criteria[i].state, CRITERION_STATE);
    visit(context, "member_error", 0, run->ensemble.largest_error, run->ensemble.systems);
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

/* The source or the target of the sections, and their names. */
struct adaptive_sections {
    struct checkpoint_writer *writer;
    const struct checkpoint *checkpoint;
    const char *prefix;
    size_t different; /* words, of those that were compared */
    struct error *error;
};

static const char *adaptive_name(const struct adaptive_sections *sections, const char *name,
                                 char buffer[CHECKPOINT_NAME_SIZE])
{
    snprintf(buffer, CHECKPOINT_NAME_SIZE, "%sadaptive:%s", sections->prefix, name);
    return buffer;
}

static void put_words(void *context, const char *name, const void *words, size_t rows, size_t count,
                      size_t stride)
{
    const struct adaptive_sections *const sections = context;
    char section[CHECKPOINT_NAME_SIZE];
    checkpoint_put_words(sections->writer, adaptive_name(sections, name, section), words, rows,
                         count, stride);
}

static enum status get_words(void *context, const char *name, void *words, size_t rows,
                             size_t count, size_t stride, struct error *error)
{
    const struct adaptive_sections *const sections = context;
    char section[CHECKPOINT_NAME_SIZE];
    return checkpoint_get_words(sections->checkpoint, adaptive_name(sections, name, section), words,
                                rows, count, stride, error);
}

void content_put_adaptive(struct checkpoint_writer *writer, const char *prefix,
                          const struct backend *backend)
{
    struct adaptive_sections sections = { .writer = writer, .prefix = prefix };
    const struct adaptive_writer own = { &sections, put_words };
    if (backend->adaptive)
        backend->adaptive->class_->save(backend->adaptive, &own);
}

enum status content_get_adaptive(const struct checkpoint *checkpoint, const char *prefix,
                                 struct backend *backend, struct error *error)
{
    struct adaptive_sections sections = { .checkpoint = checkpoint, .prefix = prefix };
    const struct adaptive_reader own = { &sections, get_words };
    struct adaptive *const adaptive = backend->adaptive;
    return adaptive ? adaptive->class_->load(adaptive, &own, error) : STATUS_OK;
}

static void compare_words(void *context, const char *name, const void *words, size_t rows,
                          size_t count, size_t stride)
{
    struct adaptive_sections *const sections = context;
    const uint64_t *const now = words;
    uint64_t *const then = memory_array(memory_bytes(rows, count), sizeof *then, sections->error);
    if (then && !get_words(context, name, then, rows, count, count, sections->error))
        for (size_t row = 0; row < rows; row++)
            for (size_t k = 0; k < count; k++)
                sections->different += now[row * stride + k] != then[row * count + k];
    memory_free(then);
}

enum status content_compare_adaptive(const struct checkpoint *checkpoint, const char *prefix,
                                     const struct backend *backend, size_t *different,
                                     struct error *error)
{
    struct adaptive_sections sections = { .checkpoint = checkpoint,
                                          .prefix = prefix,
                                          .error = error };
    const struct adaptive_writer own = { &sections, compare_words };
    if (backend->adaptive)
        backend->adaptive->class_->save(backend->adaptive, &own);
    *different = sections.different;
    return error->status;
}
