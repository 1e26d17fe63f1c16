/* Bodies at one instant, or at several, as a file that does not need a run: `orrery convert` writes
 * them. Each format is a row of the table in snapshot.c; formats/read.h is about reading. */
#ifndef ORRERY_FORMATS_SNAPSHOT_H
#define ORRERY_FORMATS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "diagnostics/diagnostic.h"
#include "formats/hdf5-snapshot.h"
#include "formats/xyz.h"
#include "output/stream.h"

/* The content that a format can hold beside positions, or-ed. */
enum snapshot_content {
    SNAPSHOT_IDS = 1,
    SNAPSHOT_SYSTEMS = 2,
    SNAPSHOT_TIME = 4,
    SNAPSHOT_STEP = 8,
    SNAPSHOT_BOX = 16,
    SNAPSHOT_SPECIES = 32,
    SNAPSHOT_SPECIES_NUMBERS = 64, /* the number of a body's species, not its name */
    SNAPSHOT_MOTION = 128,         /* masses and velocities */
    SNAPSHOT_DIGITS = 256          /* all digits of a double */
};

struct snapshot_options {
    bool many;    /* the file will have several moments */
    size_t index; /* number of this moment in the file, from 0 */
    /* The bodies of the first moment have species, so all moments have a column for them. */
    bool species;
    struct xyz_frame *frame; /* columns of extended XYZ, and the digits in any text format */
};

/* The arrays of moments, gathered for a format that writes each array in one piece; all zero is
 * empty. The first axis of each array is the moment, except in those of systems and species. */
enum snapshot_array {
    ARRAY_TIME,
    ARRAY_STEP,
    ARRAY_BOX,
    ARRAY_ID,
    ARRAY_MASS,
    ARRAY_POSITION,
    ARRAY_VELOCITY,
    /* This array and ARRAY_SPECIES are those of the first moment; they are empty if there is one
     * system, or there are no species. */
    ARRAY_SYSTEM,
    ARRAY_SPECIES,
    SNAPSHOT_ARRAYS
};
struct snapshot_arrays {
    size_t frames, bodies; /* number of moments, and of bodies in all systems */
    const struct units *units;
    struct text array[SNAPSHOT_ARRAYS];
    /* enum snapshot_content, or-ed: the content that the writer had to drop, though the format can
     * hold it. */
    unsigned lost;
};

/* A format of snapshots, which has the functions of one of three kinds: text, a binary file of one
 * moment, or arrays of all moments. */
struct snapshot_format {
    const char *name; /* as --to spells it */
    /* Usual endings of file names, the first one by default; NULL at the end. */
    const char *endings[3];
    unsigned holds;         /* enum snapshot_content, or-ed: what a file of one moment holds */
    unsigned holds_of_many; /* what a file of several moments holds; 0: not possible */
    bool needs_hdf5;        /* needs a program built with HDF5: hdf5_snapshot_probe() */
    /* Functions of a text format: begin() writes what stands before the first moment (NULL:
     * nothing), write() writes a moment. */
    void (*begin)(struct stream *stream, const struct moment *first,
                  const struct snapshot_options *options);
    void (*write)(struct stream *stream, const struct moment *now,
                  const struct snapshot_options *options);
    /* Function of a binary format of one moment: makes the bytes of a file, which the caller frees.
     * STATUS_UNAVAILABLE, STATUS_MEMORY. */
    enum status (*image)(const struct moment *now, void **bytes, size_t *length,
                         struct error *error);
    /* Function of a format that stores whole arrays: writes all moments, after they were gathered,
     * to a stream. STATUS_IO, STATUS_MEMORY. */
    enum status (*write_arrays)(struct snapshot_arrays *arrays, struct stream *stream,
                                struct error *error);
};

/* Return the row of the table of formats at an index, and the row of a name; NULL past the last row
 * or for an unknown name. */
const struct snapshot_format *snapshot_at(size_t index);
const struct snapshot_format *snapshot_find(const char *name);
/* Finds a format by the end of a file's name, with or without ".gz"; NULL if no format has it. */
const struct snapshot_format *snapshot_of_file(const char *file);

/* --- numpy: npz.c ----------------------------------------------------------------------------- */

/* Adds a moment with valid positions and velocities to the arrays, with the species of its bodies
 * if the file is to have them. STATUS_MEMORY. */
enum status snapshot_arrays_add(struct snapshot_arrays *arrays, const struct moment *now,
                                bool species, struct error *error);
void snapshot_arrays_free(struct snapshot_arrays *arrays);

/*
 * Writes the arrays as numpy.load() reads them: time and step of each frame (nan and -1: not
 * known), box_length (0: open space), id, mass, position and velocity of each body in each frame;
 * of an ensemble, system of each body, from 1; species; mass_unit, length_unit, velocity_unit,
 * time_unit.
 */
enum status snapshot_arrays_write_npz(struct snapshot_arrays *arrays, struct stream *stream,
                                      struct error *error);

/* --- VTK: vtk-hdf5.c -------------------------------------------------------------------------- */

/*
 * Writes the arrays as ParaView, pyvista and VTK read them: points with id, mass and velocity, of
 * an ensemble also system; time, step and box_length of each moment; the units as attributes
 * mass_unit, length_unit, velocity_unit and time_unit. STATUS_UNAVAILABLE, STATUS_MEMORY,
 * STATUS_IO.
 */
enum status snapshot_arrays_write_vtk(struct snapshot_arrays *arrays, struct stream *stream,
                                      struct error *error);

/* --- CHARMM and NAMD: dcd.c ------------------------------------------------------------------- */

/*
 * Writes the positions of the moments, rounded to single precision, as VMD and MDAnalysis read
 * them, with the periodic cell. The file has steps and times if these are at equal distances from
 * frame to frame. STATUS_DATA for a position that single precision does not reach, or for too many
 * bodies.
 */
enum status snapshot_arrays_write_dcd(struct snapshot_arrays *arrays, struct stream *stream,
                                      struct error *error);

#endif
