/*
 * A file, mostly of text, that grows during a run. Writes are buffered and return no errors; the
 * first error is kept and reported by the next flush. The length and a hash of all bytes are known
 * at any moment: a checkpoint records them, and a restart checks the file by them and cuts off what
 * follows.
 */
#ifndef ORRERY_OUTPUT_STREAM_H
#define ORRERY_OUTPUT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "output/directory.h"

/* A position in a stream: the number of bytes before it, and the XXH3-64 hash of these bytes. */
struct stream_mark {
    uint64_t length;
    uint64_t hash;
};

/* Returns the mark at the end of a file with these bytes. */
struct stream_mark stream_mark_bytes(const void *bytes, size_t length);

struct stream;

/*
 * Opens a new file or, if `mark` is not NULL, one that is to be continued from this mark; it is
 * left as it is until stream_trim(). STATUS_CANT_CREATE, STATUS_MEMORY; STATUS_IO if the file is
 * shorter than the mark says or has other bytes before it; STATUS_STOPPED if the interruption of
 * the directory is raised.
 */
enum status stream_open(struct directory *directory, const char *name,
                        const struct stream_mark *mark, struct stream **stream,
                        struct error *error);

/* Cuts off the bytes of a continued file behind its mark; called before the first write.
 * STATUS_IO. */
enum status stream_trim(struct stream *stream, struct error *error);

/* Checks that the file of a stream, after a flush, is still as it was written: the same file, with
 * its length and its last bytes. No other bytes are read, however long the file is. STATUS_IO. */
enum status stream_look(const struct stream *stream, const struct directory *directory,
                        struct error *error);

/* Reads a whole file and checks that its bytes are those that the mark describes. STATUS_IO,
 * STATUS_MEMORY, STATUS_STOPPED. */
enum status stream_check(struct directory *directory, const char *name,
                         const struct stream_mark *mark, struct error *error);

/* Opens a log and goes on at the end of its file; makes the file if there is none. */
enum status stream_append(struct directory *directory, const char *name, struct stream **stream,
                          struct error *error);

/* Opens a file that appears as a whole, in the place of the one that is there, or not at all; if
 * `compressed`, with gzip. It ends with stream_commit() or stream_abandon(). */
enum status stream_replace(struct directory *directory, const char *name, bool compressed,
                           struct stream **stream, struct error *error);
/* Opens standard output as a stream. It ends with stream_close() or, to drop what is buffered, with
 * stream_abandon(). STATUS_IO, STATUS_MEMORY. */
enum status stream_standard_output(struct stream **stream, struct error *error);
/* Puts the file of stream_replace() in place; frees the stream in any case. STATUS_IO. */
enum status stream_commit(struct stream *stream, struct error *error);
void stream_abandon(struct stream *stream); /* accepts NULL */

void stream_write(struct stream *stream, const char *bytes, size_t length);
void stream_print(struct stream *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Notes that bytes could not be made: `code`, an errno, is kept as if it were that of a failed
 * write. */
void stream_fail(struct stream *stream, int code);
/* Writes a number with `digits` significant digits; with 17 digits it reads back as the same
 * number. */
void stream_real(struct stream *stream, double value, int digits);

/* Hands all buffered bytes to the system; if `to_disk`, also waits until the disk has them.
 * STATUS_IO. */
enum status stream_flush(struct stream *stream, bool to_disk, struct error *error);
/* Returns the mark at the end of all that was written so far. */
struct stream_mark stream_mark(const struct stream *stream);
/* Flushes and closes; frees the stream in any case. Accepts NULL. */
enum status stream_close(struct stream *stream, struct error *error);

#endif
