/*
 * A snapshot in HDF5 that a child process reads, so that a crash of libhdf5 at a damaged file does
 * not end the program. The child sends a description of the file, a struct hdf5_snapshot, and then
 * the numbers of its data sets, particle type by type and in the order of hdf5_sets, HDF5_ROWS rows
 * at once. hdf5-snapshot.c is the child's part, read-hdf5.c that of the program. Below that: the
 * HDF5 files that the program writes (gadget-hdf5.c, vtk-hdf5.c).
 */
#ifndef ORRERY_FORMATS_HDF5_SNAPSHOT_H
#define ORRERY_FORMATS_HDF5_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "formats/read.h"

struct moment;

/* The number of particle types (six of GADGET, and the neutrinos of SWIFT), and the number of rows
 * that are sent at once. */
enum { HDF5_TYPES = 7, HDF5_ROWS = 8192 };
enum { HDF5_COORDINATES, HDF5_VELOCITIES, HDF5_MASSES, HDF5_IDS, HDF5_SETS };
enum { HDF5_CGS_MASS, HDF5_CGS_LENGTH, HDF5_CGS_VELOCITY, HDF5_CGS_TIME, HDF5_CGS };
/* The most rows that a data set may have, so that the sum over all types cannot overflow. */
static const uint64_t hdf5_most_rows = 1ull << 40;

/* A data set of a particle type: its name, and how many numbers each row has. hdf5_sets has them in
 * the order in which they are sent. */
struct hdf5_set {
    const char *name;
    uint64_t width;
};
extern const struct hdf5_set hdf5_sets[HDF5_SETS];

struct hdf5_snapshot {
    const char *path;
    int64_t file;               /* handle of libhdf5, valid in the child alone */
    uint64_t bytes;             /* size of the file */
    uint64_t count[HDF5_TYPES]; /* particles of each type */
    /* Mass of each particle of a type, if the header states one for all; else 0. */
    double mass[HDF5_TYPES];
    char has_set[HDF5_TYPES][HDF5_SETS]; /* 1: the file has this data set */
    size_t systems;
    double cgs[HDF5_CGS]; /* units of the file in cgs; 0: not stated */
    double hubble;        /* Hubble parameter h; 0: not stated */
    double redshift;      /* redshift of a cosmological run; else 0 */
    struct read_about about;
};

/* The word with which the child begins each part that it sends: the expected bytes follow, or a
 * struct error in their place. */
enum hdf5_part { HDF5_PART_NUMBERS, HDF5_PART_ERROR };

/* The numbers that are sent at once, of 64 bits: up to three reals in each row, or one integer. */
union hdf5_numbers {
    double reals[3 * HDF5_ROWS];
    int64_t integers[HDF5_ROWS];
};

/* The task that a child is given. */
struct hdf5_task {
    const char *path;
    uint64_t bytes;
    bool numbers; /* also send the numbers of the data sets, not only the description of the file */
};

/* Checks that the program was built with HDF5; `path` begins the message. STATUS_UNAVAILABLE. */
enum status hdf5_snapshot_probe(const char *path, struct error *error);

/* Does the work of a child, for child_start(): reads a file and sends its content to the descriptor
 * `to`; `context` is a struct hdf5_task. */
void hdf5_snapshot_send(int to, void *context);

/* Sets the error STATUS_DATA, with the file before `what`. */
enum status hdf5_bad(const struct hdf5_snapshot *snapshot, struct error *error, const char *what);

/* Tells whether a data set is sent: ids if the file has them, masses unless the file has one mass
 * for the type instead, and the others always. If a set that is to be sent is missing, that is an
 * error. */
bool hdf5_set_comes(const struct hdf5_snapshot *snapshot, int type, int set);

/* --- files that are built in memory ----------------------------------------------------------- */

/* HDF5 files that are built in memory and become arrays of bytes, for gadget-hdf5.c and vtk-hdf5.c.
 * The same content always gives the same bytes. Handles of libhdf5 are int64_t here, so that this
 * header does not include that of libhdf5. A program that was built without HDF5 has none of the
 * functions hdf5_image_*. */

/* Creates an empty HDF5 file in memory and returns its handle; a negative number after a
 * failure. */
int64_t hdf5_image_open(void);

/* Closes the file and, if `good` (nothing has failed so far), copies its content to *bytes, which
 * the caller frees. Returns false, with *bytes NULL, if `good` is false or the copy fails. */
bool hdf5_image_close(int64_t file, bool good, void **bytes, size_t *length);

/* Writes the attribute `name` of a group or a data set: one value, or an array of `count` values if
 * `count` is not 0. The types are libhdf5's, of a value in the file and in `values`. Returns false
 * after a failure. */
bool hdf5_image_attribute(int64_t object, const char *name, int64_t file_type, int64_t memory_type,
                          size_t count, const void *values);

/* Creates a data set of `rows` numbers or, if `width` is more than 1, of `rows` rows of `width`
 * numbers. Returns its handle, which the caller closes; a negative number after a failure. */
int64_t hdf5_image_set(int64_t group, const char *name, int64_t file_type, size_t rows,
                       size_t width);

/* --- snapshots: gadget-hdf5.c, vtk-hdf5.c ----------------------------------------------------- */

/*
 * Makes the bytes of an HDF5 snapshot, as GADGET-4, SWIFT, yt and pynbody read it, of the bodies of
 * a moment, whose positions and velocities must be valid. The caller frees the bytes; the same
 * moment always gives the same bytes. In a periodic box positions are those in [0, L), as in
 * GADGET; BoxSize is 0 in open space. Of an ensemble, the data set System has the system of each
 * body, from 1; if there are species, Species has the species of each body, from 1.
 * STATUS_UNAVAILABLE, STATUS_MEMORY.
 */
enum status gadget_hdf5_image(const struct moment *now, void **bytes, size_t *length,
                              struct error *error);

/* Makes the bytes of a VTK file with one moment, whose positions and velocities must be valid. The
 * caller frees them. STATUS_UNAVAILABLE, STATUS_MEMORY. */
enum status vtk_hdf5_image(const struct moment *now, void **bytes, size_t *length,
                           struct error *error);

#endif
