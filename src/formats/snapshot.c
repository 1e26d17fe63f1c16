#include "formats/snapshot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "output/gzip.h"

/* --- columns of text -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    struct dimension dimension;
} reals[] = {
    { "m", DIMENSION_MASS },      { "x", DIMENSION_LENGTH },    { "y", DIMENSION_LENGTH },
    { "z", DIMENSION_LENGTH },    { "vx", DIMENSION_VELOCITY }, { "vy", DIMENSION_VELOCITY },
    { "vz", DIMENSION_VELOCITY },
};

static void write_reals(struct stream *stream, const struct bodies *b, size_t i,
                        const char *separator, int digits)
{
    const double values[] = { b->m[i], b->x[i], b->y[i], b->z[i], b->vx[i], b->vy[i], b->vz[i] };
    for (size_t k = 0; k < COUNT_OF(values); k++) {
        if (k > 0)
            stream_write(stream, separator, 1);
        stream_real(stream, values[k], digits);
    }
}

/* --- CSV -------------------------------------------------------------------------------------- */

static void begin_csv(struct stream *stream, const struct moment *first,
                      const struct snapshot_options *options)
{
    char label[UNITS_LABEL_SIZE];
    const struct units *units = first->physics->units;
    if (options->many)
        stream_print(stream, "step [1],time [%s],",
                     units_label(units, (struct dimension)DIMENSION_TIME, label));
    if (first->bodies->systems > 1)
        stream_print(stream, "system [1],");
    stream_print(stream, "id [1]");
    if (options->species)
        stream_print(stream, ",species");
    for (size_t k = 0; k < COUNT_OF(reals); k++)
        stream_print(stream, ",%s [%s]", reals[k].name,
                     units_label(units, reals[k].dimension, label));
    stream_write(stream, "\n", 1);
}

static void write_csv_body(struct stream *stream, const struct moment *now, size_t system,
                           size_t index, const struct snapshot_options *options)
{
    if (options->many && now->step != MOMENT_NO_STEP)
        stream_print(stream, "%" PRIu64, now->step);
    if (options->many)
        stream_write(stream, ",", 1);
    if (options->many && isfinite(now->time))
        stream_real(stream, now->time, 17);
    if (options->many)
        stream_write(stream, ",", 1);
    if (now->bodies->systems > 1)
        stream_print(stream, "%zu,", system + 1);
    stream_print(stream, "%" PRId64 ",", now->bodies->id[index]);
    if (options->species)
        stream_print(stream, "%s,", bodies_species_name(now->bodies, index));
    write_reals(stream, now->bodies, index, ",", options->frame->digits);
    stream_write(stream, "\n", 1);
}

static void write_csv(struct stream *stream, const struct moment *now,
                      const struct snapshot_options *options)
{
    const struct bodies *bodies = now->bodies;
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t i = 0; i < bodies->count; i++)
            write_csv_body(stream, now, s, s * bodies->stride + i, options);
}

/* --- plain columns ---------------------------------------------------------------------------- */

static void begin_plain(struct stream *stream, const struct moment *first,
                        const struct snapshot_options *options)
{
    (void)options;
    char label[UNITS_LABEL_SIZE];
    const struct units *units = first->physics->units;
    stream_print(stream, "#");
    for (size_t k = 0; k < COUNT_OF(reals); k++) {
        stream_print(stream, " %s", reals[k].name);
        if (units_physical(units)) /* M, L and T of N-body units would say nothing new */
            stream_print(stream, " [%s]", units_label(units, reals[k].dimension, label));
    }
    stream_print(stream, "\n");
}

static void write_plain(struct stream *stream, const struct moment *now,
                        const struct snapshot_options *options)
{
    const struct bodies *bodies = now->bodies;
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t i = 0; i < bodies->count; i++) {
            write_reals(stream, bodies, s * bodies->stride + i, " ", options->frame->digits);
            stream_write(stream, "\n", 1);
        }
}

/* --- extended XYZ ----------------------------------------------------------------------------- */

static void write_xyz(struct stream *stream, const struct moment *now,
                      const struct snapshot_options *options)
{
    xyz_frame_write(options->frame, stream, now);
}

/* --- LAMMPS ----------------------------------------------------------------------------------- */

static void write_lammps(struct stream *stream, const struct moment *now,
                         const struct snapshot_options *options)
{
    struct moment told = *now;
    if (told.step == MOMENT_NO_STEP) /* a dump must have a step: the number of the moment */
        told.step = options->index;
    if (options->index == 0)
        stream_print(stream, "ITEM: UNITS\n%s\n", now->physics->units->name);
    xyz_frame_write_dump(options->frame, stream, &told);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Combinations of enum snapshot_content that several formats hold: whole bodies; positions with
 * time and cell; whole bodies with time and cell, but without species. */
enum {
    HOLDS_BODIES = SNAPSHOT_MOTION | SNAPSHOT_DIGITS,
    HOLDS_POSITIONS = SNAPSHOT_DIGITS | SNAPSHOT_TIME | SNAPSHOT_STEP | SNAPSHOT_BOX,
    HOLDS_FRAMES = HOLDS_BODIES | SNAPSHOT_IDS | SNAPSHOT_SYSTEMS | SNAPSHOT_TIME | SNAPSHOT_STEP |
                   SNAPSHOT_BOX
};

static const struct snapshot_format table[] = {
    { .name = "csv",
      .endings = { ".csv" },
      .holds = HOLDS_BODIES | SNAPSHOT_IDS | SNAPSHOT_SYSTEMS | SNAPSHOT_SPECIES,
      .holds_of_many = HOLDS_BODIES | SNAPSHOT_IDS | SNAPSHOT_SYSTEMS | SNAPSHOT_TIME |
                       SNAPSHOT_STEP | SNAPSHOT_SPECIES,
      .begin = begin_csv,
      .write = write_csv },
    { .name = "xyz",
      .endings = { ".xyz", ".extxyz" },
      .holds = HOLDS_FRAMES | SNAPSHOT_SPECIES,
      .holds_of_many = HOLDS_FRAMES | SNAPSHOT_SPECIES,
      .write = write_xyz },
    { .name = "plain",
      .endings = { ".txt", ".dat" },
      .holds = HOLDS_BODIES,
      .begin = begin_plain,
      .write = write_plain },
    { .name = "hdf5",
      .endings = { ".hdf5", ".h5" },
      .holds = HOLDS_BODIES | SNAPSHOT_IDS | SNAPSHOT_SYSTEMS | SNAPSHOT_TIME | SNAPSHOT_BOX |
               SNAPSHOT_SPECIES_NUMBERS,
      .needs_hdf5 = true,
      .image = gadget_hdf5_image },
    { .name = "lammps",
      .endings = { ".dump", ".lammpstrj" },
      .holds = HOLDS_FRAMES | SNAPSHOT_SPECIES_NUMBERS,
      .holds_of_many = HOLDS_FRAMES | SNAPSHOT_SPECIES_NUMBERS,
      .write = write_lammps },
    { .name = "npz",
      .endings = { ".npz" },
      .holds = HOLDS_FRAMES | SNAPSHOT_SPECIES,
      .holds_of_many = HOLDS_FRAMES | SNAPSHOT_SPECIES,
      .write_arrays = snapshot_arrays_write_npz },
    { .name = "vtkhdf",
      .endings = { ".vtkhdf" },
      .holds = HOLDS_FRAMES,
      .holds_of_many = HOLDS_FRAMES,
      .needs_hdf5 = true,
      .write_arrays = snapshot_arrays_write_vtk },
    { .name = "dcd",
      .endings = { ".dcd" },
      .holds = HOLDS_POSITIONS,
      .holds_of_many = HOLDS_POSITIONS,
      .write_arrays = snapshot_arrays_write_dcd },
};

const struct snapshot_format *snapshot_at(size_t index)
{
    return index < COUNT_OF(table) ? &table[index] : NULL;
}

const struct snapshot_format *snapshot_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static bool ends_in(const char *file, size_t length, const char *ending)
{
    const size_t end = strlen(ending);
    return length > end && strncmp(file + length - end, ending, end) == 0;
}

const struct snapshot_format *snapshot_of_file(const char *file)
{
    const size_t length = gzip_stem(file);
    for (size_t i = 0; i < COUNT_OF(table); i++)
        for (const char *const *ending = table[i].endings; *ending; ending++)
            if (ends_in(file, length, *ending))
                return &table[i];
    return NULL;
}
