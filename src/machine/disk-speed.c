#include "config.h" /* defines _GNU_SOURCE, which declares O_TMPFILE */

#include "machine/disk-speed.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"

enum { BLOCK_SIZE = 65536, PATH_SIZE = 4096, LITTLE = 4096, MOST_FLUSHES = 8 };
/* The most and the fewest bytes of the long write that is timed: a shorter one takes too little
 * time to yield a rate. */
static const size_t most_bytes = 8 << 20, least_bytes = 256 << 10;
/* Writes of LITTLE bytes are timed until they have taken this many seconds together, but at most
 * MOST_FLUSHES of them. */
static const double enough_seconds = 0.1;

/* Fills a block with pseudo-random bytes, which a file system cannot compress. */
static void fill_block(unsigned char block[BLOCK_SIZE])
{
    uint64_t state = 88172645463325252u; /* seed and shifts of xorshift64 (Marsaglia 2003) */
    for (size_t i = 0; i < BLOCK_SIZE; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        block[i] = (unsigned char)state;
    }
}

/* Opens a file without a name (O_TMPFILE) in the deepest folder of `path` that exists. Returns its
 * descriptor, or -1 with errno. */
static int open_unnamed(const char *path)
{
#ifdef O_TMPFILE
    char folder[PATH_SIZE];
    if (snprintf(folder, sizeof folder, "%s", path) >= PATH_SIZE) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (;;) {
        const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != ENOENT || strcmp(folder, ".") == 0 || strcmp(folder, "/") == 0)
            return fd;
        char *slash = strrchr(folder, '/');
        if (slash)
            slash[slash == folder] = '\0';
        else
            strcpy(folder, ".");
    }
#else
    (void)path;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

static int write_and_flush(int fd, const unsigned char *block, size_t bytes, double *seconds)
{
    const double before = clock_seconds();
    for (size_t done = 0; done < bytes; done += BLOCK_SIZE) {
        const size_t length = bytes - done < BLOCK_SIZE ? bytes - done : BLOCK_SIZE;
        const int failed = descriptor_write(fd, block, length);
        if (failed)
            return failed;
    }
    if (fsync(fd))
        return errno;
    *seconds = clock_seconds() - before;
    return 0;
}

static int measure_file(int fd, size_t bytes, struct disk_speed *speed)
{
    static const double least_seconds = 1e-9;
    unsigned char block[BLOCK_SIZE];
    double all = 0.0, last = 0.0;
    int flushes = 0;
    fill_block(block);
    /* The first write is not counted, since its flush also writes the metadata of the new file. */
    int failed = write_and_flush(fd, block, LITTLE, &last);
    for (; !failed && flushes < MOST_FLUSHES && all < enough_seconds; flushes++) {
        failed = write_and_flush(fd, block, LITTLE, &last);
        all += last;
    }
    if (!failed)
        failed = write_and_flush(fd, block, bytes, &last);
    if (failed)
        return failed;
    const double flush = all / flushes;
    *speed = (struct disk_speed){ (double)bytes / fmax(last - flush, least_seconds), flush };
    return 0;
}

int disk_speed_measure(const char *path, size_t bytes, struct disk_speed *speed)
{
    const int fd = open_unnamed(path);
    if (fd < 0)
        return errno;
    const size_t tried = bytes < least_bytes ? least_bytes : bytes;
    const int failed = measure_file(fd, tried < most_bytes ? tried : most_bytes, speed);
    close(fd);
    return failed;
}
