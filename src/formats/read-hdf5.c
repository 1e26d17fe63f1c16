/*
 * Snapshots in HDF5 as GADGET has them, and AREPO, GIZMO and SWIFT after it: the particles of all
 * types, one type after the other. Of each type that the file has, these data sets are read:
 * Coordinates, Velocities, Masses (or the attribute MassTable) and, if the file has it,
 * ParticleIDs; of ensembles that Orrery wrote also System.
 *
 * A damaged file makes libhdf5 read and write outside of its memory. So it runs in a child process
 * with limits of time and memory, which sends first a description of the file and then the numbers
 * of each data set. The caller checks both, and lives on if the child crashes.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"
#include "base/memory.h"
#include "formats/hdf5-snapshot.h"
#include "formats/read.h"
#include "model/units.h"

const struct hdf5_set hdf5_sets[HDF5_SETS] = {
    { "Coordinates", 3 }, { "Velocities", 3 }, { "Masses", 1 }, { "ParticleIDs", 1 }
};

bool hdf5_set_comes(const struct hdf5_snapshot *snapshot, int type, int set)
{
    if (set == HDF5_IDS)
        return snapshot->has_set[type][HDF5_IDS];
    return set != HDF5_MASSES || snapshot->has_set[type][HDF5_MASSES] ||
           !(snapshot->mass[type] > 0.0);
}

enum status hdf5_bad(const struct hdf5_snapshot *snapshot, struct error *error, const char *what)
{
    return error_set(error, STATUS_DATA, "%s: %s", snapshot->path, what);
}

static const char signature[] = "\x89HDF\r\n\x1a\n";

static bool recognise(const char *path, const char *head, size_t length)
{
    (void)path;
    return length >= sizeof signature - 1 && memcmp(head, signature, sizeof signature - 1) == 0;
}

/* --- units ------------------------------------------------------------------------------------ */

/*
 * Returns the exact value in SI of a unit for which a file states `value`. Files state four to
 * seven digits, and the mass of the Sun in kilograms is known to four: so a value within a
 * thousandth of a power of ten times one of the units of astronomy in `named` is taken for that.
 * For example, 1.989e43 g are taken for 1e10 solar masses.
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

/* Returns the unit of velocity in m/s: the stated one or else the unit of length, `length` metres,
 * over the stated unit of time. If the quotient of the stated units is nearly a power of ten in
 * cm/s, exactly that power was meant. */
static double velocity_worth(const double cgs[HDF5_CGS], double length)
{
    static const double digits = 1e-5;
    static const double times[] = { CONSTANT_YEAR, CONSTANT_DAY };
    if (cgs[HDF5_CGS_VELOCITY] > 0.0)
        return 1e-2 * cgs[HDF5_CGS_VELOCITY];
    const double quotient = cgs[HDF5_CGS_LENGTH] / cgs[HDF5_CGS_TIME];
    const double ten = pow(10.0, rint(log10(quotient)));
    return fabs(quotient / ten - 1.0) < digits
               ? 1e-2 * ten
               : length / named_worth(cgs[HDF5_CGS_TIME], times, COUNT_OF(times));
}

/* Tells whether the stated units of velocity, time and length agree within a thousandth; true if
 * velocity or time is not stated. */
static bool times_agree(const double cgs[HDF5_CGS])
{
    static const double tolerance = 1e-3;
    return !(cgs[HDF5_CGS_VELOCITY] > 0.0 && cgs[HDF5_CGS_TIME] > 0.0) ||
           fabs(cgs[HDF5_CGS_VELOCITY] * cgs[HDF5_CGS_TIME] / cgs[HDF5_CGS_LENGTH] - 1.0) <
               tolerance;
}

/* Fills in about.units from the units in cgs that the file states; leaves them empty if it states
 * none (all are 0). STATUS_DATA if these units are incomplete, not positive or contradict each
 * other. */
static enum status make_units(const struct read_wish *wish, struct hdf5_snapshot *snapshot,
                              struct error *error)
{
    static const double masses[] = { CONSTANT_GM_SUN / CONSTANT_G },
                        lengths[] = { CONSTANT_PARSEC, CONSTANT_AU };
    const double *cgs = snapshot->cgs;
    struct read_units *units = &snapshot->about.units;
    bool any = false, good = true;
    for (size_t k = 0; k < HDF5_CGS; k++) {
        any |= cgs[k] != 0.0;
        good = good && isfinite(cgs[k]) && cgs[k] >= 0.0;
    }
    if (!any)
        return STATUS_OK;
    if (!good || !(cgs[HDF5_CGS_MASS] > 0.0) || !(cgs[HDF5_CGS_LENGTH] > 0.0) ||
        !(cgs[HDF5_CGS_VELOCITY] > 0.0 || cgs[HDF5_CGS_TIME] > 0.0) || !times_agree(cgs))
        return error_set(
            error, STATUS_DATA,
            "%s: its units must be those of mass, length and velocity (or time) in cgs, greater "
            "than 0 and in agreement; %s \"as-is\" takes the numbers as they stand",
            snapshot->path, read_units_called(wish));
    const double length = named_worth(1e-2 * cgs[HDF5_CGS_LENGTH], lengths, COUNT_OF(lengths));
    const double worth[] = { named_worth(1e-3 * cgs[HDF5_CGS_MASS], masses, COUNT_OF(masses)),
                             length, velocity_worth(cgs, length) };
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        units->of[q] =
            (struct unit){ read_units_dimension(q), worth[(q >= QUANTITY_X) + (q >= QUANTITY_VX)] };
    units->time = (struct unit){ DIMENSION_TIME, worth[1] / worth[2] };
    snprintf(units->spelling[0], READ_UNIT_SIZE, "%.7g g", cgs[HDF5_CGS_MASS]);
    snprintf(units->spelling[1], READ_UNIT_SIZE, "%.7g cm", cgs[HDF5_CGS_LENGTH]);
    snprintf(units->spelling[2], READ_UNIT_SIZE, "%.7g cm/s", 1e2 * worth[2]);
    units->said = true;
    return STATUS_OK;
}

/* Tells whether all stated units are 1, as programs that have no units of their own write them. */
static bool are_ones(const double cgs[HDF5_CGS])
{
    return cgs[HDF5_CGS_MASS] == 1.0 && cgs[HDF5_CGS_LENGTH] == 1.0 &&
           (cgs[HDF5_CGS_VELOCITY] == 1.0 || cgs[HDF5_CGS_TIME] == 1.0);
}

/* Refuses cosmological snapshots, whose numbers contain powers of h and of the scale factor
 * (STATUS_CONFIG), and an h or a redshift that no cosmology has, which is damage (STATUS_DATA). */
static enum status check_cosmology(const struct read_wish *wish,
                                   const struct hdf5_snapshot *snapshot, struct error *error)
{
    static const double least_h = 0.01, most_h = 100.0, least_z = 1e-9, most_z = 1e9;
    const bool has_h = snapshot->hubble != 0.0 && snapshot->hubble != 1.0;
    const double value = has_h ? snapshot->hubble : snapshot->redshift, size = fabs(value);
    const bool known = has_h ? value >= least_h && value <= most_h
                             : value > -1.0 && size >= least_z && size <= most_z;
    const char *name = has_h ? "HubbleParam" : "Redshift";
    if (!has_h && value == 0.0)
        return STATUS_OK;
    if (!known)
        return error_set(error, STATUS_DATA,
                         "%s: its %s is %g, which no cosmology has; %s \"as-is\" takes the numbers "
                         "as they stand",
                         snapshot->path, name, value, read_units_called(wish));
    return error_set(error, STATUS_CONFIG,
                     "%s: its %s is %g: numbers of cosmological snapshots contain h and the scale "
                     "factor, which are not converted here; scale them, and set %s \"as-is\"",
                     snapshot->path, name, value, read_units_called(wish));
}

/* Fills in about.units from what the file says, and finds the factors that convert its numbers into
 * the units that the request wishes for. STATUS_DATA, STATUS_CONFIG. */
static enum status resolve_units(const struct read_request *request, struct hdf5_snapshot *snapshot,
                                 struct read_factors *factors, struct error *error)
{
    const struct read_wish *wish = &request->wish;
    struct read_units *units = &snapshot->about.units;
    *units = (struct read_units){ 0 };
    if (!wish->as_is && make_units(wish, snapshot, error))
        return error->status;
    if (wish->units && !units_physical(wish->units) && are_ones(snapshot->cgs))
        units->said = false;
    if (!wish->as_is && check_cosmology(wish, snapshot, error))
        return error->status;
    return read_resolve_units(request, 0, &snapshot->about, factors, error);
}

/* --- what is received ------------------------------------------------------------------------- */

/* A file that a child process is reading. */
struct reading {
    struct child *child;
    const char *path;
    bool lost; /* the child has ended before it sent all */
    struct read_factors factors;
};

/* Receives a struct error from the child and reports it. Its status becomes STATUS_MEMORY or
 * STATUS_DATA, whatever was sent: a damaged file may have damaged the memory of the child too. */
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

/* Receives one part of `length` bytes from the child. Returns STATUS_DATA if the child has ended
 * before (reading->lost), or else the error that it sent in the place of the part. */
static enum status receive_part(struct reading *reading, void *bytes, size_t length,
                                struct error *error)
{
    uint32_t word;
    reading->lost = !child_receive(reading->child, &word, sizeof word);
    if (!reading->lost && word != HDF5_PART_NUMBERS)
        return take_error(reading, error);
    if (!reading->lost)
        reading->lost = !child_receive(reading->child, bytes, length);
    return reading->lost ? STATUS_DATA : STATUS_OK;
}

/* The destination of the numbers of one data set. */
struct target {
    int set;
    double *arrays[3]; /* the arrays of bodies for the numbers of a row, in order */
    double factor;     /* by which each number is multiplied */
    int64_t *integers; /* the array for ids, in the place of `arrays` */
};

/* Returns the index, in the arrays of bodies, of the body in row `row` of the file, from 0: systems
 * are padded from `count` to `stride`. */
static size_t index_of(const struct bodies *bodies, size_t row)
{
    return row / bodies->count * bodies->stride + row % bodies->count;
}

static enum status check_value(const struct hdf5_snapshot *snapshot, int type, int set,
                               uint64_t row, double value, struct error *error)
{
    const char *const problem = !isfinite(value)                    ? "is not finite"
                                : set == HDF5_MASSES && value < 0.0 ? "is negative"
                                                                    : NULL;
    if (!problem)
        return STATUS_OK;
    return error_set(error, STATUS_DATA, "%s: PartType%d/%s: row %llu: %g %s", snapshot->path, type,
                     hdf5_sets[set].name, (unsigned long long)row + 1, value, problem);
}

/* Receives all rows of a data set of one particle type, for the bodies from row `first` of the file
 * on. */
static enum status receive_set(struct reading *reading, const struct hdf5_snapshot *snapshot,
                               int type, const struct target *target, struct bodies *bodies,
                               size_t first, struct error *error)
{
    union hdf5_numbers buffer;
    enum status status = STATUS_OK;
    const uint64_t rows = snapshot->count[type], width = hdf5_sets[target->set].width;
    for (uint64_t row = 0; row < rows && !status; row += HDF5_ROWS) {
        const uint64_t count = rows - row < HDF5_ROWS ? rows - row : HDF5_ROWS;
        status = receive_part(reading, &buffer, count * width * sizeof *buffer.reals, error);
        for (uint64_t i = 0; i < count && !status; i++) {
            const size_t index = index_of(bodies, first + row + i);
            if (target->integers)
                target->integers[index] = buffer.integers[i];
            for (uint64_t k = 0; !target->integers && k < width && !status; k++) {
                const double value = target->factor * buffer.reals[i * width + k];
                status = check_value(snapshot, type, target->set, row + i, value, error);
                target->arrays[k][index] = value;
            }
        }
    }
    return status;
}

/* --- the file --------------------------------------------------------------------------------- */

static size_t total(const struct hdf5_snapshot *snapshot)
{
    size_t count = 0;
    for (int type = 0; type < HDF5_TYPES; type++)
        count += (size_t)snapshot->count[type];
    return count;
}

/* Refuses a description of the file that a sound child cannot have sent, and puts a NUL at the end
 * of its texts. STATUS_DATA. */
static enum status check_snapshot(struct hdf5_snapshot *snapshot, const char *path,
                                  struct error *error)
{
    bool sound = snapshot->systems > 0;
    snapshot->path = path;
    for (int type = 0; type < HDF5_TYPES; type++)
        sound = sound && snapshot->count[type] <= hdf5_most_rows;
    sound = sound && total(snapshot) > 0 && total(snapshot) % snapshot->systems == 0;
    snapshot->about.left_out[READ_LEFT_OUT_SIZE - 1] = snapshot->about.unfinished[0] = '\0';
    return sound ? STATUS_OK : hdf5_bad(snapshot, error, "is damaged");
}

/* Finds the length of a file, which must be a regular one: a pipe would be waited for. */
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

/* Starts a child that reads the file, and receives its description of the file. With `numbers` the
 * child goes on to send the numbers of all data sets. */
static enum status begin_reading(const struct read_request *request, bool numbers,
                                 struct reading *reading, struct hdf5_snapshot *snapshot,
                                 struct error *error)
{
    /* The limits of the child. A sound file takes seconds per gigabyte, and little more memory than
     * its chunks. */
    enum { SECONDS = 60, BYTES_A_SECOND = 1 << 20 };
    static const uint64_t memory = 4ull << 30;
    struct hdf5_task task = { .path = request->path, .numbers = numbers };
    *reading = (struct reading){ .path = request->path };
    if (hdf5_snapshot_probe(request->path, error))
        return error->status;
    if (read_check_frame(request, "a snapshot", error) ||
        measure_file(request->path, &task.bytes, error))
        return error->status;
    const struct child_limits limits = { SECONDS + task.bytes / BYTES_A_SECOND,
                                         memory + 2 * task.bytes };
    if (child_start(hdf5_snapshot_send, &task, &limits, &reading->child, error))
        return error->status;
    const enum status status = receive_part(reading, snapshot, sizeof *snapshot, error);
    if (status || check_snapshot(snapshot, request->path, error) ||
        resolve_units(request, snapshot, &reading->factors, error))
        return status ? status : error->status;
    if (request->about)
        *request->about = snapshot->about;
    return STATUS_OK;
}

static enum status end_reading(struct reading *reading, struct error *error)
{
    return child_end(reading->child, !reading->lost, reading->path, error);
}

static enum status measure_snapshot(const struct read_format *format,
                                    const struct read_request *request, struct read_shape *shape,
                                    struct error *error)
{
    (void)format;
    struct hdf5_snapshot snapshot;
    struct reading reading;
    if (begin_reading(request, false, &reading, &snapshot, error) == STATUS_OK && shape)
        *shape = (struct read_shape){ snapshot.systems, total(&snapshot) / snapshot.systems, 0 };
    return end_reading(&reading, error);
}

static enum status receive_type(struct reading *reading, const struct hdf5_snapshot *snapshot,
                                int type, struct bodies *bodies, size_t first, struct error *error)
{
    const double *factors = reading->factors.of;
    const struct target targets[HDF5_SETS] = {
        { HDF5_COORDINATES, { bodies->x, bodies->y, bodies->z }, factors[QUANTITY_X], NULL },
        { HDF5_VELOCITIES, { bodies->vx, bodies->vy, bodies->vz }, factors[QUANTITY_VX], NULL },
        { HDF5_MASSES, { bodies->m }, factors[QUANTITY_MASS], NULL },
        { HDF5_IDS, { NULL }, 1.0, bodies->id },
    };
    enum status status = STATUS_OK;
    for (int set = 0; set < HDF5_SETS && !status; set++) {
        if (hdf5_set_comes(snapshot, type, set))
            status = receive_set(reading, snapshot, type, &targets[set], bodies, first, error);
        else if (set == HDF5_MASSES)
            for (uint64_t i = 0; i < snapshot->count[type]; i++)
                bodies->m[index_of(bodies, first + i)] =
                    factors[QUANTITY_MASS] * snapshot->mass[type];
    }
    return status;
}

static enum status read_bodies(const struct read_format *format, const struct read_request *request,
                               struct bodies *bodies, struct error *error)
{
    (void)format;
    struct hdf5_snapshot snapshot;
    struct reading reading;
    enum status status = begin_reading(request, true, &reading, &snapshot, error);
    if (!status)
        status = read_check_systems(request, snapshot.systems, bodies, error);
    if (!status && total(&snapshot) != snapshot.systems * bodies->count)
        status = hdf5_bad(&snapshot, error, "the file has changed while it was read");
    size_t first = 0;
    for (int type = 0; type < HDF5_TYPES && !status; type++) {
        if (snapshot.count[type])
            status = receive_type(&reading, &snapshot, type, bodies, first, error);
        first += (size_t)snapshot.count[type];
    }
    if (!status && snapshot.systems == 1)
        read_repeat(bodies);
    return end_reading(&reading, error);
}

const struct read_format read_hdf5 = { "hdf5",      recognise, measure_snapshot,
                                       read_bodies, NULL,      READ_FRAMES_ONE };
