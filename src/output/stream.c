#include "output/stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "output/gzip.h"

enum { BUFFER_SIZE = 1 << 16, LINE_SIZE = 1024 };

struct stream {
    int fd;
    int failure;      /* errno of the first error, or 0 */
    bool told;        /* it has been reported */
    char *path;       /* directory and name, for messages */
    const char *name; /* the end of path */
    uint64_t length;  /* bytes accepted, buffered ones included */
    size_t buffered;
    XXH3_state_t *hash;          /* of the bytes accepted */
    struct directory *directory; /* of a file that replaces another */
    struct gzip *gzip;           /* of one that is compressed */
    char buffer[BUFFER_SIZE];
};

static void stream_destroy(struct stream *stream)
{
    if (stream->fd >= 0)
        close(stream->fd);
    gzip_destroy(stream->gzip);
    XXH3_freeState(stream->hash);
    free(stream->path);
    free(stream);
}

/* Everything but the file descriptor. */
static struct stream *stream_allocate(const struct directory *directory, const char *name,
                                      struct error *error)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (stream) {
        const char *place = directory_path(directory);
        const size_t size = strlen(place) + strlen(name) + 2;
        stream->fd = -1;
        stream->hash = XXH3_createState();
        stream->path = malloc(size);
        if (stream->hash && stream->path) {
            snprintf(stream->path, size, "%s/%s", place, name);
            stream->name = stream->path + strlen(place) + 1;
            XXH3_64bits_reset(stream->hash);
            return stream;
        }
        stream_destroy(stream);
    }
    error_set(error, STATUS_MEMORY, "out of memory");
    return NULL;
}

/* Reads and hashes the first mark->length bytes of the file and compares. */
static enum status check_marked_part(struct stream *stream, const struct stream_mark *mark,
                                     struct error *error)
{
    while (stream->length < mark->length) {
        const uint64_t left = mark->length - stream->length;
        const size_t part = left < BUFFER_SIZE ? (size_t)left : BUFFER_SIZE;
        const ssize_t got = pread(stream->fd, stream->buffer, part, (off_t)stream->length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_system(error, STATUS_IO, errno, stream->path);
        if (got == 0)
            return error_set(error, STATUS_IO,
                             "%s: has %llu bytes, but the checkpoint recorded %llu; nothing was "
                             "changed",
                             stream->path, (unsigned long long)stream->length,
                             (unsigned long long)mark->length);
        XXH3_64bits_update(stream->hash, stream->buffer, (size_t)got);
        stream->length += (uint64_t)got;
    }
    if (XXH3_64bits_digest(stream->hash) != mark->hash)
        return error_set(error, STATUS_IO,
                         "%s: its content is not what the run had written at the checkpoint; "
                         "nothing was changed",
                         stream->path);
    return STATUS_OK;
}

static enum status resume(struct stream *stream, struct directory *directory,
                          const struct stream_mark *mark, struct error *error)
{
    stream->fd = directory_open_file(directory, stream->name, error);
    return stream->fd < 0 ? error->status : check_marked_part(stream, mark, error);
}

enum status stream_trim(struct stream *stream, struct error *error)
{
    const off_t end = (off_t)stream->length;
    if (ftruncate(stream->fd, end) != 0 || lseek(stream->fd, end, SEEK_SET) < 0)
        return error_system(error, STATUS_IO, errno, stream->path);
    return STATUS_OK;
}

enum status stream_open(struct directory *directory, const char *name,
                        const struct stream_mark *mark, struct stream **result, struct error *error)
{
    *result = NULL;
    struct stream *stream = stream_allocate(directory, name, error);
    if (!stream)
        return error->status;
    if (mark)
        resume(stream, directory, mark, error);
    else
        stream->fd = directory_create_file(directory, name, error);
    if (error->status) {
        stream_destroy(stream);
        return error->status;
    }
    *result = stream;
    return STATUS_OK;
}

/* A process that was killed may have left half a line. */
static enum status go_to_end(struct stream *stream, struct error *error)
{
    char last = '\n';
    const off_t end = lseek(stream->fd, 0, SEEK_END);
    if (end < 0 || (end > 0 && pread(stream->fd, &last, 1, end - 1) < 0))
        return error_system(error, STATUS_IO, errno, stream->path);
    if (last != '\n')
        stream_write(stream, "\n", 1);
    return STATUS_OK;
}

enum status stream_append(struct directory *directory, const char *name, struct stream **result,
                          struct error *error)
{
    if (!directory_has(directory, name))
        return stream_open(directory, name, NULL, result, error);
    *result = NULL;
    struct stream *stream = stream_allocate(directory, name, error);
    if (!stream)
        return error->status;
    stream->fd = directory_open_file(directory, name, error);
    if (stream->fd < 0 || go_to_end(stream, error)) {
        stream_destroy(stream);
        return error->status;
    }
    *result = stream;
    return STATUS_OK;
}

/* Hands the buffer to the system; after a failure bytes are dropped. */
static void drain(struct stream *stream)
{
    if (stream->failure == 0)
        stream->failure = stream->gzip
                              ? gzip_write(stream->gzip, stream->buffer, stream->buffered)
                              : directory_write_all(stream->fd, stream->buffer, stream->buffered);
    stream->buffered = 0;
}

void stream_write(struct stream *stream, const char *bytes, size_t length)
{
    XXH3_64bits_update(stream->hash, bytes, length);
    stream->length += length;
    while (length > 0) {
        const size_t room = BUFFER_SIZE - stream->buffered;
        const size_t part = length < room ? length : room;
        memcpy(stream->buffer + stream->buffered, bytes, part);
        stream->buffered += part;
        bytes += part;
        length -= part;
        if (stream->buffered == BUFFER_SIZE)
            drain(stream);
    }
}

void stream_print(struct stream *stream, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= 0 && length < LINE_SIZE)
        stream_write(stream, line, (size_t)length);
    else if (stream->failure == 0)
        stream->failure = EOVERFLOW;
}

void stream_real(struct stream *stream, double value, int digits)
{
    char number[40];
    const int length = snprintf(number, sizeof number, "%.*g", digits, value);
    stream_write(stream, number, (size_t)length);
}

enum status stream_flush(struct stream *stream, bool to_disk, struct error *error)
{
    drain(stream);
    if (stream->failure == 0 && to_disk && fsync(stream->fd) != 0 && errno != EINVAL)
        stream->failure = errno; /* EINVAL: a device that has no disk to wait for */
    if (!stream->failure)
        return STATUS_OK;
    stream->told = true;
    return error_system(error, STATUS_IO, stream->failure, stream->path);
}

struct stream_mark stream_mark(const struct stream *stream)
{
    return (struct stream_mark){ stream->length, XXH3_64bits_digest(stream->hash) };
}

const char *stream_name(const struct stream *stream)
{
    return stream->name;
}

enum status stream_close(struct stream *stream, struct error *error)
{
    if (!stream)
        return STATUS_OK;
    /* What was said once need not be said again. */
    enum status status = stream->told ? STATUS_OK : stream_flush(stream, false, error);
    if (close(stream->fd) != 0 && status == STATUS_OK)
        status = error_system(error, STATUS_IO, errno, stream->path);
    stream->fd = -1;
    stream_destroy(stream);
    return status;
}

/* --- files that replace others -----------------------------------------------------------------
 */

enum status stream_replace(struct directory *directory, const char *name, bool compressed,
                           struct stream **result, struct error *error)
{
    *result = NULL;
    struct stream *stream = stream_allocate(directory, name, error);
    if (!stream)
        return error->status;
    stream->directory = directory;
    stream->fd = directory_replace_begin(directory, name, error);
    if (stream->fd >= 0 && compressed && !(stream->gzip = gzip_create(stream->fd)))
        error_set(error, STATUS_MEMORY, "out of memory");
    if (error->status)
        stream_abandon(stream);
    else
        *result = stream;
    return error->status;
}

void stream_abandon(struct stream *stream)
{
    if (!stream)
        return;
    if (stream->fd >= 0)
        directory_replace_abandon(stream->directory, stream->name, stream->fd);
    stream->fd = -1;
    stream_destroy(stream);
}

enum status stream_commit(struct stream *stream, struct error *error)
{
    drain(stream);
    if (stream->failure == 0 && stream->gzip) {
        stream->failure = gzip_end(stream->gzip);
        stream->gzip = NULL;
    }
    if (stream->failure) {
        error_system(error, STATUS_IO, stream->failure, stream->path);
        stream_abandon(stream);
        return error->status;
    }
    const enum status status =
        directory_replace_commit(stream->directory, stream->name, NULL, stream->fd, error);
    stream->fd = -1;
    stream_destroy(stream);
    return status;
}
