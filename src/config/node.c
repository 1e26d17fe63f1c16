#include "config/node.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most paths of files are shorter than a value may be. */
enum { REASON_SIZE = 1024, VALUE_LENGTH = 240 };

/* Tells whether `file` is an override of exactly this path. */
static bool names(const char *file, const char *path)
{
    const size_t length = strlen(path);
    return strncmp(file, "-P ", 3) == 0 && strncmp(file + 3, path, length) == 0 &&
           file[3 + length] == '=';
}

/* Returns the number of bytes of the value that are shown: whole UTF-8 characters. */
static int shown_length(const char *value)
{
    size_t length = strlen(value);
    if (length > VALUE_LENGTH)
        for (length = VALUE_LENGTH; length > 0 && ((unsigned char)value[length] & 0xc0) == 0x80;)
            length--;
    return (int)length;
}

enum status location_report_as(const struct location *location, const char *path, const char *value,
                               enum status status, struct error *error, const char *reason)
{
    char line[32] = "";
    const char *file = location->file;
    if (location->line)
        snprintf(line, sizeof line, ":%zu", location->line);
    if (!path || !*path || (!location->line && names(file, path)))
        return error_set(error, status, "%s%s: %s", file, line, reason);
    if (!value)
        return error_set(error, status, "%s%s: %s: %s", file, line, path, reason);
    return error_set(error, status, "%s%s: %s = %.*s%s: %s", file, line, path, shown_length(value),
                     value, strlen(value) > VALUE_LENGTH ? "..." : "", reason);
}

enum status location_report(const struct location *location, const char *path, const char *value,
                            struct error *error, const char *format, ...)
{
    char reason[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return location_report_as(location, path, value, STATUS_CONFIG, error, reason);
}

/* --- an arena --------------------------------------------------------------------------------- */

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
