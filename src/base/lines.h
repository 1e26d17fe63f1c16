/*
 * Reads a text file line by line, plain or compressed with gzip. Line ends LF and CRLF, a UTF-8
 * byte order mark and a missing last line end make no difference. The reader holds one block of the
 * file, so the size of the file does not matter.
 */
#ifndef ORRERY_BASE_LINES_H
#define ORRERY_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    LINES_LONGEST = 1 << 20,  /* most bytes in a line: STATUS_DATA beyond */
    LINES_EMPTIEST = 1 << 24, /* most bytes in lines without data: gzip may hide many more */
    LINES_DENSEST = 200       /* most times the size of a compressed file: positions differ */
};

struct lines; /* opaque, owned by the caller of lines_open() */

/* Opens a file. STATUS_NO_INPUT if it is missing, unreadable or not regular; STATUS_MEMORY. */
enum status lines_open(const char *path, struct lines **lines, struct error *error);
/* Does the same in the directory of a run, in which no run puts a link. STATUS_DATA if the file is
 * a link, since its content may be published with the run. */
enum status lines_open_own(const char *path, struct lines **lines, struct error *error);
void lines_close(struct lines *lines); /* accepts NULL */

/*
 * Gives the next line without its end, in memory that the caller may change until the next call;
 * NULL at the end of the file. STATUS_DATA: a control character or NUL (no text file), a line
 * longer than LINES_LONGEST, a compressed file that is damaged, truncated or unpacks to more than
 * LINES_DENSEST times its size (gzip reaches a thousand, if all rows are alike). STATUS_IO,
 * STATUS_MEMORY.
 */
enum status lines_next(struct lines *lines, char **line, struct error *error);

/* Counts the last line from lines_next() as one without data. STATUS_DATA after more than
 * LINES_EMPTIEST bytes of such lines since lines_open() or lines_seek(): a compressed file may have
 * a thousand times its size of them, and reading it would not end. */
enum status lines_pass_over(struct lines *lines, struct error *error);

/* Skips blank lines, and the blanks that begin the next line; *more tells whether there is one.
 * Errors as lines_next(). */
enum status lines_skip_blank(struct lines *lines, bool *more, struct error *error);

/* A place in a file: the beginning of the next line. */
struct lines_mark {
    int64_t offset; /* offset in the uncompressed bytes */
    size_t number;  /* number of lines before it */
};
struct lines_mark lines_tell(const struct lines *lines);
enum status lines_seek(struct lines *lines, struct lines_mark mark, struct error *error);

/* Tells whether the last line from lines_next() has no line end. A killed process may leave half a
 * line, and half of a number looks like a whole one. */
bool lines_is_cut(const struct lines *lines);

/* Returns the number of the last line from lines_next(), counted from 1. */
size_t lines_number(const struct lines *lines);

/* Adds "path:line: ..." about the last line to *error, or "path: ..." before the first line.
 * Returns STATUS_DATA. */
enum status lines_error(const struct lines *lines, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Reads the first bytes of a file, uncompressed, by which its format is recognised: fewer than
 * `size`, with a NUL behind them. They may be any bytes. Other errors as lines_open() and
 * lines_next().
 */
enum status lines_head(const char *path, char *head, size_t size, size_t *length,
                       struct error *error);

#endif
