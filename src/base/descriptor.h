/* Reads and writes all bytes through a file descriptor; read() and write() may stop after a
 * part. */
#ifndef ORRERY_BASE_DESCRIPTOR_H
#define ORRERY_BASE_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

/* Calls write() until all bytes are written, even if signals interrupt it; returns 0 or errno. */
int descriptor_write(int fd, const void *bytes, size_t length);

/* Calls read() until `size` bytes have come or the file ends; *length becomes the number of bytes
 * that have come. Returns 0 or errno. */
int descriptor_read(int fd, void *bytes, size_t size, size_t *length);
/* Reads like descriptor_read(), but from byte `offset` of the file on, as pread() does. */
int descriptor_read_at(int fd, uint64_t offset, void *bytes, size_t size, size_t *length);

#endif
