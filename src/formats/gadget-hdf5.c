#include "formats/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config.h"
#include "formats/hdf5-snapshot.h"

#ifndef HAVE_HDF5

enum status gadget_hdf5_image(const struct moment *now, void **bytes, size_t *length,
                              struct error *error)
{
    (void)now;
    *bytes = NULL;
    *length = 0;
    return hdf5_snapshot_probe("gadget-hdf5", error);
}

#else

#include <hdf5.h>
#include <math.h>

#include "model/units.h"

/* --- files that are built in memory ----------------------------------------------------------- */

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

/* --- a snapshot of GADGET --------------------------------------------------------------------- */

enum { TYPES = 6, ROWS = 8192 }; /* GADGET's particle types; rows given to libhdf5 at once */

/* --- attributes ------------------------------------------------------------------------------- */

static bool put_real(hid_t group, const char *name, double value)
{
    return hdf5_image_attribute(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &value);
}

static bool put_integer(hid_t group, const char *name, int value)
{
    return hdf5_image_attribute(group, name, H5T_STD_I32LE, H5T_NATIVE_INT, 0, &value);
}

static bool put_header(hid_t file, const struct moment *now)
{
    const bool periodic = now->physics->boundary == BOUNDARY_PERIODIC;
    const uint64_t count = now->bodies->systems * now->bodies->count;
    const uint64_t here[TYPES] = { 0, count }; /* bodies are of type 1, which feels gravity alone */
    const uint32_t total[TYPES] = { 0, (uint32_t)count },
                   high[TYPES] = { 0, (uint32_t)(count >> 32) };
    const double masses[TYPES] = { 0.0 }; /* 0: each body has a mass of its own */
    const hid_t group = H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool good =
        hdf5_image_attribute(group, "NumPart_ThisFile", H5T_STD_U64LE, H5T_NATIVE_UINT64, TYPES,
                             here) &&
        hdf5_image_attribute(group, "NumPart_Total", H5T_STD_U32LE, H5T_NATIVE_UINT32, TYPES,
                             total) &&
        hdf5_image_attribute(group, "NumPart_Total_HighWord", H5T_STD_U32LE, H5T_NATIVE_UINT32,
                             TYPES, high) &&
        hdf5_image_attribute(group, "MassTable", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, TYPES,
                             masses) &&
        put_real(group, "Time", isfinite(now->time) ? now->time : 0.0) &&
        put_real(group, "Redshift", 0.0) &&
        put_real(group, "BoxSize", periodic ? now->physics->box_length : 0.0) &&
        put_integer(group, "NumFilesPerSnapshot", 1) && put_integer(group, "Flag_Entropy_ICs", 0) &&
        put_integer(group, "Flag_DoublePrecision", 1) && put_real(group, "Omega0", 0.0) &&
        put_real(group, "OmegaLambda", 0.0) && put_real(group, "HubbleParam", 1.0);
    H5Gclose(group);
    return good;
}

/* Writes the group Units, with the values of the units in cgs; nothing for N-body units, which have
 * no such values. */
static bool put_units(hid_t file, const struct units *units)
{
    if (!(units->metres > 0.0))
        return true;
    const hid_t group = H5Gcreate2(file, "Units", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const double centimetres = 100.0 * units->metres;
    const bool good = put_real(group, "UnitLength_in_cm", centimetres) &&
                      put_real(group, "UnitMass_in_g", 1000.0 * units->kilograms) &&
                      put_real(group, "UnitTime_in_s", units->seconds) &&
                      put_real(group, "UnitVelocity_in_cm_per_s", centimetres / units->seconds);
    H5Gclose(group);
    return good;
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* A data set of the file, its name and the types of its numbers in the file and in memory. get()
 * copies the `width` numbers of one body, at `index` of the arrays of bodies, to `values`. */
struct source {
    const char *name;
    size_t width;
    hid_t file_type, memory_type;
    void (*get)(const struct moment *now, size_t index, void *values);
};

static void get_position(const struct moment *now, size_t i, void *values)
{
    double *r = values;
    const struct bodies *b = now->bodies;
    const double position[3] = { b->x[i], b->y[i], b->z[i] };
    for (int k = 0; k < 3; k++)
        r[k] = physics_inside(now->physics, position[k]);
}

static void get_velocity(const struct moment *now, size_t i, void *values)
{
    double *v = values;
    const struct bodies *b = now->bodies;
    v[0] = b->vx[i];
    v[1] = b->vy[i];
    v[2] = b->vz[i];
}

static void get_id(const struct moment *now, size_t i, void *values)
{
    *(int64_t *)values = now->bodies->id[i];
}

static void get_mass(const struct moment *now, size_t i, void *values)
{
    *(double *)values = now->bodies->m[i];
}

static void get_system(const struct moment *now, size_t i, void *values)
{
    *(int64_t *)values = (int64_t)(i / now->bodies->stride) + 1;
}

static void get_species(const struct moment *now, size_t i, void *values)
{
    *(int64_t *)values = (int64_t)bodies_species(now->bodies, i) + 1;
}

/* Writes the rows `row` to `row` + `count` - 1 of a data set, at most ROWS, with the numbers of the
 * bodies from index `first` of the arrays on, which are all of one system. */
static bool put_rows(hid_t set, hid_t file_space, const struct source *source,
                     const struct moment *now, size_t row, size_t first, size_t count)
{
    union {
        double reals[3 * ROWS];
        int64_t integers[ROWS];
    } buffer;
    for (size_t i = 0; i < count; i++)
        source->get(now, first + i, buffer.reals + i * source->width);
    const int rank = source->width > 1 ? 2 : 1;
    const hsize_t start[2] = { row, 0 }, extent[2] = { count, source->width };
    const hid_t memory_space = H5Screate_simple(rank, extent, NULL);
    const bool good =
        H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
        H5Dwrite(set, source->memory_type, memory_space, file_space, H5P_DEFAULT, &buffer) >= 0;
    H5Sclose(memory_space);
    return good;
}

static bool put_set(hid_t group, const struct source *source, const struct moment *now)
{
    const struct bodies *bodies = now->bodies;
    const hid_t set = hdf5_image_set(group, source->name, source->file_type,
                                     bodies->systems * bodies->count, source->width);
    const hid_t space = H5Dget_space(set);
    bool good = set >= 0;
    for (size_t s = 0; s < bodies->systems && good; s++)
        for (size_t i = 0; i < bodies->count && good; i += ROWS) {
            const size_t left = bodies->count - i;
            good = put_rows(set, space, source, now, s * bodies->count + i, s * bodies->stride + i,
                            left < ROWS ? left : ROWS);
        }
    H5Sclose(space);
    H5Dclose(set);
    return good;
}

static bool put_bodies(hid_t file, const struct moment *now)
{
    const struct source sources[] = {
        { "Coordinates", 3, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, get_position },
        { "Velocities", 3, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, get_velocity },
        { "ParticleIDs", 1, H5T_STD_I64LE, H5T_NATIVE_INT64, get_id },
        { "Masses", 1, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, get_mass },
    };
    const struct source system = { "System", 1, H5T_STD_I64LE, H5T_NATIVE_INT64, get_system };
    const struct source species = { "Species", 1, H5T_STD_I64LE, H5T_NATIVE_INT64, get_species };
    const hid_t group = H5Gcreate2(file, "PartType1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (size_t k = 0; k < COUNT_OF(sources) && good; k++)
        good = put_set(group, &sources[k], now);
    if (now->bodies->systems > 1 && good)
        good = put_set(group, &system, now);
    if (now->bodies->species_count > 0 && good)
        good = put_set(group, &species, now);
    H5Gclose(group);
    return good;
}

/* --- the file --------------------------------------------------------------------------------- */

enum status gadget_hdf5_image(const struct moment *now, void **bytes, size_t *length,
                              struct error *error)
{
    const hid_t file = hdf5_image_open();
    const bool good = file >= 0 && put_header(file, now) && put_units(file, now->physics->units) &&
                      put_bodies(file, now);
    if (hdf5_image_close(file, good, bytes, length))
        return STATUS_OK;
    return error_set(error, STATUS_MEMORY, "out of memory for a snapshot of %zu bodies",
                     now->bodies->systems * now->bodies->count);
}

#endif
