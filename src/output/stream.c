#include "output/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/descriptor.h"
#include "output/gzip.h"

enum { BUFFER_SIZE = 1 << 16, LINE_SIZE = 1024, CHANGED = -1 };

struct stream {
    int fd;
    int failure;                 /* errno of the first error; CHANGED; or 0 */
    bool reported;               /* the first error has been reported */
    bool watched;                /* the length of its file is checked before each write */
    char *path;                  /* directory and name, for messages */
    const char *name;            /* name of the file, the end of `path` */
    uint64_t length;             /* bytes accepted, buffered ones included */
    size_t buffered;             /* bytes in the buffer that are not yet in the file */
    uint64_t handed;             /* bytes that are in the file */
    size_t last;                 /* bytes written last, kept in the buffer until the next write */
    XXH3_state_t *hash;          /* hash of all bytes accepted */
    struct directory *directory; /* for a file of stream_replace(); otherwise NULL */
    struct gzip *gzip;           /* for a compressed file; otherwise NULL */
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

/* Makes a stream that has no file descriptor yet. If `directory` is NULL, `name` is what messages
 * call the file. */
static struct stream *stream_allocate(const struct directory *directory, const char *name,
                                      struct error *error)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (stream) {
        const char *parent = directory ? directory_path(directory) : "";
        const size_t folder = directory ? strlen(parent) + 1 : 0, size = folder + strlen(name) + 1;
        stream->fd = -1;
        stream->hash = XXH3_createState();
        stream->path = malloc(size);
        if (stream->hash && stream->path) {
            snprintf(stream->path, size, "%s%s%s", parent, folder ? "/" : "", name);
            stream->name = stream->path + folder;
            XXH3_64bits_reset(stream->hash);
            return stream;
        }
        stream_destroy(stream);
    }
    error_memory(error);
    return NULL;
}

/* Ends a function that opens a stream: *result becomes the stream or, after an error, NULL. */
static enum status hand_over(struct stream *stream, struct stream **result, struct error *error)
{
    *result = error->status ? NULL : stream;
    if (error->status && stream)
        stream_abandon(stream);
    return error->status;
}

static enum status other_length(const struct stream *stream, uint64_t has, uint64_t recorded,
                                struct error *error)
{
    return error_set(error, STATUS_IO,
                     "%s: has %llu bytes, but the checkpoint recorded %llu; nothing was changed",
                     stream->path, (unsigned long long)has, (unsigned long long)recorded);
}

/* Reads the first `length` bytes of the file and adds them to the hash of the stream. STATUS_IO if
 * the file is shorter, STATUS_STOPPED. */
static enum status hash_part(struct stream *stream, const struct directory *directory,
                             uint64_t length, struct error *error)
{
    while (stream->length < length) {
        const uint64_t left = length - stream->length;
        const size_t part = left < BUFFER_SIZE ? (size_t)left : BUFFER_SIZE;
        size_t got;
        const int code = descriptor_read_at(stream->fd, stream->length, stream->buffer, part, &got);
        if (code)
            return error_system(error, STATUS_IO, code, stream->path);
        if (directory_interrupted(directory))
            return error_system(error, STATUS_STOPPED, ECANCELED, stream->path);
        XXH3_64bits_update(stream->hash, stream->buffer, got);
        stream->length += got;
        if (got < part)
            return other_length(stream, stream->length, length, error);
    }
    return STATUS_OK;
}

static enum status check_marked_part(struct stream *stream, const struct directory *directory,
                                     const struct stream_mark *mark, struct error *error)
{
    if (hash_part(stream, directory, mark->length, error))
        return error->status;
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
    return stream->fd < 0 ? error->status : check_marked_part(stream, directory, mark, error);
}

enum status stream_trim(struct stream *stream, struct error *error)
{
    const off_t end = (off_t)stream->length;
    if (ftruncate(stream->fd, end) != 0 || lseek(stream->fd, end, SEEK_SET) < 0)
        return error_system(error, STATUS_IO, errno, stream->path);
    stream->handed = stream->length;
    return STATUS_OK;
}

enum status stream_open(struct directory *directory, const char *name,
                        const struct stream_mark *mark, struct stream **result, struct error *error)
{
    struct stream *stream = stream_allocate(directory, name, error);
    if (stream && mark)
        resume(stream, directory, mark, error);
    else if (stream)
        stream->fd = directory_create_file(directory, name, error);
    if (stream)
        stream->watched = true;
    return hand_over(stream, result, error);
}

/* Tells whether the file ends with the bytes that were written last, which are still in the
 * buffer. */
static bool ends_as_written(const struct stream *stream)
{
    char block[4096];
    const uint64_t start = stream->length - stream->last;
    for (size_t i = 0, got; i < stream->last; i += got) {
        const size_t left = stream->last - i, part = left < sizeof block ? left : sizeof block;
        if (descriptor_read_at(stream->fd, start + i, block, part, &got) || got < part ||
            memcmp(block, stream->buffer + i, part) != 0)
            return false;
    }
    return true;
}

enum status stream_look(const struct stream *stream, const struct directory *directory,
                        struct error *error)
{
    struct directory_entry entry;
    struct stat about;
    if (directory_look(directory, stream->name, &entry, error))
        return error->status;
    if (fstat(stream->fd, &about) != 0)
        return error_system(error, STATUS_IO, errno, stream->path);
    if (entry.device != about.st_dev || entry.inode != about.st_ino)
        return error_set(error, STATUS_IO,
                         "%s: another file has taken the place of the one that the run wrote",
                         stream->path);
    if (entry.length != stream->length)
        return error_set(error, STATUS_IO, "%s: has %llu bytes, but the run wrote %llu",
                         stream->path, (unsigned long long)entry.length,
                         (unsigned long long)stream->length);
    if (!ends_as_written(stream))
        return error_set(error, STATUS_IO, "%s: its last bytes are not those that the run wrote",
                         stream->path);
    return STATUS_OK;
}

static enum status check_file(struct stream *stream, const struct directory *directory,
                              const struct stream_mark *mark, struct error *error)
{
    uint64_t length;
    struct error unreadable = { 0 };
    stream->fd = directory_open_input(directory, stream->name, &length, &unreadable);
    if (stream->fd < 0)
        return error_set(error, unreadable.status == STATUS_MEMORY ? STATUS_MEMORY : STATUS_IO,
                         "%s; the checkpoint recorded it; nothing was changed", unreadable.text);
    if (length != mark->length)
        return other_length(stream, length, mark->length, error);
    return check_marked_part(stream, directory, mark, error);
}

enum status stream_check(struct directory *directory, const char *name,
                         const struct stream_mark *mark, struct error *error)
{
    struct stream *stream = stream_allocate(directory, name, error);
    if (!stream)
        return error->status;
    check_file(stream, directory, mark, error);
    stream_destroy(stream);
    return error->status;
}

struct stream_mark stream_mark_bytes(const void *bytes, size_t length)
{
    return (struct stream_mark){ length, XXH3_64bits(bytes, length) };
}

/* Moves to the end of a log; adds a line end if a killed process has left the last line
 * unfinished. */
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
    struct stream *stream = stream_allocate(directory, name, error);
    if (stream && (stream->fd = directory_open_file(directory, name, error)) >= 0)
        go_to_end(stream, error);
    return hand_over(stream, result, error);
}

/* Tells whether the length of the file is no longer that of what was written: somebody has cut the
 * file or added to it. */
static bool is_cut(const struct stream *stream)
{
    struct stat about;
    return stream->watched && fstat(stream->fd, &about) == 0 &&
           (uint64_t)about.st_size != stream->handed;
}

/* Writes the buffer to the file; after a failure its bytes are dropped. */
static void drain(struct stream *stream)
{
    if (stream->failure == 0 && stream->buffered > 0 && is_cut(stream))
        stream->failure = CHANGED;
    if (stream->failure == 0)
        stream->failure = stream->gzip
                              ? gzip_write(stream->gzip, stream->buffer, stream->buffered)
                              : descriptor_write(stream->fd, stream->buffer, stream->buffered);
    if (stream->buffered > 0)
        stream->last = stream->buffered;
    stream->handed += stream->buffered;
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
    else
        stream_fail(stream, EOVERFLOW);
}

void stream_fail(struct stream *stream, int code)
{
    if (stream->failure == 0)
        stream->failure = code;
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
        stream->failure = errno; /* EINVAL: a device without a disk to wait for */
    if (!stream->failure)
        return STATUS_OK;
    stream->reported = true;
    if (stream->failure == CHANGED)
        return error_set(error, STATUS_IO,
                         "%s: its length was changed while the run went on; the rest is not "
                         "written",
                         stream->path);
    return error_system(error, STATUS_IO, stream->failure, stream->path);
}

struct stream_mark stream_mark(const struct stream *stream)
{
    return (struct stream_mark){ stream->length, XXH3_64bits_digest(stream->hash) };
}

enum status stream_close(struct stream *stream, struct error *error)
{
    if (!stream)
        return STATUS_OK;
    /* Does not report an error that stream_flush() has reported. */
    enum status status = stream->reported ? STATUS_OK : stream_flush(stream, false, error);
    if (close(stream->fd) != 0 && status == STATUS_OK)
        status = error_system(error, STATUS_IO, errno, stream->path);
    stream->fd = -1;
    stream_destroy(stream);
    return status;
}

/* --- files that replace others ---------------------------------------------------------------- */

enum status stream_replace(struct directory *directory, const char *name, bool compressed,
                           struct stream **result, struct error *error)
{
    struct stream *stream = stream_allocate(directory, name, error);
    if (stream) {
        stream->directory = directory;
        stream->fd = directory_replace_begin(directory, name, error);
        if (stream->fd >= 0 && compressed && !(stream->gzip = gzip_create(stream->fd)))
            error_memory(error);
    }
    return hand_over(stream, result, error);
}

enum status stream_standard_output(struct stream **result, struct error *error)
{
    struct stream *stream = stream_allocate(NULL, "standard output", error);
    if (stream && (stream->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) < 0)
        error_system(error, STATUS_IO, errno, stream->path);
    return hand_over(stream, result, error);
}

void stream_abandon(struct stream *stream)
{
    if (!stream)
        return;
    if (stream->fd >= 0 && stream->directory) {
        directory_replace_abandon(stream->directory, stream->name, stream->fd);
        stream->fd = -1;
    }
    stream_destroy(stream);
}

enum status stream_commit(struct stream *stream, struct error *error)
{
    drain(stream);
    if (stream->failure == 0 && stream->gzip) {
        stream->failure = gzip_end(stream->gzip);
        stream->gzip = NULL;
    }
    const enum status status = directory_replace_commit(stream->directory, stream->name, NULL,
                                                        stream->fd, stream->failure, error);
    stream->fd = -1;
    stream_destroy(stream);
    return status;
}
