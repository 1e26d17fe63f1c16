#include "output/saved.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void saved_arrays(const struct bodies *b, struct saved_array arrays[SAVED_ARRAYS])
{
    const struct saved_array all[SAVED_ARRAYS] = {
        { "mass", b->m }, { "x", b->x },   { "y", b->y },   { "z", b->z },
        { "vx", b->vx },  { "vy", b->vy }, { "vz", b->vz }, { "id", b->id },
    };
    memcpy(arrays, all, sizeof all);
}

/* The checkpoint to which the sections are written, or from which they are read, and the prefix of
 * their names. */
struct adaptive_sections {
    struct checkpoint_writer *writer;
    const struct checkpoint *checkpoint;
    const char *prefix;
    size_t different; /* number of words that differ from those of the checkpoint */
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

void saved_put_adaptive(struct checkpoint_writer *writer, const char *prefix,
                        const struct backend *backend)
{
    struct adaptive_sections sections = { .writer = writer, .prefix = prefix };
    const struct adaptive_writer own = { &sections, put_words };
    if (backend->adaptive)
        backend->adaptive->class_->save(backend->adaptive, &own);
}

enum status saved_get_adaptive(const struct checkpoint *checkpoint, const char *prefix,
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

enum status saved_compare_adaptive(const struct checkpoint *checkpoint, const char *prefix,
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
