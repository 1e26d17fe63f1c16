/* Keeps in memory the arrays that an integrator that chooses its own steps writes into a checkpoint
 * (integrator/adaptive.h), so that tests can change and load them. */
#ifndef ORRERY_VALIDATION_SAVED_CASE_H
#define ORRERY_VALIDATION_SAVED_CASE_H

#include <stdlib.h>
#include <string.h>

#include "integrator/adaptive.h"
#include "unit.h"

struct saved {
    size_t count;
    struct {
        const char *name;
        uint64_t *words;
        size_t length;
    } items[8];
};

static inline void saved_put(void *context, const char *name, const void *words, size_t rows,
                             size_t count, size_t stride)
{
    struct saved *const saved = context;
    uint64_t *const copy = malloc(rows * count * sizeof *copy);
    for (size_t r = 0; r < rows; r++)
        memcpy(copy + r * count, (const uint64_t *)words + r * stride, count * sizeof *copy);
    assert_true(saved->count < sizeof saved->items / sizeof saved->items[0]);
    saved->items[saved->count].name = name;
    saved->items[saved->count].words = copy;
    saved->items[saved->count++].length = rows * count;
}

static inline enum status saved_get(void *context, const char *name, void *words, size_t rows,
                                    size_t count, size_t stride, struct error *error)
{
    const struct saved *const saved = context;
    for (size_t k = 0; k < saved->count; k++)
        if (!strcmp(saved->items[k].name, name) && saved->items[k].length == rows * count) {
            for (size_t r = 0; r < rows; r++)
                memcpy((uint64_t *)words + r * stride, saved->items[k].words + r * count,
                       count * sizeof(uint64_t));
            return STATUS_OK;
        }
    return error_set(error, STATUS_DATA, "no %s", name);
}

static inline struct saved saved_from(const struct adaptive *adaptive)
{
    struct saved saved = { .count = 0 };
    const struct adaptive_writer writer = { &saved, saved_put };
    adaptive->class_->save(adaptive, &writer);
    return saved;
}

/* Loads the saved arrays into an integrator, and returns the status. */
static inline enum status saved_load(struct saved *saved, struct adaptive *adaptive)
{
    static struct error error;
    const struct adaptive_reader reader = { saved, saved_get };
    error_clear(&error);
    return adaptive->class_->load(adaptive, &reader, &error);
}

static inline void saved_free(const struct saved *saved)
{
    for (size_t k = 0; k < saved->count; k++)
        free(saved->items[k].words);
}

#endif
