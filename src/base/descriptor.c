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

int descriptor_read(int fd, void *bytes, size_t size, size_t *length)
{
    *length = 0;
    while (*length < size) {
        const ssize_t got = read(fd, (char *)bytes + *length, size - *length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break; /* the end */
        *length += (size_t)got;
    }
    return 0;
}
