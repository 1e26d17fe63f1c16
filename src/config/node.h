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

/* The blocks from which the pieces come. All zero is an empty arena. */
struct arena {
    struct arena_block *blocks;
};

/* Returns `count` zeroed elements of `size` bytes each, or NULL if memory is exhausted. */
void *arena_take(struct arena *arena, size_t count, size_t size);
/* Returns a copy of `length` bytes with a NUL behind them, or NULL if memory is exhausted. */
char *arena_copy(struct arena *arena, const char *bytes, size_t length);
/* Returns a copy of the text, and frees the text; NULL if memory is exhausted. */
char *arena_keep(struct arena *arena, struct text *text);
void arena_free(struct arena *arena);

/* Reports that memory was exhausted while a configuration was read. Returns STATUS_MEMORY. */
enum status arena_exhausted(struct error *error);

/* --- locations -------------------------------------------------------------------------------- */

/* A line of a file (from 1). Line 0 stands for text that is in no file: then `file` is the override
 * as it was typed ("-P time.step=0.01"). */
struct location {
    const char *file;
    size_t line;
};

/* Reports an error: "file:line: path = value: reason". `path` (of the key, "time.step") and `value`
 * may be NULL; they are left out if the location is an override that names `path` itself. Returns
 * STATUS_CONFIG. */
enum status location_report(const struct location *location, const char *path, const char *value,
                            struct error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Reports an error as location_report() does, but with `status`: for a good value that asks for
 * something that is missing. Returns `status`. */
enum status location_report_as(const struct location *location, const char *path, const char *value,
                               enum status status, struct error *error, const char *reason);

/* --- nodes ------------------------------------------------------------------------------------ */

enum node_kind {
    NODE_FLAG,
    NODE_INTEGER,
    NODE_REAL,
    NODE_STRING,
    NODE_LIST, /* a list ( ) or an array [ ] */
    NODE_GROUP,
    NODE_BAD /* text that is no value; its `string` is that text */
};

/* The reason why the text of a NODE_BAD is no value. */
enum node_bad {
    BAD_WORD,   /* nan, inf, or a string without quotation marks */
    BAD_NUMBER, /* no number, as 1.2.3 */
    BAD_RANGE,  /* 1e999, or an integer beyond 64 bits */
    BAD_TOLD    /* the statement could not be read; its error has been reported */
};

/* A value, list or group; `kind` says which of the members count. */
struct node {
    enum node_kind kind;
    enum node_bad bad;
    bool flag;
    int64_t integer;
    double real;
    const char *string;
    const char *raw;  /* for an override: the value as it was typed; else NULL */
    const char *name; /* key of the node if its parent is a group, otherwise NULL */
    struct location location;
    struct node **children; /* [count], of a list or group */
    size_t count;
    struct node *next;   /* the next node in the order of the text */
    struct node *before; /* the node before it in its group or list */
};

/* Makes *node a number read from `bytes`: a signed integer of 64 bits or a real; a NODE_BAD if
 * `bytes` are neither. */
void node_read_number(struct node *node, const char *bytes);

/* --- files ------------------------------------------------------------------------------------ */

/* The files of a configuration: their bytes, and the paths at which @include looks for them. */

enum { FILE_LIMIT = 4 << 20 }; /* bytes; a longer file is refused */

/* Appends the whole file, or standard input for "-", to *text, and puts its stat() into *identity.
 * STATUS_NO_INPUT (missing, unreadable, a directory), STATUS_CONFIG (longer than FILE_LIMIT),
 * STATUS_IO, STATUS_MEMORY. */
enum status file_read(const char *path, struct text *text, struct stat *identity,
                      struct error *error);

/* Returns the name by which errors call the file `path`: "<stdin>" for "-". */
const char *file_shown(const char *path);

/* Appends the path of the file that `file` calls `name`: relative to the directory of `file`,
 * unless `name` is absolute. */
void file_beside(const char *file, const char *name, struct text *path);

/* Tell about a path: file_readable() whether it is a file that can be read, and no directory;
 * file_regular() whether it is a regular file: the end of a pipe or device might never come. */
bool file_readable(const char *path);
bool file_there(const char *path); /* whether anything has this path */
bool file_regular(const char *path);

#endif
