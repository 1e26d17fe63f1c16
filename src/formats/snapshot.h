/*
 * Bodies at one instant, or at several, as a file that stands for itself: what `orrery convert`
 * writes. A format is a row of the table; reading is formats/read.h.
 */
#ifndef ORRERY_FORMATS_SNAPSHOT_H
#define ORRERY_FORMATS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "diagnostics/diagnostic.h"
#include "formats/xyz-frame.h"
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
    bool many;               /* several moments are to come */
    size_t index;            /* of this moment, from 0 */
    bool species;            /* the first moment has some, so all moments have the column */
    struct xyz_frame *frame; /* how extended XYZ is written, and the digits of any text */
};

/* The arrays of moments, gathered for a format that writes each array in one piece; all zero is
 * empty. The first axis of each array is the moment, but for systems and species. */
enum snapshot_array {
    ARRAY_TIME,
    ARRAY_STEP,
    ARRAY_BOX,
    ARRAY_ID,
    ARRAY_MASS,
    ARRAY_POSITION,
    ARRAY_VELOCITY,
    ARRAY_SYSTEM, /* this and the next are of the first moment; empty: one system, or no species */
    ARRAY_SPECIES,
    SNAPSHOT_ARRAYS
};
struct snapshot_arrays {
    size_t frames, bodies; /* of all systems */
    const struct units *units;
    struct text array[SNAPSHOT_ARRAYS];
    unsigned lost; /* enum snapshot_content: what the writer lost of what the format holds */
};

/* A format of snapshots. Those of text write to a stream, binary ones make the bytes of a file. */
struct snapshot_format {
    const char *name;           /* as bodies.format spells it */
    const char *const *endings; /* of file names; NULL-terminated; the first one is the usual */
    unsigned holds;             /* enum snapshot_content, of one moment */
    unsigned holds_of_many;     /* the same, of several moments in a file; 0: not possible */
    bool needs_hdf5;            /* hdf5_snapshot_probe() says whether the program has it */
    /* Text: begin() writes what stands before the first moment, or is NULL; write() writes a
     * moment. */
    void (*begin)(struct stream *stream, const struct moment *first,
                  const struct snapshot_options *options);
    void (*write)(struct stream *stream, const struct moment *now,
                  const struct snapshot_options *options);
    /* Instead: makes the bytes of a file, which the caller frees. STATUS_UNAVAILABLE,
     * STATUS_MEMORY. */
    enum status (*image)(const struct moment *now, void **bytes, size_t *length,
                         struct error *error);
    /* Instead: writes all moments, which were gathered, to a stream. STATUS_IO, STATUS_MEMORY. */
    enum status (*write_arrays)(struct snapshot_arrays *arrays, struct stream *stream,
                                struct error *error);
};

/* Finds a format by its name; NULL if it is unknown. */
const struct snapshot_format *snapshot_find(const char *name);
/* Finds a format by the end of a file's name, with or without ".gz"; NULL if no format has it. */
const struct snapshot_format *snapshot_of_file(const char *file);

/* --- numpy: npz.c ----------------------------------------------------------------------------- */

/* Adds a moment (NEED_STATE) to the arrays, with its species if the file is to have them.
 * STATUS_MEMORY. */
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

/* Makes the bytes of a file of VTK with one moment (NEED_STATE), which the caller frees.
 * STATUS_UNAVAILABLE, STATUS_MEMORY. */
enum status vtk_hdf5_image(const struct moment *now, void **bytes, size_t *length,
                           struct error *error);

/* --- CHARMM and NAMD: dcd.c ------------------------------------------------------------------- */

/*
 * Writes the positions of the moments, rounded to single precision, as VMD and MDAnalysis read
 * them, with the periodic cell. Steps and times are there if the frames are at equal distances in
 * them. STATUS_DATA for a position that single precision does not reach, or for too many bodies.
 */
enum status snapshot_arrays_write_dcd(struct snapshot_arrays *arrays, struct stream *stream,
                                      struct error *error);

/* --- GADGET: gadget-hdf5.c -------------------------------------------------------------------- */

/* The content of a GADGET-style HDF5 snapshot: what GADGET-4, SWIFT, yt and pynbody read. */

/*
 * Makes the bytes of a file, which the caller frees, with the bodies of a moment (NEED_STATE); the
 * same bytes for the same moment. In a periodic box positions are those in [0, L), as in GADGET;
 * BoxSize is 0 in open space. Of an ensemble, the data set System has the system of each body, from
 * 1; if there are species, Species has the species of each body, from 1. STATUS_UNAVAILABLE,
 * STATUS_MEMORY.
 */
enum status gadget_hdf5_image(const struct moment *now, void **bytes, size_t *length,
                              struct error *error);

#endif
