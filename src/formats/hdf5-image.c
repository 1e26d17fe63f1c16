#include "formats/hdf5-snapshot.h"

#include <stdlib.h>

#include "config.h"

#ifdef HAVE_HDF5

#include <hdf5.h>

int64_t hdf5_image_open(void)
{
    enum { GROWTH = 1 << 20 };
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* libhdf5 shall not print errors: we report them */
    /* The file stays in memory: the caller decides what is written to disk, and how. */
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, GROWTH, false);
    const hid_t file = H5Fcreate("snapshot", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

static bool take_image(hid_t file, void **bytes, size_t *length)
{
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0)
        return false;
    const ssize_t size = H5Fget_file_image(file, NULL, 0);
    if (size <= 0 || !(*bytes = malloc((size_t)size)))
        return false;
    *length = (size_t)size;
    return H5Fget_file_image(file, *bytes, *length) == size;
}

bool hdf5_image_close(int64_t file, bool good, void **bytes, size_t *length)
{
    *bytes = NULL;
    *length = 0;
    good = good && take_image(file, bytes, length);
    H5Fclose(file);
    if (!good) {
        free(*bytes);
        *bytes = NULL;
    }
    return good;
}

bool hdf5_image_attribute(int64_t object, const char *name, int64_t file_type, int64_t memory_type,
                          size_t count, const void *values)
{
    const hsize_t extent = count;
    const hid_t space = count ? H5Screate_simple(1, &extent, NULL) : H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, memory_type, values) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return good;
}

int64_t hdf5_image_set(int64_t group, const char *name, int64_t file_type, size_t rows,
                       size_t width)
{
    const hsize_t extent[2] = { rows, width };
    const hid_t space = H5Screate_simple(width > 1 ? 2 : 1, extent, NULL);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    /* Without time stamps equal bodies give equal bytes. */
    H5Pset_obj_track_times(properties, false);
    const hid_t set =
        H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    H5Sclose(space);
    return set;
}

#endif
