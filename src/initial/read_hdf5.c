/*
 * Snapshots in HDF5 as GADGET has them, and AREPO, GIZMO and SWIFT after it: the particles of all
 * types, one type after the other. Of each type that is there Coordinates and Velocities are read,
 * Masses or, without it, MassTable, and ParticleIDs if it is there; of our own ensembles also
 * System.
 */
#include <string.h>

#include "config.h"
#include "initial/read.h"

static const char signature[] = "\x89HDF\r\n\x1a\n";

static bool recognise(const char *path, const char *head, size_t length)
{
    (void)path;
    return length >= sizeof signature - 1 && memcmp(head, signature, sizeof signature - 1) == 0;
}

#ifndef HAVE_HDF5

static enum status measure(const struct read_request *request, struct read_shape *shape,
                           struct error *error)
{
    (void)shape;
    return error_set(error, STATUS_UNAVAILABLE,
                     "%s: this program was built without HDF5 (Debian: apt install libhdf5-dev, "
                     "then ./configure and make again)",
                     request->path);
}

static enum status read_bodies(const struct read_request *request, struct bodies *bodies,
                               struct error *error)
{
    struct read_shape shape;
    (void)bodies;
    return measure(request, &shape, error);
}

#else

#include <hdf5.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"

enum { TYPES = 6, ROWS = 8192 };        /* particle types; rows read at once */
static const hsize_t most = 1ull << 40; /* rows of a data set; six times that does not overflow */

struct snapshot {
    const char *path;
    hid_t file;
    hsize_t count[TYPES]; /* particles of each type */
    double mass[TYPES];   /* of all of them, where it is not 0 */
    size_t systems;
    struct read_about about;
};

static enum status bad(const struct snapshot *snapshot, struct error *error, const char *what)
{
    return error_set(error, STATUS_DATA, "%s: %s", snapshot->path, what);
}

/* "PartType1/Masses" */
enum { NAME_SIZE = 64 };

static const char *set_name(int type, const char *set, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "PartType%d%s%s", type, *set ? "/" : "", set);
    return name;
}

static bool has(const struct snapshot *snapshot, const char *name)
{
    return H5Lexists(snapshot->file, name, H5P_DEFAULT) > 0;
}

static bool has_set(const struct snapshot *snapshot, int type, const char *set)
{
    char name[NAME_SIZE];
    return has(snapshot, set_name(type, set, name));
}

/* --- the header --------------------------------------------------------------------------------
 */

/* Up to `size` values of an attribute of /Header; those that it lacks stay as they are. */
static void get_header(hid_t header, const char *name, size_t size, double *values)
{
    double found[TYPES];
    if (H5Aexists(header, name) <= 0)
        return;
    const hid_t attribute = H5Aopen(header, name, H5P_DEFAULT);
    const hid_t space = H5Aget_space(attribute);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count >= 1 && count <= TYPES && H5Aread(attribute, H5T_NATIVE_DOUBLE, found) >= 0)
        memcpy(values, found, sizeof *values * ((size_t)count < size ? (size_t)count : size));
    H5Sclose(space);
    H5Aclose(attribute);
}

static enum status read_header(struct snapshot *snapshot, struct error *error)
{
    double files = 1.0;
    const hid_t header = H5Gopen2(snapshot->file, "Header", H5P_DEFAULT);
    if (header < 0)
        return bad(snapshot, error, "has no group Header: it is no snapshot of GADGET's kind");
    get_header(header, "NumFilesPerSnapshot", 1, &files);
    get_header(header, "MassTable", TYPES, snapshot->mass);
    get_header(header, "Time", 1, &snapshot->about.time);
    get_header(header, "BoxSize", 1, &snapshot->about.box_length);
    H5Gclose(header);
    if (files > 1.0)
        return error_set(error, STATUS_DATA,
                         "%s: is one of %g files of a snapshot; only a snapshot in one file can be "
                         "read",
                         snapshot->path, files);
    return STATUS_OK;
}

/* --- data sets ---------------------------------------------------------------------------------
 */

/* Opens a data set of `rows` rows (any number where that is 0, and then *found) of `width` numbers.
 * STATUS_DATA. */
static enum status open_set(const struct snapshot *snapshot, int type, const char *set,
                            hsize_t width, hsize_t rows, hid_t *result, hsize_t *found,
                            struct error *error)
{
    char name[NAME_SIZE];
    hsize_t extent[2] = { 0, 1 };
    const hid_t id = H5Dopen2(snapshot->file, set_name(type, set, name), H5P_DEFAULT);
    if (id < 0)
        return error_set(error, STATUS_DATA, "%s: has no data set %s", snapshot->path, name);
    const hid_t space = H5Dget_space(id), kind = H5Dget_type(id);
    const H5T_class_t class_ = H5Tget_class(kind);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank == 1 || rank == 2)
        H5Sget_simple_extent_dims(space, extent, NULL);
    const bool number = class_ == H5T_FLOAT || class_ == H5T_INTEGER;
    H5Tclose(kind);
    H5Sclose(space);
    if (number && extent[0] > 0 && extent[0] <= most && extent[1] == width &&
        (rows == 0 || extent[0] == rows) && H5Dget_storage_size(id) > 0) {
        *result = id;
        *found = extent[0];
        return STATUS_OK;
    }
    H5Dclose(id);
    if (rows == 0)
        return error_set(error, STATUS_DATA, "%s: %s does not hold %d numbers a body",
                         snapshot->path, name, (int)width);
    return error_set(error, STATUS_DATA, "%s: %s does not hold %d number%s for each of %llu bodies",
                     snapshot->path, name, (int)width, width == 1 ? "" : "s",
                     (unsigned long long)rows);
}

/* Rows `row` and on, as numbers of the type `memory_type`. */
static enum status read_rows(const struct snapshot *snapshot, hid_t set, hsize_t row, hsize_t count,
                             hsize_t width, hid_t memory_type, void *values, struct error *error)
{
    const hid_t space = H5Dget_space(set);
    const int rank = H5Sget_simple_extent_ndims(space);
    const hsize_t start[2] = { row, 0 }, extent[2] = { count, width };
    const hid_t memory_space = H5Screate_simple(rank, extent, NULL);
    const bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
                      H5Dread(set, memory_type, memory_space, space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory_space);
    H5Sclose(space);
    return good ? STATUS_OK : bad(snapshot, error, "is damaged or cut short");
}

/* What the numbers of a data set are for, and where they go. */
struct target {
    const char *set;
    hsize_t width;
    double *arrays[3]; /* of the first body of this type; each system's part begins anew */
    int64_t *integers; /* instead */
};

/* Where the body that is number `row` of the file stands in the arrays. */
static size_t index_of(const struct bodies *bodies, size_t row)
{
    return row / bodies->count * bodies->stride + row % bodies->count;
}

static enum status check_value(const struct snapshot *snapshot, int type,
                               const struct target *target, hsize_t row, double value,
                               struct error *error)
{
    const char *const problem = !isfinite(value)                    ? "is not finite"
                                : target->width == 1 && value < 0.0 ? "is negative"
                                                                    : NULL;
    if (!problem)
        return STATUS_OK;
    return error_set(error, STATUS_DATA, "%s: PartType%d/%s: row %llu: %g %s", snapshot->path, type,
                     target->set, (unsigned long long)row + 1, value, problem);
}

/* Takes all rows of a data set to the bodies from number `first` of the file on. */
static enum status read_set(const struct snapshot *snapshot, int type, const struct target *target,
                            struct bodies *bodies, size_t first, struct error *error)
{
    union {
        double reals[3 * ROWS];
        int64_t integers[ROWS];
    } buffer;
    hid_t set;
    hsize_t rows;
    const hid_t memory_type = target->integers ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    enum status status = open_set(snapshot, type, target->set, target->width, snapshot->count[type],
                                  &set, &rows, error);
    if (status)
        return status;
    for (hsize_t row = 0; row < rows && !status; row += ROWS) {
        const hsize_t count = rows - row < ROWS ? rows - row : ROWS;
        status = read_rows(snapshot, set, row, count, target->width, memory_type, &buffer, error);
        for (hsize_t i = 0; i < count && !status; i++) {
            const size_t index = index_of(bodies, first + row + i);
            if (target->integers)
                target->integers[index] = buffer.integers[i];
            for (hsize_t k = 0; !target->integers && k < target->width && !status; k++) {
                const double value = buffer.reals[i * target->width + k];
                status = check_value(snapshot, type, target, row + i, value, error);
                target->arrays[k][index] = value;
            }
        }
    }
    H5Dclose(set);
    return status;
}

/* --- systems -----------------------------------------------------------------------------------
 */

/* Our own ensembles: the systems 1, 2, ... one after the other, of the same size. */
static enum status read_systems(struct snapshot *snapshot, struct error *error)
{
    int64_t numbers[ROWS], last = 0;
    hid_t set;
    hsize_t rows;
    snapshot->systems = 1;
    if (!has_set(snapshot, 1, "") || !has_set(snapshot, 1, "System"))
        return STATUS_OK;
    enum status status = open_set(snapshot, 1, "System", 1, snapshot->count[1], &set, &rows, error);
    if (status)
        return status;
    /* The last number is that of systems; then every row must have the one of its place. */
    status = read_rows(snapshot, set, rows - 1, 1, 1, H5T_NATIVE_INT64, &last, error);
    const bool divides = last >= 1 && (hsize_t)last <= rows && rows % (hsize_t)last == 0;
    for (hsize_t row = 0; row < rows && divides && !status; row += ROWS) {
        const hsize_t count = rows - row < ROWS ? rows - row : ROWS;
        status = read_rows(snapshot, set, row, count, 1, H5T_NATIVE_INT64, numbers, error);
        for (hsize_t i = 0; i < count && !status; i++)
            if (numbers[i] != (int64_t)((row + i) / (rows / (hsize_t)last)) + 1)
                status = bad(snapshot, error,
                             "PartType1/System does not count 1, 2, ... with the same number of "
                             "bodies each");
    }
    H5Dclose(set);
    if (!status && !divides)
        status = bad(snapshot, error,
                     "PartType1/System does not count 1, 2, ... with the same number of bodies "
                     "each");
    snapshot->systems = (size_t)last;
    return status;
}

/* --- what else there is ------------------------------------------------------------------------
 */

static bool is_read(const char *set)
{
    static const char *const sets[] = { "Coordinates", "Velocities", "Masses", "ParticleIDs",
                                        "System" };
    for (size_t k = 0; k < COUNT_OF(sets); k++)
        if (strcmp(sets[k], set) == 0)
            return true;
    return false;
}

/* H5Literate() calls it for each data set of a type. */
static herr_t note_set(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    (void)group, (void)info;
    if (!is_read(name))
        read_about_leave_out(context, name);
    return 0;
}

static void look_around(struct snapshot *snapshot)
{
    char name[NAME_SIZE];
    snapshot->about.units = has(snapshot, "Units");
    for (int type = 0; type < TYPES; type++) {
        if (!snapshot->count[type])
            continue;
        const hid_t group = H5Gopen2(snapshot->file, set_name(type, "", name), H5P_DEFAULT);
        H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, note_set, &snapshot->about);
        H5Gclose(group);
    }
}

/* --- the file ----------------------------------------------------------------------------------
 */

static enum status count_bodies(struct snapshot *snapshot, struct error *error)
{
    hsize_t count = 0;
    int types = 0;
    for (int type = 0; type < TYPES; type++) {
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
        return bad(snapshot, error, "no bodies");
    if (read_systems(snapshot, error))
        return error->status;
    if (snapshot->systems > 1 && types > 1)
        return bad(snapshot, error, "holds several systems, but bodies of several types");
    return STATUS_OK;
}

static void close_snapshot(struct snapshot *snapshot)
{
    H5Fclose(snapshot->file);
}

static enum status open_snapshot(const struct read_request *request, struct snapshot *snapshot,
                                 struct error *error)
{
    *snapshot = (struct snapshot){ .path = request->path };
    read_about_clear(&snapshot->about);
    if (request->frame > 0)
        return error_set(error, STATUS_DATA,
                         "%s: there is no frame %" PRId64 ": a snapshot holds one, number 0",
                         request->path, request->frame);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* errors are ours to report */
    snapshot->file = H5Fopen(request->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (snapshot->file < 0)
        return bad(snapshot, error, "is no HDF5 file, or a damaged one");
    if (read_header(snapshot, error) == STATUS_OK && count_bodies(snapshot, error) == STATUS_OK) {
        look_around(snapshot);
        if (request->about)
            *request->about = snapshot->about;
        return STATUS_OK;
    }
    close_snapshot(snapshot);
    return error->status;
}

static size_t total(const struct snapshot *snapshot)
{
    size_t count = 0;
    for (int type = 0; type < TYPES; type++)
        count += (size_t)snapshot->count[type];
    return count;
}

static enum status measure(const struct read_request *request, struct read_shape *shape,
                           struct error *error)
{
    struct snapshot snapshot;
    if (open_snapshot(request, &snapshot, error))
        return error->status;
    *shape = (struct read_shape){ snapshot.systems, total(&snapshot) / snapshot.systems, 0 };
    close_snapshot(&snapshot);
    return STATUS_OK;
}

/* The bodies of one type, the first of which is number `first` of the file. */
static enum status read_type(const struct snapshot *snapshot, int type, struct bodies *bodies,
                             size_t first, struct error *error)
{
    const struct target targets[] = {
        { "Coordinates", 3, { bodies->x, bodies->y, bodies->z }, NULL },
        { "Velocities", 3, { bodies->vx, bodies->vy, bodies->vz }, NULL },
        { "Masses", 1, { bodies->m }, NULL },
        { "ParticleIDs", 1, { NULL }, bodies->id },
    };
    enum { MASSES = 2, IDS = 3 };
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(targets) && !status; k++) {
        if (k == IDS && !has_set(snapshot, type, targets[k].set))
            continue;
        if (k != MASSES || has_set(snapshot, type, "Masses") || !(snapshot->mass[type] > 0.0)) {
            status = read_set(snapshot, type, &targets[k], bodies, first, error);
            continue;
        }
        for (hsize_t i = 0; i < snapshot->count[type]; i++)
            bodies->m[index_of(bodies, first + i)] = snapshot->mass[type];
    }
    return status;
}

static enum status read_bodies(const struct read_request *request, struct bodies *bodies,
                               struct error *error)
{
    struct snapshot snapshot;
    if (open_snapshot(request, &snapshot, error))
        return error->status;
    enum status status = read_check_systems(request, snapshot.systems, bodies, error);
    if (!status && total(&snapshot) != snapshot.systems * bodies->count)
        status = bad(&snapshot, error, "the file has changed while it was read");
    size_t first = 0;
    for (int type = 0; type < TYPES && !status; type++) {
        if (snapshot.count[type])
            status = read_type(&snapshot, type, bodies, first, error);
        first += (size_t)snapshot.count[type];
    }
    if (!status && snapshot.systems == 1)
        read_repeat(bodies);
    close_snapshot(&snapshot);
    return status;
}

#endif

const struct read_format read_hdf5 = { "hdf5", recognise, measure, read_bodies };
