/*
 * A snapshot in HDF5, which a child process reads. The child sends what the file holds, a struct
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
/* The most rows of a data set; the sum over all types does not overflow. */
static const uint64_t hdf5_most_rows = 1ull << 40;

/* The data sets of a type, in the order in which they are sent. */
struct hdf5_set {
    const char *name;
    uint64_t width;
};
extern const struct hdf5_set hdf5_sets[HDF5_SETS];

struct hdf5_snapshot {
    const char *path;
    int64_t file;                        /* handle of libhdf5; valid in the child */
    uint64_t bytes;                      /* of the file */
    uint64_t count[HDF5_TYPES];          /* particles of each type */
    double mass[HDF5_TYPES];             /* of each particle of a type; 0: not said */
    char has_set[HDF5_TYPES][HDF5_SETS]; /* 1: the file has it */
    size_t systems;
    double cgs[HDF5_CGS]; /* its units in cgs; 0: it does not say */
    double hubble;        /* h; 0: it does not say */
    double redshift;      /* of a cosmological run; else 0 */
    struct read_about about;
};

/* The word before each part that is sent: the numbers that were to come follow, or an error. */
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

#endif
