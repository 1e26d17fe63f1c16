#include "config/node.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/name.h"

/* In bytes: the buffer for the reason of an error, and the longest value that errors show uncut,
 * which is longer than most paths of files. */
enum { REASON_SIZE = 1024, VALUE_LENGTH = 240 };

/* Tells whether `file`, the file of a location, is an override "-P path=value" of the key
 * `path`. */
static bool names(const char *file, const char *path)
{
    const size_t length = strlen(path);
    return strncmp(file, "-P ", 3) == 0 && strncmp(file + 3, path, length) == 0 &&
           file[3 + length] == '=';
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
    return error_set(error, status, "%s%s: %s = %.*s%s: %s", file, line, path,
                     (int)name_cut(value, VALUE_LENGTH), value,
                     strlen(value) > VALUE_LENGTH ? "..." : "", reason);
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

/* --- files ------------------------------------------------------------------------------------ */

const char *file_shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

static enum status read_stream(FILE *stream, const char *path, struct text *text,
                               struct error *error)
{
    char buffer[16384];
    size_t length;
    while ((length = fread(buffer, 1, sizeof buffer, stream)) > 0) {
        if (text->length + length > FILE_LIMIT)
            return error_set(error, STATUS_CONFIG, "%s: longer than %d bytes, no configuration",
                             file_shown(path), (int)FILE_LIMIT);
        text_append(text, buffer, length);
    }
    if (ferror(stream))
        return error_system(error, STATUS_IO, errno, file_shown(path));
    if (text->failed)
        return error_set(error, STATUS_MEMORY, "%s: out of memory", file_shown(path));
    return STATUS_OK;
}

enum status file_read(const char *path, struct text *text, struct stat *identity,
                      struct error *error)
{
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!stream)
        return error_system(error, STATUS_NO_INPUT, errno, path);
    enum status status;
    if (fstat(fileno(stream), identity) != 0)
        status = error_system(error, STATUS_NO_INPUT, errno, file_shown(path));
    else if (S_ISDIR(identity->st_mode))
        status = error_system(error, STATUS_NO_INPUT, EISDIR, file_shown(path));
    else
        status = read_stream(stream, path, text, error);
    if (stream != stdin)
        fclose(stream);
    return status;
}

void file_beside(const char *file, const char *name, struct text *path)
{
    const char *slash = strrchr(file, '/');
    if (slash && name[0] != '/')
        text_append(path, file, (size_t)(slash - file) + 1);
    text_append(path, name, strlen(name));
}

bool file_there(const char *path)
{
    struct stat identity;
    return stat(path, &identity) == 0;
}

bool file_regular(const char *path)
{
    struct stat identity;
    return stat(path, &identity) == 0 && S_ISREG(identity.st_mode);
}

bool file_readable(const char *path)
{
    struct stat identity;
    return stat(path, &identity) == 0 && !S_ISDIR(identity.st_mode) && access(path, R_OK) == 0;
}

/* --- nodes ------------------------------------------------------------------------------------ */

void node_read_number(struct node *node, const char *bytes)
{
    const bool hexadecimal = strncasecmp(bytes, "0x", 2) == 0;
    char *end;
    errno = 0;
    const unsigned long long bits = hexadecimal ? strtoull(bytes, &end, 16) : 0;
    node->integer = hexadecimal ? (int64_t)bits : strtoll(bytes, &end, 10);
    const size_t suffix = strspn(end, "L");
    if (end > bytes + (hexadecimal ? 2 : 0) && suffix <= 2 && !end[suffix]) {
        node->kind = errno == ERANGE || bits > INT64_MAX ? NODE_BAD : NODE_INTEGER;
        node->bad = BAD_RANGE;
        return;
    }
    node->real = strtod(bytes, &end);
    const bool number =
        end > bytes && !*end && strpbrk(bytes, "0123456789") && !strpbrk(bytes, "xXnN");
    node->kind = number && isfinite(node->real) ? NODE_REAL : NODE_BAD;
    node->bad = number ? BAD_RANGE : BAD_NUMBER;
}
