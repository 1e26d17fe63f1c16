/* An arena: many small pieces of memory that are all given back at once. */
#ifndef ORRERY_CONFIG_ARENA_H
#define ORRERY_CONFIG_ARENA_H

#include <stddef.h>

#include "base/status.h"
#include "base/text.h"

struct arena_block;

/* All zero is an empty one. */
struct arena {
    struct arena_block *blocks;
};

/* `count` zeroed elements of `size` bytes, or NULL when memory is exhausted. */
void *arena_take(struct arena *arena, size_t count, size_t size);
/* `length` bytes and a NUL. */
char *arena_copy(struct arena *arena, const char *bytes, size_t length);
/* Keeps a copy of the text in the arena, and frees the text. */
char *arena_keep(struct arena *arena, struct text *text);
void arena_free(struct arena *arena);

/* STATUS_MEMORY, in the words of the reader of configurations, whose arena it is. */
enum status arena_exhausted(struct error *error);

#endif
