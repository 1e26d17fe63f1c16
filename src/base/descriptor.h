/* All bytes through a file descriptor: what read() and write() may do in parts, done whole. */
#ifndef ORRERY_BASE_DESCRIPTOR_H
#define ORRERY_BASE_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

/* write() until all is written, interrupted or not; 0, or errno. */
int descriptor_write(int fd, const void *bytes, size_t length);

/* read() until `size` bytes or the end have come, *length of them; 0, or errno. */
int descriptor_read(int fd, void *bytes, size_t size, size_t *length);
/* The same of a file, from `offset` on, as pread(). */
int descriptor_read_at(int fd, uint64_t offset, void *bytes, size_t size, size_t *length);

#endif
