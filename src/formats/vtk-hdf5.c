/*
 * The arrays of moments as VTK's HDF5 file of points over time, which ParaView, pyvista and VTK
 * itself read: "VTKHDF format specification" 2.0 at docs.vtk.org, dataset type PolyData. Each body
 * is a point and a vertex, the cell that shows it. All moments share the vertices, whose offsets in
 * the group Steps are therefore 0, while the offsets of points and of their data grow by the number
 * of bodies with each moment.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config.h"
#include "formats/hdf5-snapshot.h"
#include "formats/snapshot.h"
#include "model/cell.h"

#ifndef HAVE_HDF5

enum status snapshot_arrays_write_vtk(struct snapshot_arrays *arrays, struct stream *stream,
                                      struct error *error)
{
    (void)arrays, (void)stream;
    return hdf5_snapshot_probe("vtkhdf", error);
}

enum status vtk_hdf5_image(const struct moment *now, void **bytes, size_t *length,
                           struct error *error)
{
    (void)now;
    *bytes = NULL;
    *length = 0;
    return hdf5_snapshot_probe("vtkhdf", error);
}

#else

#include <hdf5.h>

/* --- data sets -------------------------------------------------------------------------------- */

static bool put_numbers(hid_t group, const char *name, bool integers, size_t rows, size_t width,
                        const void *numbers)
{
    const hid_t set =
        hdf5_image_set(group, name, integers ? H5T_STD_I64LE : H5T_IEEE_F64LE, rows, width);
    const hid_t type = integers ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    const bool good =
        set >= 0 && (rows == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    H5Dclose(set);
    return good;
}

/* Writes a data set of `rows` rows of `width` equal integers: `first` in the first row, and in each
 * further row `distance` more. */
static bool put_series(hid_t group, const char *name, size_t rows, size_t width, size_t first,
                       size_t distance)
{
    const size_t bytes = memory_bytes(rows, width * sizeof(int64_t));
    int64_t *const numbers = malloc(bytes);
    for (size_t i = 0; numbers && i < rows * width; i++)
        numbers[i] = (int64_t)(first + i / width * distance);
    const bool good =
        (numbers || rows == 0) && put_numbers(group, name, true, rows, width, numbers);
    free(numbers);
    return good;
}

static bool put_text(hid_t object, const char *name, const char *words)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(words));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    const bool good = hdf5_image_attribute(object, name, type, type, 0, words);
    H5Tclose(type);
    return good;
}

static hid_t new_group(hid_t parent, const char *name)
{
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

/* --- vertices --------------------------------------------------------------------------------- */

/* Writes the group of one kind of VTK's cells, such as Vertices: `count` cells of one point
 * each. */
static bool put_cells(hid_t root, const char *name, size_t count)
{
    const hid_t group = new_group(root, name);
    const bool good = group >= 0 && put_series(group, "NumberOfCells", 1, 1, count, 0) &&
                      put_series(group, "NumberOfConnectivityIds", 1, 1, count, 0) &&
                      put_series(group, "Offsets", count + 1, 1, 0, 1) &&
                      put_series(group, "Connectivity", count, 1, 0, 1);
    H5Gclose(group);
    return good;
}

/* --- points and what is known of them --------------------------------------------------------- */

static const struct field {
    const char *name;
    enum snapshot_array array;
    bool integers;
    size_t width;
    bool every; /* each moment has rows of its own; else all share the first ones */
} point_fields[] = {
    { "id", ARRAY_ID, true, 1, true },
    { "mass", ARRAY_MASS, false, 1, true },
    { "velocity", ARRAY_VELOCITY, false, 3, true },
    { "system", ARRAY_SYSTEM, true, 1, false },
};

/* Fields that have one number for each moment. The time is among them because VTK ignores the times
 * of a file that has a single step. */
static const struct field moment_fields[] = {
    { "time", ARRAY_TIME, false, 1, true },
    { "step", ARRAY_STEP, true, 1, true },
    { "box_length", ARRAY_BOX, false, 1, true },
};

static bool put_field(hid_t group, const struct snapshot_arrays *arrays, const struct field *field)
{
    const struct text *const array = &arrays->array[field->array];
    return put_numbers(group, field->name, field->integers,
                       array->length / (sizeof(double) * field->width), field->width, array->bytes);
}

/* Writes the fields whose arrays are not empty, and into `offsets` the row at which each moment
 * begins: `rows` rows behind the one of the moment before. Closes both groups. */
static bool put_fields(hid_t group, hid_t offsets, const struct snapshot_arrays *arrays,
                       const struct field *fields, size_t count, size_t rows)
{
    bool good = group >= 0 && offsets >= 0;
    for (size_t k = 0; k < count && good; k++)
        if (arrays->array[fields[k].array].length > 0)
            good = put_field(group, arrays, &fields[k]) &&
                   put_series(offsets, fields[k].name, arrays->frames, 1, 0,
                              fields[k].every ? rows : 0);
    H5Gclose(group);
    H5Gclose(offsets);
    return good;
}

/* Writes the units as attributes of the file's group, which VTK ignores. */
static bool put_units(hid_t root, const struct units *units)
{
    char label[UNITS_LABEL_SIZE];
    bool good = true;
    for (size_t k = 0; k < UNITS_WORDS && good; k++)
        good = put_text(root, units_words[k].word,
                        units_label(units, units_words[k].dimension, label));
    return good;
}

/* --- moments ---------------------------------------------------------------------------------- */

/* Writes the times. A moment without a time gets its index, since readers choose a moment by its
 * time. */
static bool put_times(hid_t steps, const struct snapshot_arrays *arrays)
{
    double *const times = calloc(arrays->frames, sizeof *times);
    for (size_t k = 0; times && k < arrays->frames; k++) {
        memcpy(&times[k], arrays->array[ARRAY_TIME].bytes + k * sizeof *times, sizeof *times);
        if (!isfinite(times[k]))
            times[k] = (double)k;
    }
    const bool good = times && put_numbers(steps, "Values", false, arrays->frames, 1, times);
    free(times);
    return good;
}

/* Writes, for each field of a moment, that it has one tuple of one number. */
static bool put_sizes(hid_t sizes, const struct snapshot_arrays *arrays)
{
    bool good = sizes >= 0;
    for (size_t k = 0; k < COUNT_OF(moment_fields) && good; k++)
        good = put_series(sizes, moment_fields[k].name, arrays->frames, 2, 1, 0);
    H5Gclose(sizes);
    return good;
}

static bool put_steps(hid_t root, hid_t steps, const struct snapshot_arrays *arrays)
{
    enum { CELL_KINDS = 4 };
    const size_t frames = arrays->frames, bodies = arrays->bodies;
    const int64_t number = (int64_t)frames;
    return hdf5_image_attribute(steps, "NSteps", H5T_STD_I64LE, H5T_NATIVE_INT64, 0, &number) &&
           put_times(steps, arrays) && put_series(steps, "NumberOfParts", frames, 1, 1, 0) &&
           put_series(steps, "PartOffsets", frames, 1, 0, 0) &&
           put_series(steps, "PointOffsets", frames, 1, 0, bodies) &&
           put_series(steps, "CellOffsets", frames, CELL_KINDS, 0, 0) &&
           put_series(steps, "ConnectivityIdOffsets", frames, CELL_KINDS, 0, 0) &&
           put_fields(new_group(root, "PointData"), new_group(steps, "PointDataOffsets"), arrays,
                      point_fields, COUNT_OF(point_fields), bodies) &&
           put_fields(new_group(root, "FieldData"), new_group(steps, "FieldDataOffsets"), arrays,
                      moment_fields, COUNT_OF(moment_fields), 1) &&
           put_sizes(new_group(steps, "FieldDataSizes"), arrays);
}

/* --- the file --------------------------------------------------------------------------------- */

static bool put_all(hid_t file, const struct snapshot_arrays *arrays)
{
    static const int64_t version[2] = { 2, 0 };
    const hid_t root = new_group(file, "VTKHDF"), steps = new_group(root, "Steps");
    const struct field points = { "Points", ARRAY_POSITION, false, 3, true };
    const bool good =
        root >= 0 && steps >= 0 &&
        hdf5_image_attribute(root, "Version", H5T_STD_I64LE, H5T_NATIVE_INT64, 2, version) &&
        put_text(root, "Type", "PolyData") && put_units(root, arrays->units) &&
        put_series(root, "NumberOfPoints", 1, 1, arrays->bodies, 0) &&
        put_field(root, arrays, &points) && put_cells(root, "Vertices", arrays->bodies) &&
        put_cells(root, "Lines", 0) && put_cells(root, "Polygons", 0) &&
        put_cells(root, "Strips", 0) && put_steps(root, steps, arrays);
    H5Gclose(steps);
    H5Gclose(root);
    return good;
}

static enum status make_image(const struct snapshot_arrays *arrays, void **bytes, size_t *length,
                              struct error *error)
{
    const hid_t file = hdf5_image_open();
    if (hdf5_image_close(file, file >= 0 && put_all(file, arrays), bytes, length))
        return STATUS_OK;
    return error_set(error, STATUS_MEMORY, "out of memory for %zu moments of %zu bodies",
                     arrays->frames, arrays->bodies);
}

enum status snapshot_arrays_write_vtk(struct snapshot_arrays *arrays, struct stream *stream,
                                      struct error *error)
{
    void *bytes;
    size_t length;
    if (make_image(arrays, &bytes, &length, error))
        return error->status;
    stream_write(stream, bytes, length);
    free(bytes);
    return stream_flush(stream, false, error);
}

static void wrap_positions(struct snapshot_arrays *arrays, const struct cell *cell)
{
    double *const positions = (void *)arrays->array[ARRAY_POSITION].bytes;
    for (size_t k = 0; k < 3 * arrays->bodies; k++)
        positions[k] = cell_wrap(cell, positions[k]);
}

enum status vtk_hdf5_image(const struct moment *now, void **bytes, size_t *length,
                           struct error *error)
{
    const struct cell cell = cell_about_origin(now->physics);
    struct snapshot_arrays arrays = { 0 };
    *bytes = NULL;
    *length = 0;
    if (!snapshot_arrays_add(&arrays, now, false, error)) {
        wrap_positions(&arrays, &cell);
        make_image(&arrays, bytes, length, error);
    }
    snapshot_arrays_free(&arrays);
    return error->status;
}

#endif
