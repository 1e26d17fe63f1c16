/*
 * A snapshot in HDF5, as a child process finds it. It sends what the file holds, a struct
 * hdf5_snapshot, and then the numbers of each data set that comes, type by type and in the order of
 * hdf5_sets, HDF5_ROWS rows at once. Only hdf5-snapshot.c calls libhdf5.
 */
#ifndef ORRERY_FORMATS_HDF5_SNAPSHOT_H
#define ORRERY_FORMATS_HDF5_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "formats/read.h"

/* Particle types: six of GADGET, and the neutrinos of SWIFT; rows that are sent at once. */
enum { HDF5_TYPES = 7, HDF5_ROWS = 8192 };
enum { HDF5_COORDINATES, HDF5_VELOCITIES, HDF5_MASSES, HDF5_IDS, HDF5_SETS };
enum { HDF5_CGS_MASS, HDF5_CGS_LENGTH, HDF5_CGS_VELOCITY, HDF5_CGS_TIME, HDF5_CGS };
/* Rows of a data set; six times that does not overflow. */
static const uint64_t hdf5_most_rows = 1ull << 40;

/* The data sets of a type, in the order in which they are sent. */
struct hdf5_set {
    const char *name;
    uint64_t width;
};
extern const struct hdf5_set hdf5_sets[HDF5_SETS];

struct hdf5_snapshot {
    const char *path;
    int64_t file;                        /* in the child */
    uint64_t bytes;                      /* of the file */
    uint64_t count[HDF5_TYPES];          /* particles of each type */
    double mass[HDF5_TYPES];             /* of all of them, where it is not 0 */
    char has_set[HDF5_TYPES][HDF5_SETS]; /* 1: it is sent */
    size_t systems;
    double cgs[HDF5_CGS]; /* what its units are worth; 0: it does not say */
    double hubble;        /* h; 0: it does not say */
    double redshift;      /* of a cosmological run; else 0 */
    struct read_about about;
};

/* Before each part: is it the numbers that were to come, or an error? */
enum hdf5_part { HDF5_PART_NUMBERS, HDF5_PART_ERROR };

/* Numbers of 64 bits, reals or integers. */
union hdf5_numbers {
    double reals[3 * HDF5_ROWS];
    int64_t integers[HDF5_ROWS];
};

/* The task of a child. */
struct hdf5_task {
    const char *path;
    uint64_t bytes;
    bool numbers; /* reads the arrays, too; else only what the file holds */
};

/* STATUS_UNAVAILABLE where the program was built without HDF5. */
enum status hdf5_snapshot_probe(const char *path, struct error *error);

/* A child's work, for child_start(); `context` is a struct hdf5_task. */
void hdf5_snapshot_send(int to, void *context);

/* STATUS_DATA, with the file before `what`. */
enum status hdf5_bad(const struct hdf5_snapshot *snapshot, struct error *error, const char *what);

/* Tells whether the data set comes, rather than a mass that all have. One that is missing is an
 * error there. */
bool hdf5_set_comes(const struct hdf5_snapshot *snapshot, int type, int set);

#endif
