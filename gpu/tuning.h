/*
 * How the kernels are launched. Tuning changes the speed and never the bits. `orrery bench --gpu`
 * finds the best on a device and stores it in the user's cache; where nothing is stored, the
 * defaults hold.
 */
#ifndef ORRERY_GPU_TUNING_H
#define ORRERY_GPU_TUNING_H

#include <stddef.h>

#include "base/status.h"
#include "force/force.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of one launch. */
struct gpu_tuning {
    int block;  /* threads */
    int tile;   /* bodies staged in shared memory, a multiple of 32 */
    int bodies; /* of one thread: 1, 2 or 4 */
    int split;  /* blocks that share the sums of the same bodies */
};

/* Of one kernel and precision on a device. The split follows from `warps` and the bodies at hand.
 */
struct gpu_tuning_row {
    const char *kernel; /* "blocked" */
    enum precision precision;
    int block, tile, bodies;
    int warps; /* of a launch that fills a multiprocessor */
};

struct gpu_device; /* devices.h */

enum { GPU_TUNING_ROWS = 16 };

/* What is to be used on a device: rows that were stored for it, or the defaults. `stored` counts
 * those found in the file `path` (NULL: the user's cache). Unreadable files are as none. */
struct gpu_tuning_table {
    struct gpu_tuning_row rows[GPU_TUNING_ROWS];
    size_t count, stored;
};

void gpu_tuning_load(const struct gpu_device *device, const char *path,
                     struct gpu_tuning_table *table);
/* Writes the table for a device, beside what the file has for others. STATUS_CANT_CREATE. */
enum status gpu_tuning_store(const struct gpu_device *device, const char *path,
                             const struct gpu_tuning_table *table, struct error *error);

/* The row of a kernel and a precision, to be read or changed. */
struct gpu_tuning_row *gpu_tuning_find(struct gpu_tuning_table *table, const char *kernel,
                                       enum precision precision);

/* For sums of `bodies` bodies of each of `systems` systems, in up to `segments` parts. */
struct gpu_tuning gpu_tuning_fit(const struct gpu_tuning_row *row, const struct gpu_device *device,
                                 size_t systems, size_t bodies, unsigned segments);

#ifdef __cplusplus
}
#endif

#endif
