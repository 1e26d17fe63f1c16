/*
 * The text of a configuration: its @includes expanded, every token checked, and rewritten so that
 * libconfig 1.5 can neither wrap, overflow nor misplace anything. What libconfig would get wrong
 * without a word:
 *   - integers that do not fit: hexadecimal ones are written as decimals here, with their L;
 *   - reals that overflow, NaN, numbers with a typing error, strings without quotation marks:
 *     written as a marked string here, so that the reader can report them with key and range;
 *   - arrays that mix 0 and 0.5: written as lists;
 *   - strings that run over the end of a line, NUL bytes, keys given twice.
 */
#ifndef ORRERY_CONFIG_SOURCE_H
#define ORRERY_CONFIG_SOURCE_H

#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "config/arena.h"
#include "config/config.h"
#include "config/place.h"

#ifdef __cplusplus
extern "C" {
#endif

struct source {
    struct text text;     /* for libconfig */
    struct place *places; /* where each of its lines comes from */
    size_t line_count;
    size_t line_capacity;
    size_t value_count; /* in the text, groups and lists included */
};

/* A literal that is no value: a string that starts with SOURCE_BAD, one of these, and the token as
 * it was written. */
enum { SOURCE_BAD = '\1' };
enum source_bad {
    SOURCE_BAD_WORD = 'w',   /* nan, inf, or a string without quotation marks */
    SOURCE_BAD_NUMBER = 'n', /* 1.2.3 */
    SOURCE_BAD_RANGE = 'r'   /* 1e999, or an integer beyond 64 bits */
};

/*
 * Reads the file and what it includes. Strings of the places live in the arena.
 * STATUS_NO_INPUT, STATUS_CONFIG with file and line, STATUS_MEMORY.
 */
enum status source_read(const struct config_source *from, struct arena *arena,
                        struct source *source, struct error *error);

/* The same for one value that does not stand in a file: "value = <bytes>". `place` and `path` are
 * named in errors. */
enum status source_value(const struct place *place, const char *path, const char *bytes,
                         struct arena *arena, struct source *source, struct error *error);

/* Where line `line` (1, 2, ...) of the text comes from. */
const struct place *source_place(const struct source *source, size_t line);

/* The name of a file in errors: "<stdin>" for "-". */
const char *source_name(const char *path);

void source_free(struct source *source);

#ifdef __cplusplus
}
#endif

#endif
