#include "base/descriptor.h"

#include <errno.h>
#include <unistd.h>

int descriptor_write(int fd, const void *bytes, size_t length)
{
    const char *p = bytes;
    while (length > 0) {
        const ssize_t written = write(fd, p, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        p += written;
        length -= (size_t)written;
    }
    return 0;
}

/* Reads as descriptor_read() does if `offset` is negative, otherwise as descriptor_read_at(). */
static int read_whole(int fd, void *bytes, size_t size, off_t offset, size_t *length)
{
    *length = 0;
    while (*length < size) {
        char *const next = (char *)bytes + *length;
        const size_t left = size - *length;
        const ssize_t got =
            offset < 0 ? read(fd, next, left) : pread(fd, next, left, offset + (off_t)*length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break; /* the end of the file */
        *length += (size_t)got;
    }
    return 0;
}

int descriptor_read(int fd, void *bytes, size_t size, size_t *length)
{
    return read_whole(fd, bytes, size, -1, length);
}

int descriptor_read_at(int fd, uint64_t offset, void *bytes, size_t size, size_t *length)
{
    return read_whole(fd, bytes, size, (off_t)offset, length);
}
