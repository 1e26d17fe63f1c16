#include "base/lines.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 1 << 16 };

/* Bytes up to which any compressed file may be unpacked, however small it is. */
static const int64_t unpacked_always = 1 << 26;

struct lines {
    gzFile file;
    char *path;
    size_t number;
    char *buffer;         /* capacity + 1 bytes, for the NUL of a last line */
    size_t capacity;      /* grows from BLOCK with the longest line */
    size_t next, filled;  /* the unread bytes are buffer[next ... filled - 1] */
    int64_t offset;       /* offset of buffer[filled] in the uncompressed file */
    bool ended;           /* the whole file has been read into the buffer */
    bool cut;             /* the last line has no line end */
    size_t length, empty; /* in bytes: of the last line; of all lines without data so far */
};

/* Opens a file and returns its descriptor; returns -1 with an error if it is not a regular file.
 * Does not wait for the writer of a pipe. */
static int open_regular(const char *path, int flags, struct error *error)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
    if (fd < 0 && (flags & O_NOFOLLOW) && lstat(path, &about) == 0 && S_ISLNK(about.st_mode))
        error_set(error, STATUS_DATA, "%s: is a link, which no run writes; put the file there",
                  path);
    else if (fd < 0)
        /* NOLINTNEXTLINE(bugprone-branch-clone): the order matters */
        error_system(error, STATUS_NO_INPUT, errno, path);
    else if (fstat(fd, &about) != 0)
        error_system(error, STATUS_NO_INPUT, errno, path);
    else if (S_ISDIR(about.st_mode))
        error_system(error, STATUS_NO_INPUT, EISDIR, path);
    else if (!S_ISREG(about.st_mode))
        error_set(error, STATUS_NO_INPUT, "%s: is not a regular file", path);
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static enum status open_file(const char *path, int flags, gzFile *file, struct error *error)
{
    const int fd = open_regular(path, flags, error);
    if (fd < 0)
        return error->status;
    *file = gzdopen(fd, "rb");
    if (*file)
        return STATUS_OK;
    close(fd);
    return error_system(error, STATUS_MEMORY, ENOMEM, path);
}

static enum status read_bytes(gzFile file, const char *path, char *bytes, size_t size,
                              size_t *length, struct error *error)
{
    errno = 0;
    const int count = gzread(file, bytes, (unsigned)size);
    int code = Z_OK;
    if (count < (int)size)
        gzerror(file, &code);
    *length = count > 0 ? (size_t)count : 0;
    if (code == Z_ERRNO)
        return error_system(error, STATUS_IO, errno, path);
    if (code == Z_MEM_ERROR)
        return error_system(error, STATUS_MEMORY, ENOMEM, path);
    if (code != Z_OK && code != Z_STREAM_END) /* Z_BUF_ERROR: the file ends within the stream */
        return error_set(error, STATUS_DATA, "%s: the compressed file is %s", path,
                         code == Z_BUF_ERROR ? "cut short" : "damaged");
    return STATUS_OK;
}

static enum status open_with(const char *path, int flags, struct lines **result,
                             struct error *error)
{
    *result = NULL;
    struct lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        goto no_memory;
    lines->capacity = BLOCK;
    lines->buffer = malloc(BLOCK + 1);
    lines->path = strdup(path);
    if (!lines->buffer || !lines->path)
        goto no_memory;
    if (open_file(path, flags, &lines->file, error) != STATUS_OK) {
        lines_close(lines);
        return error->status;
    }
    *result = lines;
    return STATUS_OK;
no_memory:
    lines_close(lines);
    return error_system(error, STATUS_MEMORY, ENOMEM, path);
}

enum status lines_open(const char *path, struct lines **result, struct error *error)
{
    return open_with(path, 0, result, error);
}

enum status lines_open_own(const char *path, struct lines **result, struct error *error)
{
    return open_with(path, O_NOFOLLOW, result, error);
}

void lines_close(struct lines *lines)
{
    if (!lines)
        return;
    if (lines->file)
        gzclose_r(lines->file); /* the file was only read: no data can be lost */
    free(lines->buffer);
    free(lines->path);
    free(lines);
}

/* Doubles the buffer, for a line that is longer than all before; refuses a line that does not fit
 * into LINES_LONGEST bytes. */
static enum status grow(struct lines *lines, struct error *error)
{
    if (lines->capacity >= LINES_LONGEST) {
        lines->number++;
        return lines_error(lines, error, "longer than %d bytes: this is no table of bodies",
                           LINES_LONGEST);
    }
    const size_t capacity = 2 * lines->capacity;
    char *buffer = realloc(lines->buffer, capacity + 1);
    if (!buffer)
        return error_system(error, STATUS_MEMORY, ENOMEM, lines->path);
    lines->buffer = buffer;
    lines->capacity = capacity;
    return STATUS_OK;
}

/* Refuses a compressed file that unpacks to more than LINES_DENSEST times its size, which no table
 * of numbers does: reading it could take hours, and its rows could fill the memory. */
static enum status check_density(const struct lines *lines, struct error *error)
{
    if (lines->offset <= unpacked_always || gzdirect(lines->file) ||
        lines->offset / LINES_DENSEST <= (int64_t)gzoffset(lines->file))
        return STATUS_OK;
    return error_set(error, STATUS_DATA,
                     "%s: unpacks to more than %d times its size: this is no table of bodies",
                     lines->path, LINES_DENSEST);
}

static enum status refill(struct lines *lines, struct error *error)
{
    memmove(lines->buffer, lines->buffer + lines->next, lines->filled - lines->next);
    lines->filled -= lines->next;
    lines->next = 0;
    if (lines->filled == lines->capacity && grow(lines, error) != STATUS_OK)
        return error->status;
    const size_t room = lines->capacity - lines->filled;
    size_t length;
    const enum status status =
        read_bytes(lines->file, lines->path, lines->buffer + lines->filled, room, &length, error);
    lines->filled += length;
    lines->offset += (int64_t)length;
    lines->ended = length < room;
    return status ? status : check_density(lines, error);
}

static enum status check_text(const struct lines *lines, const char *line, size_t length,
                              struct error *error)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)line[i];
        if ((byte < ' ' && !(byte >= '\t' && byte <= '\r')) || byte == 0x7f)
            return lines_error(lines, error, "byte %zu is 0x%02x: this is not a text file", i + 1,
                               byte);
    }
    return STATUS_OK;
}

enum status lines_next(struct lines *lines, char **result, struct error *error)
{
    *result = NULL;
    size_t searched = 0;
    char *end;
    for (;;) {
        const size_t from = lines->next + searched;
        end = memchr(lines->buffer + from, '\n', lines->filled - from);
        if (end || lines->ended)
            break;
        searched = lines->filled - lines->next;
        if (refill(lines, error) != STATUS_OK)
            return error->status;
    }
    if (lines->next == lines->filled)
        return STATUS_OK; /* the end of the file */
    lines->cut = !end;
    if (!end)
        end = lines->buffer + lines->filled;
    char *line = lines->buffer + lines->next;
    lines->next = (size_t)(end - lines->buffer) + 1;
    if (lines->next > lines->filled)
        lines->next = lines->filled;
    size_t length = lines->length = (size_t)(end - line);
    if (lines->number++ == 0 && length >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
        line += 3; /* the byte order mark */
        length -= 3;
    }
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0';
    *result = line;
    return check_text(lines, line, length, error);
}

static enum status pass_over(struct lines *lines, size_t bytes, struct error *error)
{
    lines->empty += bytes;
    if (lines->empty <= LINES_EMPTIEST)
        return STATUS_OK;
    return lines_error(lines, error,
                       "more than %d MiB of comments and blank lines: this is no table of bodies",
                       LINES_EMPTIEST >> 20);
}

enum status lines_pass_over(struct lines *lines, struct error *error)
{
    return pass_over(lines, lines->length + 1, error);
}

bool lines_is_cut(const struct lines *lines)
{
    return lines->cut;
}

enum status lines_skip_blank(struct lines *lines, bool *more, struct error *error)
{
    for (*more = false; !*more;) {
        const size_t first = lines->next;
        while (lines->next < lines->filled && isspace((unsigned char)lines->buffer[lines->next]))
            lines->number += lines->buffer[lines->next++] == '\n';
        if (pass_over(lines, lines->next - first, error))
            return error->status;
        *more = lines->next < lines->filled;
        if (*more || lines->ended)
            break;
        if (refill(lines, error) != STATUS_OK)
            return error->status;
    }
    return STATUS_OK;
}

struct lines_mark lines_tell(const struct lines *lines)
{
    return (struct lines_mark){ lines->offset - (int64_t)(lines->filled - lines->next),
                                lines->number };
}

enum status lines_seek(struct lines *lines, struct lines_mark mark, struct error *error)
{
    errno = 0;
    if (gzseek(lines->file, (z_off_t)mark.offset, SEEK_SET) < 0)
        return error_system(error, STATUS_IO, errno, lines->path);
    lines->offset = mark.offset;
    lines->number = mark.number;
    lines->next = lines->filled = 0;
    lines->ended = false;
    lines->empty = 0;
    return STATUS_OK;
}

size_t lines_number(const struct lines *lines)
{
    return lines->number;
}

enum status lines_error(const struct lines *lines, struct error *error, const char *format, ...)
{
    char reason[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (lines->number == 0)
        return error_set(error, STATUS_DATA, "%s: %s", lines->path, reason);
    return error_set(error, STATUS_DATA, "%s:%zu: %s", lines->path, lines->number, reason);
}

enum status lines_head(const char *path, char *head, size_t size, size_t *length,
                       struct error *error)
{
    gzFile file;
    *length = 0;
    if (open_file(path, 0, &file, error) != STATUS_OK)
        return error->status;
    const enum status status = read_bytes(file, path, head, size - 1, length, error);
    head[*length] = '\0';
    gzclose_r(file);
    return status;
}
