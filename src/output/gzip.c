#include "output/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/descriptor.h"

enum { BLOCK = 1 << 16, GZIP_WINDOW = 15 + 16 }; /* the largest window, and 16 for gzip */

size_t gzip_stem(const char *file)
{
    static const char ending[] = ".gz";
    const size_t length = strlen(file), end = sizeof ending - 1;
    return length > end && strcmp(file + length - end, ending) == 0 ? length - end : length;
}

/* --- a stream --------------------------------------------------------------------------------- */

struct gzip {
    z_stream zlib;
    int fd;
    unsigned char buffer[BLOCK];
};

struct gzip *gzip_create(int fd)
{
    struct gzip *gzip = calloc(1, sizeof *gzip);
    if (gzip && deflateInit2(&gzip->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                             MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK) {
        gzip->fd = fd;
        return gzip;
    }
    free(gzip);
    return NULL;
}

void gzip_destroy(struct gzip *gzip)
{
    if (gzip)
        deflateEnd(&gzip->zlib);
    free(gzip);
}

/* Compresses the input that the struct zlib points to and writes the result; with Z_FINISH also
 * writes the end of the stream. Returns 0, or errno. */
static int compress_input(struct gzip *gzip, int flush)
{
    for (;;) {
        gzip->zlib.next_out = gzip->buffer;
        gzip->zlib.avail_out = BLOCK;
        const int code = deflate(&gzip->zlib, flush);
        if (code == Z_STREAM_ERROR)
            return EINVAL;
        const size_t length = BLOCK - gzip->zlib.avail_out;
        const int failure = descriptor_write(gzip->fd, gzip->buffer, length);
        if (failure)
            return failure;
        if (flush == Z_FINISH ? code == Z_STREAM_END : gzip->zlib.avail_out > 0)
            return 0;
    }
}

int gzip_write(struct gzip *gzip, const void *bytes, size_t length)
{
    const unsigned char *next = bytes;
    while (length > 0) {
        const size_t part = length < BLOCK ? length : BLOCK;
        gzip->zlib.next_in = (unsigned char *)next;
        gzip->zlib.avail_in = (unsigned)part;
        const int failure = compress_input(gzip, Z_NO_FLUSH);
        if (failure)
            return failure;
        next += part;
        length -= part;
    }
    return 0;
}

int gzip_end(struct gzip *gzip)
{
    gzip->zlib.avail_in = 0;
    const int failure = compress_input(gzip, Z_FINISH);
    gzip_destroy(gzip);
    return failure;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Compresses the open file `from` into the open file `to`. Returns 0, or errno; ECANCELED if the
 * interruption of the directory is raised. */
static int compress_file(const struct directory *directory, int from, int to)
{
    unsigned char block[BLOCK];
    struct gzip *gzip = gzip_create(to);
    if (!gzip)
        return ENOMEM;
    for (;;) {
        size_t got;
        int failure = descriptor_read(from, block, sizeof block, &got);
        if (!failure && got == 0)
            return gzip_end(gzip);
        if (!failure)
            failure = gzip_write(gzip, block, got);
        if (!failure && directory_interrupted(directory))
            failure = ECANCELED;
        if (failure) {
            gzip_destroy(gzip);
            return failure;
        }
    }
}

enum status gzip_pack(struct directory *directory, const char *name, const char *packed,
                      struct error *error)
{
    uint64_t length;
    const int from = directory_open_input(directory, name, &length, error);
    const int to = from < 0 ? -1 : directory_replace_begin(directory, packed, error);
    if (to < 0) {
        if (from >= 0)
            close(from);
        return error->status;
    }
    const int failure = compress_file(directory, from, to);
    close(from);
    return directory_replace_commit(directory, packed, NULL, to, failure, error);
}

/* Unpacks the compressed file `from` into the open file `to`. Returns 0, or errno; ECANCELED if the
 * interruption of the directory is raised. *damaged becomes true if the compressed data are not
 * whole. */
static int expand_file(const struct directory *directory, gzFile from, int to, bool *damaged)
{
    unsigned char block[BLOCK];
    int got, code = Z_OK;
    while ((got = gzread(from, block, sizeof block)) > 0) {
        const int failure = descriptor_write(to, block, (size_t)got);
        if (failure)
            return failure;
        if (directory_interrupted(directory))
            return ECANCELED;
    }
    gzerror(from, &code);
    if (code == Z_ERRNO)
        return errno;
    if (code == Z_MEM_ERROR)
        return ENOMEM;
    *damaged = code != Z_OK && code != Z_STREAM_END;
    return 0;
}

enum status gzip_unpack(struct directory *directory, const char *packed, const char *name,
                        struct error *error)
{
    uint64_t length;
    bool damaged = false;
    const int fd = directory_open_input(directory, packed, &length, error);
    if (fd < 0)
        return error->status;
    const gzFile from = gzdopen(fd, "rb");
    if (!from) {
        close(fd);
        return error_memory(error);
    }
    const int to = directory_replace_begin(directory, name, error);
    const int failure = to < 0 ? 0 : expand_file(directory, from, to, &damaged);
    gzclose_r(from);
    if (to < 0)
        return error->status;
    if (!damaged)
        return directory_replace_commit(directory, name, NULL, to, failure, error);
    directory_replace_abandon(directory, name, to);
    return error_set(error, STATUS_IO, "%s/%s: the compressed file is damaged or cut short",
                     directory_path(directory), packed);
}
