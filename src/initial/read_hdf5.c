/*
 * Snapshots in HDF5 as GADGET has them, and AREPO, GIZMO and SWIFT after it: the particles of all
 * types, one type after the other. Of each type that is there Coordinates and Velocities are read,
 * Masses or, without it, MassTable, and ParticleIDs if it is there; of our own ensembles also
 * System.
 *
 * A damaged file makes libhdf5 read and write outside of its memory. It runs in a child process
 * with limits, which sends what it finds, first a description of the file and then the numbers of
 * each data set; the caller checks both, and lives on if the child does not.
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

#include <errno.h>
#include <hdf5.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/child.h"
#include "base/memory.h"
#include "model/constants.h"

enum { TYPES = 6, ROWS = 8192 }; /* particle types; rows read at once */
enum { COORDINATES, VELOCITIES, MASSES, IDS, SETS };
enum { CGS_MASS, CGS_LENGTH, CGS_VELOCITY, CGS_TIME, CGS };
static const hsize_t most = 1ull << 40; /* rows of a data set; six times that does not overflow */

/* The data sets of a type, in the order in which they are sent. */
static const struct {
    const char *name;
    hsize_t width;
} sets[SETS] = { { "Coordinates", 3 }, { "Velocities", 3 }, { "Masses", 1 }, { "ParticleIDs", 1 } };

struct snapshot {
    const char *path;
    hid_t file;                /* in the child */
    uint64_t bytes;            /* of the file */
    hsize_t count[TYPES];      /* particles of each type */
    double mass[TYPES];        /* of all of them, where it is not 0 */
    char has_set[TYPES][SETS]; /* 1: it is sent */
    size_t systems;
    double cgs[CGS]; /* what its units are worth; 0: it does not say */
    double hubble;   /* h; 0: it does not say */
    struct read_about about;
    struct read_factors factors; /* in the caller */
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

/* A type of numbers all of whose bits lie within it: libhdf5 believes what the file says of them,
 * and reads beyond its memory where they do not. */
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

/* --- the header --------------------------------------------------------------------------------
 */

/* Up to `size` values of an attribute of a group; those that it lacks stay as they are. */
static enum status get_values(const struct snapshot *snapshot, hid_t group, const char *name,
                              size_t size, double *values, struct error *error)
{
    double found[TYPES];
    if (H5Aexists(group, name) <= 0)
        return STATUS_OK;
    const hid_t attribute = H5Aopen(group, name, H5P_DEFAULT);
    const hid_t space = H5Aget_space(attribute), kind = H5Aget_type(attribute);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const bool good = count >= 1 && count <= TYPES && is_number(kind) &&
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

static enum status read_header(struct snapshot *snapshot, struct error *error)
{
    double files = 1.0;
    const hid_t header = H5Gopen2(snapshot->file, "Header", H5P_DEFAULT);
    if (header < 0)
        return bad(snapshot, error,
                   "has no group Header: it is not a snapshot as GADGET writes it");
    const bool good =
        !get_values(snapshot, header, "NumFilesPerSnapshot", 1, &files, error) &&
        !get_values(snapshot, header, "MassTable", TYPES, snapshot->mass, error) &&
        !get_values(snapshot, header, "Time", 1, &snapshot->about.time, error) &&
        !get_values(snapshot, header, "BoxSize", 1, &snapshot->about.box_length, error) &&
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

/* --- units -------------------------------------------------------------------------------------
 */

/* What GADGET, AREPO, GIZMO and SWIFT call them, and in which groups. */
static const struct {
    const char *name;
    int cgs;
} unit_names[] = {
    { "UnitMass_in_g", CGS_MASS },
    { "UnitMass_In_CGS", CGS_MASS },
    { "Unit mass in cgs (U_M)", CGS_MASS },
    { "UnitLength_in_cm", CGS_LENGTH },
    { "UnitLength_In_CGS", CGS_LENGTH },
    { "Unit length in cgs (U_L)", CGS_LENGTH },
    { "UnitVelocity_in_cm_per_s", CGS_VELOCITY },
    { "UnitVelocity_In_CGS", CGS_VELOCITY },
    { "UnitTime_in_s", CGS_TIME },
    { "Unit time in cgs (U_t)", CGS_TIME },
};

/* The first of the groups that says anything says it all. */
static enum status read_cgs(struct snapshot *snapshot, struct error *error)
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

/* --- data sets ---------------------------------------------------------------------------------
 */

/* Can the file hold so many numbers of the set? What is in chunks may be compressed, to nothing
 * even where it is constant. */
static bool fits(const struct snapshot *snapshot, hid_t set, hid_t kind, hsize_t numbers)
{
    const hid_t properties = H5Dget_create_plist(set);
    const bool chunked = H5Pget_layout(properties) == H5D_CHUNKED;
    H5Pclose(properties);
    const hsize_t stored = H5Dget_storage_size(set);
    return stored > 0 && stored <= snapshot->bytes &&
           (chunked || numbers <= stored / H5Tget_size(kind));
}

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
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank == 1 || rank == 2)
        H5Sget_simple_extent_dims(space, extent, NULL);
    const bool good = is_number(kind) && extent[0] > 0 && extent[0] <= most && extent[1] == width &&
                      (rows == 0 || extent[0] == rows) &&
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

/* --- what is sent ------------------------------------------------------------------------------
 */

/* Before each part: is it the numbers that were to come, or an error? */
enum part { PART_NUMBERS, PART_ERROR };

/* Numbers of 64 bits, reals or integers. */
union numbers {
    double reals[3 * ROWS];
    int64_t integers[ROWS];
};

static bool send_part(int to, enum part part, const void *bytes, size_t length)
{
    const uint32_t word = part;
    return child_send(to, &word, sizeof word) && child_send(to, bytes, length);
}

static bool send_error(int to, const struct error *error)
{
    return send_part(to, PART_ERROR, error, sizeof *error);
}

/* All rows of a data set; false where there is nothing more to send. */
static bool send_set(const struct snapshot *snapshot, int type, int set, int to)
{
    union numbers buffer;
    struct error error = { 0 };
    hid_t id;
    hsize_t rows;
    const hsize_t width = sets[set].width;
    if (open_set(snapshot, type, sets[set].name, width, snapshot->count[type], &id, &rows, &error))
        return send_error(to, &error) && false;
    bool good = true;
    for (hsize_t row = 0; row < rows && good; row += ROWS) {
        const hsize_t count = rows - row < ROWS ? rows - row : ROWS;
        good = read_rows(snapshot, id, row, count, width,
                         set == IDS ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, &buffer,
                         &error) == STATUS_OK;
        good = good ? send_part(to, PART_NUMBERS, &buffer, count * width * sizeof *buffer.reals)
                    : send_error(to, &error) && false;
    }
    H5Dclose(id);
    return good;
}

/* --- what is received --------------------------------------------------------------------------
 */

/* A file that is being read by a child. */
struct reading {
    struct child *child;
    const char *path;
    bool lost; /* it has ended before all came */
};

/* Only what a reader can mean: the child may be damaged as well. */
static enum status take_error(struct reading *reading, struct error *error)
{
    struct error sent;
    reading->lost = !child_receive(reading->child, &sent, sizeof sent);
    if (reading->lost)
        return STATUS_DATA;
    sent.text[ERROR_TEXT_SIZE - 1] = '\0';
    return error_set(error, sent.status == STATUS_MEMORY ? STATUS_MEMORY : STATUS_DATA, "%s",
                     sent.text);
}

/* What is not STATUS_OK ends the reading. */
static enum status receive_part(struct reading *reading, void *bytes, size_t length,
                                struct error *error)
{
    uint32_t word;
    reading->lost = !child_receive(reading->child, &word, sizeof word);
    if (!reading->lost && word != PART_NUMBERS)
        return take_error(reading, error);
    if (!reading->lost)
        reading->lost = !child_receive(reading->child, bytes, length);
    return reading->lost ? STATUS_DATA : STATUS_OK;
}

/* What the numbers of a data set are for, and where they go. */
struct target {
    int set;
    double *arrays[3]; /* of the first body of this type; each system's part begins anew */
    double factor;     /* of the numbers */
    int64_t *integers; /* instead */
};

/* Where the body that is number `row` of the file stands in the arrays. */
static size_t index_of(const struct bodies *bodies, size_t row)
{
    return row / bodies->count * bodies->stride + row % bodies->count;
}

static enum status check_value(const struct snapshot *snapshot, int type, int set, hsize_t row,
                               double value, struct error *error)
{
    const char *const problem = !isfinite(value)               ? "is not finite"
                                : set == MASSES && value < 0.0 ? "is negative"
                                                               : NULL;
    if (!problem)
        return STATUS_OK;
    return error_set(error, STATUS_DATA, "%s: PartType%d/%s: row %llu: %g %s", snapshot->path, type,
                     sets[set].name, (unsigned long long)row + 1, value, problem);
}

/* Takes all rows of a data set to the bodies from number `first` of the file on. */
static enum status receive_set(struct reading *reading, const struct snapshot *snapshot, int type,
                               const struct target *target, struct bodies *bodies, size_t first,
                               struct error *error)
{
    union numbers buffer;
    enum status status = STATUS_OK;
    const hsize_t rows = snapshot->count[type], width = sets[target->set].width;
    for (hsize_t row = 0; row < rows && !status; row += ROWS) {
        const hsize_t count = rows - row < ROWS ? rows - row : ROWS;
        status = receive_part(reading, &buffer, count * width * sizeof *buffer.reals, error);
        for (hsize_t i = 0; i < count && !status; i++) {
            const size_t index = index_of(bodies, first + row + i);
            if (target->integers)
                target->integers[index] = buffer.integers[i];
            for (hsize_t k = 0; !target->integers && k < width && !status; k++) {
                const double value = target->factor * buffer.reals[i * width + k];
                status = check_value(snapshot, type, target->set, row + i, value, error);
                target->arrays[k][index] = value;
            }
        }
    }
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
    for (size_t k = 0; k < SETS; k++)
        if (strcmp(sets[k].name, set) == 0)
            return true;
    return strcmp(set, "System") == 0;
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
    for (int type = 0; type < TYPES; type++) {
        if (!snapshot->count[type])
            continue;
        for (int set = 0; set < SETS; set++)
            snapshot->has_set[type][set] = has_set(snapshot, type, sets[set].name);
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

/* Does the data set come, rather than a mass that all have? One that is missing is an error there.
 */
static bool comes(const struct snapshot *snapshot, int type, int set)
{
    if (set == IDS)
        return snapshot->has_set[type][IDS];
    return set != MASSES || snapshot->has_set[type][MASSES] || !(snapshot->mass[type] > 0.0);
}

/* In the child, which leaves the file open: what libhdf5 does on closing is one risk more. */
static enum status open_snapshot(struct snapshot *snapshot, struct error *error)
{
    read_about_clear(&snapshot->about);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* errors are ours to report */
    snapshot->file = H5Fopen(snapshot->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (snapshot->file < 0)
        return bad(snapshot, error, "is no HDF5 file, or a damaged one");
    if (read_header(snapshot, error) == STATUS_OK && read_cgs(snapshot, error) == STATUS_OK &&
        count_bodies(snapshot, error) == STATUS_OK)
        look_around(snapshot);
    return error->status;
}

/* What a child is for. */
struct task {
    const char *path;
    uint64_t bytes;
    bool numbers; /* not only what the file holds */
};

static void work(int to, void *context)
{
    const struct task *task = context;
    struct snapshot snapshot = { .path = task->path, .bytes = task->bytes };
    struct error error = { 0 };
    if (open_snapshot(&snapshot, &error)) {
        send_error(to, &error);
        return;
    }
    bool more = send_part(to, PART_NUMBERS, &snapshot, sizeof snapshot) && task->numbers;
    for (int type = 0; type < TYPES && more; type++)
        for (int set = 0; set < SETS && more; set++)
            if (snapshot.count[type] && comes(&snapshot, type, set))
                more = send_set(&snapshot, type, set, to);
}

/* --- in the caller -----------------------------------------------------------------------------
 */

static size_t total(const struct snapshot *snapshot)
{
    size_t count = 0;
    for (int type = 0; type < TYPES; type++)
        count += (size_t)snapshot->count[type];
    return count;
}

/* What a child that was not damaged cannot have sent. */
static enum status check_snapshot(struct snapshot *snapshot, const char *path, struct error *error)
{
    bool sound = snapshot->systems > 0;
    snapshot->path = path;
    for (int type = 0; type < TYPES; type++)
        sound = sound && snapshot->count[type] <= most;
    sound = sound && total(snapshot) > 0 && total(snapshot) % snapshot->systems == 0;
    snapshot->about.left_out[READ_LEFT_OUT_SIZE - 1] = '\0';
    return sound ? STATUS_OK : bad(snapshot, error, "is damaged");
}

/*
 * The unit that is worth `value`. Files give it with four to seven digits, and the kilogram of the
 * Sun is not known to more than four: what is a power of ten of a unit of astronomy but for a
 * thousandth is that, so that 1.989e43 g are 1e10 solar masses.
 */
static double named_worth(double value, const double *named, size_t count)
{
    static const double tolerance = 1e-3;
    for (size_t i = 0; i < count; i++) {
        const double ten = pow(10.0, rint(log10(value / named[i])));
        if (fabs(value / (ten * named[i]) - 1.0) < tolerance)
            return ten * named[i];
    }
    return value;
}

/* Of velocity: what is said, or else length over time; where the digits of the two make a power of
 * ten of cm/s, that was meant. */
static double velocity_worth(const double cgs[CGS], double length)
{
    static const double digits = 1e-5;
    static const double times[] = { CONSTANT_YEAR, CONSTANT_DAY };
    if (cgs[CGS_VELOCITY] > 0.0)
        return 1e-2 * cgs[CGS_VELOCITY];
    const double quotient = cgs[CGS_LENGTH] / cgs[CGS_TIME];
    const double ten = pow(10.0, rint(log10(quotient)));
    return fabs(quotient / ten - 1.0) < digits
               ? 1e-2 * ten
               : length / named_worth(cgs[CGS_TIME], times, COUNT_OF(times));
}

/* Do units that were given twice agree, but for their digits? */
static bool times_agree(const double cgs[CGS])
{
    static const double tolerance = 1e-3;
    return !(cgs[CGS_VELOCITY] > 0.0 && cgs[CGS_TIME] > 0.0) ||
           fabs(cgs[CGS_VELOCITY] * cgs[CGS_TIME] / cgs[CGS_LENGTH] - 1.0) < tolerance;
}

/* From what the file says in cgs. */
static enum status make_units(struct snapshot *snapshot, struct error *error)
{
    static const double masses[] = { CONSTANT_GM_SUN / CONSTANT_G },
                        lengths[] = { CONSTANT_PARSEC, CONSTANT_AU };
    const double *cgs = snapshot->cgs;
    struct read_units *units = &snapshot->about.units;
    bool any = false, good = true;
    for (size_t k = 0; k < CGS; k++) {
        any |= cgs[k] != 0.0;
        good = good && isfinite(cgs[k]) && cgs[k] >= 0.0;
    }
    if (!any)
        return STATUS_OK;
    if (!good || !(cgs[CGS_MASS] > 0.0) || !(cgs[CGS_LENGTH] > 0.0) ||
        !(cgs[CGS_VELOCITY] > 0.0 || cgs[CGS_TIME] > 0.0) || !times_agree(cgs))
        return bad(
            snapshot, error,
            "its units must be those of mass, length and velocity (or time) in cgs, greater "
            "than 0 and in agreement; bodies.file_units = \"as-is\" takes the numbers as they "
            "stand");
    const double length = named_worth(1e-2 * cgs[CGS_LENGTH], lengths, COUNT_OF(lengths));
    const double worth[] = { named_worth(1e-3 * cgs[CGS_MASS], masses, COUNT_OF(masses)), length,
                             velocity_worth(cgs, length) };
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        units->of[q] =
            (struct unit){ read_units_dimension(q), worth[(q >= QUANTITY_X) + (q >= QUANTITY_VX)] };
    units->time = (struct unit){ DIMENSION_TIME, worth[1] / worth[2] };
    snprintf(units->spelling[0], READ_UNIT_SIZE, "%.7g g", cgs[CGS_MASS]);
    snprintf(units->spelling[1], READ_UNIT_SIZE, "%.7g cm", cgs[CGS_LENGTH]);
    snprintf(units->spelling[2], READ_UNIT_SIZE, "%.7g cm/s", 1e2 * worth[2]);
    units->said = true;
    return STATUS_OK;
}

/* All 1: so codes without units of their own fill in the form. */
static bool are_ones(const double cgs[CGS])
{
    return cgs[CGS_MASS] == 1.0 && cgs[CGS_LENGTH] == 1.0 &&
           (cgs[CGS_VELOCITY] == 1.0 || cgs[CGS_TIME] == 1.0);
}

static enum status settle_units(const struct read_request *request, struct snapshot *snapshot,
                                struct error *error)
{
    const struct read_wish *wish = &request->wish;
    struct read_units *units = &snapshot->about.units;
    *units = (struct read_units){ 0 };
    if (!wish->as_is && make_units(snapshot, error))
        return error->status;
    if (wish->units && !units_physical(wish->units) && are_ones(snapshot->cgs))
        units->said = false;
    if (units->said && wish->units && snapshot->hubble > 0.0 && snapshot->hubble != 1.0)
        return error_set(
            error, STATUS_CONFIG,
            "%s: its HubbleParam is %g: numbers of cosmological snapshots contain h and "
            "the scale factor, which are not converted here; scale them, and set "
            "bodies.file_units = \"as-is\"",
            snapshot->path, snapshot->hubble);
    return read_settle_units(request, 0, &snapshot->about, &snapshot->factors, error);
}

/* Only a regular file: a pipe would be waited for. */
static enum status measure_file(const char *path, uint64_t *bytes, struct error *error)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return error_system(error, STATUS_NO_INPUT, errno, path);
    if (!S_ISREG(about.st_mode))
        return error_set(error, STATUS_NO_INPUT, "%s: is not a regular file", path);
    *bytes = (uint64_t)about.st_size;
    return STATUS_OK;
}

/* Starts to read: what the file holds, and with `numbers` all of these to come. */
static enum status begin(const struct read_request *request, bool numbers, struct reading *reading,
                         struct snapshot *snapshot, struct error *error)
{
    /* Sound files take seconds for each gigabyte, and little more memory than their chunks. */
    enum { SECONDS = 60, BYTES_A_SECOND = 1 << 20 };
    static const uint64_t memory = 4ull << 30;
    struct task task = { .path = request->path, .numbers = numbers };
    *reading = (struct reading){ .path = request->path };
    if (request->frame > 0)
        return error_set(error, STATUS_DATA,
                         "%s: there is no frame %" PRId64 ": a snapshot holds one, number 0",
                         request->path, request->frame);
    if (measure_file(request->path, &task.bytes, error))
        return error->status;
    const struct child_limits limits = { SECONDS + task.bytes / BYTES_A_SECOND,
                                         memory + 2 * task.bytes };
    enum status status = child_start(work, &task, &limits, &reading->child, error);
    if (!status)
        status = receive_part(reading, snapshot, sizeof *snapshot, error);
    if (!status)
        status = check_snapshot(snapshot, request->path, error);
    if (!status)
        status = settle_units(request, snapshot, error);
    if (!status && request->about)
        *request->about = snapshot->about;
    return status;
}

static enum status end(struct reading *reading, struct error *error)
{
    return child_end(reading->child, !reading->lost, reading->path, error);
}

static enum status measure(const struct read_request *request, struct read_shape *shape,
                           struct error *error)
{
    struct snapshot snapshot;
    struct reading reading;
    if (begin(request, false, &reading, &snapshot, error) == STATUS_OK && shape)
        *shape = (struct read_shape){ snapshot.systems, total(&snapshot) / snapshot.systems, 0 };
    return end(&reading, error);
}

/* The bodies of one type, the first of which is number `first` of the file. */
static enum status receive_type(struct reading *reading, const struct snapshot *snapshot, int type,
                                struct bodies *bodies, size_t first, struct error *error)
{
    const double *factors = snapshot->factors.of;
    const struct target targets[SETS] = {
        { COORDINATES, { bodies->x, bodies->y, bodies->z }, factors[QUANTITY_X], NULL },
        { VELOCITIES, { bodies->vx, bodies->vy, bodies->vz }, factors[QUANTITY_VX], NULL },
        { MASSES, { bodies->m }, factors[QUANTITY_MASS], NULL },
        { IDS, { NULL }, 1.0, bodies->id },
    };
    enum status status = STATUS_OK;
    for (int set = 0; set < SETS && !status; set++) {
        if (comes(snapshot, type, set))
            status = receive_set(reading, snapshot, type, &targets[set], bodies, first, error);
        else if (set == MASSES)
            for (hsize_t i = 0; i < snapshot->count[type]; i++)
                bodies->m[index_of(bodies, first + i)] =
                    factors[QUANTITY_MASS] * snapshot->mass[type];
    }
    return status;
}

static enum status read_bodies(const struct read_request *request, struct bodies *bodies,
                               struct error *error)
{
    struct snapshot snapshot;
    struct reading reading;
    enum status status = begin(request, true, &reading, &snapshot, error);
    if (!status)
        status = read_check_systems(request, snapshot.systems, bodies, error);
    if (!status && total(&snapshot) != snapshot.systems * bodies->count)
        status = bad(&snapshot, error, "the file has changed while it was read");
    size_t first = 0;
    for (int type = 0; type < TYPES && !status; type++) {
        if (snapshot.count[type])
            status = receive_type(&reading, &snapshot, type, bodies, first, error);
        first += (size_t)snapshot.count[type];
    }
    if (!status && snapshot.systems == 1)
        read_repeat(bodies);
    return end(&reading, error);
}

#endif

const struct read_format read_hdf5 = { "hdf5", recognise, measure, read_bodies };
