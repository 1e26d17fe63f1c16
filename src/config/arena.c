#include "config/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 8192, ALIGNMENT = sizeof(max_align_t) };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    max_align_t bytes[];
};

void *arena_take(struct arena *arena, size_t count, size_t size)
{
    size_t length;
    if (__builtin_mul_overflow(count, size, &length) || length > PTRDIFF_MAX - BLOCK_SIZE)
        return NULL;
    length = (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct arena_block *block = arena->blocks;
    if (!block || block->size - block->used < length) {
        const size_t room = length > BLOCK_SIZE ? length : BLOCK_SIZE;
        block = calloc(1, sizeof *block + room);
        if (!block)
            return NULL;
        block->size = room;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *piece = (char *)block->bytes + block->used;
    block->used += length;
    return piece;
}

char *arena_copy(struct arena *arena, const char *bytes, size_t length)
{
    char *copy = arena_take(arena, length + 1, 1);
    return copy && length ? memcpy(copy, bytes, length) : copy;
}

char *arena_keep(struct arena *arena, struct text *text)
{
    char *copy = text->failed ? NULL : arena_copy(arena, text->bytes, text->length);
    text_free(text);
    return copy;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

enum status arena_exhausted(struct error *error)
{
    return error_set(error, STATUS_MEMORY, "out of memory while reading the configuration");
}
