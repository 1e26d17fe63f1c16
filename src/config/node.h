/* The groups, lists and scalars of a configuration as written, each with its location. */
#ifndef ORRERY_CONFIG_NODE_H
#define ORRERY_CONFIG_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/status.h"
#include "base/text.h"

/* --- an arena --------------------------------------------------------------------------------- */

/* An arena: many small pieces of memory that are all given back at once. */

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

/* --- locations -------------------------------------------------------------------------------- */

/* The location of something in a configuration, and how an error there is reported. */

/* Line 0: not in a file; then `file` is the override as it was typed ("-P time.step=0.01"). */
struct location {
    const char *file;
    size_t line;
};

/*
 * "file:line: path = value: reason". `path` and `value` may be NULL; an override that names
 * `path` itself stands for both. Returns STATUS_CONFIG.
 */
enum status location_report(const struct location *location, const char *path, const char *value,
                            struct error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same with another status: what a good value asks for is not there. Returns `status`. */
enum status location_report_as(const struct location *location, const char *path, const char *value,
                               enum status status, struct error *error, const char *reason);

/* --- nodes ------------------------------------------------------------------------------------ */

enum node_kind {
    NODE_FLAG,
    NODE_INTEGER,
    NODE_REAL,
    NODE_STRING,
    NODE_LIST, /* also libconfig's arrays */
    NODE_GROUP,
    NODE_BAD /* no value; `string` is what was written */
};

/* The reason why a value is none. */
enum node_bad {
    BAD_WORD,   /* nan, inf, or a string without quotation marks */
    BAD_NUMBER, /* 1.2.3 */
    BAD_RANGE,  /* 1e999, or an integer beyond 64 bits */
    BAD_TOLD    /* its statement could not be read, which has been said */
};

struct node {
    enum node_kind kind;
    enum node_bad bad;
    bool flag;
    int64_t integer;
    double real;
    const char *string;
    const char *raw;  /* of an override: the value as it was typed */
    const char *name; /* in a group */
    struct location location;
    struct node **children;
    size_t count;
    struct node *next;   /* in the text */
    struct node *before; /* in the same group */
};

/* Makes the node an integer of 64 bits, signed, or a real, of these digits; else a bad one. */
void node_read_number(struct node *node, const char *bytes);

/* --- files ------------------------------------------------------------------------------------ */

/* The bytes of configuration files, and where @include finds them. */

enum { FILE_LIMIT = 4 << 20 }; /* bytes; more is no configuration file */

/* The whole file, and which one it is. STATUS_NO_INPUT (missing, unreadable, a directory),
 * STATUS_CONFIG (too long), STATUS_IO, STATUS_MEMORY. */
enum status file_read(const char *path, struct text *text, struct stat *identity,
                      struct error *error);

/* The name of a file in errors: "<stdin>" for "-". */
const char *file_shown(const char *path);

/* `name`, or `directory of file`/`name` unless `name` is absolute. */
void file_beside(const char *file, const char *name, struct text *path);

/* Is there a file (not a directory) that can be read? Is it a regular one: no pipe or device, whose
 * end might never come? */
bool file_readable(const char *path);
bool file_there(const char *path); /* whatever it is */
bool file_regular(const char *path);

#endif
