/*
 * An HDF5 file that is built in memory and becomes bytes: what gadget-hdf5.c and vtk-hdf5.c share.
 * The same content gives the same bytes.
 */
#ifndef ORRERY_FORMATS_HDF5_IMAGE_H
#define ORRERY_FORMATS_HDF5_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Handles of libhdf5 are int64_t here, since only sources include its header. A program without
 * HDF5 has none of these functions. */

/* Opens a file in memory; returns a negative number if it cannot. */
int64_t hdf5_image_open(void);

/* Closes the file and, if `good` so far, gives its bytes, which the caller frees. Returns whether
 * it could; if not, *bytes is NULL. */
bool hdf5_image_close(int64_t file, bool good, void **bytes, size_t *length);

/* Writes an attribute: one value, or an array of `count` values if `count` is not 0. */
bool hdf5_image_attribute(int64_t object, const char *name, int64_t file_type, int64_t memory_type,
                          size_t count, const void *values);

/* Creates a data set of `rows` numbers, or, if `width` is more than 1, of `rows` x `width`. The
 * caller closes it; negative if it cannot. */
int64_t hdf5_image_set(int64_t group, const char *name, int64_t file_type, size_t rows,
                       size_t width);

#endif
