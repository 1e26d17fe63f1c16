#include "formats/hdf5-snapshot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "base/memory.h"
#include "config.h"

#ifndef HAVE_HDF5

enum status hdf5_snapshot_probe(const char *path, struct error *error)
{
    return error_set(error, STATUS_UNAVAILABLE,
                     "%s: this program was built without HDF5 (Debian: apt install libhdf5-dev, "
                     "then ./configure and make again)",
                     path);
}

void hdf5_snapshot_send(int to, void *context)
{
    (void)to, (void)context;
}

#else

#include <hdf5.h>

enum status hdf5_snapshot_probe(const char *path, struct error *error)
{
    (void)path, (void)error;
    return STATUS_OK;
}

/* The size of the name of a data set, such as "PartType1/Masses", with the NUL at its end. */
enum { NAME_SIZE = 64 };

static const char *set_name(int type, const char *set, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "PartType%d%s%s", type, *set ? "/" : "", set);
    return name;
}

static bool has(const struct hdf5_snapshot *snapshot, const char *name)
{
    return H5Lexists(snapshot->file, name, H5P_DEFAULT) > 0;
}

static bool has_set(const struct hdf5_snapshot *snapshot, int type, const char *set)
{
    char name[NAME_SIZE];
    return has(snapshot, set_name(type, set, name));
}

/* --- links and data that lead out of the file ------------------------------------------------- */

/* Refuses a name that is a link to another file, or to nothing in this one (STATUS_DATA): it may
 * lead to a pipe that never answers, or to a file that nobody meant to read. */
static enum status check_link(const struct hdf5_snapshot *snapshot, const char *name,
                              struct error *error)
{
    H5L_info_t about;
    if (!has(snapshot, name) || H5Lget_info(snapshot->file, name, &about, H5P_DEFAULT) < 0 ||
        about.type == H5L_TYPE_HARD ||
        (about.type == H5L_TYPE_SOFT && H5Oexists_by_name(snapshot->file, name, H5P_DEFAULT) > 0))
        return STATUS_OK;
    return error_set(
        error, STATUS_DATA,
        "%s: %s is a link that leads out of the file; only data inside a snapshot is read",
        snapshot->path, name);
}

/* Checks the links of all names that may be read. H5Lunregister() takes the class of external links
 * away, so that libhdf5 cannot follow any, wherever it meets one. */
static enum status check_links(const struct hdf5_snapshot *snapshot, struct error *error)
{
    static const char *const groups[] = { "Header", "Parameters", "Units" };
    char name[NAME_SIZE];
    H5Lunregister(H5L_TYPE_EXTERNAL);
    for (size_t g = 0; g < COUNT_OF(groups); g++)
        check_link(snapshot, groups[g], error);
    for (int type = 0; type < HDF5_TYPES && !error->status; type++) {
        if (check_link(snapshot, set_name(type, "", name), error) || !has(snapshot, name))
            continue;
        for (int set = 0; set < HDF5_SETS; set++)
            check_link(snapshot, set_name(type, hdf5_sets[set].name, name), error);
        check_link(snapshot, set_name(type, "System", name), error);
    }
    return error->status;
}

/* Tells whether the numbers of a data set lie in other files. This must be known before its extent
 * is asked for, since libhdf5 would open those files to find it. */
static bool lies_outside(hid_t set)
{
    const hid_t properties = H5Dget_create_plist(set);
    const bool outside = properties < 0 || H5Pget_layout(properties) == H5D_VIRTUAL ||
                         H5Pget_external_count(properties) != 0;
    H5Pclose(properties);
    return outside;
}

/* Tells whether a type is one of integers or reals and all its bits (sign, exponent, mantissa) lie
 * within its size: libhdf5 believes what a damaged file says of them, and would read beyond its
 * memory. */
static bool is_number(hid_t kind)
{
    enum { BITS = 8 };
    size_t sign, exponent, exponent_size, mantissa, mantissa_size;
    const size_t bits = BITS * H5Tget_size(kind), precision = H5Tget_precision(kind);
    const int offset = H5Tget_offset(kind);
    if (precision == 0 || offset < 0 || precision > bits || (size_t)offset > bits - precision)
        return false;
    if (H5Tget_class(kind) == H5T_INTEGER)
        return true;
    return H5Tget_class(kind) == H5T_FLOAT &&
           H5Tget_fields(kind, &sign, &exponent, &exponent_size, &mantissa, &mantissa_size) >= 0 &&
           sign < bits && exponent_size > 0 && exponent_size < BITS * sizeof(uint64_t) &&
           exponent <= bits && exponent_size <= bits - exponent && mantissa_size > 0 &&
           mantissa <= bits && mantissa_size <= bits - mantissa;
}

/* --- the header ------------------------------------------------------------------------------- */

/* Reads up to `size` values of an attribute of a group; values that the attribute lacks stay as
 * they are. STATUS_DATA. */
static enum status get_values(const struct hdf5_snapshot *snapshot, hid_t group, const char *name,
                              size_t size, double *values, struct error *error)
{
    double found[HDF5_TYPES];
    if (H5Aexists(group, name) <= 0)
        return STATUS_OK;
    const hid_t attribute = H5Aopen(group, name, H5P_DEFAULT);
    const hid_t space = H5Aget_space(attribute), kind = H5Aget_type(attribute);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const bool good = count >= 1 && count <= HDF5_TYPES && is_number(kind) &&
                      H5Aread(attribute, H5T_NATIVE_DOUBLE, found) >= 0;
    if (good)
        memcpy(values, found, sizeof *values * ((size_t)count < size ? (size_t)count : size));
    H5Tclose(kind);
    H5Sclose(space);
    H5Aclose(attribute);
    return good ? STATUS_OK
                : error_set(error, STATUS_DATA, "%s: the attribute %s is damaged", snapshot->path,
                            name);
}

/* Reads BoxSize, which is the side of a cube or a length for each axis, into `about`, where a cell
 * that is no cube is only noted. */
static enum status read_box(struct hdf5_snapshot *snapshot, hid_t header, struct error *error)
{
    double sides[3] = { 0.0, NAN, NAN };
    get_values(snapshot, header, "BoxSize", COUNT_OF(sides), sides, error);
    bool cube = true;
    for (size_t axis = 1; axis < COUNT_OF(sides); axis++)
        cube = cube && (isnan(sides[axis]) || sides[axis] == sides[0]);
    snapshot->about.box_length = cube ? sides[0] : 0.0;
    snapshot->about.other_cell = !cube;
    return error->status;
}

static enum status read_header(struct hdf5_snapshot *snapshot, struct error *error)
{
    double files = 1.0;
    const hid_t header = H5Gopen2(snapshot->file, "Header", H5P_DEFAULT);
    if (header < 0)
        return hdf5_bad(snapshot, error,
                        "has no group Header: it is not a snapshot as GADGET writes it");
    const bool good =
        !get_values(snapshot, header, "NumFilesPerSnapshot", 1, &files, error) &&
        !get_values(snapshot, header, "MassTable", HDF5_TYPES, snapshot->mass, error) &&
        !get_values(snapshot, header, "Time", 1, &snapshot->about.time, error) &&
        !read_box(snapshot, header, error) &&
        !get_values(snapshot, header, "Redshift", 1, &snapshot->redshift, error) &&
        !get_values(snapshot, header, "HubbleParam", 1, &snapshot->hubble, error);
    H5Gclose(header);
    if (!good)
        return error->status;
    if (files > 1.0)
        return error_set(error, STATUS_DATA,
                         "%s: is one of %g files of a snapshot; only a snapshot in one file can be "
                         "read",
                         snapshot->path, files);
    return STATUS_OK;
}

/* Reads h, the Hubble parameter, from the group Parameters if the header has none: GADGET-4 writes
 * it only there. */
static enum status read_hubble(struct hdf5_snapshot *snapshot, struct error *error)
{
    static const char group_name[] = "Parameters";
    if (snapshot->hubble != 0.0 || !has(snapshot, group_name))
        return STATUS_OK;
    const hid_t group = H5Gopen2(snapshot->file, group_name, H5P_DEFAULT);
    if (group < 0)
        return STATUS_OK;
    get_values(snapshot, group, "HubbleParam", 1, &snapshot->hubble, error);
    H5Gclose(group);
    return error->status;
}

/* --- units ------------------------------------------------------------------------------------ */

/* The attributes by which GADGET, AREPO, GIZMO and SWIFT state their units in cgs, and the unit
 * that each of them states. */
static const struct {
    const char *name;
    int cgs;
} unit_names[] = {
    { "UnitMass_in_g", HDF5_CGS_MASS },
    { "UnitMass_In_CGS", HDF5_CGS_MASS },
    { "Unit mass in cgs (U_M)", HDF5_CGS_MASS },
    { "UnitLength_in_cm", HDF5_CGS_LENGTH },
    { "UnitLength_In_CGS", HDF5_CGS_LENGTH },
    { "Unit length in cgs (U_L)", HDF5_CGS_LENGTH },
    { "UnitVelocity_in_cm_per_s", HDF5_CGS_VELOCITY },
    { "UnitVelocity_In_CGS", HDF5_CGS_VELOCITY },
    { "UnitTime_in_s", HDF5_CGS_TIME },
    { "Unit time in cgs (U_t)", HDF5_CGS_TIME },
};

/* Reads the units in cgs, all from the first of the groups Units, Header and Parameters that states
 * any. */
static enum status read_cgs(struct hdf5_snapshot *snapshot, struct error *error)
{
    static const char *const groups[] = { "Units", "Header", "Parameters" };
    bool found = false;
    for (size_t g = 0; g < COUNT_OF(groups) && !found; g++) {
        if (!has(snapshot, groups[g]))
            continue;
        const hid_t group = H5Gopen2(snapshot->file, groups[g], H5P_DEFAULT);
        for (size_t k = 0; k < COUNT_OF(unit_names) && group >= 0; k++) {
            double *value = &snapshot->cgs[unit_names[k].cgs];
            if (get_values(snapshot, group, unit_names[k].name, 1, value, error))
                break;
            found |= *value != 0.0;
        }
        if (group >= 0)
            H5Gclose(group);
        if (error->status)
            return error->status;
    }
    return STATUS_OK;
}

/* --- data sets -------------------------------------------------------------------------------- */

/* Tells whether the data set takes enough bytes in the file for `numbers` numbers, as it must if
 * the file is sound. A chunked set may be compressed, to almost nothing if its numbers are equal:
 * then any bytes are enough. */
static bool fits(const struct hdf5_snapshot *snapshot, hid_t set, hid_t kind, hsize_t numbers)
{
    const hid_t properties = H5Dget_create_plist(set);
    const bool chunked = H5Pget_layout(properties) == H5D_CHUNKED;
    H5Pclose(properties);
    const hsize_t stored = H5Dget_storage_size(set);
    return stored > 0 && stored <= snapshot->bytes &&
           (chunked || numbers <= stored / H5Tget_size(kind));
}

/* Opens the data set `set` of a particle type. It must have `rows` rows (0: any number) of `width`
 * numbers. *result becomes its handle, *found its number of rows. STATUS_DATA. */
static enum status open_set(const struct hdf5_snapshot *snapshot, int type, const char *set,
                            hsize_t width, hsize_t rows, hid_t *result, uint64_t *found,
                            struct error *error)
{
    char name[NAME_SIZE];
    hsize_t extent[2] = { 0, 1 };
    const hid_t id = H5Dopen2(snapshot->file, set_name(type, set, name), H5P_DEFAULT);
    if (id < 0)
        return error_set(error, STATUS_DATA, "%s: has no data set %s", snapshot->path, name);
    if (lies_outside(id)) {
        H5Dclose(id);
        return error_set(
            error, STATUS_DATA,
            "%s: the numbers of %s lie in other files; only data inside a snapshot is read",
            snapshot->path, name);
    }
    const hid_t space = H5Dget_space(id), kind = H5Dget_type(id);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank == 1 || rank == 2)
        H5Sget_simple_extent_dims(space, extent, NULL);
    const bool good = is_number(kind) && extent[0] > 0 && extent[0] <= hdf5_most_rows &&
                      extent[1] == width && (rows == 0 || extent[0] == rows) &&
                      fits(snapshot, id, kind, extent[0] * width);
    H5Tclose(kind);
    H5Sclose(space);
    if (good) {
        *result = id;
        *found = extent[0];
        return STATUS_OK;
    }
    H5Dclose(id);
    if (rows == 0)
        return error_set(error, STATUS_DATA, "%s: %s does not hold %d numbers per body",
                         snapshot->path, name, (int)width);
    return error_set(error, STATUS_DATA, "%s: %s does not hold %d number%s for each of %llu bodies",
                     snapshot->path, name, (int)width, width == 1 ? "" : "s",
                     (unsigned long long)rows);
}

/* Reads the rows `row` to `row` + `count` - 1 of a data set, of `width` numbers each, into
 * `values`, as numbers of the type `memory_type`. */
static enum status read_rows(const struct hdf5_snapshot *snapshot, hid_t set, hsize_t row,
                             hsize_t count, hsize_t width, hid_t memory_type, void *values,
                             struct error *error)
{
    const hid_t space = H5Dget_space(set);
    const int rank = H5Sget_simple_extent_ndims(space);
    const hsize_t start[2] = { row, 0 }, extent[2] = { count, width };
    const hid_t memory_space = H5Screate_simple(rank, extent, NULL);
    const bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
                      H5Dread(set, memory_type, memory_space, space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory_space);
    H5Sclose(space);
    return good ? STATUS_OK : hdf5_bad(snapshot, error, "is damaged or cut short");
}

/* --- systems ---------------------------------------------------------------------------------- */

/* Finds the number of systems in the file. Only an ensemble that Orrery has written has more than
 * one: its data set System has the number of each body's system, 1, 2, ..., and the systems follow
 * each other and have equally many bodies. */
static enum status read_systems(struct hdf5_snapshot *snapshot, struct error *error)
{
    int64_t numbers[HDF5_ROWS], last = 0;
    hid_t set;
    uint64_t rows;
    snapshot->systems = 1;
    if (!has_set(snapshot, 1, "") || !has_set(snapshot, 1, "System"))
        return STATUS_OK;
    enum status status = open_set(snapshot, 1, "System", 1, snapshot->count[1], &set, &rows, error);
    if (status)
        return status;
    /* The number in the last row is that of systems. Then each row must have the number that
     * follows from its index. */
    status = read_rows(snapshot, set, rows - 1, 1, 1, H5T_NATIVE_INT64, &last, error);
    bool counts = last >= 1 && (uint64_t)last <= rows && rows % (uint64_t)last == 0;
    for (uint64_t row = 0; row < rows && counts && !status; row += HDF5_ROWS) {
        const uint64_t count = rows - row < HDF5_ROWS ? rows - row : HDF5_ROWS;
        status = read_rows(snapshot, set, row, count, 1, H5T_NATIVE_INT64, numbers, error);
        for (uint64_t i = 0; i < count && !status; i++)
            counts = counts && numbers[i] == (int64_t)((row + i) / (rows / (uint64_t)last)) + 1;
    }
    H5Dclose(set);
    if (!status && !counts)
        status =
            hdf5_bad(snapshot, error,
                     "PartType1/System does not count 1, 2, ... with the same number of bodies "
                     "each");
    snapshot->systems = (size_t)last;
    return status;
}

/* --- data sets that are not read -------------------------------------------------------------- */

static bool is_read(const char *set)
{
    for (size_t k = 0; k < HDF5_SETS; k++)
        if (strcmp(hdf5_sets[k].name, set) == 0)
            return true;
    return strcmp(set, "System") == 0;
}

/* Notes in `context`, a struct read_about, the name of a data set that is not read. H5Literate()
 * calls it for each data set of a particle type. */
static herr_t note_set(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    (void)group, (void)info;
    if (!is_read(name))
        read_about_leave_out(context, name);
    return 0;
}

static void look_around(struct hdf5_snapshot *snapshot)
{
    char name[NAME_SIZE];
    for (int type = 0; type < HDF5_TYPES; type++) {
        if (!snapshot->count[type])
            continue;
        for (int set = 0; set < HDF5_SETS; set++)
            snapshot->has_set[type][set] = has_set(snapshot, type, hdf5_sets[set].name);
        const hid_t group = H5Gopen2(snapshot->file, set_name(type, "", name), H5P_DEFAULT);
        H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, note_set, &snapshot->about);
        H5Gclose(group);
    }
}

/* --- the file --------------------------------------------------------------------------------- */

static enum status count_bodies(struct hdf5_snapshot *snapshot, struct error *error)
{
    hsize_t count = 0;
    int types = 0;
    for (int type = 0; type < HDF5_TYPES; type++) {
        hid_t set;
        if (!has_set(snapshot, type, ""))
            continue;
        if (open_set(snapshot, type, "Coordinates", 3, 0, &set, &snapshot->count[type], error))
            return error->status;
        H5Dclose(set);
        count += snapshot->count[type];
        types++;
    }
    if (count == 0)
        return hdf5_bad(snapshot, error, "no bodies");
    if (read_systems(snapshot, error))
        return error->status;
    if (snapshot->systems > 1 && types > 1)
        return hdf5_bad(snapshot, error, "holds several systems, but bodies of several types");
    return STATUS_OK;
}

/* Opens the file, in the child process. It is never closed, because closing a damaged file may
 * crash libhdf5. */
static enum status open_snapshot(struct hdf5_snapshot *snapshot, struct error *error)
{
    read_about_clear(&snapshot->about);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* libhdf5 shall not print errors: we report them */
    snapshot->file = H5Fopen(snapshot->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (snapshot->file < 0)
        return hdf5_bad(snapshot, error, "is no HDF5 file, or a damaged one");
    if (!check_links(snapshot, error) && !read_header(snapshot, error) &&
        !read_hubble(snapshot, error) && !read_cgs(snapshot, error) &&
        !count_bodies(snapshot, error))
        look_around(snapshot);
    return error->status;
}

/* --- what is sent ----------------------------------------------------------------------------- */

static bool send_part(int to, enum hdf5_part part, const void *bytes, size_t length)
{
    const uint32_t word = part;
    return child_send(to, &word, sizeof word) && child_send(to, bytes, length);
}

static bool send_error(int to, const struct error *error)
{
    return send_part(to, HDF5_PART_ERROR, error, sizeof *error);
}

/* Sends all rows of a data set to the descriptor `to`. Returns false if the file or the pipe has
 * failed; the error of the file is sent in the place of the rows. */
static bool send_set(const struct hdf5_snapshot *snapshot, int type, int set, int to)
{
    union hdf5_numbers buffer;
    struct error error = { 0 };
    hid_t id;
    uint64_t rows;
    const hsize_t width = hdf5_sets[set].width;
    if (open_set(snapshot, type, hdf5_sets[set].name, width, snapshot->count[type], &id, &rows,
                 &error))
        return send_error(to, &error) && false;
    bool good = true;
    for (hsize_t row = 0; row < rows && good; row += HDF5_ROWS) {
        const hsize_t count = rows - row < HDF5_ROWS ? rows - row : HDF5_ROWS;
        good = read_rows(snapshot, id, row, count, width,
                         set == HDF5_IDS ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, &buffer,
                         &error) == STATUS_OK;
        /* HDF5 makes the largest int64_t of all larger ids. */
        for (hsize_t i = 0; i < count && set == HDF5_IDS && good; i++)
            good = buffer.integers[i] < INT64_MAX ||
                   !hdf5_bad(snapshot, &error,
                             "ParticleIDs has an id of 2^63 - 1 or more, which is too large");
        good = good
                   ? send_part(to, HDF5_PART_NUMBERS, &buffer, count * width * sizeof *buffer.reals)
                   : send_error(to, &error) && false;
    }
    H5Dclose(id);
    return good;
}

void hdf5_snapshot_send(int to, void *context)
{
    const struct hdf5_task *task = context;
    struct hdf5_snapshot snapshot = { .path = task->path, .bytes = task->bytes };
    struct error error = { 0 };
    if (open_snapshot(&snapshot, &error)) {
        send_error(to, &error);
        return;
    }
    bool more = send_part(to, HDF5_PART_NUMBERS, &snapshot, sizeof snapshot) && task->numbers;
    for (int type = 0; type < HDF5_TYPES && more; type++)
        for (int set = 0; set < HDF5_SETS && more; set++)
            if (snapshot.count[type] && hdf5_set_comes(&snapshot, type, set))
                more = send_set(&snapshot, type, set, to);
}

#endif
