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

/* Zeroed, an arena is empty. */
struct arena {
    struct arena_block *blocks;
};

/* Returns `count` zeroed elements of `size` bytes, or NULL when memory is exhausted. */
void *arena_take(struct arena *arena, size_t count, size_t size);
/* Returns a copy of `length` bytes with a NUL behind, or NULL when memory is exhausted. */
char *arena_copy(struct arena *arena, const char *bytes, size_t length);
/* Returns a copy of the text, or NULL when memory is exhausted, and frees the text. */
char *arena_keep(struct arena *arena, struct text *text);
void arena_free(struct arena *arena);

/* Reports exhausted memory in the words of the reader of configurations. STATUS_MEMORY. */
enum status arena_exhausted(struct error *error);

/* --- locations -------------------------------------------------------------------------------- */

/* The location of something in a configuration, and how an error there is reported. */

/* A place in a configuration. Line 0 means that it is in no file: then `file` is the override as it
 * was typed ("-P time.step=0.01"). */
struct location {
    const char *file;
    size_t line;
};

/*
 * Reports an error: "file:line: path = value: reason". `path` and `value` may be NULL; an override
 * that names `path` itself stands for both. Returns STATUS_CONFIG.
 */
enum status location_report(const struct location *location, const char *path, const char *value,
                            struct error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Does the same with another status, for a good value that asks for something that is missing.
 * Returns `status`. */
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
    NODE_BAD /* text that is no value; `string` has it */
};

/* The reason why the text of a NODE_BAD is no value. */
enum node_bad {
    BAD_WORD,   /* nan, inf, or a string without quotation marks */
    BAD_NUMBER, /* 1.2.3 */
    BAD_RANGE,  /* 1e999, or an integer beyond 64 bits */
    BAD_TOLD    /* its statement could not be read, and the error has been reported */
};

struct node {
    enum node_kind kind;
    enum node_bad bad;
    bool flag;
    int64_t integer;
    double real;
    const char *string;
    const char *raw;  /* of an override: the value as it was typed */
    const char *name; /* its key, if it is in a group */
    struct location location;
    struct node **children;
    size_t count;
    struct node *next;   /* the node behind it in the text */
    struct node *before; /* the node before it in the same group or list */
};

/* Reads `bytes` as a number: the node becomes a signed integer of 64 bits, a real or, if `bytes`
 * are neither, a NODE_BAD. */
void node_read_number(struct node *node, const char *bytes);

/* --- files ------------------------------------------------------------------------------------ */

/* The files of a configuration: their bytes, and the paths at which @include looks for them. */

enum { FILE_LIMIT = 4 << 20 }; /* bytes; a longer file is refused */

/* Reads the whole file, or standard input for "-", and puts its stat() into *identity.
 * STATUS_NO_INPUT (missing, unreadable, a directory), STATUS_CONFIG (too long), STATUS_IO,
 * STATUS_MEMORY. */
enum status file_read(const char *path, struct text *text, struct stat *identity,
                      struct error *error);

/* Returns the name of a file in errors: "<stdin>" for "-". */
const char *file_shown(const char *path);

/* Appends the path of the file `name` that is named in `file`: in the directory of `file`, unless
 * `name` is absolute. */
void file_beside(const char *file, const char *name, struct text *path);

/* Tell about a path: file_readable() whether it is a file that can be read, and no directory;
 * file_regular() whether it is a regular file, not a pipe or device, whose end might never come. */
bool file_readable(const char *path);
bool file_there(const char *path); /* tells whether there is anything */
bool file_regular(const char *path);

#endif
