/*
 * The launches of the kernels. Tuning changes the speed and never the bits. `orrery bench --gpu`
 * finds the best on a device and stores it in the user's cache; where nothing is stored, the
 * defaults hold.
 */
#ifndef ORRERY_GPU_TUNING_H
#define ORRERY_GPU_TUNING_H

#include <stddef.h>

#include "base/status.h"
#include "catalog.h"

/* The launch of one kernel and precision on a device; the split follows from the bodies at hand. */
struct gpu_tuning_row {
    enum gpu_kernel_id kernel;
    enum precision precision;
    size_t count;             /* bodies of all systems when it was measured; 0: it was not */
    struct gpu_tuning tuning; /* its split is not used */
};

struct gpu_device; /* devices.h */

enum { GPU_TUNING_ROWS = 128 };

/* The launches on a device: the catalog's starts, and those that were measured on it and stored in
 * the file `path` (NULL: the user's cache). Unreadable files count as none. */
struct gpu_tuning_table {
    struct gpu_tuning_row rows[GPU_TUNING_ROWS];
    size_t count;
};

void gpu_tuning_load(const struct gpu_device *device, const char *path,
                     struct gpu_tuning_table *table);
/* Writes the rows that were measured on a device to the file `path` (NULL: the user's cache), and
 * keeps those of other devices. STATUS_CANT_CREATE, STATUS_MEMORY. */
enum status gpu_tuning_store(const struct gpu_device *device, const char *path,
                             const struct gpu_tuning_table *table, struct error *error);

/* Finds the row of a kernel and a precision that was measured nearest to this number of bodies. */
const struct gpu_tuning_row *gpu_tuning_find(const struct gpu_tuning_table *table,
                                             enum gpu_kernel_id kernel, enum precision precision,
                                             size_t count);
/* Adds a row, or replaces the one of the same kernel, precision and number of bodies. A full table
 * stays as it is. */
void gpu_tuning_set(struct gpu_tuning_table *table, const struct gpu_tuning_row *row);

/* The sums for which a launch is to be found. */
struct gpu_tuning_problem {
    size_t systems, bodies; /* bodies of each system whose sums are computed */
    unsigned segments;      /* segments of the sum of a body */
    size_t segment;         /* bodies j of a segment */
    int multiprocessors;
    /* Returns how many blocks of a launch a multiprocessor runs at once, or 0 if that is not known.
     * NULL: as many as the kernel was built for. */
    unsigned (*at_once)(const void *context, const struct gpu_tuning *tuning);
    const void *context;
};

/* Returns the row's launch with the number of bodies per thread and the split that leave the least
 * of a device idle: blocks start in waves, and a last wave that is not full wastes time. For a
 * kernel of the third law the number of bodies per thread follows from the number of bodies alone,
 * because its bits depend on it. `used`, unless NULL, takes the part of the device's time in which
 * it works on pairs. */
struct gpu_tuning gpu_tuning_fit(const struct gpu_tuning_row *row,
                                 const struct gpu_tuning_problem *problem, double *used);

#endif
