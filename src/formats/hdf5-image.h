/* HDF5 files that are built in memory and become arrays of bytes, for gadget-hdf5.c and vtk-hdf5.c.
 * The same content always gives the same bytes. */
#ifndef ORRERY_FORMATS_HDF5_IMAGE_H
#define ORRERY_FORMATS_HDF5_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Handles of libhdf5 are int64_t here, so that this header does not include that of libhdf5. A
 * program that was built without HDF5 has none of these functions. */

/* Creates an empty HDF5 file in memory and returns its handle; a negative number after a
 * failure. */
int64_t hdf5_image_open(void);

/* Closes the file and, if `good` (nothing has failed so far), copies its content to *bytes, which
 * the caller frees. Returns false, with *bytes NULL, if `good` is false or the copy fails. */
bool hdf5_image_close(int64_t file, bool good, void **bytes, size_t *length);

/* Writes the attribute `name` of a group or a data set: one value, or an array of `count` values if
 * `count` is not 0. The types are libhdf5's, of a value in the file and in `values`. Returns false
 * after a failure. */
bool hdf5_image_attribute(int64_t object, const char *name, int64_t file_type, int64_t memory_type,
                          size_t count, const void *values);

/* Creates a data set of `rows` numbers or, if `width` is more than 1, of `rows` rows of `width`
 * numbers. Returns its handle, which the caller closes; a negative number after a failure. */
int64_t hdf5_image_set(int64_t group, const char *name, int64_t file_type, size_t rows,
                       size_t width);

#endif
