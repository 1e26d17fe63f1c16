#include "observation/observers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum status observers_create(size_t diagnostics, size_t outputs, struct observers *observers,
                             struct error *error)
{
    *observers = (struct observers){
        .diagnostic_count = diagnostics,
        .output_count = outputs,
        .diagnostics = calloc(diagnostics + 1, sizeof *observers->diagnostics),
        .outputs = calloc(outputs + 1, sizeof *observers->outputs),
    };
    return observers->diagnostics && observers->outputs ? STATUS_OK : error_memory(error);
}

static bool is_called(const struct diagnostic *diagnostic, const char *name, size_t length)
{
    return diagnostic && strlen(diagnostic->name) == length &&
           strncmp(diagnostic->name, name, length) == 0;
}

bool observers_writes(const struct diagnostic_slot *slot, const char *name, size_t length)
{
    return is_called(slot->diagnostic, name, length) ||
           (slot->aggregate && is_called(aggregate_diagnostic(slot->aggregate), name, length));
}

unsigned observers_needs(const struct observers *observers)
{
    unsigned needs = 0;
    for (size_t i = 0; i < observers->diagnostic_count; i++)
        needs |= observers->diagnostics[i].diagnostic->needs;
    for (size_t i = 0; i < observers->output_count; i++)
        needs |= observers->outputs[i].output->needs;
    return needs;
}

/* --- their files ------------------------------------------------------------------------------ */

/* Each diagnostic has two tables, of which one may not be there. */
static size_t table_count(const struct observers *observers)
{
    return 2 * observers->diagnostic_count;
}

static struct stream *table_at(const struct observers *observers, size_t index)
{
    const struct diagnostic_slot *slot = &observers->diagnostics[index / 2];
    return index % 2 ? slot->aggregate_stream : slot->stream;
}

/* Every file that grows: tables, then outputs; NULL where there is none. */
static struct stream *stream_at(const struct observers *observers, size_t index)
{
    const size_t tables = table_count(observers);
    if (index < tables)
        return table_at(observers, index);
    const struct output *output = observers->outputs[index - tables].output;
    return output ? output->stream : NULL;
}

static size_t stream_count(const struct observers *observers)
{
    return table_count(observers) + observers->output_count;
}

enum status observers_flush(const struct observers *observers, bool to_disk, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < stream_count(observers) && !status; k++)
        if (stream_at(observers, k))
            status = stream_flush(stream_at(observers, k), to_disk, error);
    return status;
}

enum status observers_trim(const struct observers *observers, bool outputs, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < stream_count(observers) && !status; k++)
        if (stream_at(observers, k))
            status = stream_trim(stream_at(observers, k), error);
    for (size_t i = 0; outputs && i < observers->output_count && !status; i++) {
        struct output *output = observers->outputs[i].output;
        if (output->class_->trim)
            status = output->class_->trim(output, error);
    }
    return status;
}

enum status observers_look(const struct observers *observers, const struct config *config,
                           const struct directory *directory, struct error *error)
{
    for (size_t k = 0; k < table_count(observers); k++)
        if (table_at(observers, k))
            stream_look(table_at(observers, k), directory, error);
    for (size_t i = 0; i < observers->output_count; i++)
        if (observers->outputs[i].output)
            output_look(observers->outputs[i].output, config_item(config, "outputs", i), directory,
                        error);
    return error->status;
}

void observers_close(struct observers *observers, struct error *error)
{
    for (size_t i = 0; observers->diagnostics && i < observers->diagnostic_count; i++) {
        struct diagnostic_slot *slot = &observers->diagnostics[i];
        stream_close(slot->stream, error);
        stream_close(slot->aggregate_stream, error);
        slot->stream = slot->aggregate_stream = NULL;
    }
    for (size_t i = 0; observers->outputs && i < observers->output_count; i++) {
        struct output_slot *slot = &observers->outputs[i];
        if (!slot->output)
            continue;
        if (slot->output->class_->event_file)
            slot->events = slot->output->written;
        slot->output->class_->close(slot->output, error);
        slot->output = NULL;
    }
}

void observers_destroy(struct observers *observers)
{
    struct error ignored = { 0 }; /* whatever mattered was reported when the run was closed */
    observers_close(observers, &ignored);
    for (size_t i = 0; observers->diagnostics && i < observers->diagnostic_count; i++) {
        const struct diagnostic_slot *slot = &observers->diagnostics[i];
        diagnostic_destroy(slot->diagnostic);
        aggregate_destroy(slot->aggregate);
        memory_free(slot->last_row);
    }
    watch_destroy(observers->watch);
    free(observers->diagnostics);
    free(observers->outputs);
    memory_free(observers->phi);
    memory_free(observers->psi);
}
