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
    size_t count;             /* bodies of all systems that it was measured with; 0: it was not */
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
/* Writes what was measured on a device, beside what the file has for others. STATUS_CANT_CREATE. */
enum status gpu_tuning_store(const struct gpu_device *device, const char *path,
                             const struct gpu_tuning_table *table, struct error *error);

/* Finds the row of a kernel and a precision that was measured nearest to this number of bodies. */
const struct gpu_tuning_row *gpu_tuning_find(const struct gpu_tuning_table *table,
                                             enum gpu_kernel_id kernel, enum precision precision,
                                             size_t count);
/* Takes a row instead of one that was measured with as many bodies. */
void gpu_tuning_set(struct gpu_tuning_table *table, const struct gpu_tuning_row *row);

/* The problem to launch for. */
struct gpu_tuning_problem {
    size_t systems, bodies; /* bodies of each system that are summed ... */
    unsigned segments;      /* ... in at most this number of parts ... */
    size_t segment;         /* ... of this number of others each */
    int multiprocessors;
    /* Blocks of a launch that a multiprocessor runs at once; NULL: as many as the kernel was built
     * for. */
    unsigned (*at_once)(const void *context, const struct gpu_tuning *tuning);
    const void *context;
};

/* Returns the bodies of a thread and the splits that leave the least of a device idle: blocks start
 * in waves, and a last wave that is not full wastes time. The bodies of a thread of a kernel of the
 * third law follow from the number of bodies alone, because its bits depend on them. `used`, unless
 * NULL, takes the part of the device's time in which it works on pairs. */
struct gpu_tuning gpu_tuning_fit(const struct gpu_tuning_row *row,
                                 const struct gpu_tuning_problem *problem, double *used);

#endif
