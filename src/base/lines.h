/* Reads a text file line by line, plain or compressed with gzip. Line ends LF and CRLF, a UTF-8
 * byte order mark and a missing last line end make no difference. The reader holds one block of the
 * file, so the size of the file does not matter. */
#ifndef ORRERY_BASE_LINES_H
#define ORRERY_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    LINES_LONGEST = 1 << 20, /* the most bytes in a line: STATUS_DATA beyond */
    /* The most bytes that all lines without data may have: a small gzip file can hide very many. */
    LINES_EMPTIEST = 1 << 24,
    /* The largest ratio of unpacked to compressed size of a file that unpacks to more than 64 MiB.
     * Positions, which all differ, compress far less. */
    LINES_DENSEST = 200
};

struct lines; /* opaque, owned by the caller of lines_open() */

/* Opens a file. STATUS_NO_INPUT if it is missing, unreadable or not regular; STATUS_MEMORY. */
enum status lines_open(const char *path, struct lines **lines, struct error *error);
/* Opens a file of the directory of a run, in which no run puts a link, as lines_open() does.
 * STATUS_DATA if the file is a link: it may lead to a private file, whose content would be
 * published with the run. */
enum status lines_open_own(const char *path, struct lines **lines, struct error *error);
void lines_close(struct lines *lines); /* frees the reader; accepts NULL */

/*
 * Gives in *line the next line without its end, in memory that the caller may change and that is
 * valid until the next call; NULL at the end of the file. STATUS_DATA: a control character or NUL
 * (no text file), a line longer than LINES_LONGEST, a compressed file that is damaged, truncated or
 * unpacks to more than LINES_DENSEST times its size (gzip reaches a thousand, if all rows are
 * alike). STATUS_IO, STATUS_MEMORY.
 */
enum status lines_next(struct lines *lines, char **line, struct error *error);

/* Counts the last line from lines_next() as a line without data. STATUS_DATA after more than
 * LINES_EMPTIEST bytes of such lines since lines_open() or lines_seek(): a compressed file may
 * unpack to a thousand times its size of blank lines, and reading it would hardly end. */
enum status lines_pass_over(struct lines *lines, struct error *error);

/* Skips blank lines and the blanks at the beginning of the next line; *more tells whether the file
 * has a next line. Errors as lines_next(). */
enum status lines_skip_blank(struct lines *lines, bool *more, struct error *error);

/* A position in a file, always the beginning of a line: lines_tell() returns that of the next line,
 * lines_seek() goes on from it. */
struct lines_mark {
    int64_t offset; /* offset of the position in the uncompressed file */
    size_t number;  /* number of lines before the position */
};
struct lines_mark lines_tell(const struct lines *lines);
enum status lines_seek(struct lines *lines, struct lines_mark mark, struct error *error);

/* Tells whether the last line from lines_next() has no line end. A killed process may leave half a
 * line, and half of a number looks like a whole one. */
bool lines_is_cut(const struct lines *lines);

/* Returns the number of the last line from lines_next(), counted from 1. */
size_t lines_number(const struct lines *lines);

/* Adds "path:line: ...", with the number of the last line, to *error; "path: ..." before the first
 * line. Returns STATUS_DATA. */
enum status lines_error(const struct lines *lines, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads the first bytes of a file, uncompressed, by which its format is recognised: *length of
 * them, fewer than `size`, with a NUL behind them. Any bytes are accepted. Errors of opening as
 * lines_open(), of reading as lines_next(). */
enum status lines_head(const char *path, char *head, size_t size, size_t *length,
                       struct error *error);

#endif
