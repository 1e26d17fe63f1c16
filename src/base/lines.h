/*
 * A text file, line by line, plain or compressed with gzip. Line ends LF and CRLF, a UTF-8 byte
 * order mark and a missing last line end make no difference. Holds one block of the file, so the
 * size of the file does not matter.
 */
#ifndef ORRERY_BASE_LINES_H
#define ORRERY_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    LINES_LONGEST = 1 << 20,  /* bytes in a line; more are no text for us: STATUS_DATA */
    LINES_EMPTIEST = 1 << 24, /* bytes in lines without data; a few kilobytes of gzip hold more */
    LINES_DENSEST = 200       /* times the size of a compressed file: positions are not so alike */
};

struct lines; /* opaque, owned by the caller of lines_open() */

/* STATUS_NO_INPUT: missing, unreadable, or not a regular file. STATUS_MEMORY. */
enum status lines_open(const char *path, struct lines **lines, struct error *error);
/* The same of a file in the directory of a run, where no run puts a link: STATUS_DATA for one,
 * since what is read from there may go to other people. */
enum status lines_open_own(const char *path, struct lines **lines, struct error *error);
void lines_close(struct lines *lines); /* accepts NULL */

/*
 * The next line without its end, in memory that the caller may change until the next call; NULL at
 * the end of the file. STATUS_DATA: a control character or NUL (no text file), a line longer than
 * LINES_LONGEST, a compressed file that is damaged, truncated or more than LINES_DENSEST times as
 * large when it is unpacked (gzip reaches a thousand, with rows that are all alike). STATUS_IO.
 */
enum status lines_next(struct lines *lines, char **line, struct error *error);

/* Says of the line that lines_next() gave last that it has no data. STATUS_DATA where that is so of
 * more than LINES_EMPTIEST bytes since the file was opened or sought in: a compressed file may have
 * a thousand times its size of them, and reading it would not end. */
enum status lines_pass_over(struct lines *lines, struct error *error);

/* Passes over blank lines, and the blanks that begin the next one; *more: there is one. Errors of
 * lines_next(). */
enum status lines_skip_blank(struct lines *lines, bool *more, struct error *error);

/* A place in a file: the beginning of the next line. */
struct lines_mark {
    int64_t offset; /* in the uncompressed bytes */
    size_t number;  /* lines before it */
};
struct lines_mark lines_tell(const struct lines *lines);
enum status lines_seek(struct lines *lines, struct lines_mark mark, struct error *error);

/* Tells whether the line that lines_next() gave last has no end. A process that was killed leaves
 * half of one, and the half of a number looks like a whole one. */
bool lines_is_cut(const struct lines *lines);

/* The number of the line that lines_next() gave last, from 1. */
size_t lines_number(const struct lines *lines);

/* Adds "path:line: ..." about that line to *error, or "path: ..." before the first line. Returns
 * STATUS_DATA. */
enum status lines_error(const struct lines *lines, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The first bytes of the file, uncompressed, to recognise what it holds: at most size - 1, with a
 * NUL after the last one. Errors of lines_open() and lines_next(), except that any byte will do.
 */
enum status lines_head(const char *path, char *head, size_t size, size_t *length,
                       struct error *error);

#endif
